//! Certificates of commit-atomicity, compared with the same machine: single steps, with the serial run beside them, come to a state that is wrong exactly if the program is; and
//! what the explorer writes for a right program is accepted, is all that single steps reach, and is refused without a state or with another serial run.

use cyrano_certificate::{
    Certificate, Found, Origin, check, parse, parse_state, print, print_state, provable, saturate,
};
use cyrano_conformance::certified::certificate;
use cyrano_conformance::limits;
use cyrano_engine::Stop;
use cyrano_ir::dataflow::exit_registers;
use cyrano_ir::{FinalVar, Observable, Program, Property};
use cyrano_memory::Model;

/// Programs with more states are left out.
const MOST: usize = 3_000;

/// The program with everything observed that its checks name: a certificate has one check, and units hand on what is looked at in the end.
fn observing(program: &Program) -> Program {
    let mut observed = program.observed.clone();
    for thread in program.thread_ids() {
        for register in exit_registers(program, thread) {
            let var = FinalVar::Reg(thread, register);
            if observed.iter().all(|other| other.var != var) {
                observed.push(Observable { name: format!("o{}", observed.len()), var });
            }
        }
    }
    Program { observed, ..program.clone() }
}

/// Insists that certificates of a program are what they should be.
pub(crate) fn agrees(program: &Program, right: bool, model: &Model) {
    let property = Property::CommitAtomicity;
    let program = &observing(program);
    assert!(provable(program, &property).is_ok());
    let place = || format!("under {}:\n{}", model.name, cyrano_ir::text::print(program));
    let (origin, found) = (Origin::default(), Found::default());
    let nothing = (Vec::new(), vec![Vec::new(); program.threads.len()]);
    let empty = Certificate::new(origin, (program, &property), None, model, found, nothing);
    let reached = match saturate(&empty, MOST, &limits(60.0, 6)) {
        Err(why) if why.stopped == Some(Stop::Size) => return,
        reached => reached,
    };
    if let Err(why) = &reached {
        let vacuous = why.reason.contains("ever commits") || why.reason.contains("no commit point");
        assert!(!right || vacuous, "single steps go wrong: {why:#?} {}", place());
        return;
    }
    assert!(right, "single steps see nothing wrong {}", place());
    let written = certificate((program, &property), model, MOST, &limits(60.0, 6));
    let written = written.unwrap_or_else(|why| panic!("{why} {}", place()));
    let read = parse(&print(&written)).unwrap_or_else(|why| panic!("{why} {}", place()));
    let checked = check(&read, &limits(60.0, 6)).unwrap_or_else(|why| panic!("{why:#?} {}", place()));
    assert_eq!(checked.reached, checked.states, "the explorer visits what nobody reaches {}", place());
    is_refused_when_changed(&read, &place);
}

/// Every state is reachable: without one of them, or with another serial run in it, nothing is proven.
fn is_refused_when_changed(certificate: &Certificate, place: &impl Fn() -> String) {
    for at in [0, certificate.states.len() / 2, certificate.states.len() - 1] {
        let mut less = certificate.clone();
        less.states.remove(at);
        assert!(check(&less, &limits(60.0, 6)).is_err(), "accepted without state {at} {}", place());
        let mut other = certificate.clone();
        let mut state = parse_state(&other.states[at]).expect("it is a state");
        let serial = state.serial.as_mut().expect("a state has a serial run");
        serial.ways[0].memory[0] += 7;
        other.states[at] = print_state(&state).into();
        other.states.sort_unstable();
        assert!(check(&other, &limits(60.0, 6)).is_err(), "accepted with another serial run in state {at} {}", place());
    }
}
