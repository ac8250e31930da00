//! Values that nobody looks at have names: what is observed is what it is with every value tried, and what is shown is replayed, on random programs that copy what
//! they chose and now and then look at it.

use std::cell::Cell;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_graphs::Graphs;
use cyrano_ir::{Program, Property};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};

const MODELS: [&str; 5] = ["sc", "tso", "pso", "ra", "rc11"];

/// Instructions of a thread; most of them copy.
fn instruction() -> impl Strategy<Value = String> {
    let loc = || prop::sample::select(vec!["x", "y"]);
    let reg = || prop::sample::select(vec!["a", "b"]);
    prop_oneof![
        4 => reg().prop_map(|r| format!("{r} := choose 0, 1")),
        1 => reg().prop_map(|r| format!("{r} := choose 0, 200")),
        4 => (loc(), reg()).prop_map(|(l, r)| format!("store {l}, {r} {{atomic release}}")),
        4 => (loc(), reg()).prop_map(|(l, r)| format!("{r} := load {l} {{atomic acquire}}")),
        2 => (loc(), reg(), reg()).prop_map(|(l, r, s)| format!("{r} := exchange {l}, {s} {{atomic acquire release}}")),
        2 => (reg(), reg()).prop_map(|(r, s)| format!("{r} := {s}")),
        1 => (reg(), reg()).prop_map(|(r, s)| format!("{r} := wrap_u8({s})")),
        1 => (reg(), reg()).prop_map(|(r, s)| format!("{r} := ({s} + 1)")),
        1 => (loc(), reg(), reg()).prop_map(|(l, r, s)| format!("{r} := cas {l}, {s}, 1 {{atomic acquire release}}")),
        1 => (loc(), reg(), reg()).prop_map(|(l, r, s)| format!("{r} := fetch_add {l}, {s} {{atomic acquire release}}")),
        1 => (reg(), reg()).prop_map(|(r, s)| format!("{r} := t0[({s} % 2) of 2]")),
        1 => reg().prop_map(|r| format!("assume ({r} != 1)")),
    ]
}

fn text(threads: &[Vec<String>]) -> String {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\n");
    for (number, thread) in threads.iter().enumerate() {
        source
            .push_str(&format!("thread t{number}\nregister a = 0\nregister b = 0\nregister t0 = 3\nregister t1 = 4\n"));
        for (pc, op) in thread.iter().map(String::as_str).chain(["halt"]).enumerate() {
            source.push_str(&format!("@{pc}: {op}\n"));
        }
    }
    for (name, var) in [("a0", "t0:a"), ("b0", "t0:b"), ("a1", "t1:a"), ("b1", "t1:b"), ("x", "x"), ("y", "y")] {
        source.push_str(&format!("observe {name} = {var}\n"));
    }
    source
}

fn ask(program: &Program, name: &str, question: Question<'_>, unseen_values: bool) -> Option<Answer> {
    let model = model(name);
    let query = Query::new(program, &model, question).ok()?;
    let answer = Graphs { unseen_values, ..Graphs::default() }.ask(query, &limits(0.2, 3), &());
    (answer.verdict != Verdict::Unknown).then_some(answer)
}

/// Compares what is observed; then leaves the last observation out of what is allowed, which has to be found and replayed.
fn compare(program: &Program, saved: &Cell<u64>) -> Result<usize, String> {
    let mut compared = 0;
    for name in MODELS {
        let answers = (ask(program, name, Question::Outcomes, true), ask(program, name, Question::Outcomes, false));
        let (Some(with), Some(without)) = answers else { continue };
        if with.outcomes != without.outcomes {
            let (more, less) = (&with.outcomes - &without.outcomes, &without.outcomes - &with.outcomes);
            return Err(format!("{name}: won {more:?}, lost {less:?}"));
        }
        compared += usize::from(!with.outcomes.is_empty());
        saved.set(saved.get() + u64::from(with.stats.executions < without.stats.executions));
        let mut allowed = with.outcomes;
        let Some(last) = allowed.pop_last() else { continue };
        let property = Property::Observations(allowed);
        let answer = ask(program, name, Question::Holds(&property), true).ok_or("no answer")?;
        let execution = answer.execution.as_ref().ok_or_else(|| format!("{name}: {last:?} is missed"))?;
        cyrano_interp::confirm(program, &model(name), &property, answer.violation.as_ref(), execution)
            .map_err(|why| format!("{name}: {why:?}"))?;
    }
    Ok(compared)
}

#[test]
fn names_stand_for_all_values() {
    let cases = if pinned::long() { 20_000 } else { 400 };
    let (compared, saved) = (Cell::new(0), Cell::new(0));
    let threads = prop::collection::vec(prop::collection::vec(instruction(), 1..5), 2..=2);
    let result = pinned::runner(cases, file!()).run(&threads, |threads| {
        let source = text(&threads);
        let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        compared.set(compared.get() + compare(&program, &saved).map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} compared, {} with fewer executions", compared.get(), saved.get());
    assert!(compared.get() >= cases as usize, "only {} answers were compared", compared.get());
    assert!(2 * saved.get() >= u64::from(cases), "only {} had fewer executions", saved.get());
}
