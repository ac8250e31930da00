//! Replays: own witnesses are accepted with the right facts, corrupted ones are rejected with the right reason.

use cyrano_engine::{Access, Execution, Source, ThreadEnd, Verdict, Violation};
use cyrano_ir::{BinOp, Expr, InstrId, Program, Property, Quantifier, ThreadId};
use cyrano_memory::Model;

use super::axioms::{Dice, models, programs};
use super::{holds, model, notation, outcomes};
use crate::{confirm, replay};

/// An execution from steps `(thread, index, read, written)`, without choices.
fn execution(threads: usize, steps: &[(u16, u32, Option<i128>, Option<i128>)]) -> Execution {
    let access = |(thread, index, read, written): &_| Access {
        thread: ThreadId(*thread),
        index: *index,
        read: *read,
        written: *written,
    };
    Execution { order: steps.iter().map(access).collect(), choices: vec![Vec::new(); threads], relations: None }
}

/// The claim that an outcome exists.
fn exists(program: &Program, outcome: &[i128]) -> Property {
    let terms = program
        .observed
        .iter()
        .zip(outcome)
        .map(|(observable, value)| Expr::binary(BinOp::Eq, Expr::Var(observable.var), Expr::Const(*value)));
    let cond = terms.fold(Expr::Const(1), |all, term| Expr::binary(BinOp::And, all, term));
    Property::Final { quantifier: Quantifier::Exists, cond, text: format!("{outcome:?}") }
}

/// Finds a witness for an outcome, confirms it, and checks that no corrupted version is accepted.
fn check(program: &Program, model: &Model, outcome: &[i128], dice: &mut Dice) {
    let property = exists(program, outcome);
    let answer = holds(program, model, &property);
    assert_eq!(answer.verdict, Verdict::Verified);
    let witness = answer.execution.expect("a witness");
    let confirmed = confirm(program, model, &property, None, &witness);
    assert!(confirmed.is_ok(), "{:?} {witness:?} under {}: {confirmed:?}", program.threads, model.name);
    let rejected = |corrupted: &Execution| {
        let confirmed = confirm(program, model, &property, None, corrupted);
        assert!(confirmed.is_err(), "{:?} {corrupted:?} under {}", program.threads, model.name);
    };
    if witness.order.is_empty() {
        return;
    }
    let step = dice.roll(witness.order.len() as u64) as usize;
    let mut dropped = witness.clone();
    dropped.order.remove(step);
    rejected(&dropped);
    let mut twice = witness.clone();
    twice.order.push(witness.order[step]);
    rejected(&twice);
    let mut changed = witness.clone();
    match &mut changed.order[step] {
        Access { read: Some(value), .. } | Access { written: Some(value), .. } => *value += 7,
        _ => unreachable!("an access reads or writes"),
    }
    rejected(&changed);
    let mut silent = witness.clone();
    (silent.order[step].read, silent.order[step].written) = (None, None);
    rejected(&silent);
}

#[test]
fn witnesses_of_random_programs() {
    let mut dice = Dice(5);
    for program in programs(2, 20) {
        for model in models() {
            for outcome in outcomes(&program, &model).outcomes {
                check(&program, &model, &outcome, &mut dice);
            }
        }
    }
}

const STORE_BUFFERING: [&str; 2] = ["x=1; r0=y", "y=1; r0=x"];

#[test]
fn facts() {
    let program = notation::program(&["x=1; r0=x; r1=y", "y=1"], "");
    let early = execution(2, &[(0, 1, Some(1), None), (1, 0, None, Some(1)), (0, 2, Some(1), None)]);
    let replayed = replay(&program, &model("tso"), &early).expect("allowed");
    let step = &replayed.steps[0];
    assert_eq!(step.source, Some(Source::Forwarded { index: 0, instr: InstrId(0) }));
    assert_eq!(step.overtook.iter().map(|overtaken| overtaken.index).collect::<Vec<_>>(), [0]);
    assert_eq!(replayed.steps[2].source, Some(Source::Step(1)));
    assert_eq!(replayed.ends, [ThreadEnd::At(InstrId(3)), ThreadEnd::Done], "at its end, with a store in the buffer");
    assert_eq!(replayed.memory[..3], [0, 0, 1]);
    assert_eq!(replayed.registers[0][..2], [Some(1), Some(1)]);
}

#[test]
fn registers_belong_to_where_a_thread_stands() {
    // What comes behind the next access has not happened, whether the run ahead ends there or not.
    let program = notation::program(&["r0=1; r1=x; r0=2; x=1; r0=3; y=1; r0=4", "y=1"], "");
    let check = |steps: &[(u16, u32, Option<i128>, Option<i128>)], at: u32, registers: [Option<i128>; 2]| {
        let replayed = replay(&program, &model("sc"), &execution(2, steps)).expect("allowed");
        assert_eq!((replayed.ends[0], &replayed.registers[0][..2]), (ThreadEnd::At(InstrId(at)), &registers[..]));
    };
    check(&[], 1, [Some(1), Some(0)]);
    check(&[(0, 0, Some(0), None)], 3, [Some(2), Some(0)]);
    check(&[(0, 0, Some(0), None), (0, 1, None, Some(1))], 5, [Some(3), Some(0)]);
    let done = [(0, 0, Some(0), None), (0, 1, None, Some(1)), (0, 2, None, Some(1))];
    let replayed = replay(&program, &model("sc"), &execution(2, &done)).expect("allowed");
    assert_eq!((replayed.ends[0], replayed.registers[0][0]), (ThreadEnd::Done, Some(4)));
}

#[test]
fn a_thread_stands_where_its_assertion_fails() {
    let program = notation::program(&["r0=x; assert r0; r0=5; x=1; r0=6"], "");
    let steps = execution(1, &[(0, 0, Some(0), None)]);
    let claim = Violation::Assertion { thread: ThreadId(0), instr: InstrId(1) };
    let replayed = confirm(&program, &model("sc"), &Property::Assertions, Some(&claim), &steps).expect("confirmed");
    assert_eq!((replayed.ends[0], replayed.registers[0][0]), (ThreadEnd::At(InstrId(1)), Some(0)));
}

#[test]
fn prefixes_leave_values_open() {
    let program = notation::program(&["r0=x; y=1; unless r0 skip 1; z=1", "x=1"], "");
    let prefix = execution(2, &[(0, 1, None, Some(1))]);
    let replayed = replay(&program, &model("rmo"), &prefix).expect("allowed");
    assert_eq!(replayed.ends, [ThreadEnd::At(InstrId(2)), ThreadEnd::At(InstrId(0))]);
    assert_eq!(replayed.registers[0][0], None);
    assert_eq!(replayed.steps[0].overtook.len(), 1);
}

#[test]
fn deferred_stores_in_a_loop_end() {
    let program = notation::program(&["r0=r0+1; x=1; goto 2", "r0=x; assert r0"], "");
    let start = execution(2, &[(1, 0, Some(0), None)]);
    let replayed = replay(&program, &model("tso"), &start).expect("allowed");
    assert_eq!(replayed.registers[0][0], Some(1));
    let claim = Violation::Assertion { thread: ThreadId(1), instr: InstrId(1) };
    confirm(&program, &model("tso"), &Property::Assertions, Some(&claim), &start).expect("confirmed");
}

/// Replays steps of a program that must not be accepted.
fn check_rejected(threads: &[&str], name: &str, steps: &[(u16, u32, Option<i128>, Option<i128>)], why: &str) {
    let program = notation::program(threads, "");
    let error = replay(&program, &model(name), &execution(threads.len(), steps)).expect_err("rejected");
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn reasons() {
    let early = [(0, 1, Some(0), None)];
    check_rejected(&STORE_BUFFERING, "sc", &early, "keeps this pair in program order (axiom 1)");
    check_rejected(&["x=1; mfence; r0=y"], "tso", &early, "a fence stands between them (axiom 2)");
    let dependent = [(0, 1, Some(0), None), (0, 0, Some(0), None)];
    check_rejected(&["r0=x; r1=a[r0]"], "rmo", &dependent, "it depends on it (axiom 3)");
    let wrong_read = "is recorded to read 1; the latest visible value is 0 (axiom 4)";
    check_rejected(&STORE_BUFFERING, "tso", &[(0, 1, Some(1), None)], wrong_read);
    check_rejected(&STORE_BUFFERING, "tso", &[(0, 0, None, Some(3))], "to write 3; the program writes 1");
    check_rejected(&STORE_BUFFERING, "tso", &[(0, 2, None, Some(3))], "has no access number 2; it issues 2");
    check_rejected(&STORE_BUFFERING, "tso", &[(7, 0, None, Some(3))], "there is no thread number 7");
    let section = ["atomic{; x=1; y=1; }", "z=1"];
    let between = [(0, 0, None, Some(1)), (1, 0, None, Some(1))];
    check_rejected(&section, "rmo", &between, "interrupts an atomic section or operation");
    check_rejected(&section, "rmo", &[(0, 1, None, Some(1))], "does not directly follow its predecessor");
}

#[test]
fn reasons_about_values() {
    let forwarded = ["r0=x; y=r0; r1=y"];
    check_rejected(&forwarded, "rmo", &[(0, 2, Some(0), None), (0, 0, Some(0), None)], "which waits for");
    check_rejected(&forwarded, "relaxed", &[(0, 2, Some(0), None)], "which has none yet (axiom 4)");
    check_rejected(&forwarded, "relaxed", &[(0, 1, None, Some(0))], "depends on a load that is never performed");
    let circle = [(0, 1, None, Some(1)), (1, 0, Some(1), None), (1, 1, None, Some(1)), (0, 0, Some(1), None)];
    check_rejected(&["r0=x; y=r0", "r0=y; x=r0"], "relaxed", &circle, "a value comes from nowhere (axiom 7)");
    // The sum of a fetch-and-add comes from what it read.
    let sums = ["r0=add x 0", "r0=x; y=r0", "r0=y; x=r0"];
    let first = [(1, 1, None, Some(7)), (2, 0, Some(7), None), (2, 1, None, Some(7))];
    let circle = [&first[..], &[(0, 0, Some(7), Some(7)), (1, 0, Some(7), None)]].concat();
    check_rejected(&sums, "relaxed", &circle, "a value comes from nowhere (axiom 7)");
}

#[test]
fn swapped_steps_are_rejected() {
    let program = notation::program(&["x=1; y=1", "r0=y; r1=x"], "");
    let steps = [(0, 0, None, Some(1)), (0, 1, None, Some(1)), (1, 0, Some(1), None), (1, 1, Some(1), None)];
    assert!(replay(&program, &model("sc"), &execution(2, &steps)).is_ok());
    for at in 0..3 {
        let mut swapped = steps;
        swapped.swap(at, at + 1);
        assert!(replay(&program, &model("sc"), &execution(2, &swapped)).is_err(), "{at}");
    }
}

/// A claim about an execution that does not bear it out.
fn check_claim(threads: &[&str], steps: &[(u16, u32, Option<i128>, Option<i128>)], claim: Violation, why: &str) {
    let program = notation::program(threads, "");
    let execution = execution(threads.len(), steps);
    let confirmed = confirm(&program, &model("sc"), &Property::Assertions, Some(&claim), &execution);
    let error = confirmed.expect_err("not confirmed").to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn false_claims_are_rejected() {
    let thread = ThreadId(0);
    let assertion = Violation::Assertion { thread, instr: InstrId(1) };
    let code = ["r0=x; assert r0==0; assume r0", "x=1"];
    check_claim(&code, &[(0, 0, Some(0), None)], assertion.clone(), "does not fail");
    check_claim(&code, &[], assertion, "does not fail");
    let nowhere = Violation::Assertion { thread: ThreadId(9), instr: InstrId(0) };
    check_claim(&code, &[], nowhere, "does not fail");
    let blocked = |thread| Violation::Deadlock { blocked: vec![cyrano_engine::Blocked { thread, instr: InstrId(0) }] };
    let waiting = ["atomic{; r0=x; assume r0; }", "x=1"];
    check_claim(&waiting, &[], blocked(thread), "is neither done nor blocked");
    check_claim(&waiting, &[(1, 0, None, Some(1))], blocked(thread), "is neither done nor blocked");
    let stuck = ["atomic{; assume 0; }", "x=1"];
    check_claim(&stuck, &[(1, 0, None, Some(1))], blocked(ThreadId(1)), "other threads are blocked");
    let endless = |instr| Violation::AtomicDiverges { thread, instr: InstrId(instr) };
    let fenced = ["x=1; mfence; atomic{; r0=y; while r0==0 back 1; }"];
    check_claim(&fenced, &[], endless(2), "does not stand before an endless atomic section");
    check_claim(&waiting, &[], endless(0), "does not stand before an endless atomic section");
    check_claim(&waiting, &[], Violation::NoWitness, "there is nothing to replay");
}
