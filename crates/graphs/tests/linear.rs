//! Linearizability: verdicts are those of the definition, by brute force, on random small data types; mutants of the library are found, and the library is not.
//!
//! The definition is tried with everything else: for every order of calls the client with this order ([`cyrano_cfront::Orders`]) is run by other engines, and what it
//! shows is compared with its own serial executions.

use std::cell::Cell;
use std::collections::BTreeSet;

use cyrano_cfront::{Orders, Test, TestFile, Unit};
use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_graphs::{Graphs, SerialOrders};
use cyrano_ir::{Program, Property};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};

const MODELS: [&str; 4] = ["sc", "tso", "ra", "rc11"];

type Pairs = Vec<(usize, usize)>;

fn parsed(source: &str, tests: &str) -> (Unit, TestFile) {
    let unit = cyrano_cfront::parse(source, "type.c", &|_| None).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
    let file = cyrano_cfront::tests(tests, &unit).unwrap_or_else(|why| panic!("{why:?}\n{tests}"));
    (unit, file)
}

fn program(unit: &Unit, test: &Test, orders: Orders) -> Program {
    let mut test = test.clone();
    test.orders = orders;
    unit.program(&test).unwrap_or_else(|why| panic!("{why:?}"))
}

/// What a program shows, and whether that is all.
fn outcomes(engine: &dyn Engine, program: &Program, name: &str) -> (BTreeSet<Vec<i128>>, bool) {
    let model = model(name);
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(2.0, 4), &());
    (answer.outcomes, answer.verdict == Verdict::Verified)
}

/// All that serial executions show; none if that takes too long.
fn serial(program: &Program) -> Option<BTreeSet<Vec<i128>>> {
    let (shown, all) = outcomes(&Explore::default(), program, "serial");
    all.then_some(shown)
}

/// What graphs say of a test: the order of calls that is wrong, if one is; none if they do not know.
fn judged(unit: &Unit, test: &Test, name: &str) -> Option<Option<Pairs>> {
    let numbered = program(unit, test, Orders { numbered: true, ..Orders::default() });
    let calls = test.threads.iter().map(Vec::len).sum();
    let serial = SerialOrders::new(&self::serial(&numbered)?, calls)?;
    let (plain, model) = (program(unit, test, Orders::default()), model(name));
    // Two ways to the same serial executions.
    let own = SerialOrders::of(&plain).expect("serial executions end");
    assert_eq!(own, serial, "{test}");
    let property = Property::Observations(serial.observations());
    let query = Query::new(&plain, &model, Question::Holds(&property)).expect("a question");
    let (answer, pairs) = Graphs::default().linearize(&query, &serial, &limits(5.0, 4), &());
    match answer.verdict {
        Verdict::Verified => Some(None),
        Verdict::Violated => Some(Some(pairs)),
        _ => None,
    }
}

/// Whether a client with this order of calls shows what none of its serial executions shows.
fn is_wrong(unit: &Unit, test: &Test, pairs: &Pairs, name: &str) -> Option<bool> {
    let client = program(unit, test, Orders { pairs: pairs.clone(), numbered: false });
    let texts = Graphs { by_axioms: true, thread_symmetry: false, fresh_objects: false, ..Graphs::default() };
    let engine: &dyn Engine = if ["sc", "tso"].contains(&name) { &Explore::default() } else { &texts };
    let ((shown, all), serial) = (outcomes(engine, &client, name), serial(&client)?);
    let is_right = shown.is_subset(&serial);
    (all || !is_right).then_some(!is_right)
}

/// All orders of the calls of a test.
fn orders(test: &Test) -> Vec<Pairs> {
    let thread: Vec<usize> = (0..).zip(&test.threads).flat_map(|(at, calls)| calls.iter().map(move |_| at)).collect();
    let pairs: Pairs = (0..thread.len()).flat_map(|a| (0..thread.len()).map(move |b| (a, b))).collect();
    let others: Pairs = pairs.iter().copied().filter(|(a, b)| thread[*a] != thread[*b]).collect();
    let own = pairs.iter().copied().filter(|(a, b)| thread[*a] == thread[*b] && a < b);
    let own: BTreeSet<(usize, usize)> = own.collect();
    let sets = (0u32..1 << others.len()).map(|set| {
        let chosen = others.iter().enumerate().filter(move |(at, _)| set >> at & 1 != 0).map(|(_, pair)| *pair);
        chosen.collect::<Pairs>()
    });
    let is_order = |chosen: &Pairs| {
        let all: BTreeSet<(usize, usize)> = own.iter().chain(chosen).copied().collect();
        all.iter().all(|(a, b)| !all.contains(&(*b, *a)) && all.iter().all(|(c, d)| b != c || all.contains(&(*a, *d))))
    };
    sets.filter(is_order).collect()
}

/// Compares with the definition; says of each answer whether it was wrong, and whether it took an order to be.
fn compare(unit: &Unit, test: &Test, name: &str) -> Result<Option<(bool, bool)>, String> {
    let Some(found) = judged(unit, test, name) else { return Ok(None) };
    let tried: Option<Vec<(Pairs, bool)>> =
        orders(test).into_iter().map(|pairs| is_wrong(unit, test, &pairs, name).map(|wrong| (pairs, wrong))).collect();
    let Some(tried) = tried else { return Ok(None) };
    let wrong: Vec<&Pairs> = tried.iter().filter(|(_, wrong)| *wrong).map(|(pairs, _)| pairs).collect();
    match (&found, wrong.first()) {
        (None, Some(pairs)) => return Err(format!("{name} {test}: {pairs:?} is missed")),
        (Some(pairs), None) => return Err(format!("{name} {test}: {pairs:?} is not wrong")),
        _ => {}
    }
    if let Some(pairs) = &found
        && is_wrong(unit, test, pairs, name) == Some(false)
    {
        return Err(format!("{name} {test}: {pairs:?} is not wrong, {wrong:?} are"));
    }
    Ok(Some((found.is_some(), wrong.first().is_some_and(|pairs| !pairs.is_empty()))))
}

/// A statement of an operation with an argument `a` and a result `r`.
fn statement() -> impl Strategy<Value = String> {
    let word = || prop::sample::select(vec!["x", "y"]);
    let order = |names: &[&'static str]| prop::sample::select(names.to_vec());
    let (load, store) = (["relaxed", "acquire"], ["relaxed", "release"]);
    let both = ["relaxed", "acquire", "release", "acq_rel"];
    prop_oneof![
        4 => (word(), order(&load)).prop_map(|(x, o)| format!("r = atomic_load_explicit(&{x}, memory_order_{o});")),
        2 => (word(), order(&load)).prop_map(|(x, o)| format!("r = 3 * r + atomic_load_explicit(&{x}, memory_order_{o});")),
        4 => (word(), order(&store)).prop_map(|(x, o)| format!("atomic_store_explicit(&{x}, a + 1, memory_order_{o});")),
        2 => (word(), order(&store)).prop_map(|(x, o)| format!("atomic_store_explicit(&{x}, r, memory_order_{o});")),
        2 => (word(), order(&both)).prop_map(|(x, o)| format!("r = atomic_fetch_add_explicit(&{x}, 1, memory_order_{o});")),
        2 => (word(), order(&both)).prop_map(|(x, o)| format!("r = atomic_exchange_explicit(&{x}, a, memory_order_{o});")),
        1 => word().prop_map(|x| format!("if (r == 0) r = 5 + atomic_load_explicit(&{x}, memory_order_acquire);")),
        1 => order(&["acquire", "release", "acq_rel"]).prop_map(|o| format!("atomic_thread_fence(memory_order_{o});")),
    ]
}

fn source((f, g): &(Vec<String>, Vec<String>)) -> String {
    let body = |ops: &[String]| ops.join("\n    ");
    format!(
        "#include <stdatomic.h>\natomic_int x, y;\nint f(int a)\n{{\n    int r = 0;\n    {}\n    return r;\n}}\nint g(void)\n{{\n    int a = 2, r = 0;\n    {}\n    return r + 0 * a;\n}}\n",
        body(f),
        body(g)
    )
}

const TESTS: &str = "f = f(in {0, 1})\ng = g()\n";
const CLIENTS: [&str; 7] =
    ["( f | g )", "( f | g | g )", "( f | g | g )", "( f | f | g )", "( fg | g )", "( gf | g )", "f ( g | g )"];

#[test]
fn verdicts_are_those_of_the_definition() {
    let cases = if pinned::long() { 2_000 } else { 60 };
    let counted = Cell::new((0, 0, 0));
    let bodies = || prop::collection::vec(statement(), 1..4);
    let random = ((bodies(), bodies()), prop::sample::select(CLIENTS.to_vec()));
    let result = pinned::runner(cases, file!()).run(&random, |(bodies, client)| {
        let (unit, file) = parsed(&source(&bodies), TESTS);
        let test = file.by_notation(client).expect("a notation").expect("a client");
        for name in MODELS {
            let (mut right, mut wrong, mut ordered) = counted.get();
            if let Some((is_wrong, needs_order)) = compare(&unit, &test, name).map_err(TestCaseError::fail)? {
                (right, wrong) = (right + usize::from(!is_wrong), wrong + usize::from(is_wrong));
                ordered += usize::from(needs_order);
            }
            counted.set((right, wrong, ordered));
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (bodies, client))) => panic!("{reason} {client}\n{}", source(&bodies)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    let (right, wrong, ordered) = counted.get();
    println!("{right} linearizable, {wrong} not, {ordered} of them because of an order");
    let cases = cases as usize;
    assert!(right >= cases / 2 && wrong >= cases / 2 && ordered >= 3, "{right}, {wrong}, {ordered}");
}

fn library(name: &str) -> (String, String) {
    let read = |end: &str| std::fs::read_to_string(corpus::folder().join(format!("c11/{name}.{end}")));
    (read("c").expect("the library has it"), read("tests").expect("the library has it"))
}

/// Data types of the library, and what makes them wrong, with so many calls.
#[test]
fn mutants_of_the_library_are_found() {
    let gives_up = "} while (!atomic_compare_exchange_weak_explicit(&top, &first, first->next, LOOK, LOOK));";
    let given_up = "if (!atomic_compare_exchange_strong_explicit(&top, &first, first->next, LOOK, LOOK)) return EMPTY;\n    } while (0);";
    let empty = "if (next == NULL)\n            return EMPTY;";
    let early = "if (next == NULL || head == tail)\n            return EMPTY;";
    let first = "first = atomic_load_explicit(&top, memory_order_relaxed)";
    let cases: [(&str, &str, &str, &str, bool); 8] = [
        ("treiber", "", "", "( p | p | o | o )", true),
        ("treiber", gives_up, given_up, "( p | p | o | o )", false),
        ("treiber", first, "first = NULL", "( p | p | o )", true),
        ("treiber", "", "#define TOP_IS_STORED\n", "( p | o | o )", false),
        ("msqueue", "", "", "( e | e | d | d )", true),
        // Whoever has returned has seen the tail move.
        ("msqueue", empty, early, "( e | e | d )", true),
        ("msqueue", "if (head == tail)", "if (0)", "( e | e | d | d )", true),
        ("msqueue", "", "#define HEAD_IS_STORED\n", "( e | d | d )", false),
    ];
    for (name, from, to, client, holds) in cases {
        let (source, tests) = library(name);
        assert!(from.is_empty() || source.matches(from).count() == 1, "`{from}` is not there once");
        let source = if from.is_empty() { format!("{to}{source}") } else { source.replace(from, to) };
        let (unit, file) = parsed(&source, &tests);
        let test = file.by_notation(client).expect("a notation").expect("a client");
        for model in ["ra", "rc11"] {
            let found = judged(&unit, &test, model);
            println!("{name} {client} {to:?} {model}: {found:?}");
            match found {
                Some(None) if holds => {}
                Some(Some(pairs)) if !holds => {
                    assert_eq!(is_wrong(&unit, &test, &pairs, model), Some(true), "{name} {pairs:?}");
                }
                found => panic!("{name} {client} under {model} with {to:?}: {found:?}"),
            }
        }
    }
}
