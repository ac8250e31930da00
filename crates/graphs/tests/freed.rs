//! Objects that are freed under models about relations: executions, outcomes and verdicts are those of the reference, and what is shown is confirmed.

use std::cell::Cell;

use cyrano_conformance::compare::{Effort, agree_on, model, same_executions};
use cyrano_conformance::related::lives;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_graphs::Graphs;
use cyrano_interp::Interp;
use cyrano_ir::{EvalError, Program, Property};
use proptest::prelude::*;
use proptest::test_runner::TestError;

const MODELS: [&str; 2] = ["ra", "rc11"];

fn parsed(source: &str) -> Program {
    cyrano_ir::text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Compares executions and answers, by views and by the evaluator; says how many of them, and how often something is wrong.
fn compare(program: &Program) -> Result<(usize, usize, usize), String> {
    let mut executions = 0;
    for name in MODELS {
        let model = model(name);
        let query = Query::new(program, &model, Question::Outcomes).map_err(|why| format!("{name}: {why}"))?;
        let every = Graphs { idle_iterations: false, thread_symmetry: false, ..Graphs::default() };
        if let (Some(Ok(all)), Some(Ok(found))) =
            (cyrano_interp::all_executions(&query, &limits(0.1, 2)), every.executions(&query, &limits(0.1, 2)))
        {
            executions += same_executions(&found, &all).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    let [views, evaluator] = [false, true].map(|by_axioms| Graphs { by_axioms, ..Graphs::default() });
    let effort = Effort { slow: &|| limits(0.2, 2), fast: &|| limits(0.2, 2), models: &MODELS };
    let tally = agree_on(program, &[&views, &evaluator], &effort).map_err(|why| why.to_string())?;
    Ok((executions, tally.compared, tally.violated))
}

#[test]
fn lives_of_objects_are_those_of_the_reference() {
    let cases = if pinned::long() { 20_000 } else { 200 };
    let (executions, answers, wrong) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let result = pinned::runner(cases, file!()).run(&lives(), |source| {
        let found = compare(&parsed(&source)).map_err(TestCaseError::fail)?;
        executions.set(executions.get() + found.0);
        answers.set(answers.get() + found.1);
        wrong.set(wrong.get() + found.2);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, source)) => panic!("{reason}\n{source}"),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (executions, answers, wrong, cases) = (executions.get(), answers.get(), wrong.get(), cases as usize);
    println!("{executions} executions, {answers} answers, {wrong} of {} verdicts are violations", 2 * cases);
    assert!(executions >= 3 * cases && answers >= 6 * cases, "{executions} executions, {answers} answers");
    assert!(wrong >= cases / 4 && wrong <= 2 * cases - cases / 4, "{wrong} wrong");
}

/// What goes wrong under rc11 in a program of an object `w` and a flag `f`, if anything does.
fn wrong(threads: &[&[&str]]) -> Option<EvalError> {
    let mut source = String::from(
        "program p\nlocation g: gap = 0\nlocation h: header = 0\nlocation w = 5\nlocation e: gap = 0\nlocation f = 0\n\
         array objects = g of 4 headers\n",
    );
    for (number, thread) in threads.iter().enumerate() {
        source.push_str(&format!("thread t{number}\nregister r = 0\n"));
        (0..).zip(thread.iter().chain(&["halt"])).for_each(|(pc, line)| source.push_str(&format!("@{pc}: {line}\n")));
    }
    let (program, model, property) = (parsed(&source), model("rc11"), Property::Assertions);
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    let [found, reference] =
        [Graphs::default().ask(query, &limits(1.0, 3), &()), Interp.ask(query, &limits(5.0, 3), &())];
    let error = |answer: &cyrano_engine::Answer| match &answer.violation {
        Some(cyrano_engine::Violation::Error { error, .. }) => Some(*error),
        Some(other) => panic!("{other:?}"),
        None => None,
    };
    assert_eq!(error(&found), error(&reference), "{source}");
    assert_eq!(found.verdict == Verdict::Violated, reference.verdict == Verdict::Violated, "{source}");
    if let Some(execution) = &found.execution {
        let confirmed = cyrano_interp::confirm(&program, &model, &property, found.violation.as_ref(), execution);
        confirmed.unwrap_or_else(|error| panic!("not confirmed: {error}\n{source}"));
    }
    error(&found)
}

const FREE: &str = "store objects[1], 1";

/// A message that synchronises, or not, between who uses an object and who frees it.
#[test]
fn a_free_synchronises_with_those_before() {
    let read = "r := load w {atomic}";
    for (store, load, expected) in [
        ("store f, 1 {atomic release}", "r := load f {atomic acquire}", None),
        ("store f, 1 {atomic}", "r := load f {atomic acquire}", Some(EvalError::Freed)),
        ("store f, 1 {atomic release}", "r := load f {atomic}", Some(EvalError::Freed)),
    ] {
        assert_eq!(wrong(&[&[read, store], &[load, "assume (r == 1)", FREE]]), expected, "{store}; {load}");
    }
    assert_eq!(wrong(&[&[read], &[FREE]]), Some(EvalError::Freed));
    assert_eq!(wrong(&[&[FREE], &[FREE]]), Some(EvalError::DoubleFree));
    assert_eq!(wrong(&[&[FREE, FREE]]), Some(EvalError::DoubleFree));
    assert_eq!(wrong(&[&[FREE, read]]), Some(EvalError::Freed));
}

/// Whoever makes an object alive again knows what was done before it was freed; others do not know that it is alive.
#[test]
fn an_object_lives_again() {
    let again = ["r := cas objects[1], 1, 0", "assume (r == 1)"];
    let mine = [again[0], again[1], "store w, 7 {atomic}"];
    assert_eq!(wrong(&[&["store w, 6 {atomic}", FREE], &mine]), None);
    assert_eq!(wrong(&[&["store w, 6 {atomic}", FREE, again[0], again[1], FREE], &mine]), None);
    assert_eq!(
        wrong(&[
            &[FREE],
            &[again[0], again[1], "store f, 1 {atomic}"],
            &["r := load f {atomic}", "assume (r == 1)", "r := load w"]
        ]),
        Some(EvalError::Freed)
    );
    // Of two who free it the second is one too many, but for a life in between.
    assert_eq!(wrong(&[&[FREE], &[again[0], again[1], FREE]]), None);
    assert_eq!(wrong(&[&[FREE, again[0]], &[FREE]]), Some(EvalError::DoubleFree));
}

/// An iteration that changes nothing reads an object that is freed for what comes after the loop.
#[test]
fn an_idle_iteration_may_read_what_is_freed() {
    // Goes round while `f` is 0, reading `w` in the rounds that do so; tells who frees, without an order.
    let spins = [
        "r := load f {atomic}",
        "branch (r == 0) then @2 else @4",
        "r := load w {atomic}",
        "jump @0",
        "store f, 2 {atomic}",
    ];
    let frees = ["store f, 1 {atomic}", "r := load f {atomic}", "assume (r == 2)", FREE];
    assert_eq!(wrong(&[&spins, &frees]), Some(EvalError::Freed));
}
