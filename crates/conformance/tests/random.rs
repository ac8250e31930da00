//! Random programs: the engines agree, with every reduction on and off, and outcome sets grow along the models.

use cyrano_conformance::generate::program;
use cyrano_conformance::pinned::pinned;
use cyrano_conformance::{compare, compare_with, limits, outcomes_grow};
use cyrano_explore::Explore;
use proptest::prelude::*;

proptest! {
    #![proptest_config(pinned(2000))]

    #[test]
    fn engines_agree(random in program()) {
        let program = random.program();
        if let Err(disagreement) = compare(&program) {
            return Err(TestCaseError::fail(format!("{disagreement}\n{}", random.shown())));
        }
    }

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
        for explore in off {
            if let Err(disagreement) = compare_with(&program, &explore, &|| limits(60.0, 3)) {
                let source = random.shown();
                return Err(TestCaseError::fail(format!("{explore:?}: {disagreement}\n{source}")));
            }
        }
    }
}
