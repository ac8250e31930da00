//! The C data types of the library: on tests small enough for all of them the engines give the same observations, and what a header
//! promises to be correct is.

use std::path::Path;

use cyrano_cfront::Unit;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;

/// Tests with more calls are left to the command line.
const MOST_CALLS: usize = 2;

/// The programs of the small tests of a file, each with the test's name.
fn programs(path: &Path) -> Vec<(String, Program)> {
    let source = std::fs::read_to_string(path).expect("the file can be read");
    let beside = |name: &str| std::fs::read_to_string(path.with_file_name(name)).ok();
    let unit: Unit = cyrano_cfront::parse(&source, "test.c", &beside).expect("the library compiles");
    let named = source.lines().find_map(|line| line.strip_prefix("//@ tests:"));
    let own = path.with_extension("tests").file_name().expect("a file name").to_string_lossy().into_owned();
    let tests = beside(named.map_or(own.as_str(), str::trim)).expect("there is a tests file");
    let tests = cyrano_cfront::tests(&tests, &unit).expect("the tests file can be read").tests;
    let small = tests.into_iter().filter(|test| test.calls() <= MOST_CALLS);
    small.map(|test| (test.name.clone(), unit.program(&test).expect("the test compiles"))).collect()
}

/// Calls `check` on every small test of every C file; says how many there were.
fn for_each(check: impl Fn(&Path, &str, &Program)) -> usize {
    let folder = std::fs::read_dir(corpus::folder().join("datatypes")).expect("the folder is there");
    let paths = folder.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    paths.sort();
    let mut count = 0;
    for path in &paths {
        for (test, program) in programs(path) {
            check(path, &test, &program);
            count += 1;
        }
    }
    count
}

fn ask(engine: &dyn Engine, program: &Program, model: &Model, question: Question<'_>) -> Answer {
    let work = if engine.name() == "interp" { 0.06 } else { 20.0 };
    engine.ask(Query::new(program, model, question).expect("a question"), &limits(work, 3), &())
}

#[test]
fn engines_agree_on_observations() {
    let count = for_each(|path, test, program| {
        for name in ["serial", "sc", "tso", "pso"] {
            let model = cyrano_memory::named(name).expect("a named model");
            let explored = ask(&Explore::default(), program, &model, Question::Outcomes);
            assert_eq!(explored.verdict, Verdict::Verified, "{} {test} on {name}", path.display());
            for engine in [&Symbolic::default() as &dyn Engine, &Interp] {
                let other = ask(engine, program, &model, Question::Outcomes);
                let invented: Vec<_> = other.outcomes.difference(&explored.outcomes).collect();
                let place = format!("{} {test} on {name} by {}", path.display(), engine.name());
                assert!(invented.is_empty(), "{place}: {invented:?}");
                if other.verdict == Verdict::Verified {
                    assert_eq!(other.outcomes, explored.outcomes, "{place}");
                }
            }
        }
    });
    assert!(count >= 10, "only {count} small tests are left");
}

#[test]
fn what_headers_promise_to_be_correct_is() {
    for_each(|path, test, program| {
        let serial = cyrano_memory::named("serial").expect("a named model");
        let allowed = ask(&Explore::default(), program, &serial, Question::Outcomes).outcomes;
        let property = Property::Observations(allowed);
        let source = std::fs::read_to_string(path).expect("the file can be read");
        let promises = source.lines().filter_map(|line| line.strip_prefix("//@")?.split_once(':'));
        for (name, _) in promises.filter(|(_, verdict)| verdict.trim() == "verified") {
            let model = cyrano_memory::named(name.trim()).expect("a header names a model");
            let explore = Explore::default();
            let supported = explore.runs(program, &model);
            let engine: &dyn Engine = if supported { &explore } else { &Symbolic::default() };
            let answer = ask(engine, program, &model, Question::Holds(&property));
            let place = format!("{} {test} on {name} by {}", path.display(), engine.name());
            assert_ne!(answer.verdict, Verdict::Violated, "{place}: {:?}", answer.violation);
        }
    });
}
