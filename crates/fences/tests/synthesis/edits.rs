//! Sets of edits with weaker and stronger forms, against all choices one by one.

use std::collections::BTreeSet;

use cyrano_engine::{Execution, Replayed};
use cyrano_fences::{EditSet, Editable, Judgement, Offer, Verdict, Wrong, synthesise_edits};
use proptest::prelude::*;

/// What each edit of a slot orders, as bits; the second one of three is no weaker than the first.
const FORMS: [u8; 3] = [1, 2, 3];

/// Executions, each with the ways to forbid it: a way is a form for some slots, and it forbids the execution if each of these has at least that.
struct Table {
    offers: Vec<Offer>,
    executions: Vec<Vec<Vec<(usize, u8)>>>,
}

impl Table {
    fn new(slots: usize, executions: Vec<Vec<Vec<(usize, u8)>>>) -> Self {
        let offer = |slot: usize, form: usize| {
            let at_least = (0..3).filter(|more| FORMS[*more] & FORMS[form] == FORMS[form]);
            let cost = [2, 3, 4][form] + u32::from(slot == 0);
            Offer { slot, cost, at_least: at_least.map(|more| slot * 3 + more).collect() }
        };
        let offers = (0..slots).flat_map(|slot| (0..3).map(move |form| offer(slot, form))).collect();
        Self { offers, executions }
    }

    fn bits(&self, set: &[usize], slot: usize) -> u8 {
        set.iter().find(|edit| *edit / 3 == slot).map_or(0, |edit| FORMS[edit % 3])
    }

    fn possible(&self, number: usize, set: &[usize]) -> bool {
        let forbids = |way: &Vec<(usize, u8)>| way.iter().all(|(slot, bits)| self.bits(set, *slot) & bits == *bits);
        !self.executions[number].iter().any(forbids)
    }

    fn correct(&self, set: &[usize]) -> bool {
        (0..self.executions.len()).all(|number| !self.possible(number, set))
    }

    fn cost(&self, set: &[usize]) -> u32 {
        set.iter().map(|edit| self.offers[*edit].cost).sum()
    }

    /// All correct sets without a correct one within, by trying every choice.
    fn brute_force(&self) -> BTreeSet<Vec<usize>> {
        let slots = self.offers.len() / 3;
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for slot in 0..slots {
            let with =
                |set: &Vec<usize>| (0..3).map(|form| [set.as_slice(), &[slot * 3 + form]].concat()).collect::<Vec<_>>();
            choices = choices.iter().flat_map(|set| [vec![set.clone()], with(set)].concat()).collect();
        }
        let correct: Vec<Vec<usize>> = choices.into_iter().filter(|set| self.correct(set)).collect();
        let within =
            |less: &[usize], more: &[usize]| (0..slots).all(|slot| self.bits(less, slot) & !self.bits(more, slot) == 0);
        let least = |set: &&Vec<usize>| !correct.iter().any(|less| less != *set && within(less, set));
        correct.iter().filter(least).cloned().collect()
    }
}

impl Editable for Table {
    type Wrong = usize;

    fn offers(&self) -> &[Offer] {
        &self.offers
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

    fn check_again(&self, set: &[usize]) -> Judgement<usize> {
        self.judge(set)
    }

    fn allows(&self, wrong: &usize, set: &[usize]) -> bool {
        self.possible(*wrong, set)
    }
}

fn check(table: &Table) {
    let expected = table.brute_force();
    let outcome = synthesise_edits(table, usize::MAX);
    let found: BTreeSet<Vec<usize>> = outcome.sets.iter().map(|set| set.edits.clone()).collect();
    match (expected.is_empty(), expected.contains(&Vec::new())) {
        (true, _) => assert_eq!(outcome.verdict, Verdict::Irreparable),
        (_, true) => assert_eq!(outcome.verdict, Verdict::AlreadyCorrect),
        _ => {
            assert_eq!((outcome.verdict, outcome.complete), (Verdict::Repaired, true));
            assert_eq!(found, expected);
            let costs: Vec<u32> = outcome.sets.iter().map(|set| table.cost(&set.edits)).collect();
            assert!(costs.is_sorted(), "{costs:?}");
            let needed = |set: &EditSet| set.minimal && set.prevents.iter().all(Option::is_some);
            assert!(outcome.sets.iter().all(needed));
        }
    }
}

#[test]
fn a_weaker_form_is_enough() {
    check(&Table::new(2, vec![vec![vec![(0, 1)]], vec![vec![(1, 2)]]]));
    check(&Table::new(2, vec![vec![vec![(0, 1), (1, 1)], vec![(0, 3)]]]));
    check(&Table::new(1, vec![vec![]]));
    check(&Table::new(1, vec![]));
}

proptest! {
    #[test]
    fn as_brute_force(
        executions in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec((0usize..4, 1u8..4), 1..3), 0..4),
            0..6,
        ),
    ) {
        check(&Table::new(4, executions));
    }
}
