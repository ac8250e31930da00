//! Sections over several locations, sections that need not write, freed memory: verdicts and outcomes are those of the reference, and what is shown is confirmed.

use std::cell::Cell;

use cyrano_conformance::compare::{compare_with, model};
use cyrano_conformance::generate::{program, units};
use cyrano_conformance::random_c::random_c;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_graphs::{Fault, Graphs};
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use proptest::prelude::*;
use proptest::test_runner::TestError;

const ORDERED: [&str; 3] = ["sc", "tso", "pso"];

/// Compares on random programs; at least `least` answers for each of them.
fn compared<T: std::fmt::Debug>(
    cases: u32,
    least: f64,
    all: impl Strategy<Value = T>,
    program: impl Fn(&T) -> Option<Program>,
    shown: impl Fn(&T) -> String,
) {
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&all, |random| {
        let Some(program) = program(&random) else { return Ok(()) };
        let found = compare_with(&program, &[&Graphs::default()], &|| limits(0.2, 2));
        compared.set(compared.get() + found.map_err(|error| TestCaseError::fail(error.to_string()))?);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", shown(&random)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{} answers", compared.get());
    assert!(compared.get() as f64 >= least * f64::from(cases), "only {} answers were compared", compared.get());
}

fn cases(short: u32, long: u32) -> u32 {
    if pinned::long() { long } else { short }
}

#[test]
fn sections_agree() {
    compared(cases(150, 10_000), 2.0, units(), |random| Some(random.program()), |random| random.shown());
}

#[test]
fn programs_agree() {
    compared(cases(150, 10_000), 2.0, program(), |random| Some(random.program()), |random| random.shown());
}

#[test]
fn c_agrees() {
    compared(cases(60, 5_000), 1.0, random_c(12), |random| random.program().ok(), |random| random.shown());
}

fn rml(source: &str) -> Program {
    cyrano_rml::compile(source, "sections", &[]).expect("a program")
}

/// Two loads of a section see one moment, and two stores hit memory at one; a section that does not write is no fence.
const TORN: [&str; 3] = [
    "threads { shared x, y; thread p { atomic { x := 1; y := 1; } } thread q { local a, b; atomic { a := x; b := y; } }
       observe q.a, q.b; }",
    "threads { shared x, y; thread p { local a; atomic { a := x; x := a + 1; y := a + 1; } }
       thread q { local a; atomic { a := y; y := a + 3; x := a + 3; } } thread r { local a; a := x; } observe r.a, x, y; }",
    "threads { shared x, y; thread p { local a; x := 1; atomic { a := y; if a = 1 { y := 2; } } }
       thread q { local a; y := 1; atomic { a := x; if a = 1 { x := 2; } } } observe p.a, q.a; }",
];

fn differs(source: &str, fault: Option<Fault>) -> bool {
    let program = rml(source);
    ORDERED.into_iter().any(|name| {
        let model = model(name);
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let graphs = Graphs { fault, ..Graphs::default() };
        let [one, other] = [graphs.ask(query, &limits(1.0, 2), &()), Interp.ask(query, &limits(1.0, 2), &())];
        assert_eq!([one.verdict, other.verdict], [Verdict::Verified; 2], "{name}");
        one.outcomes != other.outcomes
    })
}

#[test]
fn nobody_comes_between() {
    assert_eq!(TORN.map(|source| differs(source, None)), [false; 3]);
    assert_eq!(TORN.map(|source| differs(source, Some(Fault::Torn))), [true, true, false]);
}

/// An object that one thread frees, another one reads or frees, and a third allocates again; with and without a message in between.
#[test]
fn freed_memory_is_looked_at() {
    let source = |tail: &str| {
        format!(
            "program p\nlocation g: gap = 0\nlocation h: header = 0\nlocation w = 5\nlocation e: gap = 0\nlocation f = 0\n\
             array objects = g of 4 headers\n{tail}observe f = f\n"
        )
    };
    let free = "thread a\nregister r = 0\n@0: store objects[1], 1\n@1: store f, 1\n@2: halt\n";
    let read = "thread b\nregister r = 0\n@0: r := load w\n@1: halt\n";
    let waits = "thread b\nregister r = 0\n@0: r := load f\n@1: assume (r == 0)\n@2: store objects[1], 1\n@3: halt\n";
    let late = "thread b\nregister r = 0\n@0: r := load w\n@1: store f, 1\n@2: halt\n\
                thread a\nregister r = 0\n@0: r := load f\n@1: assume (r == 1)\n@2: store objects[1], 1\n@3: halt\n";
    let again = "thread a\nregister r = 0\n@0: store objects[1], 1\n@1: r := cas objects[1], 1, 0\n@2: store f, 1\n@3: halt\n\
                 thread b\nregister r = 0\n@0: r := load f\n@1: assume (r == 1)\n@2: r := load w\n@3: halt\n";
    // Of a thread that waits behind an old write, the read that it waits behind.
    let behind = "thread a\nregister r = 0\n@0: store objects[1], 1\n@1: r := cas objects[1], 1, 0\n@2: store w, 7\n@3: halt\n\
                  thread b\nregister r = 0\n@0: r := load w\n@1: assume (r == 7)\n@2: halt\n";
    let property = Property::Assertions;
    let mut seen = Vec::new();
    let tails =
        [format!("{free}{read}"), format!("{free}{waits}"), late.to_owned(), again.to_owned(), behind.to_owned()];
    for tail in tails {
        let program =
            cyrano_ir::text::parse(&source(&tail)).unwrap_or_else(|error| panic!("{error}\n{}", source(&tail)));
        for name in ORDERED {
            let model = model(name);
            let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
            let [one, other] =
                [Graphs::default().ask(query, &limits(1.0, 2), &()), Interp.ask(query, &limits(1.0, 2), &())];
            assert_eq!((one.verdict, &one.violation), (other.verdict, &other.violation), "{name}: {tail}");
            if let Some(execution) = &one.execution {
                let confirmed = cyrano_interp::confirm(&program, &model, &property, one.violation.as_ref(), execution);
                confirmed.unwrap_or_else(|error| panic!("{name}: not confirmed: {error}"));
            }
            seen.push(one.verdict == Verdict::Violated);
        }
    }
    assert_eq!(seen, [[true; 3], [true; 3], [false; 3], [false; 3], [true; 3]].concat());
}

/// An assertion about the read that a thread waits behind, beside a section over two locations.
#[test]
fn assertions_count_behind_old_writes() {
    let source = "threads { shared x, y; thread p { x := 1; } thread q { local a; a := x; assert a = 1; assume a = 1; }
                  thread r { local a, b; atomic { a := x; b := y; } } }";
    let program = rml(source);
    for name in ORDERED {
        let model = model(name);
        let query = Query::new(&program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let [one, other] =
            [Graphs::default().ask(query, &limits(1.0, 2), &()), Interp.ask(query, &limits(1.0, 2), &())];
        assert_eq!([one.verdict, other.verdict], [Verdict::Violated; 2], "{name}");
    }
}

/// Two locks taken in two orders: a deadlock where locks are sections that wait, found by both and confirmed.
#[test]
fn locks_may_be_taken_in_two_orders() {
    let source = |first: [&str; 2], second: [&str; 2]| {
        let lock = |x: &str| format!("atomic {{ a := {x}; assume a = 0; {x} := 1; }}");
        let thread = |name: &str, [x, y]: [&str; 2]| {
            format!("thread {name} {{ local a; {} {} z := z + 1; {y} := 0; {x} := 0; }}", lock(x), lock(y))
        };
        let both = [thread("p", first), thread("q", second)].concat();
        rml(&format!("threads {{ shared x, y, z; {} }}", both.replace("z := z + 1;", "a := z; z := a + 1;")))
    };
    for (second, wanted) in [(["x", "y"], Verdict::Verified), (["y", "x"], Verdict::Violated)] {
        let program = source(["x", "y"], second);
        let property = Property::Assertions;
        for name in ["sc", "tso", "pso", "cat:sc", "cat:tso", "cat:pso", "ra"] {
            let model = model(name);
            let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
            let [one, other] =
                [Graphs::default().ask(query, &limits(1.0, 2), &()), Interp.ask(query, &limits(5.0, 2), &())];
            assert_eq!([one.verdict, other.verdict], [wanted; 2], "{name}");
            assert_eq!(one.violation, other.violation, "{name}");
            if let Some(execution) = &one.execution {
                let confirmed = cyrano_interp::confirm(&program, &model, &property, one.violation.as_ref(), execution);
                confirmed.unwrap_or_else(|error| panic!("{name}: not confirmed: {error}"));
            }
        }
    }
}
