//! Random programs: the engines agree, with every reduction on and off, and outcome sets grow along the models.

mod states;

use std::cell::Cell;

use cyrano_conformance::generate::program;
use cyrano_conformance::pinned::{self, pinned};
use cyrano_conformance::{compare, compare_with, limits, outcomes_grow};
use cyrano_engine::Engine;
use cyrano_explore::Explore;
use proptest::prelude::*;
use proptest::test_runner::TestError;

#[test]
fn engines_agree() {
    let compared = Cell::new(0);
    let result = pinned::runner(2000, file!()).run(&program(), |random| {
        let new = compare(&random.program()).map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    assert!(compared.get() >= 20_000, "only {} questions were answered by both", compared.get());
}

proptest! {
    #![proptest_config(pinned(2000))]

    #[test]
    fn outcomes_grow_along_the_models(random in program()) {
        if let Err(disagreement) = outcomes_grow(&random.program(), &|| limits(60.0, 3)) {
            return Err(TestCaseError::fail(format!("{disagreement}\n{}", random.shown())));
        }
    }
}

proptest! {
    #![proptest_config(pinned(500))]

    #[test]
    fn reductions_change_nothing(random in program()) {
        let program = random.program();
        let on = Explore::default();
        let off = [
            Explore { dead_registers: false, ..on.clone() },
            Explore { macro_steps: false, ..on.clone() },
            Explore { ample_sets: false, ..on.clone() },
            Explore { remembered_steps: false, ..on.clone() },
            Explore { timestamps: false, ..on },
        ];
        let explorers: Vec<&dyn Engine> = off.iter().map(|explore| explore as &dyn Engine).collect();
        if let Err(disagreement) = compare_with(&program, &explorers, &|| limits(60.0, 3)) {
            let source = random.shown();
            return Err(TestCaseError::fail(format!("{disagreement}\n{source}")));
        }
    }
}
