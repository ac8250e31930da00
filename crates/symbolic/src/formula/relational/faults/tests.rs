//! The comparison of both engines on random programs notices each bug.

use cyrano_conformance::limits;
use cyrano_conformance::pinned::pinned;
use cyrano_conformance::related::{Related, related};
use cyrano_conformance::relations::compare_with;
use cyrano_memory::Model;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::{Fault, ON};
use crate::Symbolic;

const ALL: [Fault; 12] = [
    Fault::NobodyBetween,
    Fault::OneStep,
    Fault::StraightBounds,
    Fault::SeeNothing,
    Fault::HideAll,
    Fault::NoHalves,
    Fault::LackOperand,
    Fault::ForgetData,
    Fault::ForgetControl,
    Fault::AnyLast,
    Fault::OrderThreads,
    Fault::AlwaysThere,
];

/// Programs, always the same ones.
fn programs(models: &[Model], count: usize) -> Vec<Related> {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..pinned(1) });
    let cases = related(8, models.len());
    (0..count).map(|_| cases.new_tree(&mut runner).expect("a program").current()).collect()
}

/// Which of the programs is the first that the engines disagree on.
fn noticed(programs: &[Related], models: &[Model], fault: Option<Fault>) -> Option<(usize, String)> {
    ON.set(fault);
    let complaint = |random: &Related| {
        let model = &models[random.model];
        let compared = compare_with(&Symbolic::default(), &random.program(model), model, &|| limits(0.5, 2));
        compared.err().map(|disagreement| disagreement.to_string())
    };
    let found = programs.iter().enumerate().find_map(|(at, random)| Some((at, complaint(random)?)));
    ON.set(None);
    found
}

#[test]
fn bugs_in_the_encoder_are_noticed() {
    let models = cyrano_memory::relational();
    let programs = programs(&models, 3000);
    assert_eq!(noticed(&programs[..100], &models, None), None);
    for fault in ALL {
        let found = noticed(&programs, &models, Some(fault));
        println!("{fault:?}: {found:?}");
        assert!(found.is_some(), "nobody notices {fault:?}");
    }
}
