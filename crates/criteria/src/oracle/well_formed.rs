//! Well-formed histories (FOIL, section 2.4.2, with the readings in the documentation of [`oracle`](crate::oracle)).

use super::{Outcome, Split};
use crate::criterion::TxCriterion;
use crate::history::{Action, Event};

/// How a history breaks a rule; the numbers are indices of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IllFormed {
    /// Rule 1: nothing to roll back.
    RollbackWithoutStore {
        /// The rollback.
        rollback: usize,
    },
    /// Rule 2: a transaction aborts and leaves a store behind.
    AbortWithStore {
        /// The store.
        store: usize,
        /// The abort.
        abort: usize,
    },
    /// Rule 3: another transaction used or overwrote what is rolled back.
    RollbackAfterUse {
        /// The store that is rolled back.
        store: usize,
        /// The load, store or `cas` of another transaction.
        access: usize,
        /// The rollback.
        rollback: usize,
    },
}

/// How the history breaks a rule, if it does.
pub fn ill_formed(criterion: TxCriterion, history: &[Event], split: &Split) -> Option<IllFormed> {
    (0..history.len()).find_map(|i| match history[i].action {
        Action::Rollback(v) => rollback_without_store(history, split, i, v),
        Action::Abort => abort_with_store(history, split, i),
        Action::Store(v) | Action::Cas(v) => rollback_after_use(criterion, history, split, i, v),
        _ => None,
    })
}

/// Rule 1.
fn rollback_without_store(history: &[Event], split: &Split, rollback: usize, v: u8) -> Option<IllFormed> {
    let own = &split.transactions[split.of[rollback]?].events;
    let undoes =
        |&&i: &&usize| i < rollback && is_store(history[i], v) && split.rollback_of(history, i) == Some(rollback);
    own.iter().find(undoes).is_none().then_some(IllFormed::RollbackWithoutStore { rollback })
}

/// Rule 2.
fn abort_with_store(history: &[Event], split: &Split, abort: usize) -> Option<IllFormed> {
    let own = &split.transactions[split.of[abort]?].events;
    let left = |&&i: &&usize| {
        let store = matches!(history[i].action, Action::Store(_) | Action::Cas(_));
        store && split.is_final(history, i)
    };
    own.iter().find(left).map(|&store| IllFormed::AbortWithStore { store, abort })
}

/// Rule 3.
fn rollback_after_use(c: TxCriterion, history: &[Event], split: &Split, store: usize, v: u8) -> Option<IllFormed> {
    let rollback = split.rollback_of(history, store)?;
    let wrong = |&access: &usize| {
        let Some(other) = split.of[access] else { return false };
        let committed = split.transactions[other].outcome == Outcome::Committed;
        let used = history[access].action == Action::Load(v) && (!c.is_about_committed() || committed);
        Some(other) != split.of[store] && (used || is_store(history[access], v))
    };
    let access = (store + 1..rollback).find(wrong)?;
    Some(IllFormed::RollbackAfterUse { store, access, rollback })
}

fn is_store(event: Event, v: u8) -> bool {
    event.action == Action::Store(v) || event.action == Action::Cas(v)
}
