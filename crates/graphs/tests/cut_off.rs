//! Loops that are cut off: whatever an engine shows of such a program is confirmed, and no two engines contradict each other.
//!
//! A thread that is cut off stands in front of anything: a store, a fence, a section, a choice. What is recorded of it ends there, and so does whoever runs it again.

mod programs;

use std::cell::Cell;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_graphs::Graphs;
use cyrano_interp::Interp;
use cyrano_ir::{Liveness, Program, Property};
use cyrano_symbolic::Symbolic;
use proptest::prelude::*;
use proptest::test_runner::TestError;

use programs::looped;

const MODELS: [&str; 5] = ["sc", "tso", "cat:tso", "ra", "rc11"];

/// What stands in a loop or outside.
fn instruction() -> impl Strategy<Value = Vec<String>> {
    let loc = || prop::sample::select(vec!["x", "y"]);
    let register = || prop::sample::select(vec!["a", "b"]);
    let load = prop::sample::select(vec![" {atomic}", " {atomic acquire}", " {atomic seq_cst}", ""]);
    let store = || prop::sample::select(vec![" {atomic}", " {atomic release}", " {atomic seq_cst}", ""]);
    let value = || prop::sample::select(vec!["1", "2", "(c + 1)"]);
    let one = |text: String| vec![text];
    prop_oneof![
        4 => (register(), loc(), load).prop_map(move |(r, l, t)| one(format!("{r} := load {l}{t}"))),
        6 => (loc(), value(), store()).prop_map(move |(l, v, t)| one(format!("store {l}, {v}{t}"))),
        1 => (register(), loc()).prop_map(move |(r, l)| one(format!("{r} := fetch_add {l}, 1 {{atomic acquire release}}"))),
        1 => (loc(), value()).prop_map(move |(l, v)| one(format!("a := cas {l}, 0, {v} {{atomic acquire release}}"))),
        1 => Just(one("fence thread_fence.seq_cst".into())),
        1 => register().prop_map(move |r| one(format!("{r} := choose 0, 1"))),
        2 => (register(), 0..4).prop_map(move |(r, v)| one(format!("assert ({r} != {v})"))),
        1 => (loc(), value()).prop_map(|(l, v)| vec![
            "atomic begin".into(), format!("a := load {l} {{atomic acquire}}"), format!("store {l}, {v} {{atomic}}"), "atomic end".into()]),
        1 => loc().prop_map(|l| vec![
            "atomic begin".into(), format!("b := load {l} {{atomic acquire}}"), "assume (b != 1)".into(), "atomic end".into()]),
    ]
}

/// A loop around some of these, which counts or not, and is left when a register holds this.
fn round() -> impl Strategy<Value = Vec<String>> {
    let body = prop::collection::vec(instruction(), 1..4);
    let leaves = prop::sample::select(vec!["(a == 1)", "(a != 0)", "(b == 2)", "((a == 1) || (b == 1))", "(c == 9)"]);
    (body, any::<bool>(), leaves).prop_map(|(body, counts, leaves)| {
        let mut all = body.concat();
        all.extend(counts.then(|| "c := (c + 1)".to_owned()));
        let back = all.len();
        all.push(format!("branch {leaves} then +1 else -{back}"));
        all
    })
}

fn threads() -> impl Strategy<Value = Vec<Vec<Vec<String>>>> {
    let first = (prop::collection::vec(instruction(), 0..2), round(), prop::collection::vec(instruction(), 0..2));
    let first = first.prop_map(|(before, round, after)| [before, vec![round], after].concat());
    let other = prop::collection::vec(prop_oneof![4 => instruction(), 1 => round()], 1..4);
    (first, prop::collection::vec(other, 1..3)).prop_map(|(first, others)| {
        let mut threads = others;
        threads.insert(0, first);
        threads
    })
}

/// What came of the questions: how many were violated and how many were not, both by two engines or more.
#[derive(Clone, Copy, Default)]
struct Told {
    violated: usize,
    not: usize,
}

/// Asks every engine; what one shows is confirmed, and what one calls right no other calls wrong.
fn compare(program: &Program, iterations: usize) -> Result<Told, String> {
    let (graphs, symbolic, explore) = (Graphs::default(), Symbolic::default(), Explore::default());
    let unreduced = Graphs { idle_iterations: false, fresh_objects: false, ..graphs };
    let engines: [&dyn Engine; 5] = [&Interp, &graphs, &unreduced, &symbolic, &explore];
    let properties = [Property::Assertions, Property::Races, Property::Live(Liveness::Termination)];
    let mut told = Told::default();
    for (name, property) in MODELS.iter().flat_map(|name| properties.iter().map(move |property| (name, property))) {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Holds(property)) else { continue };
        let mut verdicts = Vec::new();
        for (number, engine) in engines.iter().enumerate() {
            // The symbolic engine is compared about termination elsewhere, on smaller programs.
            let takes_long = engine.name() == "symbolic" && matches!(property, Property::Live(_));
            if takes_long || engine.supports(&query).is_err() {
                continue;
            }
            let within = Limits { memory: 1 << 27, ..limits(0.01, iterations) };
            let answer = engine.ask(query, &within, &());
            if let Some(execution) = &answer.execution {
                let confirmed = cyrano_interp::confirm(program, &model, property, answer.violation.as_ref(), execution);
                let what = |error| format!("{name}, {}, engine {number}: not confirmed: {error}", property.criterion());
                confirmed.map_err(what)?;
            }
            verdicts.push(answer.verdict);
        }
        let count = |verdict| verdicts.iter().filter(|other| **other == verdict).count();
        if count(Verdict::Violated) > 0 && count(Verdict::Verified) > 0 {
            return Err(format!("{name}, {}: {verdicts:?}", property.criterion()));
        }
        told.violated += usize::from(count(Verdict::Violated) > 1);
        told.not += usize::from(count(Verdict::Verified) + count(Verdict::Bounded) > 1);
    }
    Ok(told)
}

#[test]
fn what_is_shown_of_loops_that_are_cut_off_is_confirmed() {
    let cases = if pinned::long() { 10_000 } else { 20 };
    let counted = Cell::new(Told::default());
    let result = pinned::runner(cases, file!()).run(&(threads(), 1..3usize), |(threads, iterations)| {
        let source = looped(&threads);
        let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let told = compare(&program, iterations).map_err(TestCaseError::fail)?;
        let Told { violated, not } = counted.get();
        counted.set(Told { violated: violated + told.violated, not: not + told.not });
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (threads, iterations))) => {
            panic!("{reason}, {iterations} iterations\n{}", looped(&threads))
        }
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let Told { violated, not } = counted.get();
    println!("{violated} violated, {not} not");
    assert!(violated >= 2 * cases as usize && not >= 2 * cases as usize, "{violated} violated, {not} not");
}
