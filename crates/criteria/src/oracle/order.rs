//! Which transaction must come before which (FOIL, section 2.4.2: conflicts and strict equivalence).

use super::{Outcome, Split};
use crate::criterion::TxCriterion;
use crate::history::{Action, Event};

/// A transaction must come before another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// The one that comes first: its number in [`Split::transactions`].
    pub from: usize,
    /// The one that comes later.
    pub to: usize,
    /// Why.
    pub reason: Reason,
    /// The events that show it: indices into the history.
    pub events: (usize, usize),
}

/// Why a transaction must come before another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// It read a variable that the other stored later.
    ReadBeforeWrite,
    /// It stored a variable that the other read later.
    WriteBeforeRead,
    /// It stored a variable that the other stored later.
    WriteBeforeWrite,
    /// It had finished before the other began.
    RealTime,
}

/// Everything that restricts the order of the transactions: one edge for each pair of events that does.
pub fn edges(criterion: TxCriterion, history: &[Event], split: &Split) -> Vec<Edge> {
    let counts = |t: usize| !criterion.is_about_committed() || split.transactions[t].outcome == Outcome::Committed;
    let mut edges = Vec::new();
    for later in 0..history.len() {
        for earlier in 0..later {
            let (Some(from), Some(to)) = (split.of[earlier], split.of[later]) else { continue };
            if from != to
                && counts(from)
                && counts(to)
                && let Some(reason) = conflict(history, split, earlier, later)
            {
                edges.push(Edge { from, to, reason, events: (earlier, later) });
            }
        }
    }
    for (from, x) in split.transactions.iter().enumerate() {
        for (to, y) in split.transactions.iter().enumerate() {
            let (Some(&last), Some(&first)) = (x.events.last(), y.events.first()) else { continue };
            if x.outcome != Outcome::Unfinished && last < first && counts(from) && counts(to) {
                edges.push(Edge { from, to, reason: Reason::RealTime, events: (last, first) });
            }
        }
    }
    edges
}

/// How two events of different transactions conflict, if they do.
fn conflict(history: &[Event], split: &Split, earlier: usize, later: usize) -> Option<Reason> {
    let variable = history[earlier].action.variable();
    if variable.is_none() || variable != history[later].action.variable() {
        return None;
    }
    let reads = |i: usize| matches!(history[i].action, Action::Load(_) | Action::Cas(_));
    let stores =
        |i: usize| matches!(history[i].action, Action::Store(_) | Action::Cas(_)) && split.is_final(history, i);
    if stores(earlier) && stores(later) {
        Some(Reason::WriteBeforeWrite)
    } else if reads(earlier) && stores(later) {
        Some(Reason::ReadBeforeWrite)
    } else if stores(earlier) && reads(later) {
        Some(Reason::WriteBeforeRead)
    } else {
        None
    }
}
