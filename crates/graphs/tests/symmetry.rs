//! Equal threads: what is found, with their threads exchanged in every way, are all executions, each once.

use std::cell::Cell;
use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Execution, Query, Question, Relations, Verdict};
use cyrano_graphs::Graphs;
use cyrano_ir::{Program, ThreadId};
use proptest::prelude::*;
use proptest::test_runner::TestError;

const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

fn graphs(thread_symmetry: bool) -> Graphs {
    Graphs { thread_symmetry, ..Graphs::default() }
}

/// The execution in which each thread takes the part of another one.
fn exchanged(execution: &Execution, to: &[usize]) -> Execution {
    let renamed = |thread: ThreadId| ThreadId::new(to[thread.index()]);
    let mut order: Vec<usize> = (0..execution.order.len()).collect();
    order.sort_by_key(|at| (renamed(execution.order[*at].thread), execution.order[*at].index));
    let number = |old: usize| match old {
        0 => 0,
        _ => 1 + order.iter().position(|at| *at == old - 1).expect("an access"),
    };
    let moved = |pairs: &[(usize, usize)]| {
        let mut moved: Vec<_> = pairs.iter().map(|(from, to)| (number(*from), number(*to))).collect();
        moved.sort_unstable();
        moved
    };
    let relations = execution.relations.as_deref().expect("relations");
    let relations =
        Relations { rf: moved(&relations.rf), co: moved(&relations.co), fr: moved(&relations.fr), kept: Vec::new() };
    let mut choices = execution.choices.clone();
    execution.choices.iter().zip(to).for_each(|(from, to)| choices[*to].clone_from(from));
    let access =
        |at: &usize| cyrano_engine::Access { thread: renamed(execution.order[*at].thread), ..execution.order[*at] };
    Execution { order: order.iter().map(access).collect(), choices, relations: Some(Box::new(relations)) }
}

/// All permutations of the first `equal` of so many threads.
fn exchanges(threads: usize, equal: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..equal {
        let longer = |one: &Vec<usize>| {
            let one = one.clone();
            (0..equal).filter(|next| !one.contains(next)).map(|next| [&*one, &[next]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.iter().map(|one| one.iter().copied().chain(equal..threads).collect()).collect()
}

/// Compares under every model; says how many executions were left out.
fn compare(program: &Program, equal: usize) -> Result<usize, String> {
    let exchanges = exchanges(program.threads.len(), equal);
    let mut left_out = 0;
    for name in MODELS {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let found = |symmetry| graphs(symmetry).executions(&query, &limits(0.5, 2));
        let (Some(Ok(sorted)), Some(Ok(all))) = (found(true), found(false)) else { continue };
        let keys = |all: Vec<Execution>| all.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>();
        let same: Vec<usize> = (0..program.threads.len()).collect();
        let wanted: BTreeSet<String> =
            keys(all.iter().map(|one| exchanged(one, &same)).collect()).into_iter().collect();
        let orbits = sorted.iter().flat_map(|one| exchanges.iter().map(|to| exchanged(one, to))).collect();
        let orbits = keys(orbits);
        let distinct: BTreeSet<String> = orbits.iter().cloned().collect();
        if distinct.len() != orbits.len() {
            return Err(format!(
                "{name}: {} executions of {} classes are the same",
                orbits.len() - distinct.len(),
                sorted.len()
            ));
        }
        if distinct != wanted {
            return Err(format!("{name}: {} executions instead of {}", distinct.len(), wanted.len()));
        }
        left_out += all.len() - sorted.len();
    }
    Ok(left_out)
}

/// Instructions; `z` is only updated.
fn instruction() -> impl Strategy<Value = String> {
    let loc = || prop::sample::select(vec!["x", "y"]);
    let load = prop::sample::select(vec!["", " {atomic}", " {atomic acquire}", " {atomic seq_cst}"]);
    let store = prop::sample::select(vec![" {atomic}", " {atomic release}", " {atomic seq_cst}"]);
    let update = prop::sample::select(vec![" {atomic}", " {atomic acquire release}", " {atomic seq_cst}"]);
    let register = || prop::sample::select(vec!["a", "b"]);
    prop_oneof![
        4 => (register(), prop::sample::select(vec!["x", "y", "z"]), load).prop_map(|(r, l, t)| format!("{r} := load {l}{t}")),
        4 => (loc(), prop::sample::select(vec!["1", "a", "b + 1"]), store).prop_map(|(l, v, t)| format!("store {l}, ({v}){t}")),
        1 => (register(), prop::sample::select(vec!["x", "z"]), update.clone()).prop_map(|(r, l, t)| format!("{r} := fetch_add {l}, 1{t}")),
        1 => (register(), prop::sample::select(vec!["y", "z"]), update).prop_map(|(r, l, t)| format!("{r} := cas {l}, 1, 3{t}")),
        1 => Just("fence thread_fence.seq_cst".to_owned()),
        1 => register().prop_map(|r| format!("{r} := choose 0, 1")),
        1 => register().prop_map(|r| format!("assume ({r} < 2)")),
    ]
}

/// How many equal threads there are, what they do after they have begun, and what another thread does.
fn threads() -> impl Strategy<Value = (usize, &'static str, Vec<String>, Vec<String>)> {
    let first =
        prop::sample::select(vec!["a := fetch_add z, 1 {atomic}", "a := exchange z, 1 {atomic acquire release}"]);
    let two = (
        Just(2),
        first.clone(),
        prop::collection::vec(instruction(), 0..3),
        prop::collection::vec(instruction(), 0..3),
    );
    let three =
        (Just(3), first, prop::collection::vec(instruction(), 0..2), prop::collection::vec(instruction(), 0..2));
    prop_oneof![two, three]
}

fn text((equal, first, then, other): &(usize, &'static str, Vec<String>, Vec<String>)) -> String {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n");
    let mut thread = |name: String, ops: Vec<&str>| {
        source.push_str(&format!("thread {name}\nregister a = 0\nregister b = 0\n"));
        ops.into_iter().chain(["halt"]).enumerate().for_each(|(pc, op)| source.push_str(&format!("@{pc}: {op}\n")));
    };
    let own = || std::iter::once(*first).chain(then.iter().map(String::as_str)).collect();
    (0..*equal).for_each(|number| thread(format!("w{number}"), own()));
    // What the other thread does to `z` is an update, too, and its first event is not that of the others.
    thread("other".into(), std::iter::once("b := load x {atomic}").chain(other.iter().map(String::as_str)).collect());
    source
}

#[test]
fn classes_are_all_executions() {
    let cases = if pinned::long() { 5_000 } else { 120 };
    let left_out = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&threads(), |random| {
        let source = text(&random);
        let program = cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
        left_out.set(left_out.get() + compare(&program, random.0).map_err(TestCaseError::fail)?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", text(&random)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} left out", left_out.get());
    assert!(left_out.get() >= 20 * cases as usize, "only {} executions were left out", left_out.get());
}

#[test]
fn equal_increments_have_one_execution() {
    let program = |source: &str| cyrano_rml::compile(source, "increments", &[]).expect("a program");
    let count = |source: &str| {
        let (program, model) = (program(source), model("rc11"));
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let (answer, counts) = graphs(true).count(&query, &limits(5.0, 2), &());
        assert_eq!(answer.verdict, Verdict::Verified);
        (counts.executions, answer.reductions)
    };
    let one = "threads { shared x; thread w[8] { fetch_add(x, 1); } }";
    assert_eq!(count(one), (1, vec!["thread-symmetry"]));
    // Somebody stores, compares first, or is asked for what he read: threads are told apart.
    for (told, executions) in [
        ("threads { shared x; thread w[3] { fetch_add(x, 1); } thread q { x := 7; } }", 24),
        ("threads { shared x; thread w[4] { local a; a := cas(x, 0, 1); } }", 4),
        ("threads { shared x; thread w[2] { local a; a := fetch_add(x, 1); } observe w[0].a, w[1].a; }", 2),
    ] {
        assert_eq!(count(told), (executions, Vec::new()), "{told}");
    }
    // The others are still alike.
    let three = "threads { shared x; thread w[4] { local a; a := fetch_add(x, 1); } observe w[1].a; }";
    assert_eq!(count(three), (4, vec!["thread-symmetry"]));
    let wrong = program("threads { shared x; thread w[4] { local a; a := fetch_add(x, 1); assert a != 3; } }");
    let (property, model) = (cyrano_ir::Property::Assertions, model("ra"));
    let query = Query::new(&wrong, &model, Question::Holds(&property)).expect("a question");
    assert_eq!(graphs(true).ask(query, &limits(1.0, 2), &()).verdict, Verdict::Violated);
}
