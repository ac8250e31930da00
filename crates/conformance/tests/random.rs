//! Random programs: the engines agree, with every reduction on and off, and outcome sets grow along the models.

use cyrano_conformance::generate::{Random, program};
use cyrano_conformance::{compare, compare_with, limits, outcomes_grow};
use cyrano_explore::Explore;
use proptest::prelude::*;

fn compiled(random: &Random) -> cyrano_ir::Program {
    let source = random.source();
    match cyrano_rml::compile(&source, "random", &[]) {
        Ok(program) => program,
        Err(error) => panic!("does not compile: {error:?}\n{source}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree(random in program()) {
        let program = compiled(&random);
        if let Err(disagreement) = compare(&program) {
            return Err(TestCaseError::fail(format!("{disagreement}\n{}", random.source())));
        }
    }

    #[test]
    fn outcomes_grow_along_the_models(random in program()) {
        if let Err(disagreement) = outcomes_grow(&compiled(&random), &|| limits(60.0, 3)) {
            return Err(TestCaseError::fail(format!("{disagreement}\n{}", random.source())));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reductions_change_nothing(random in program()) {
        let program = compiled(&random);
        let on = Explore::default();
        let off = [
            Explore { dead_registers: false, ..on.clone() },
            Explore { macro_steps: false, ..on.clone() },
            Explore { timestamps: false, ..on },
        ];
        for explore in off {
            if let Err(disagreement) = compare_with(&program, &explore, &|| limits(60.0, 3)) {
                let source = random.source();
                return Err(TestCaseError::fail(format!("{explore:?}: {disagreement}\n{source}")));
            }
        }
    }
}
