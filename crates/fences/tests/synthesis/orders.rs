//! Sets of orders, against all subsets one by one.

use std::collections::BTreeSet;

use cyrano_engine::{Execution, Replayed};
use cyrano_fences::{Judgement, Orderable, Verdict, Wrong, synthesise_orders};
use proptest::prelude::*;

/// Executions, each with the sets of orders that forbid it: it is forbidden by whatever contains one of these.
struct Table {
    candidates: usize,
    executions: Vec<Vec<BTreeSet<usize>>>,
}

impl Table {
    fn possible(&self, number: usize, set: &[usize]) -> bool {
        !self.executions[number].iter().any(|ways| ways.iter().all(|order| set.contains(order)))
    }

    fn correct(&self, set: &[usize]) -> bool {
        (0..self.executions.len()).all(|number| !self.possible(number, set))
    }

    /// All minimal sets, by trying every one.
    fn brute_force(&self) -> BTreeSet<Vec<usize>> {
        let subsets = (0..1usize << self.candidates)
            .map(|bits| (0..self.candidates).filter(|n| bits >> n & 1 == 1).collect::<Vec<usize>>());
        let correct: Vec<Vec<usize>> = subsets.filter(|set| self.correct(set)).collect();
        let smaller = |set: &Vec<usize>, other: &Vec<usize>| {
            other.len() < set.len() && other.iter().all(|order| set.contains(order))
        };
        correct.iter().filter(|set| !correct.iter().any(|other| smaller(set, other))).cloned().collect()
    }
}

impl Orderable for Table {
    type Wrong = usize;

    fn candidates(&self) -> usize {
        self.candidates
    }

    fn strength(&self, candidate: usize) -> u32 {
        candidate as u32
    }

    fn judge(&self, set: &[usize]) -> Judgement<usize> {
        match (0..self.executions.len()).find(|number| self.possible(*number, set)) {
            None => Judgement::Correct,
            Some(evidence) => {
                let replayed = Replayed::default();
                Judgement::Wrong(Wrong { execution: Execution::default(), replayed, evidence })
            }
        }
    }

    fn allows(&self, wrong: &usize, set: &[usize]) -> bool {
        self.possible(*wrong, set)
    }
}

fn table(candidates: usize, executions: &[&[&[usize]]]) -> Table {
    let sets = |ways: &&[&[usize]]| ways.iter().map(|way| way.iter().copied().collect()).collect();
    Table { candidates, executions: executions.iter().map(sets).collect() }
}

fn check(table: &Table) {
    let outcome = synthesise_orders(table, usize::MAX);
    let found: BTreeSet<Vec<usize>> = outcome.sets.iter().map(|set| set.orders.clone()).collect();
    let expected = table.brute_force();
    match outcome.verdict {
        Verdict::AlreadyCorrect => assert_eq!(expected, [vec![]].into()),
        Verdict::Irreparable => assert!(expected.is_empty()),
        Verdict::Repaired => {
            assert_eq!(found, expected);
            assert!(outcome.complete && outcome.minimal());
        }
        Verdict::Unknown => panic!("{:?}", outcome.reason),
    }
    assert!(outcome.sets.is_sorted_by_key(|set| set.orders.len()));
    for set in &outcome.sets {
        for (order, shown) in set.orders.iter().zip(&set.prevents) {
            let rest: Vec<usize> = set.orders.iter().copied().filter(|other| other != order).collect();
            assert!(shown.is_some_and(|shown| table.possible(outcome.counterexamples[shown], &rest)));
        }
    }
}

#[test]
fn orders_that_help_only_together() {
    check(&table(3, &[&[&[0, 1]]]));
    check(&table(3, &[&[&[0, 1], &[2]]]));
    check(&table(3, &[&[&[0], &[1]], &[&[1, 2]]]));
}

#[test]
fn nothing_to_find() {
    check(&table(3, &[]));
    check(&table(3, &[&[&[0]], &[]]));
    let hopeless = synthesise_orders(&table(2, &[&[]]), 1);
    assert_eq!(hopeless.verdict, Verdict::Irreparable);
    assert_eq!(hopeless.reason.as_deref(), Some("it goes wrong without anything that an order could forbid"));
}

proptest! {
    #[test]
    fn as_brute_force(
        executions in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::btree_set(0usize..6, 1..4), 1..4), 0..6),
    ) {
        check(&Table { candidates: 6, executions });
    }
}
