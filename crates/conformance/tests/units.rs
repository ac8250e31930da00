//! Programs of atomic sections and operations, with loops, waits, choices and fences in them: the engines agree under every model, users' models included.

use std::cell::Cell;

use cyrano_conformance::compare::CHAIN;
use cyrano_conformance::generate::units;
use cyrano_conformance::{Disagreement, Effort, Tally, agree, agree_under, limits, models, pinned};
use cyrano_engine::Engine;
use proptest::test_runner::{TestCaseError, TestError};

fn effort() -> Effort<'static> {
    Effort { slow: &|| limits(0.1, 3), fast: &|| limits(5.0, 3), models: &CHAIN }
}

/// Compares so many programs; what was settled.
fn compare<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl proptest::strategy::Strategy<Value = T>,
    test: impl Fn(&T) -> Result<Tally, Disagreement>,
    shown: impl Fn(&T) -> String,
) -> Tally {
    let tally = Cell::new(Tally::default());
    let result = pinned::runner(cases, file!()).run(strategy, |case| {
        let mut all = tally.get();
        all.add(test(&case).map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?);
        tally.set(all);
        Ok(())
    });
    match result {
        Ok(()) => tally.get(),
        Err(TestError::Fail(reason, case)) => panic!("{reason}\n{}", shown(&case)),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
}

#[test]
fn engines_agree_under_built_in_models() {
    let tally = compare(60, &units(), |random| agree(&random.program(), &effort()), |random| random.shown());
    assert!(tally.asked == 60 * 21 && tally.settled >= 900 && tally.violated >= 50, "{tally:?}");
}

#[test]
fn engines_agree_under_users_models() {
    let tally = compare(
        300,
        &(units(), models::model()),
        |(random, model)| agree_under(&random.program(), model, &effort()),
        |(random, model)| format!("{}\n{model:?}", random.shown()),
    );
    assert!(tally.asked == 300 * 3 && tally.settled >= 600 && tally.violated >= 50, "{tally:?}");
}

/// A thread of accesses to `x` and `y`, most of them read-modify-writes, each access of a kind and a location.
fn rmws() -> impl proptest::strategy::Strategy<Value = Vec<Vec<(u8, bool)>>> {
    use proptest::prelude::*;
    let thread = prop::collection::vec((0..5u8, any::<bool>()), 2..4);
    prop::collection::vec(thread, 2..3)
}

/// The same in RML. What a thread loads, the second of its accesses may depend on.
fn spelled(threads: &[Vec<(u8, bool)>]) -> String {
    let access = |(at, (kind, second)): (usize, &(u8, bool))| {
        let x = if *second { "y" } else { "x" };
        match kind {
            0 => format!("r{at} := {x};"),
            1 => format!("{x} := {};", at + 1),
            2 => format!("r{at} := exchange({x}, {});", at + 1),
            3 => format!("r{at} := cas({x}, 0, 3);"),
            _ => format!("r{at} := fetch_add({x}, 1);"),
        }
    };
    let body = |accesses: &Vec<(u8, bool)>| accesses.iter().enumerate().map(access).collect::<Vec<_>>().join(" ");
    let one =
        |(n, accesses): (usize, &Vec<(u8, bool)>)| format!("thread p{n} {{ local r0, r1, r2; {} }}", body(accesses));
    let threads: Vec<String> = threads.iter().enumerate().map(one).collect();
    format!("threads {{ shared x, y; {} }}", threads.join("\n"))
}

#[test]
fn engines_agree_about_the_rows_of_a_cas() {
    let tally = compare(
        300,
        &(rmws(), models::model()),
        |(threads, model)| {
            let program = cyrano_rml::compile(&spelled(threads), "cas", &[]).expect("the test's program compiles");
            agree_under(&program, model, &effort())
        },
        |(threads, model)| format!("{}\n{model:?}", spelled(threads)),
    );
    assert!(tally.asked == 300 * 3 && tally.settled >= 800, "{tally:?}");
}

/// Store buffering with an exchange in the place of the stores: forbidden exactly where a cas stays before a load.
#[test]
fn a_row_of_a_cas_decides() {
    let source = "threads { shared x, y; thread p { local r; exchange(x, 1); r := y; } thread q { local s; exchange(y, 1); s := x; } }
                  check exists (r == 0 && s == 0) on tso;";
    let program = cyrano_rml::compile(source, "sb", &[]).expect("the test's program compiles");
    for (row, allowed) in
        [("", false), ("keep cas: none", true), ("keep cas: cas-store", true), ("keep cas: cas-load", false)]
    {
        let text =
            format!("keep different: load-load, load-store, store-store\nkeep same: all\ndependencies: all\n{row}\n");
        let model = cyrano_memory::file::parse(&text, "mine").expect("the test's model makes sense");
        let question = cyrano_engine::Question::Holds(&program.checks[0].property);
        let query = cyrano_engine::Query::new(&program, &model, question).expect("the question makes sense");
        let explore = cyrano_explore::Explore::default();
        for engine in [&explore as &dyn Engine, &cyrano_interp::Interp, &cyrano_symbolic::Symbolic::default()] {
            assert_eq!(engine.supports(&query), Ok(()), "{row} {}", engine.name());
            let answer = engine.ask(query, &limits(5.0, 3), &());
            let found = answer.verdict == cyrano_engine::Verdict::Verified;
            assert_eq!(found, allowed, "{row} {}", engine.name());
        }
    }
}
