//! Models about relations against the same models as orders of all accesses, on the library and on random programs.

use std::cell::Cell;

use cyrano_conformance::generate::program;
use cyrano_conformance::pinned;
use cyrano_conformance::twins::twins_agree;
use cyrano_conformance::{corpus, limits};
use proptest::prelude::*;
use proptest::test_runner::TestError;

#[test]
fn twins_agree_on_random_programs() {
    let cases = if pinned::long() { 20_000 } else { 700 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&program(), |random| {
        let agreed = twins_agree(&random.program(), &|| limits(0.5, 3));
        let new = agreed.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    assert!(compared.get() >= cases as usize, "only {} questions were answered by both", compared.get());
}

#[test]
fn twins_agree_on_the_library() {
    let compared = corpus::for_each_litmus(|_, program| {
        twins_agree(program, &|| limits(0.5, 1)).map_err(|disagreement| disagreement.to_string())
    });
    assert!(compared >= 300, "only {compared} questions were answered by both");
}

#[test]
fn twins_agree_on_litmus_tests() {
    let compared = corpus::for_each(&corpus::files("herd", "litmus"), |_, (_, source)| {
        let test = cyrano_litmus::compile(source).map_err(|errors| format!("{errors:?}"))?;
        twins_agree(&test.program, &|| limits(2.0, 3)).map_err(|disagreement| disagreement.to_string())
    });
    assert!(compared >= 90, "only {compared} questions were answered by both");
}
