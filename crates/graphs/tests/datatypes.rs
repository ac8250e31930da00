//! C data types: on all tests of a size graphs give the observations that they give without reductions and by the text of the model, and those of the explorer.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_graphs::Graphs;

/// Graphs with every reduction, with none, and by the text of the model.
#[test]
fn graphs_agree_with_the_explorer_on_all_tests_of_a_size() {
    let plain = Graphs {
        idle_iterations: false,
        stale_waits: false,
        unseen_values: false,
        fresh_objects: false,
        ..Graphs::default()
    };
    let texts = Graphs { by_axioms: true, ..Graphs::default() };
    let calls = if pinned::long() { 3 } else { 2 };
    let (compared, fewer) = (AtomicUsize::new(0), AtomicUsize::new(0));
    corpus::for_each(&corpus::files("datatypes", "c"), |file, (path, source)| {
        for (test, program) in corpus::all_c_tests(path, source, calls) {
            for name in ["sc", "tso", "pso", "ra"] {
                let model = model(name);
                let place = format!("{file} {test} on {name}");
                let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
                let limits = limits(if pinned::long() { 5.0 } else { 0.5 }, 6);
                let reduced = Graphs::default().ask(query, &limits, &());
                if reduced.verdict != Verdict::Verified {
                    continue;
                }
                let mut others = vec![plain.ask(query, &limits, &()), texts.ask(query, &limits, &())];
                fewer.fetch_add(usize::from(reduced.stats.executions < others[0].stats.executions), Relaxed);
                if name != "ra" {
                    others.push(Explore::default().ask(query, &limits, &()));
                }
                for other in others.iter().filter(|other| other.verdict == Verdict::Verified) {
                    if other.outcomes != reduced.outcomes {
                        return Err(format!("{place}: {:?} and {:?}", reduced.outcomes, other.outcomes));
                    }
                    compared.fetch_add(1, Relaxed);
                }
            }
        }
        Ok(0)
    });
    println!("{compared:?} compared, {fewer:?} with fewer executions");
    let (compared, fewer) = (compared.into_inner(), fewer.into_inner());
    assert!(compared >= 60 && fewer >= 10, "only {compared} compared, {fewer} with fewer executions");
}
