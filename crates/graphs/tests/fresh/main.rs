//! Objects that only one thread knows of: what is observed, flagged and raced for is what it is without looking at them, on random data types that publish
//! nodes in good and bad ways.

mod faults;
mod publish;

use std::cell::Cell;

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_graphs::Graphs;
use cyrano_ir::{Program, Property};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};

const MODELS: [&str; 5] = ["sc", "tso", "pso", "ra", "rc11"];

/// What makes a data type: whether fields are atomic, the order of the swap that publishes, and that of the load that follows, what stands in the loops and behind them.
type Parts =
    ((bool, bool), (&'static str, &'static str, bool), (&'static str, &'static str, &'static str), &'static str);

fn parts() -> impl Strategy<Value = Parts> {
    let publishes = prop::sample::select(vec!["release", "release", "relaxed", "acq_rel"]);
    let follows = prop::sample::select(vec!["acquire", "acquire", "relaxed"]);
    let before =
        prop::sample::select(vec!["", "n->value = a;", "if (first) first->value;", "n->value = first ? 1 : a;"]);
    let behind = prop::sample::select(vec!["", "", "", "n->value = 3;", "last = n;"]);
    let looks = prop::sample::select(vec!["", "r = first->value;", "if (first->next) r = 2;"]);
    let clients = prop::sample::select(vec![
        "( f | f )",
        "( f | g )",
        "( f | f | g )",
        "( f | g | g )",
        "( ff | g )",
        "f ( f | g )",
    ]);
    ((any::<bool>(), any::<bool>()), (publishes, follows, any::<bool>()), (before, behind, looks), clients)
}

fn source(((next, value), (publishes, follows, weak), (before, behind, looks), _): &Parts) -> String {
    let next = if *next { "_Atomic(struct node *)" } else { "struct node *" };
    let value = if *value { "atomic_int" } else { "int" };
    let swap = if *weak { "weak" } else { "strong" };
    format!(
        "#include <stdatomic.h>
#include <stdlib.h>
typedef struct node {{ {next} next; {value} value; }} node_t;
_Atomic(node_t *) top;
_Atomic(node_t *) last;
void f(int a)
{{
    node_t *n = malloc(sizeof *n);
    n->value = a;
    node_t *first = atomic_load_explicit(&top, memory_order_{follows});
    do {{
        n->next = first;
        {before}
    }} while (!atomic_compare_exchange_{swap}_explicit(&top, &first, n, memory_order_{publishes}, memory_order_relaxed));
    {behind}
}}
int g(void)
{{
    int r = 0;
    node_t *first = atomic_load_explicit(&top, memory_order_{follows});
    do {{
        if (!first) return 7;
        {looks}
    }} while (!atomic_compare_exchange_strong_explicit(&top, &first, first->next, memory_order_{follows}, memory_order_{follows}));
    return r + first->value;
}}
"
    )
}

fn program(parts: &Parts) -> Program {
    let source = source(parts);
    let unit = cyrano_cfront::parse(&source, "type.c", &|_| None).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
    let file = cyrano_cfront::tests("f = f(in {0, 1})\ng = g()\n", &unit).expect("tests");
    unit.program(&file.by_notation(parts.3).expect("a notation").expect("a client"))
        .unwrap_or_else(|why| panic!("{why:?}"))
}

fn ask(program: &Program, name: &str, question: Question<'_>, fresh_objects: bool) -> Option<Answer> {
    let model = model(name);
    let query = Query::new(program, &model, question).ok()?;
    let answer = Graphs { fresh_objects, ..Graphs::default() }.ask(query, &limits(2.0, 4), &());
    (answer.verdict != Verdict::Unknown || answer.reason.is_none() || !answer.flags.is_empty()).then_some(answer)
}

/// Compares what is observed and flagged, and what races; says how much was compared, how much was saved, and what was flagged.
fn compare(program: &Program) -> Result<(usize, usize, usize), String> {
    let (mut compared, mut saved, mut flagged) = (0, 0, 0);
    for name in MODELS {
        let asked = |fresh| ask(program, name, Question::Outcomes, fresh);
        let (Some(with), Some(without)) = (asked(true), asked(false)) else { continue };
        // With failed swaps left out a loop need not be cut off.
        let all = without.verdict == Verdict::Verified;
        if !without.outcomes.is_subset(&with.outcomes) || all && with.outcomes != without.outcomes {
            return Err(format!("{name}: {:?} instead of {:?}", with.outcomes, without.outcomes));
        }
        if all && (with.verdict, &with.flags) != (without.verdict, &without.flags) {
            return Err(format!("{name}: {:?} {:?} instead of {:?}", with.verdict, with.flags, without.flags));
        }
        compared += 1;
        saved += usize::from(with.stats.states < without.stats.states);
        flagged += usize::from(!without.flags.is_empty());
        if name == "rc11" {
            let raced = |fresh| ask(program, name, Question::Holds(&Property::Races), fresh);
            if let (Some(with), Some(without)) = (raced(true), raced(false)) {
                let found = |answer: &Answer| answer.verdict == Verdict::Violated;
                if found(&with) != found(&without) {
                    return Err(format!("races: {:?} instead of {:?}", with.verdict, without.verdict));
                }
            }
        }
    }
    Ok((compared, saved, flagged))
}

#[test]
fn what_is_known_of_fresh_objects_changes_nothing() {
    let cases = if pinned::long() { 5_000 } else { 120 };
    let counted = Cell::new((0, 0, 0));
    let result = pinned::runner(cases, file!()).run(&parts(), |parts| {
        let (compared, saved, flagged) = compare(&program(&parts)).map_err(TestCaseError::fail)?;
        let (all, less, races) = counted.get();
        counted.set((all + compared, less + saved, races + flagged));
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, parts)) => panic!("{reason} {}\n{}", parts.3, source(&parts)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (compared, saved, flagged) = counted.get();
    println!("{compared} compared, {saved} with fewer events, {flagged} flagged");
    let cases = cases as usize;
    assert!(compared >= 2 * cases && saved >= cases / 2 && flagged >= cases / 10, "{compared}, {saved}, {flagged}");
}
