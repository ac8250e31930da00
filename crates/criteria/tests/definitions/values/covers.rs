//! What an accepted history says about others: neighbours of different transactions may change places, unless they are a call and a response after it. The symbolic
//! engine asks for one history of many because of this.

use cyrano_criteria::criterion::TxCriterion;
use cyrano_criteria::values::{Action, Event, oracle};
use proptest::prelude::*;

use super::agreement::{IN_PARTS, history, show};
use super::generate::{Size, chosen, every};

/// Every exchange of two neighbours that is allowed; how many exchanges of a call and a response after it would have been wrong.
fn check(size: Size, events: &[Event]) -> usize {
    let calls = |event: &Event| matches!(event.action, Action::Invoke(_));
    let before = history(size, events);
    let accepted: Vec<TxCriterion> =
        TxCriterion::ALL.into_iter().filter(|criterion| oracle::accepts(*criterion, &before)).collect();
    let mut wrong = 0;
    for at in (1..events.len()).filter(|at| events[at - 1].tx != events[*at].tx) {
        let mut exchanged = events.to_vec();
        exchanged.swap(at - 1, at);
        let after = history(size, &exchanged);
        for criterion in &accepted {
            let fine = oracle::accepts(*criterion, &after);
            match calls(&events[at - 1]) && !calls(&events[at]) {
                true => wrong += usize::from(!fine),
                false => assert!(fine, "{criterion:?} {:#?}\n{:#?}", show(&before), show(&after)),
            }
        }
    }
    wrong
}

fn check_all(size: Size, steps: usize, at_least: usize) {
    let (mut seen, mut wrong) = (0, 0);
    every(size, steps, &mut |events| {
        seen += 1;
        wrong += check(size, events);
    });
    assert!(seen >= at_least && wrong > 0, "{seen} histories, {wrong} exchanges of a call and a response");
}

#[test]
fn two_transactions() {
    check_all(IN_PARTS, 7, 10_000);
}

#[test]
fn three_transactions() {
    check_all(Size { transactions: 3, ..IN_PARTS }, 5, 1_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn random_histories(choices in prop::collection::vec(any::<u16>(), 1..20)) {
        let size = Size { transactions: 4, locations: 2, values: 2, at_once: false };
        check(size, &chosen(size, &choices));
    }
}
