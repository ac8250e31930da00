//! Setup threads, limits, pointers and observations.

use std::collections::BTreeSet;

use cyrano_engine::{Verdict, Violation};
use cyrano_ir::{EvalError, InstrId, Program, Property, ThreadId, text};

use super::{holds, model, notation, outcomes};
use crate::{confirm, replay};

const MODELS: [&str; 7] = ["serial", "sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"];

fn with_setup(threads: &[&str], observed: &str) -> Program {
    Program { setup: Some(ThreadId(0)), ..notation::program(threads, observed) }
}

/// Asks for a property; what is found must be confirmed.
fn check(program: &Program, name: &str, property: &Property, verdict: Verdict) -> Option<Violation> {
    let answer = holds(program, &model(name), property);
    assert_eq!(answer.verdict, verdict, "under {name}: {:?} {:?}", answer.reason, answer.violation);
    if let Some(execution) = &answer.execution {
        let confirmed = confirm(program, &model(name), property, answer.violation.as_ref(), execution);
        assert!(confirmed.is_ok(), "under {name}: {} in {execution:?}", confirmed.unwrap_err());
    }
    answer.violation
}

#[test]
fn the_setup_thread_comes_first() {
    let program = with_setup(&["x=1; y=2", "r0=y; r1=x", "x=3"], "1r0 1r1");
    for name in MODELS {
        let answer = outcomes(&program, &model(name));
        assert_eq!(answer.verdict, Verdict::Verified);
        assert_eq!(answer.outcomes, BTreeSet::from([vec![2, 1], vec![2, 3]]), "{name}");
    }
}

/// Nothing that others do, not even without an access, happens before the setup thread is done.
#[test]
fn nobody_starts_before_the_setup_is_done() {
    for name in MODELS {
        let stuck = with_setup(&["r0=x; assume r0", "assert 0"], "");
        assert_eq!(check(&stuck, name, &Property::Assertions, Verdict::Vacuous), None);
        let fine = with_setup(&["x=1", "assert 0"], "");
        let failed = Violation::Assertion { thread: ThreadId(1), instr: InstrId(0) };
        assert_eq!(check(&fine, name, &Property::Assertions, Verdict::Violated), Some(failed));
    }
}

/// The setup thread cannot be helped by those that wait for it.
#[test]
fn a_blocked_setup_is_a_deadlock() {
    let program = with_setup(&["atomic{; r0=x; assume r0; }", "x=1"], "");
    for name in MODELS {
        let found = check(&program, name, &Property::Assertions, Verdict::Violated);
        let Some(Violation::Deadlock { blocked }) = found else { panic!("under {name}: {found:?}") };
        assert!(blocked.len() == 1 && blocked[0].thread == ThreadId(0));
    }
}

#[test]
fn replays_insist_on_the_setup() {
    let program = with_setup(&["x=1; r0=y", "x=2"], "");
    let access =
        |thread, index, read, written| cyrano_engine::Access { thread: ThreadId(thread), index, read, written };
    let (store, load, other) = (access(0, 0, None, Some(1)), access(0, 1, Some(0), None), access(1, 0, None, Some(2)));
    let run = |order: &[cyrano_engine::Access]| {
        let execution = cyrano_engine::Execution { order: order.to_vec(), choices: vec![vec![]; 2], relations: None };
        replay(&program, &model("tso"), &execution).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(run(&[store, load, other]), Ok(()));
    assert_eq!(run(&[load, store, other]), Ok(()));
    let early = |step: usize, order: &[cyrano_engine::Access]| {
        let error = run(order).expect_err("too early");
        assert!(error.starts_with(&format!("step {step}: ")) && error.contains("part of the setup"), "{error}");
    };
    early(1, &[load, other, store]);
    early(0, &[other]);
    let endless = with_setup(&["assume 0", "x=2"], "");
    let execution = cyrano_engine::Execution { order: vec![other], choices: vec![vec![]; 2], relations: None };
    let replayed = replay(&endless, &model("tso"), &execution);
    let error = replayed.expect_err("the setup does not end").to_string();
    assert!(error.starts_with("step 0: ") && error.contains("before the end of the setup thread"), "{error}");
}

#[test]
fn limits_make_a_verdict_bounded() {
    let program = notation::program(&["r0=x; limit r0==0; assert 1", "x=1"], "0r0");
    for name in MODELS {
        check(&program, name, &Property::Assertions, Verdict::Bounded);
        let answer = outcomes(&program, &model(name));
        assert_eq!((answer.verdict, answer.outcomes), (Verdict::Bounded, BTreeSet::from([vec![0]])), "{name}");
        assert_eq!(
            answer.reason.map(|cause| cause.to_string()).as_deref(),
            Some("executions beyond a limit were left out: objects")
        );
    }
    let never = notation::program(&["r0=x; limit r0==0; assert 1", "y=1"], "0r0");
    check(&never, "tso", &Property::Assertions, Verdict::Verified);
}

/// A limit in a section leaves the section out: it neither waits nor takes effect.
#[test]
fn limits_within_sections() {
    let code = ["atomic{; x=1; r0=y; limit r0==0; }; assert 1", "y=1; r0=x; assert r0==0"];
    let failed = Violation::Assertion { thread: ThreadId(1), instr: InstrId(2) };
    for name in MODELS {
        let found = check(&notation::program(&code, ""), name, &Property::Assertions, Verdict::Violated);
        assert_eq!(found, Some(failed.clone()), "{name}");
        let alone = ["atomic{; x=1; assert 0; limit 0; }", "r0=x; assert r0==0"];
        check(&notation::program(&alone, ""), name, &Property::Assertions, Verdict::Bounded);
    }
}

/// A program whose memory is: a gap, x (holding a pointer), a gap, y.
fn pointers(code: &[&str]) -> Program {
    let mut source = String::from(
        "program p\nlocation g: gap = 0\nlocation x = 24\nlocation h: gap = 0\nlocation y = undefined\n\
         array memory = g of 4\nthread t\nregister p = 0\nregister r = 0\n",
    );
    code.iter().enumerate().for_each(|(pc, op)| source += &format!("@{pc}: {op}\n"));
    let program = text::parse(&source).expect("the test's program can be read");
    cyrano_ir::verify(&program).expect("the test's program is valid");
    program
}

#[test]
fn pointers_point_to_words() {
    let load = "r := load memory[target(p)]";
    let error = |instr, error| Some(Violation::Error { thread: ThreadId(0), instr: InstrId(instr), error });
    let wrong = |code: &[&str]| check(&pointers(code), "relaxed", &Property::Assertions, Verdict::Violated);
    assert_eq!(wrong(&[load, "halt"]), error(0, EvalError::NullPointer));
    assert_eq!(wrong(&["p := 16", load, "halt"]), error(1, EvalError::BadPointer { address: 16 }));
    assert_eq!(wrong(&["p := 9", load, "halt"]), error(1, EvalError::BadPointer { address: 9 }));
    assert_eq!(wrong(&["p := 80", load, "halt"]), error(1, EvalError::OutOfBounds { index: 10, len: 4 }));
    let through = ["p := load x", load, "r := defined(r)", "halt"];
    assert_eq!(wrong(&through), error(2, EvalError::Undefined));
    let fine = ["p := load x", "store memory[target(p)], 7", load, "assert (r == 7)", "halt"];
    check(&pointers(&fine), "relaxed", &Property::Assertions, Verdict::Verified);
}

#[test]
fn observations_are_compared_with_the_allowed_ones() {
    let program = notation::program(&["x=1; r0=y", "y=1; r0=x"], "0r0 1r0");
    let serial = outcomes(&program, &model("sc")).outcomes;
    let allowed = Property::Observations(serial.clone());
    assert_eq!(check(&program, "sc", &allowed, Verdict::Verified), None);
    let outcome = vec![0, 0];
    let found = check(&program, "tso", &allowed, Verdict::Violated);
    assert_eq!(found, Some(Violation::Observation { outcome: outcome.clone() }));
    let in_memory = notation::program(&["x=1; r0=y", "y=1; r0=x"], "0r0 1r0 x");
    let none = Property::Observations(BTreeSet::new());
    assert!(check(&in_memory, "sc", &none, Verdict::Violated).is_some());
    let failing = notation::program(&["r0=x; assert r0==0", "x=1"], "0r0");
    let all = Property::Observations(BTreeSet::from([vec![0], vec![1]]));
    let failed = Violation::Assertion { thread: ThreadId(0), instr: InstrId(1) };
    assert_eq!(check(&failing, "sc", &all, Verdict::Violated), Some(failed));
    check(&notation::program(&["assume 0"], ""), "sc", &none, Verdict::Vacuous);
    // A claim about an allowed outcome, or another one than the final state shows, is not confirmed.
    let answer = holds(&program, &model("tso"), &allowed);
    let execution = answer.execution.expect("an execution");
    let claim = |allowed: &Property, outcome: Vec<i128>| {
        let violation = Violation::Observation { outcome };
        confirm(&program, &model("tso"), allowed, Some(&violation), &execution).expect_err("it is not so").to_string()
    };
    assert!(claim(&allowed, vec![0, 1]).contains("another outcome"));
    let more = Property::Observations(serial.into_iter().chain([outcome.clone()]).collect());
    assert!(claim(&more, outcome).contains("among the allowed ones"));
}
