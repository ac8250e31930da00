//! Programs of atomic sections and operations, with loops, waits, choices and fences in them: the engines agree under every model, users' models included.

use std::cell::Cell;

use cyrano_conformance::compare::CHAIN;
use cyrano_conformance::generate::units;
use cyrano_conformance::{Disagreement, Effort, Tally, agree, agree_under, limits, models, pinned};
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
