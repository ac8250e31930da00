//! The transactions of a history (FOIL, section 2.4.1).

use crate::history::{Action, Event};

/// What has become of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It has committed.
    Committed,
    /// It has aborted.
    Aborted,
    /// It is still running.
    Unfinished,
}

/// A transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Whose.
    pub thread: u8,
    /// The indices of its events in the history, without unused loads and idle `rfin`s.
    pub events: Vec<usize>,
    /// What has become of it.
    pub outcome: Outcome,
}

/// A history, split into transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// In the order of their first events.
    pub transactions: Vec<Transaction>,
    /// The transaction of each event; `None` for those that do not count.
    pub of: Vec<Option<usize>>,
}

impl Split {
    /// Whether the store or `cas` at this index is final: its transaction does not roll it back later.
    pub fn is_final(&self, history: &[Event], store: usize) -> bool {
        self.rollback_of(history, store).is_none()
    }

    /// The event that rolls back the store or `cas` at this index.
    pub fn rollback_of(&self, history: &[Event], store: usize) -> Option<usize> {
        let variable = history[store].action.variable()?;
        let mut later = self.transactions[self.of[store]?].events.iter().filter(|&&i| i > store);
        later.find(|&&i| history[i].action == Action::Rollback(variable)).copied()
    }
}

/// Splits a history into its transactions.
pub fn split(history: &[Event]) -> Split {
    let mut split = Split { transactions: Vec::new(), of: vec![None; history.len()] };
    for (i, event) in history.iter().enumerate() {
        if !counts(history, i) {
            continue;
        }
        let open = |t: &Transaction| t.thread == event.thread && t.outcome == Outcome::Unfinished;
        let number = split.transactions.iter().position(open).unwrap_or_else(|| {
            let events = Vec::new();
            split.transactions.push(Transaction { thread: event.thread, events, outcome: Outcome::Unfinished });
            split.transactions.len() - 1
        });
        split.of[i] = Some(number);
        split.transactions[number].events.push(i);
        if matches!(event.action, Action::Commit | Action::Abort) {
            let committed = event.action == Action::Commit;
            split.transactions[number].outcome = if committed { Outcome::Committed } else { Outcome::Aborted };
        }
    }
    split
}

/// Whether an event counts: not a load without its `rfin`, not an `rfin` without its load.
fn counts(history: &[Event], i: usize) -> bool {
    let same_thread = |e: &&Event| e.thread == history[i].thread;
    match history[i].action {
        Action::Load(_) => {
            let next = history[i + 1..].iter().find(same_thread);
            next.is_some_and(|e| e.action == Action::ReadFinish)
        }
        Action::ReadFinish => {
            let last = history[..i].iter().rfind(same_thread);
            last.is_some_and(|e| matches!(e.action, Action::Load(_)))
        }
        _ => true,
    }
}
