//! Idle iterations: what is observed does not change when they are left out, and the locks of the library are judged as they are promised to be.

use std::cell::Cell;

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_graphs::Graphs;
use cyrano_interp::Interp;
use cyrano_ir::{Liveness, Program, Property};
use proptest::prelude::*;
use proptest::test_runner::TestError;

const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

/// Instructions of which some are loops: waiting for a value, with and without a fence, a second read or a failed swap in the loop; a loop that counts.
fn instruction() -> impl Strategy<Value = Vec<String>> {
    let loc = || prop::sample::select(vec!["x", "y"]);
    let load = || prop::sample::select(vec![" {atomic}", " {atomic acquire}", " {atomic seq_cst}", ""]);
    let store = || prop::sample::select(vec![" {atomic}", " {atomic release}", " {atomic seq_cst}", ""]);
    let one = |text: String| vec![text];
    prop_oneof![
        3 => (loc(), load()).prop_map(move |(l, t)| one(format!("a := load {l}{t}"))),
        4 => (loc(), 1..3, store()).prop_map(move |(l, v, t)| one(format!("store {l}, {v}{t}"))),
        1 => loc().prop_map(move |l| one(format!("b := fetch_add {l}, 1 {{atomic acquire release}}"))),
        3 => (loc(), load(), 1..3).prop_map(|(l, t, v)| vec![
            format!("a := load {l}{t}"), format!("branch (a == {v}) then +1 else -1")]),
        1 => (loc(), load(), loc(), load()).prop_map(|(l, t, m, u)| vec![
            format!("a := load {l}{t}"), format!("b := load {m}{u}"), "branch ((a == 1) || (b == 1)) then +1 else -2".into()]),
        1 => (loc(), load()).prop_map(|(l, t)| vec![
            format!("a := load {l}{t}"), "fence thread_fence.acquire".into(), "branch (a != 0) then +1 else -2".into()]),
        1 => loc().prop_map(|l| vec![
            format!("a := cas {l}, 1, 2 {{atomic acquire release}}"), "branch (a == 1) then +1 else -1".into()]),
        1 => loc().prop_map(|l| vec![
            format!("a := exchange {l}, 1 {{atomic acquire release}}"), "branch (a == 0) then +1 else -1".into()]),
        1 => (loc(), load()).prop_map(|(l, t)| vec![
            "b := choose 0, 1".into(), format!("a := load {l}{t}"), "branch ((b == 1) && (a != 0)) then +1 else -2".into()]),
        1 => (loc(), 0..2).prop_map(|(l, v)| vec![
            "atomic begin".into(), format!("a := load {l} {{atomic acquire}}"), format!("assume (a == {v})"), "atomic end".into()]),
        1 => loc().prop_map(|l| vec![
            "atomic begin".into(), format!("a := load {l} {{atomic acquire}}"), "assume (a == 0)".into(),
            format!("store {l}, 1 {{atomic}}"), "atomic end".into()]),
        1 => (loc(), load()).prop_map(|(l, t)| vec![
            format!("a := load {l}{t}"), "c := (c + 1)".into(), "branch ((a != 0) || (c > 1)) then +1 else -2".into()]),
    ]
}

fn threads() -> impl Strategy<Value = Vec<Vec<Vec<String>>>> {
    prop::collection::vec(prop::collection::vec(instruction(), 1..4), 2..4)
}

/// The program; a jump by `+1` or `-2` is one by so many instructions.
fn text(threads: &[Vec<Vec<String>>]) -> String {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\n");
    for (number, thread) in threads.iter().enumerate() {
        source.push_str(&format!("thread t{number}\nregister a = 0\nregister b = 0\nregister c = 0\n"));
        for (pc, op) in thread.iter().flatten().map(String::as_str).chain(["halt"]).enumerate() {
            let to = |word: &str| match word.strip_prefix('-') {
                Some(back) => pc - back.parse::<usize>().expect("a number"),
                None => pc + 1,
            };
            let words = op.split(' ').map(|word| match word {
                "+1" | "-1" | "-2" => format!("@{}", to(word)),
                word => word.to_owned(),
            });
            source.push_str(&format!("@{pc}: {}\n", words.collect::<Vec<_>>().join(" ")));
        }
    }
    for (name, var) in [("a0", "t0:a"), ("b0", "t0:b"), ("a1", "t1:a"), ("b1", "t1:b"), ("x", "x"), ("y", "y")] {
        source.push_str(&format!("observe {name} = {var}\n"));
    }
    source
}

fn ask(program: &Program, name: &str, idle_iterations: bool) -> Option<Answer> {
    let model = model(name);
    let query = Query::new(program, &model, Question::Outcomes).ok()?;
    let graphs = Graphs { idle_iterations, stale_waits: idle_iterations, ..Graphs::default() };
    let answer = graphs.ask(query, &limits(0.2, 3), &());
    (answer.verdict != Verdict::Unknown).then_some(answer)
}

fn compare(program: &Program) -> Result<usize, String> {
    let mut compared = 0;
    for name in MODELS {
        let (Some(with), Some(without)) = (ask(program, name, false), ask(program, name, true)) else { continue };
        if with.outcomes != without.outcomes {
            let (more, less) = (&with.outcomes - &without.outcomes, &without.outcomes - &with.outcomes);
            return Err(format!("{name}: lost {more:?}, won {less:?}"));
        }
        // A thread that spins for ever may race; cut off after some iterations, it has not ended and is not looked at.
        if !with.flags.is_subset(&without.flags) {
            return Err(format!("{name}: {:?} instead of {:?}", without.flags, with.flags));
        }
        compared += usize::from(!with.outcomes.is_empty());
    }
    Ok(compared)
}

#[test]
fn what_is_observed_stays_without_idle_iterations() {
    let cases = if pinned::long() { 20_000 } else { 600 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&threads(), |threads| {
        let source = text(&threads);
        let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        compared.set(compared.get() + compare(&program).map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} compared", compared.get());
    assert!(2 * compared.get() >= cases as usize, "only {} answers were compared", compared.get());
}

/// Races are found with and without idle iterations, whoever looks for them; what is shown is confirmed.
#[test]
fn races_stay_without_idle_iterations() {
    let cases = if pinned::long() { 5_000 } else { 100 };
    let model = model("rc11");
    let counts = Cell::new((0, 0));
    let result = pinned::runner(cases, file!()).run(&threads(), |threads| {
        let program = cyrano_ir::text::parse(&text(&threads)).expect("a program");
        let query = Query::new(&program, &model, Question::Holds(&Property::Races)).expect("a question");
        let found = Graphs::default().ask(query, &limits(0.2, 3), &());
        if let Some(execution) = &found.execution {
            let violation = found.violation.as_ref();
            let confirmed = cyrano_interp::confirm(&program, &model, &Property::Races, violation, execution);
            confirmed.map_err(|error| TestCaseError::fail(format!("not confirmed: {error}")))?;
        }
        let unrolled = Graphs { idle_iterations: false, ..Graphs::default() }.ask(query, &limits(0.2, 3), &());
        let reference = Interp.ask(query, &limits(0.1, 3), &());
        let (mut racy, mut free) = counts.get();
        match found.verdict {
            Verdict::Violated => racy += 1,
            Verdict::Unknown => {}
            _ if [unrolled.verdict, reference.verdict].contains(&Verdict::Violated) => {
                return Err(TestCaseError::fail(format!("{} instead of a race", found.verdict.name())));
            }
            _ => free += 1,
        }
        counts.set((racy, free));
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (racy, free) = counts.get();
    println!("{racy} with races, {free} without");
    assert!(racy.min(free) >= cases / 20, "{racy} with races, {free} without");
}

/// A race of an iteration that changes nothing with a write that comes of what the thread does later.
#[test]
fn a_race_in_an_idle_iteration_is_found() {
    let source = "program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n\
        thread t\nregister a = 0\nregister b = 0\n\
        @0: a := load y {atomic}\n@1: branch (a == 0) then @2 else @4\n@2: b := load x\n@3: jump @0\n\
        @4: store z, 1 {atomic}\n@5: halt\n\
        thread u\nregister c = 0\n\
        @0: c := load z {atomic}\n@1: assume (c == 1)\n@2: store x, 1\n@3: halt\n\
        thread v\n@0: store y, 1 {atomic}\n@1: halt\n";
    let program = cyrano_ir::text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let model = model("rc11");
    for property in [Property::Races, Property::Observations([vec![]].into())] {
        let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
        let answer = Graphs::default().ask(query, &limits(1.0, 3), &());
        let wanted = if property == Property::Races { Verdict::Violated } else { Verdict::Unknown };
        assert_eq!(answer.verdict, wanted, "{answer:?}");
    }
}

/// Who never ends is found by the reference as well, and what is shown is confirmed.
#[test]
fn threads_that_hang_are_those_of_the_reference() {
    let cases = if pinned::long() { 5_000 } else { 150 };
    let hang = Cell::new((0, 0));
    let result = pinned::runner(cases, file!()).run(&threads(), |threads| {
        let program = cyrano_ir::text::parse(&text(&threads)).expect("a program");
        for name in MODELS {
            let model = model(name);
            let property = Property::Live(Liveness::Termination);
            let Ok(query) = Query::new(&program, &model, Question::Holds(&property)) else { continue };
            let (one, other) =
                (Graphs::default().ask(query, &limits(0.1, 3), &()), Interp.ask(query, &limits(0.1, 3), &()));
            if let Some(execution) = &one.execution {
                let violation = one.violation.as_ref();
                let confirmed = cyrano_interp::confirm(&program, &model, &property, violation, execution);
                confirmed.map_err(|error| TestCaseError::fail(format!("{name}: not confirmed: {error}")))?;
            }
            let (mut hangs, mut ends) = hang.get();
            match (one.verdict, other.verdict) {
                (Verdict::Verified, Verdict::Violated) | (Verdict::Violated, Verdict::Verified) => {
                    let both = format!("{name}: {} and {}", one.verdict.name(), other.verdict.name());
                    return Err(TestCaseError::fail(both));
                }
                (Verdict::Violated, Verdict::Violated) => hangs += 1,
                (Verdict::Verified, Verdict::Verified | Verdict::Bounded) => ends += 1,
                _ => {}
            }
            hang.set((hangs, ends));
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, threads)) => panic!("{reason}\n{}", text(&threads)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (hangs, ends) = hang.get();
    println!("{hangs} hang, {ends} end");
    assert!(hangs >= 20 && ends >= 5, "{hangs} hang, {ends} end");
}

/// The locks of the library, under models with one order of all accesses.
#[test]
fn locks_are_judged_as_promised() {
    let compared = corpus::for_each(&corpus::in_folder("locks"), |_, entry| {
        let Ok(program) = cyrano_rml::compile(&entry.source, "lock", &[]) else { return Ok(0) };
        let mut compared = 0;
        let promises = entry.expectations.iter().chain(&entry.progress);
        for promise in promises.filter(|promise| promise.property == "assertions") {
            if !["sc", "tso", "pso"].contains(&promise.model.as_str()) {
                continue;
            }
            let verdict = judged(&program, &promise.model, &Property::Assertions);
            if !matches!(verdict, Verdict::Verified | Verdict::Violated) {
                continue;
            }
            if verdict.name() != promise.verdict {
                return Err(format!("{}: {} instead of {}", promise.model, verdict.name(), promise.verdict));
            }
            compared += 1;
        }
        Ok(compared)
    });
    assert!(compared >= 20, "only {compared} verdicts were compared");
}

fn judged(program: &Program, name: &str, property: &Property) -> Verdict {
    let model = model(name);
    let Ok(query) = Query::new(program, &model, Question::Holds(property)) else { return Verdict::Unknown };
    let answer = Graphs::default().ask(query, &limits(1.0, 3), &());
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        let confirmed = cyrano_interp::confirm(program, &model, property, violation, execution);
        confirmed.unwrap_or_else(|error| panic!("{name}: not confirmed: {error}"));
    }
    answer.verdict
}
