//! The observations of library tests grow along the models, from `serial` to `relaxed`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cyrano_conformance::compare::CHAIN;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_ir::Program;
use cyrano_symbolic::Symbolic;

/// Tests with more calls are left out.
const MOST_CALLS: usize = 3;

/// So many tests of each file are looked at; all of them would take hours.
const MOST_TESTS: usize = 8;

fn files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(corpus::folder().join("datatypes")).expect("the folder is there");
    let paths = folder.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    paths.sort();
    paths
}

/// The small declared tests of a file, and all those of two calls.
fn programs(path: &PathBuf) -> Vec<(String, Program)> {
    let source = std::fs::read_to_string(path).expect("the file can be read");
    let beside = |name: &str| std::fs::read_to_string(path.with_file_name(name)).ok();
    let unit = cyrano_cfront::parse(&source, "test.c", &beside).expect("the library compiles");
    let named = source.lines().find_map(|line| line.strip_prefix("//@ tests:"));
    let own = path.with_extension("tests").file_name().expect("a file name").to_string_lossy().into_owned();
    let text = beside(named.map_or(own.as_str(), str::trim)).expect("there is a tests file");
    let file = cyrano_cfront::tests(&text, &unit).expect("the tests file can be read");
    let mut tests = file.tests.clone();
    tests.extend(cyrano_cfront::all_tests(&file, 2));
    tests.retain(|test| test.calls() <= MOST_CALLS);
    tests.sort_by_key(cyrano_cfront::Test::calls);
    tests.iter().map(|test| (test.to_string(), unit.program(test).expect("the test compiles"))).collect()
}

/// How many pairs of models were compared; `Err` names an observation that a weaker model loses.
fn grows(program: &Program) -> Result<usize, String> {
    let mut before: Option<(&str, BTreeSet<Vec<i128>>)> = None;
    let mut compared = 0;
    for name in CHAIN {
        let model = cyrano_memory::named(name).expect("a named model");
        let query = Query::new(program, &model, Question::Outcomes).expect("a question");
        let answer = Symbolic::default().ask(query, &limits(2.0, 3), &());
        if answer.verdict != Verdict::Verified {
            continue;
        }
        if let Some((stronger, outcomes)) = &before {
            compared += 1;
            if let Some(lost) = outcomes.difference(&answer.outcomes).next() {
                return Err(format!("{lost:?} is observed under {stronger}, not under {name}"));
            }
        }
        before = Some((name, answer.outcomes));
    }
    Ok(compared)
}

#[test]
fn observations_grow_along_the_models() {
    let mut compared = 0;
    for path in files() {
        for (test, program) in programs(&path).into_iter().take(MOST_TESTS) {
            match grows(&program) {
                Ok(pairs) => compared += pairs,
                Err(error) => panic!("{} {test}: {error}", path.display()),
            }
        }
    }
    println!("{compared} pairs of models compared");
    assert!(compared >= 780, "only {compared} pairs of models were compared");
}
