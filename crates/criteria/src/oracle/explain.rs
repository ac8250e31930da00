//! What is wrong with a history, for people: the broken rule, or a shortest cycle with the events behind each edge.

use crate::criterion::TxCriterion;
use std::collections::VecDeque;

use super::{Edge, IllFormed, Outcome, Reason, Split, edges, ill_formed, split};
use crate::history::{Event, Names};

/// Why a history is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The event at which it goes wrong: everything before it is accepted.
    pub at: usize,
    /// The transactions up to and including that event.
    pub split: Split,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What is wrong with a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// Each transaction must come before the next, and the last before the first.
    Cycle(Vec<Edge>),
    /// A rule of well-formed histories is broken.
    IllFormed(IllFormed),
}

/// Explains why the criterion rejects the history; `None` if it accepts it.
///
/// Unlike the oracle proper it looks for cycles instead of trying every order, so it serves long histories too.
pub fn explain(criterion: TxCriterion, history: &[Event]) -> Option<Explanation> {
    (1..=history.len()).find_map(|end| explain_last(criterion, &history[..end]))
}

/// Explains what is wrong with a history, all shorter prefixes of it being as they should be.
pub fn explain_last(criterion: TxCriterion, history: &[Event]) -> Option<Explanation> {
    let at = history.len().checked_sub(1)?;
    let split = split(history);
    let wrong = match ill_formed(criterion, history, &split) {
        Some(broken) => Wrong::IllFormed(broken),
        None => Wrong::Cycle(cycle(split.transactions.len(), &edges(criterion, history, &split))?),
    };
    Some(Explanation { at, split, wrong })
}

/// A shortest cycle, if there is one.
fn cycle(transactions: usize, edges: &[Edge]) -> Option<Vec<Edge>> {
    let closing = edges.iter().filter_map(|&last| {
        let mut path = path(transactions, edges, last.to, last.from)?;
        path.push(last);
        Some(path)
    });
    // Among the shortest, prefer the one that leans least on real time: conflicts say more.
    let real_time = |c: &Vec<Edge>| c.iter().filter(|e| e.reason == Reason::RealTime).count();
    let mut found = closing.min_by_key(|c| (c.len(), real_time(c)))?;
    let first = found.iter().enumerate().min_by_key(|(_, e)| e.from).map_or(0, |(i, _)| i);
    found.rotate_left(first);
    Some(found)
}

/// A shortest path.
fn path(transactions: usize, edges: &[Edge], from: usize, to: usize) -> Option<Vec<Edge>> {
    let mut came: Vec<Option<Edge>> = vec![None; transactions];
    let mut queue = VecDeque::from([from]);
    while let Some(x) = queue.pop_front() {
        if x == to {
            let mut path: Vec<Edge> = Vec::new();
            let mut at = to;
            while at != from {
                let edge = came[at].expect("every transaction on the way was reached by an edge");
                path.push(edge);
                at = edge.from;
            }
            path.reverse();
            return Some(path);
        }
        for edge in edges.iter().filter(|e| e.from == x) {
            if edge.to != from && came[edge.to].is_none() {
                came[edge.to] = Some(*edge);
                queue.push_back(edge.to);
            }
        }
    }
    None
}

impl Explanation {
    /// In words, with transactions numbered in the order of their first events: "T1 read x before T2 wrote it; …".
    pub fn words(&self, history: &[Event], names: &Names) -> String {
        match &self.wrong {
            Wrong::Cycle(cycle) => self.cycle_in_words(cycle, history, names),
            Wrong::IllFormed(broken) => self.rule_in_words(*broken, history, names),
        }
    }

    fn cycle_in_words(&self, cycle: &[Edge], history: &[Event], names: &Names) -> String {
        let parts: Vec<String> = cycle.iter().map(|edge| edge_in_words(edge, history, names)).collect();
        let end = if cycle.len() == 2 { "so neither can come first" } else { "so none of them can come first" };
        format!("{}; {end}", parts.join("; "))
    }

    fn rule_in_words(&self, broken: IllFormed, history: &[Event], names: &Names) -> String {
        let name = |event: usize| self.split.of[event].map_or_else(|| "a transaction".into(), transaction_name);
        let variable = |event: usize| variable_name(history[event], names);
        match broken {
            IllFormed::RollbackWithoutStore { rollback } => {
                format!("{} rolled back {} without a store of it to undo", name(rollback), variable(rollback))
            }
            IllFormed::AbortWithStore { store, abort } => {
                format!("{} aborted without rolling back its store of {}", name(abort), variable(store))
            }
            IllFormed::RollbackAfterUse { store, access, rollback } => {
                let is_load = matches!(history[access].action, crate::history::Action::Load(_));
                let did = if is_load { "used" } else { "overwrote" };
                let committed = self.split.of[access]
                    .is_some_and(|t| is_load && self.split.transactions[t].outcome == Outcome::Committed);
                let and = if committed { " and committed" } else { "" };
                let (owner, other, v) = (name(rollback), name(access), variable(store));
                format!("{other} {did} the value of {v} that {owner} stored and rolled back{and}")
            }
        }
    }
}

fn edge_in_words(edge: &Edge, history: &[Event], names: &Names) -> String {
    let (x, y) = (transaction_name(edge.from), transaction_name(edge.to));
    let v = variable_name(history[edge.events.0], names);
    match edge.reason {
        Reason::ReadBeforeWrite => format!("{x} read {v} before {y} wrote it"),
        Reason::WriteBeforeRead => format!("{x} wrote {v} before {y} read it"),
        Reason::WriteBeforeWrite => format!("{x} wrote {v} before {y} wrote it"),
        Reason::RealTime => format!("{x} had finished before {y} began"),
    }
}

fn transaction_name(number: usize) -> String {
    format!("T{}", number + 1)
}

fn variable_name(event: Event, names: &Names) -> String {
    event.action.variable().map_or_else(String::new, |v| names.variable(v))
}
