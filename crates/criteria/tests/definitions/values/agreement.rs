//! The fast decision against the definitions on all small histories and on random larger ones.

use cyrano_criteria::criterion::TxCriterion;
use proptest::prelude::*;

use super::generate::{Size, chosen, every};
use cyrano_criteria::values::{Action, Digest, Event, History, Point, Recorder, Reply, accepts, holds, oracle};

pub(super) const IN_PARTS: Size = Size { transactions: 2, locations: 1, values: 2, at_once: false };

pub(super) fn history(size: Size, events: &[Event]) -> History {
    History::new(vec![0; size.locations as usize], events.to_vec()).expect("only well-formed histories are generated")
}

pub(super) fn digest(history: &History) -> Digest {
    let mut recorder = Recorder::new(history);
    for event in history.events() {
        recorder.observe(event);
    }
    recorder.digest().clone()
}

/// The digest of an explorer that forgets after every event.
fn forgetful(history: &History, criterion: TxCriterion) -> Digest {
    let (transactions, locations) = (history.transactions() as usize, history.init().len());
    let mut digest = Digest::new(transactions, locations).expect("the history is small");
    for (at, event) in history.events().iter().enumerate() {
        match event.action {
            Action::Invoke(call) => digest.invoke(event.tx, call),
            Action::Respond(reply) => {
                digest.respond(event.tx, history.call_of(at).expect("a reply has a call"), reply);
            }
        }
        digest.forget(criterion);
    }
    digest
}

/// Everything that is promised about a history, all shorter prefixes having been looked at.
fn check(history: &History) {
    let end = history.events().len();
    let digest = digest(history);
    for criterion in TxCriterion::ALL {
        let wanted = oracle::satisfies(criterion, history, end);
        assert_eq!(holds(criterion, &digest, history.init()), wanted, "{criterion:?} {:#?}", show(history));
        if criterion.judges_prefixes() && end > 0 && !wanted && oracle::satisfies(criterion, history, end - 1) {
            assert!(is_judged(criterion, history), "{criterion:?} is not asked about {:#?}", show(history));
        }
        match accepts(criterion, &digest, history.init()) {
            Ok(order) => assert!(wanted && stands(criterion, &order, &digest, history.init()), "{:#?}", show(history)),
            Err(_) => assert!(!wanted),
        }
        let less = forgetful(history, criterion);
        assert_eq!(holds(criterion, &less, history.init()), wanted, "forgetting, {criterion:?} {:#?}", show(history));
    }
    implications(history, end);
}

fn implications(history: &History, end: usize) {
    let [opacity, whole, strict, serial, snapshot] = TxCriterion::ALL.map(|c| oracle::satisfies(c, history, end));
    assert_eq!(opacity, whole, "the two differ in prefixes only: {:#?}", show(history));
    assert_eq!(whole, oracle::accepts(TxCriterion::FinalStateOpacity, history), "{:#?}", show(history));
    assert!(!opacity || strict, "opaque and not strictly serializable: {:#?}", show(history));
    assert!(!strict || serial && snapshot, "strictly serializable, but not all else: {:#?}", show(history));
    let all_committed = (0..history.transactions()).all(|tx| {
        let last = history.events().iter().rfind(|event| event.tx == tx);
        last.is_some_and(|event| event.action == Action::Respond(Reply::Committed))
    });
    assert!(!all_committed || opacity == strict, "all committed: {:#?}", show(history));
}

fn is_judged(criterion: TxCriterion, history: &History) -> bool {
    let last = history.events().len() - 1;
    match history.events()[last].action {
        Action::Invoke(_) => false,
        Action::Respond(reply) => history.call_of(last).is_some_and(|call| criterion.judges(call, reply)),
    }
}

/// Whether an order is what it is said to be: real time kept, every read justified, nobody missing.
fn stands(criterion: TxCriterion, order: &[Point], digest: &Digest, init: &[i128]) -> bool {
    let mut memory = init.to_vec();
    let mut placed = 0_u32;
    let in_time = |tx: u8, placed: u32, skipped: u32| digest.before(tx) & !placed & !skipped == 0;
    let present = order.iter().fold(0_u32, |set, point| set | 1 << point.transaction());
    for point in order {
        let tx = point.transaction();
        if matches!(point, Point::Committed(_) | Point::Aborted(_) | Point::Snapshot(_)) {
            let reads = (0..digest.locations()).filter(|loc| digest.reads(tx) >> loc & 1 == 1);
            let legal = reads.into_iter().all(|loc| digest.first_read(tx, loc) == memory[loc as usize]);
            if !legal || criterion.keeps_real_time() && !in_time(tx, placed, !present) {
                return false;
            }
        }
        if matches!(point, Point::Committed(_) | Point::Commit(_)) {
            let writes = (0..digest.locations()).filter(|loc| digest.writes(tx) >> loc & 1 == 1);
            writes.into_iter().for_each(|loc| memory[loc as usize] = digest.written(tx, loc));
        }
        if !matches!(point, Point::Snapshot(_)) {
            placed |= 1 << tx;
        }
    }
    use cyrano_criteria::values::Status::{Aborted, Committed, Live};
    (0..digest.transactions()).all(|tx| match digest.status(tx) {
        Committed => present >> tx & 1 == 1,
        Aborted | Live => (present >> tx & 1 == 1) != criterion.is_about_committed(),
        _ => true,
    })
}

pub(super) fn show(history: &History) -> Vec<String> {
    history.events().iter().map(ToString::to_string).collect()
}

fn check_all(size: Size, steps: usize, at_least: usize) {
    let mut seen = 0;
    every(size, steps, &mut |events| {
        seen += 1;
        check(&history(size, events));
    });
    assert!(seen >= at_least, "only {seen} histories");
}

#[test]
fn two_transactions_call_by_call() {
    check_all(IN_PARTS, 8, 100_000);
}

#[test]
fn three_transactions_call_by_call() {
    check_all(Size { transactions: 3, ..IN_PARTS }, 6, 10_000);
}

#[test]
fn two_locations_with_replies_at_once() {
    check_all(Size { locations: 2, at_once: true, ..IN_PARTS }, 4, 100_000);
}

#[test]
fn three_transactions_with_replies_at_once() {
    check_all(Size { transactions: 3, at_once: true, ..IN_PARTS }, 4, 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_histories(choices in prop::collection::vec(any::<u16>(), 1..24)) {
        let size = Size { transactions: 4, locations: 2, values: 2, at_once: true };
        let events = chosen(size, &choices);
        for end in 1..=events.len() {
            check(&history(size, &events[..end]));
        }
    }
}

/// The end of a run: the search for an order, and the orders that keys allow, against the definitions.
#[test]
fn ends_are_judged_as_defined() {
    use cyrano_criteria::values::{Status, finish, misfit, misplaced};
    let size = Size { transactions: 3, locations: 2, values: 2, at_once: true };
    let (wrong, right) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    proptest!(ProptestConfig::with_cases(3000), |(choices in prop::collection::vec(any::<u16>(), 0..14), memory in prop::collection::vec(0..3i128, 2),
        keys in prop::collection::vec(prop::collection::vec(0..2i128, 1..=2), 3))| {
        let history = history(size, &chosen(size, &choices));
        let digest = digest(&history);
        for criterion in [TxCriterion::Opacity, TxCriterion::StrictSerializability, TxCriterion::Serializability] {
            let found = finish(criterion, &digest, history.init(), &memory).is_some();
            let ended = (0..digest.transactions()).all(|tx| digest.status(tx) >= Status::Committed);
            if ended {
                assert_eq!(found, oracle::ends(criterion, &history, &memory), "{criterion:?} {:#?}", show(&history));
                let counter = if found { &right } else { &wrong };
                counter.set(counter.get() + 1);
            }
        }
        let found = misplaced(&digest, history.init(), &memory, &keys);
        assert_eq!(found.is_none(), oracle::ends_in_order(&history, &memory, &keys), "{:#?}", show(&history));
        if let Some(order) = found {
            assert!(misfit(&digest, history.init(), &memory, &order).is_some());
        }
    });
    assert!(wrong.get() > 0 && right.get() > 0, "{} wrong, {} right", wrong.get(), right.get());
}
