//! Decisions with a bug built in: the comparison with the definitions notices each of them.

use super::agreement::{IN_PARTS, digest, history};
use super::generate::{Size, every};
use cyrano_criteria::criterion::TxCriterion;
use cyrano_criteria::values::{Digest, Status, holds, oracle, parse};

const STATUS: i128 = 7;
const TORN: i128 = 8;

/// A digest with other words. `change` gets the first two words of each transaction.
fn changed(digest: &Digest, change: fn(&mut [i128])) -> Digest {
    let mut new = digest.clone();
    new.words_of_each().for_each(change);
    new
}

fn replace(words: &mut [i128], from: Status, to: Status) {
    if words[0] & STATUS == from as i128 {
        words[0] = words[0] & !STATUS | to as i128;
    }
}

/// Checks that the decision with this bug differs from the definition somewhere.
fn check(criterion: TxCriterion, bug: fn(&mut [i128])) {
    let size = Size { transactions: 3, at_once: true, ..IN_PARTS };
    let mut noticed = 0;
    every(size, 4, &mut |events| {
        let history = history(size, events);
        let wrong = changed(&digest(&history), bug);
        let wanted = oracle::satisfies(criterion, &history, events.len());
        noticed += usize::from(holds(criterion, &wrong, history.init()) != wanted);
    });
    assert!(noticed > 0, "nobody notices");
}

#[test]
fn without_a_bug_there_is_nothing_to_notice() {
    let noticed = std::panic::catch_unwind(|| check(TxCriterion::Opacity, |_| {}));
    assert!(noticed.is_err());
}

#[test]
fn real_time_is_ignored() {
    for criterion in [TxCriterion::Opacity, TxCriterion::StrictSerializability, TxCriterion::SnapshotIsolation] {
        check(criterion, |words| words[0] &= STATUS | TORN);
    }
}

#[test]
fn aborted_transactions_are_ignored() {
    check(TxCriterion::Opacity, |words| replace(words, Status::Aborted, Status::Waiting));
}

#[test]
fn aborted_transactions_count_as_committed() {
    for criterion in TxCriterion::ALL {
        check(criterion, |words| replace(words, Status::Aborted, Status::Committed));
    }
}

#[test]
fn live_transactions_are_ignored() {
    check(TxCriterion::Opacity, |words| replace(words, Status::Live, Status::Waiting));
}

#[test]
fn pending_commits_fail() {
    for criterion in TxCriterion::ALL {
        check(criterion, |words| replace(words, Status::CommitPending, Status::Aborted));
    }
}

#[test]
fn pending_commits_succeed() {
    let bug = |words: &mut [i128]| replace(words, Status::CommitPending, Status::Committed);
    for criterion in TxCriterion::ALL.into_iter().filter(|criterion| criterion.is_about_committed()) {
        check(criterion, bug);
    }
    // For opacity the shortest difference is longer: both would have to come first.
    let lines = "history values\nT1 read x 0\nT1 write x 1\nT1 inv commit\nT2 read x 0\nT2 write x 1\nT2 commit C";
    let history = parse(lines).expect("the history is well-formed").history;
    let wrong = changed(&digest(&history), bug);
    assert!(oracle::accepts(TxCriterion::Opacity, &history) && !holds(TxCriterion::Opacity, &wrong, history.init()));
}

#[test]
fn a_transaction_need_not_see_its_own_writes() {
    for criterion in TxCriterion::ALL {
        check(criterion, |words| words[0] &= !TORN);
    }
}

#[test]
fn reads_need_no_justification() {
    for criterion in TxCriterion::ALL {
        check(criterion, |words| words[1] &= !i128::from(u32::MAX));
    }
}

/// Snapshot isolation is neither stronger nor weaker than serializability, and not implied by it.
#[test]
fn snapshot_isolation_is_not_another_criterion() {
    let size = Size { at_once: true, ..IN_PARTS };
    let (mut stale, mut lost) = (0, 0);
    every(size, 4, &mut |events| {
        let history = history(size, events);
        let [.., serial, snapshot] = TxCriterion::ALL.map(|c| holds(c, &digest(&history), history.init()));
        stale += usize::from(serial && !snapshot);
        lost += usize::from(!serial && snapshot);
    });
    // Write skew needs two locations; see the library.
    assert!(stale > 0 && lost == 0, "{stale} {lost}");
}
