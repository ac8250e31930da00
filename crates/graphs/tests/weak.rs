//! Weak compare-and-swaps: one that fails, and would have failed anyway, is counted once; what is left are the executions of the reference, each once.

use std::cell::Cell;
use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Execution, Query, Question};
use cyrano_graphs::{Fault, Graphs};
use cyrano_ir::Program;
use proptest::prelude::*;
use proptest::test_runner::TestError;

const MODELS: [&str; 5] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11"];

fn compiled(f: &str, g: &str, client: &str) -> Program {
    let source = format!(
        "#include <stdatomic.h>\natomic_int x, y;\nint f(void)\n{{\n    int e = 0, r = 0;\n    {f}\n    return r;\n}}\n\
         int g(void)\n{{\n    int e = 0, r = 0;\n    {g}\n    return r;\n}}\n"
    );
    let unit = cyrano_cfront::parse(&source, "weak.c", &|_| None).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
    let file = cyrano_cfront::tests("f = f()\ng = g()\n", &unit).expect("tests");
    unit.program(&file.by_notation(client).expect("a notation").expect("a client"))
        .unwrap_or_else(|why| panic!("{why:?}"))
}

fn graphs(weak_failures: bool, fault: Option<Fault>) -> Graphs {
    Graphs { idle_iterations: false, thread_symmetry: false, weak_failures, fault, ..Graphs::default() }
}

/// What happens in an execution, whatever was chosen.
fn key(execution: &Execution) -> String {
    format!("{:?} {:?}", execution.order, execution.relations)
}

/// Compares what happens in the executions; says how many there are, and how many with every choice.
fn compare(program: &Program, fault: Option<Fault>) -> Result<(usize, usize), String> {
    let (mut found, mut chosen) = (0, 0);
    for name in MODELS {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let all = |weak| graphs(weak, fault.filter(|_| weak)).executions(&query, &limits(0.2, 2));
        let (Some(Ok(reference)), Some(Ok(once)), Some(Ok(every))) =
            (cyrano_interp::all_executions(&query, &limits(0.2, 2)), all(true), all(false))
        else {
            continue;
        };
        let wanted: BTreeSet<String> = reference.iter().map(key).collect();
        let distinct: BTreeSet<String> = once.iter().map(key).collect();
        // Where a locked instruction is a fence, even if it fails, executions differ by what was chosen.
        let expected = if ["cat:tso", "cat:pso"].contains(&name) { every.len() } else { wanted.len() };
        if distinct != wanted || once.len() != expected || every.len() != reference.len() {
            let counts = [once.len(), distinct.len(), every.len(), wanted.len(), reference.len()];
            return Err(format!("{name}: {counts:?} executions"));
        }
        found += once.len();
        chosen += every.len();
    }
    Ok((found, chosen))
}

/// Two threads try to set a lock. Each succeeds first, fails without a reason before the other one or after it, or finds it set: 5 executions, of which
/// 2 were counted twice.
#[test]
fn failures_are_counted_once() {
    let swap = "r = atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_acquire, memory_order_relaxed);";
    let program = compiled(swap, swap, "( f | f )");
    for (name, wanted) in [("cat:sc", 5), ("ra", 5), ("rc11", 5), ("cat:tso", 7)] {
        let model = model(name);
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let count = |weak| graphs(weak, None).count(&query, &limits(5.0, 2), &()).1;
        assert_eq!((count(true).executions, count(true).blocked), (wanted, 0), "{name}");
        assert_eq!(count(false).executions, 7, "{name}");
    }
}

fn statement() -> impl Strategy<Value = String> {
    let loc = || prop::sample::select(vec!["x", "x", "y"]);
    let order = || prop::sample::select(vec!["relaxed", "acquire", "seq_cst"]);
    let value = || prop::sample::select(vec!["1", "2", "r"]);
    prop_oneof![
        5 => (loc(), value(), order(), order()).prop_map(|(l, v, o, p)| format!(
            "r = atomic_compare_exchange_weak_explicit(&{l}, &e, {v}, memory_order_{o}, memory_order_{p});"
        )),
        2 => (loc(), value()).prop_map(|(l, v)| format!("atomic_store_explicit(&{l}, {v}, memory_order_release);")),
        1 => (loc(), order()).prop_map(|(l, o)| format!("r = atomic_load_explicit(&{l}, memory_order_{o});")),
        1 => Just("e = 0;".to_owned()),
        1 => loc().prop_map(|l| format!("if (!r) e = {l};")),
    ]
}

fn programs() -> impl Strategy<Value = (String, String, &'static str)> {
    let body = || prop::collection::vec(statement(), 1..3).prop_map(|parts| parts.join("\n    "));
    (body(), body(), prop::sample::select(vec!["( f | g )", "( f | g )", "( f | f )", "( f | f | g )"]))
}

#[test]
fn executions_are_those_of_the_reference() {
    let cases = if pinned::long() { 5_000 } else { 120 };
    let counted = Cell::new((0, 0));
    let result = pinned::runner(cases, file!()).run(&programs(), |(f, g, client)| {
        let (found, chosen) = compare(&compiled(&f, &g, client), None).map_err(TestCaseError::fail)?;
        counted.set((counted.get().0 + found, counted.get().1 + chosen));
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (f, g, client))) => panic!("{reason}\n{client}\n{f}\n{g}"),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (found, chosen) = counted.get();
    println!("{found} executions, {chosen} with every choice");
    assert!(
        found >= 10 * cases as usize && chosen * 10 >= found * 11,
        "{found} executions, {chosen} with every choice"
    );
}

/// A failure that is left out though the swap would have succeeded is missed.
#[test]
fn a_failure_too_many_is_noticed() {
    let swap = "r = atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_acquire, memory_order_relaxed);";
    assert!(compare(&compiled(swap, swap, "( f | f )"), Some(Fault::AnyFailure)).is_err());
}
