//! Invariants and races: the explorer decides them by states, the reference by the definitions.

use std::cell::Cell;

use cyrano_conformance::pinned::{long, runner};
use cyrano_conformance::states::states;
use cyrano_conformance::{Tally, compare_checks, limits};
use cyrano_engine::Engine;
use cyrano_explore::Explore;
use proptest::prelude::*;
use proptest::test_runner::TestError;

/// Compares on so many programs, and says what was settled.
fn compare(cases: u32, explorers: &[Explore]) -> Tally {
    let compared = Cell::new(Tally::default());
    let engines: Vec<&dyn Engine> = explorers.iter().map(|explore| explore as &dyn Engine).collect();
    let result = runner(cases, file!()).run(&states(), |random| {
        let tally = compare_checks(&random.program(), &engines, &|| limits(2.0, 3));
        let mut all = compared.get();
        all.add(tally.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?);
        compared.set(all);
        Ok(())
    });
    match result {
        Ok(()) => compared.get(),
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
}

#[test]
fn invariants_and_races_are_as_defined() {
    let cases = if long() { 20_000 } else { 3_000 };
    let tally = compare(cases, &[Explore::default()]);
    println!("{tally:?}");
    let (compared, violated) = (tally.compared / cases as usize, tally.violated / cases as usize);
    assert!(compared >= 4 && violated >= 1, "{tally:?}");
    assert!(tally.compared - tally.violated >= cases as usize, "{tally:?}");
}

#[test]
fn reductions_see_what_invariants_see() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { ample_sets: false, ..on.clone() },
        Explore { remembered_steps: false, ..on.clone() },
        Explore { sorted_stores: false, dead_loads: false, ..on.clone() },
        Explore { thread_symmetry: false, macro_steps: false, ample_sets: false, remembered_steps: false, ..on },
    ];
    let cases = if long() { 5_000 } else { 600 };
    let tally = compare(cases, &off);
    assert!(tally.compared >= 20 * cases as usize, "{tally:?}");
}
