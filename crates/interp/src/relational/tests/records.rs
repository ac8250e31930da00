//! Recorded executions: what the engine shows is confirmed, and what was tampered with is not.

use cyrano_engine::{Engine, Execution, Inexact, Limits, Query, Question, Refusal, Verdict};
use cyrano_ir::{Expr, FinalVar, Program, Property, Quantifier, ThreadId};

use super::program;
use crate::{Interp, confirm};

/// That both registers `a` are 0.
fn both_zero(quantifier: Quantifier) -> Property {
    let register = |thread| Expr::Var(FinalVar::Reg(ThreadId(thread), cyrano_ir::RegId(0)));
    let sum = Expr::binary(cyrano_ir::BinOp::Add, register(0), register(1));
    let cond = Expr::binary(cyrano_ir::BinOp::Eq, sum, Expr::Const(0));
    Property::Final { quantifier, cond, text: "a = 0".into() }
}

fn sb() -> Program {
    program(&["store x, 1; a := load y", "store y, 1; a := load x"], "0:a 1:a")
}

fn witness(program: &Program, model: &str) -> Option<Execution> {
    let model = cyrano_memory::named(model).expect("a model");
    let property = both_zero(Quantifier::Exists);
    let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
    Interp.ask(query, &Limits::default(), &()).execution
}

#[test]
fn what_is_shown_is_confirmed_and_nothing_else() {
    let program = sb();
    let shown = witness(&program, "armv8").expect("store buffering is allowed");
    let confirmed = |model: &str, quantifier, execution: &Execution| {
        let model = cyrano_memory::named(model).expect("a model");
        confirm(&program, &model, &both_zero(quantifier), None, execution).map_err(|error| error.to_string())
    };
    let replayed = confirmed("armv8", Quantifier::Exists, &shown).expect("it was just found");
    assert_eq!((replayed.steps.len(), replayed.memory), (4, vec![1, 1, 0, 0, 0]));
    assert!(confirmed("cat:sc", Quantifier::Exists, &shown).is_err_and(|error| error.contains("`sc`")));
    assert!(confirmed("armv8", Quantifier::Never, &shown).is_err());
    assert!(confirmed("tso", Quantifier::Exists, &shown).is_err(), "the order of a list is no memory order");
    let tampered = |change: &dyn Fn(&mut Execution)| {
        let mut other = shown.clone();
        change(&mut other);
        confirmed("armv8", Quantifier::Exists, &other).expect_err("it was changed")
    };
    tampered(&|execution| execution.relations = None);
    tampered(&|execution| execution.order[1].read = Some(1));
    tampered(&|execution| execution.order[0].written = Some(2));
    tampered(&|execution| execution.order.truncate(3));
    tampered(&|execution| execution.order[0].index = 7);
    let relations = |change: &dyn Fn(&mut cyrano_engine::Relations)| {
        tampered(&|execution| change(execution.relations.as_mut().expect("it has some")))
    };
    relations(&|relations| relations.rf.clear());
    relations(&|relations| relations.rf[0] = (3, 2));
    relations(&|relations| relations.co.clear());
    relations(&|relations| relations.co[0] = (1, 3));
    relations(&|relations| relations.co.push((1, 0)));
    relations(&|relations| relations.fr.clear());
    relations(&|relations| relations.rf.push((9, 9)));
}

#[test]
fn assertions_fail_and_are_confirmed() {
    let program =
        program(&["store x, 1; store y, 1", "a := load y; b := load x; assert ((a == 0) || (b == 1))"], "1:a");
    for (name, verdict) in [("cat:tso", Verdict::Verified), ("armv8", Verdict::Violated)] {
        let model = cyrano_memory::named(name).expect("a model");
        let query = Query::new(&program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let answer = Interp.ask(query, &Limits::default(), &());
        assert_eq!(answer.verdict, verdict, "{name}");
        if let Some(execution) = &answer.execution {
            let replayed = confirm(&program, &model, &Property::Assertions, answer.violation.as_ref(), execution);
            replayed.expect("the engine's own execution");
        }
    }
}

#[test]
fn bounds_and_flags_are_told() {
    let verdict = |threads: &[&str], model: &str, property: &Property| {
        let program = program(threads, "0:a");
        let model = cyrano_memory::named(model).expect("a model");
        let query = Query::new(&program, &model, Question::Holds(property)).expect("a question");
        Interp.ask(query, &Limits::default(), &()).verdict
    };
    let spins = ["a := load x; branch (a == 1) then @2 else @0", "store x, 1"];
    assert_eq!(verdict(&spins, "armv8", &both_zero(Quantifier::Never)), Verdict::Bounded, "it may go on for ever");
    let races = ["store x, 1; a := load y {atomic}", "store x, 2; a := load y {atomic}"];
    assert_eq!(verdict(&races, "rc11", &Property::Observations([vec![0]].into())), Verdict::Unknown);
    let fine = ["store x, 1 {atomic}; a := load y {atomic}", "store x, 2 {atomic}"];
    assert_eq!(verdict(&fine, "rc11", &Property::Observations([vec![0]].into())), Verdict::Verified);
    let waits = ["atomic begin; a := load x; assume (a == 1); atomic end", "store x, 1"];
    assert_eq!(verdict(&waits, "armv8", &Property::Assertions), Verdict::Verified, "the store gets there");
    let in_vain = ["atomic begin; a := load x; assume (a == 1); atomic end", "store x, 1; store x, 2"];
    assert_eq!(verdict(&in_vain, "armv8", &Property::Assertions), Verdict::Violated, "the last store is another one");
}

#[test]
fn what_is_about_one_order_is_refused() {
    let refused = |threads: &[&str]| {
        let program = program(threads, "x");
        let model = cyrano_memory::named("armv8").expect("a model");
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        match Interp.supports(&query) {
            Err(Refusal::Inexact(Inexact::OneOrder { .. })) => true,
            Err(other) => panic!("{other}"),
            Ok(()) => false,
        }
    };
    assert!(refused(&["atomic begin; store x, 1; store y, 1; atomic end"]));
    assert!(refused(&["atomic begin; a := load x; b := load y; atomic end"]));
    assert!(refused(&["atomic begin; store x, 1; a := load x; atomic end"]));
    assert!(refused(&["atomic begin; a := load v[a]; store v[a], 1; atomic end"]), "not the same address");
    assert!(refused(&["atomic begin; a := load x; branch (a == 1) then @1 else @3; atomic end"]));
    assert!(!refused(&["atomic begin; a := load v[b]; branch (a == 1) then @3 else @4; store v[b], 2; atomic end"]));
    assert!(!refused(&["atomic begin; a := fetch_add x, 1; atomic end"]));
}
