//! Linearizability under `sc` as Herlihy and Wing define it: registers, counters, stacks and queues, right ones and wrong ones, judged by graphs and by brute force.
//!
//! Brute force shares nothing with graphs: each call takes the time before and after it from a clock, the explorer finds all histories, and for each some order of the
//! calls that keeps those apart in time which do not overlap is looked for, in which an object written here in a few lines returns the same.

use std::cell::Cell;

use cyrano_cfront::{Test, Unit};
use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_graphs::{Graphs, SerialOrders};
use cyrano_ir::Property;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};

/// What a data type should do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Register,
    Counter,
    Stack,
    Queue,
}

const EMPTY: i128 = 9;

/// A call as it happened.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// The argument of `f`; none of `g`.
    argument: Option<i128>,
    result: i128,
    begin: i128,
    end: i128,
}

/// What a call returns, one after the other.
fn step(kind: Kind, state: &mut Vec<i128>, argument: Option<i128>) -> i128 {
    match (kind, argument) {
        (Kind::Register, Some(value)) => {
            *state = vec![value];
            0
        }
        (Kind::Register, None) => state.first().copied().unwrap_or(0),
        (Kind::Counter, Some(_)) => {
            state.push(0);
            state.len() as i128 - 1
        }
        (Kind::Counter, None) => state.len() as i128,
        (Kind::Stack | Kind::Queue, Some(value)) => {
            state.push(value);
            0
        }
        (Kind::Stack, None) => state.pop().unwrap_or(EMPTY),
        (Kind::Queue, None) => {
            if state.is_empty() {
                EMPTY
            } else {
                state.remove(0)
            }
        }
    }
}

/// Whether the calls that are left can follow a state in some order that keeps their times.
fn fits(kind: Kind, state: &[i128], left: &[Call]) -> bool {
    left.is_empty()
        || (0..left.len()).any(|first| {
            let call = left[first];
            let mut next = state.to_vec();
            let rest: Vec<Call> = (0..left.len()).filter(|at| *at != first).map(|at| left[at]).collect();
            let may_begin = rest.iter().all(|other| other.end > call.begin);
            may_begin && step(kind, &mut next, call.argument) == call.result && fits(kind, &next, &rest)
        })
}

/// Ways to write the two operations of each kind: with `a` for an argument, and what they return.
fn bodies(kind: Kind) -> (Vec<&'static str>, Vec<&'static str>) {
    match kind {
        Kind::Register => (
            vec!["x = a; return 0;", "x = 3; x = a; return 0;", "y = a; x = a; return 0;", "x = a; y = a; return 0;"],
            vec!["return x;", "int r = x; return r == x ? r : x;", "int r = x; int s = x; return r < s ? r : s;"],
        ),
        Kind::Counter => (
            vec![
                "return atomic_fetch_add(&x, 1);",
                "int r = x; x = r + 1; return r;",
                "int r = x; while (!atomic_compare_exchange_strong(&x, &r, r + 1)) ; return r;",
                "int r = x; atomic_compare_exchange_strong(&x, &r, r + 1); return r;",
                "int r = x; atomic_fetch_add(&x, 1); return r;",
            ],
            vec!["return x;", "int r = x; return r < x ? r : x;"],
        ),
        Kind::Stack => (
            vec![
                "int i; do i = x; while (!atomic_compare_exchange_strong(&x, &i, 8 * i + a)); return 0;",
                "int i = x; x = 8 * i + a; return 0;",
                "int i = x; while (!atomic_compare_exchange_weak(&x, &i, 8 * i + a)) ; return 0;",
                "int i = x; atomic_compare_exchange_strong(&x, &i, 8 * i + a); return 0;",
            ],
            vec![
                "int i = x; do if (i == 0) return 9; while (!atomic_compare_exchange_strong(&x, &i, i / 8)); return i % 8;",
                "int i = x; if (i == 0) return 9; x = i / 8; return i % 8;",
                "int i = x; if (i == 0) return 9; if (atomic_compare_exchange_strong(&x, &i, i / 8)) return i % 8; return 9;",
            ],
        ),
        Kind::Queue => (
            vec![
                "int i = atomic_fetch_add(&x, 1); s[i] = a; return 0;",
                "int i = x; s[i] = a; x = i + 1; return 0;",
                "int i = x; x = i + 1; s[i] = a; return 0;",
                "for (int i = 0; i < 3; i++) { int e = 0; if (atomic_compare_exchange_strong(&s[i], &e, a)) break; } x++; return 0;",
            ],
            vec![
                "int i = y; if (i == x) return 9; int v = s[i]; if (v == 0) return 9; if (atomic_compare_exchange_strong(&y, &i, i + 1)) return v; return 9;",
                "int i = y; if (i == x) return 9; int v = s[i]; y = i + 1; return v;",
                "int i = y; int v = s[i]; if (v == 0) return 9; y = i + 1; return v;",
            ],
        ),
    }
}

type Type = (Kind, usize, usize);

fn types() -> impl Strategy<Value = Type> {
    let kinds = prop::sample::select(vec![Kind::Register, Kind::Counter, Kind::Stack, Kind::Queue]);
    kinds.prop_flat_map(|kind| {
        let (f, g) = bodies(kind);
        (Just(kind), 0..f.len(), 0..g.len())
    })
}

fn source((kind, f, g): Type) -> String {
    let (writes, reads) = bodies(kind);
    format!(
        "#include <stdatomic.h>
atomic_int x, y, clock;
atomic_int s[4];
int f(int a) {{ {} }}
int g(void) {{ {} }}
int timed_f(int a, int *begin, int *end) {{ *begin = clock++; int r = f(a); *end = clock++; return r; }}
int timed_g(int *begin, int *end) {{ *begin = clock++; int r = g(); *end = clock++; return r; }}
",
        writes[f], reads[g]
    )
}

const PLAIN: &str = "f = f(in {1, 2})\ng = g()\n";
const TIMED: &str = "f = timed_f(in {1, 2}, out, out)\ng = timed_g(out, out)\n";
const CLIENTS: [&str; 4] = ["( f | g )", "( f | f | g )", "( f | g | g )", "( f | f )"];

fn test(unit: &Unit, tests: &str, client: &str) -> Test {
    let file = cyrano_cfront::tests(tests, unit).unwrap_or_else(|why| panic!("{why:?}"));
    file.by_notation(client).expect("a notation").expect("a client")
}

/// All histories of a client: whether each is linearizable; none if there are too many.
fn by_force(unit: &Unit, kind: Kind, client: &str) -> Option<bool> {
    let program = unit.program(&test(unit, TIMED, client)).unwrap_or_else(|why| panic!("{why:?}"));
    let model = model("sc");
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let answer = Explore::default().ask(query, &limits(5.0, 8), &());
    let history = |outcome: &Vec<i128>| {
        let mut rest = outcome.iter().copied();
        let mut next = || rest.next().expect("each call is observed");
        let mut calls = Vec::new();
        for call in client.split(['(', '|', ')']).map(str::trim).filter(|call| !call.is_empty()) {
            let argument = (call == "f").then(&mut next);
            let (result, begin, end) = (next(), next(), next());
            calls.push(Call { argument, result, begin, end });
        }
        calls
    };
    let right = answer.outcomes.iter().all(|outcome| fits(kind, &[], &history(outcome)));
    (answer.verdict == Verdict::Verified || !right).then_some(right)
}

/// What graphs say.
fn by_graphs(unit: &Unit, client: &str, unseen_values: bool) -> Option<bool> {
    let program = unit.program(&test(unit, PLAIN, client)).unwrap_or_else(|why| panic!("{why:?}"));
    let (serial, model) = (SerialOrders::of(&program)?, model("sc"));
    let property = Property::Observations(serial.observations());
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    let graphs = Graphs { unseen_values, ..Graphs::default() };
    match graphs.linearize(&query, &serial, &limits(5.0, 8), &()).0.verdict {
        Verdict::Verified => Some(true),
        Verdict::Violated => Some(false),
        _ => None,
    }
}

#[test]
fn verdicts_are_those_of_all_histories() {
    let cases = if pinned::long() { 400 } else { 48 };
    let counted = Cell::new((0, 0));
    let random = (types(), prop::sample::select(CLIENTS.to_vec()));
    let result = pinned::runner(cases, file!()).run(&random, |(data, client)| {
        let source = source(data);
        let unit = cyrano_cfront::parse(&source, "type.c", &|_| None).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
        let Some(right) = by_force(&unit, data.0, client) else { return Ok(()) };
        for names in [true, false] {
            match by_graphs(&unit, client, names) {
                Some(found) if found != right => {
                    return Err(TestCaseError::fail(format!("{found} instead of {right} (names: {names})")));
                }
                Some(_) => {
                    let (holds, wrong) = counted.get();
                    counted.set((holds + usize::from(right), wrong + usize::from(!right)));
                }
                None => {}
            }
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (data, client))) => panic!("{reason} {client}\n{}", source(data)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (right, wrong) = counted.get();
    println!("{right} linearizable, {wrong} not");
    let cases = cases as usize;
    assert!(right >= cases / 3 && wrong >= cases / 3, "{right}, {wrong}");
}
