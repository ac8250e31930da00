//! Properties: verdicts, violations, and that each violation found is confirmed by a replay.

use cyrano_engine::{Limits, Verdict, Violation};
use cyrano_ir::{BinOp, EvalError, Expr, FinalVar, InstrId, LocId, Property, Quantifier, RegId, ThreadId};

use super::{holds, model, notation};
use crate::meter::Meter;
use crate::order::Written;
use crate::trace::Status;
use crate::{confirm, values};

/// Asks for assertions under a model; what was found must be confirmed.
fn check(threads: &[&str], name: &str, verdict: Verdict) -> Option<Violation> {
    let program = notation::program(threads, "");
    let model = model(name);
    let answer = holds(&program, &model, &Property::Assertions);
    assert_eq!(answer.verdict, verdict, "{threads:?} under {name}: {:?} {:?}", answer.reason, answer.violation);
    if let Some(execution) = &answer.execution {
        let confirmed = confirm(&program, &model, &Property::Assertions, answer.violation.as_ref(), execution);
        assert!(confirmed.is_ok(), "{threads:?} under {name}: {} in {execution:?}", confirmed.unwrap_err());
    }
    assert_eq!(answer.execution.is_some(), verdict == Verdict::Violated);
    answer.violation
}

fn assertion(thread: u16, instr: u32) -> Option<Violation> {
    Some(Violation::Assertion { thread: ThreadId(thread), instr: InstrId(instr) })
}

#[test]
fn assertions() {
    let passing = ["x=1; y=1", "r0=y; unless r0 skip 2; r1=x; assert r1"];
    check(&passing, "sc", Verdict::Verified);
    check(&passing, "tso", Verdict::Verified);
    assert_eq!(check(&passing, "pso", Verdict::Violated), assertion(1, 3));
    assert_eq!(check(&passing, "relaxed", Verdict::Violated), assertion(1, 3));
    check(&["x=1", "r0=x"], "sc", Verdict::Vacuous);
    // No execution reaches the assertion, but all end without a failed one.
    check(&["r0=x; unless r0 skip 1; assert 0", "y=1"], "sc", Verdict::Verified);
    check(&["r0=x; assume r0; assert 0", "y=1"], "sc", Verdict::Vacuous);
    check(&["r0=x; while r0==0 back 1; assert r0==1", "x=1"], "sc", Verdict::Bounded);
}

#[test]
fn an_assertion_orders_nothing() {
    let threads = ["r0=y; assert r0==r0; r1=x; r2=r0+r0; assert r2==r1+r1+1", "x=1; fence store-store; y=1"];
    assert_eq!(check(&["r0=y; assert r0==0; r1=x", "x=1; y=1"], "sc", Verdict::Violated), assertion(0, 1));
    assert_eq!(check(&threads, "sc", Verdict::Violated), assertion(0, 4));
}

#[test]
fn errors() {
    let error = |instr, error| Some(Violation::Error { thread: ThreadId(0), instr: InstrId(instr), error });
    let found = check(&["r0=x; r1=1/r0", "x=1"], "sc", Verdict::Violated);
    assert_eq!(found, error(1, EvalError::DivisionByZero));
    let found = check(&["r0=x; unless 1/r0 skip 1; x=1"], "tso", Verdict::Violated);
    assert_eq!(found, error(1, EvalError::DivisionByZero));
    let found = check(&["r0=x; r1=a[r0]", "x=2"], "rmo", Verdict::Violated);
    assert_eq!(found, error(1, EvalError::OutOfBounds { index: 2, len: 2 }));
    let found = check(&["x=170141183460469231731687303715884105727; r0=add x 1"], "sc", Verdict::Violated);
    assert_eq!(found, error(1, EvalError::Overflow));
    check(&["assert 1; r0=x; assume r0; r1=1/r0", "x=1"], "sc", Verdict::Verified);
}

#[test]
fn deadlocks() {
    let lock = "atomic{; r0=x; assume r0==0; x=1; }";
    let cross = ["atomic{; r0=x; assume r0; }; y=1", "atomic{; r0=y; assume r0; }; x=1"];
    for name in ["sc", "tso", "pso", "rmo", "relaxed"] {
        let found = check(&[lock, lock], name, Verdict::Violated);
        assert!(matches!(found, Some(Violation::Deadlock { blocked }) if blocked.len() == 1), "{name}");
        let found = check(&cross, name, Verdict::Violated);
        assert!(matches!(found, Some(Violation::Deadlock { blocked }) if blocked.len() == 2), "{name}");
        let unlocking = format!("{lock}; x=0");
        check(&[&unlocking, &unlocking], name, Verdict::Verified);
    }
    // What a section did before its `assume` failed did not happen.
    check(&["atomic{; x=1; r0=y; assume r0; }", "r0=x; assert r0==0; y=1"], "sc", Verdict::Verified);
    // A section that can choose to pass is not blocked; one whose every choice fails is.
    check(&["atomic{; r0=choose 0 1; assume r0; }"], "sc", Verdict::Verified);
    check(&["atomic{; r0=choose 0 2; assume r0==1; }"], "sc", Verdict::Violated);
}

#[test]
fn endless_sections() {
    let found = check(&["atomic{; r0=x; while r0==0 back 1; }", "x=1"], "tso", Verdict::Violated);
    assert_eq!(found, Some(Violation::AtomicDiverges { thread: ThreadId(0), instr: InstrId(0) }));
    // The section diverges only on what it finds in the middle of the execution.
    let middle = ["x=1; x=0", "atomic{; r0=x; unless r0 skip 1; goto 0; }"];
    let found = check(&middle, "sc", Verdict::Violated);
    assert_eq!(found, Some(Violation::AtomicDiverges { thread: ThreadId(1), instr: InstrId(0) }));
    check(&["assert 1; x=1; atomic{; r0=x; while r0==0 back 1; }", "x=2"], "tso", Verdict::Verified);
    // A loop in a section that ends is followed to its end.
    check(&["atomic{; r0=r0+1; r1=r0==40; while r1==0 back 2; }; assert r0==40"], "sc", Verdict::Verified);
    check(&["atomic{; r0=r0+1; r1=r0==40; while r1==0 back 2; }; assert r0==41"], "sc", Verdict::Violated);
}

#[test]
fn endless_sections_only_look() {
    let code = "x=1; atomic{; y=1; r2=xchg y 1; r1=z; r1=z; fence store-load; r0=w; while r0==0 back 1; }";
    let program = notation::program(&[code], "");
    let (model, limits) = (model("tso"), Limits::default());
    let threads = values::traces(&program, &model, &mut Meter::new(&limits, &())).expect("within the limits");
    let endless = threads[0].iter().find(|trace| matches!(trace.status, Status::Diverges { cut: 1, .. }));
    let looks = &endless.expect("the section diverges on 0").events[1..];
    assert_eq!(looks.len(), 4, "one access for each location and kind: {looks:?}");
    assert_eq!(looks[1].read, None, "what the section wrote itself is not looked for");
    assert!(looks.iter().all(|event| event.written == Written::Nothing));
    assert!(looks[3].fenced.contains(0), "the fence counts for what stands before the section");
}

/// Asks about the final states of message passing.
fn check_final(name: &str, quantifier: Quantifier, verdict: Verdict) {
    let program = notation::program(&["x=1; y=1", "r0=y; r1=x"], "");
    let is = |register, value| {
        let var = Expr::Var(FinalVar::Reg(ThreadId(1), RegId(register)));
        Expr::binary(BinOp::Eq, var, Expr::Const(value))
    };
    let memory = Expr::binary(BinOp::Eq, Expr::Var(FinalVar::Loc(LocId(1))), Expr::Const(1));
    let cond = Expr::binary(BinOp::And, is(0, 1), is(1, 0));
    let cond = Expr::binary(BinOp::And, cond, memory);
    let property = Property::Final { quantifier, cond, text: "mp".into() };
    let answer = holds(&program, &model(name), &property);
    assert_eq!(answer.verdict, verdict, "{quantifier:?} under {name}");
    match &answer.execution {
        Some(execution) => {
            confirm(&program, &model(name), &property, answer.violation.as_ref(), execution).expect("confirmed");
        }
        None if verdict == Verdict::Violated => assert_eq!(answer.violation, Some(Violation::NoWitness)),
        None => assert_eq!(answer.violation, None),
    }
}

#[test]
fn final_states() {
    use Quantifier::{Always, Exists, Never};
    check_final("sc", Exists, Verdict::Violated);
    check_final("sc", Never, Verdict::Verified);
    check_final("sc", Always, Verdict::Violated);
    check_final("pso", Exists, Verdict::Verified);
    check_final("pso", Never, Verdict::Violated);
}

#[test]
fn no_final_state_is_vacuous() {
    let program = notation::program(&["assume 0"], "");
    for quantifier in [Quantifier::Exists, Quantifier::Never, Quantifier::Always] {
        let property = Property::Final { quantifier, cond: Expr::Const(1), text: "1".into() };
        assert_eq!(holds(&program, &model("sc"), &property).verdict, Verdict::Vacuous);
    }
}
