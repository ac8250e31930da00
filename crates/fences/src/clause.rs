//! From a counterexample to the fences that forbid it.
//!
//! A fence forbids an execution if it stands between two accesses of one thread, orders their kinds, and the execution performs
//! the second one first. A read-modify-write counts as both a load and a store. An event of a transaction is neither,
//! so no fence keeps it in its place.

use cyrano_engine::{Execution, Replayed};
use cyrano_ir::{FenceSet, ThreadId};

use crate::places::{PlaceId, Places};

/// A candidate: one of the four kinds at one place. Its number is its place's times four plus its kind's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Candidate(pub(crate) usize);

impl Candidate {
    /// All candidates of so many places.
    pub(crate) fn all(places: usize) -> impl Iterator<Item = Self> {
        (0..places * FenceSet::KINDS.len()).map(Self)
    }

    /// Where it stands.
    pub(crate) fn place(self) -> PlaceId {
        PlaceId(self.0 / FenceSet::KINDS.len())
    }

    /// Its kind.
    pub(crate) fn kind(self) -> FenceSet {
        FenceSet::KINDS[self.0 % FenceSet::KINDS.len()].0
    }

    fn at(place: PlaceId, kinds: FenceSet) -> impl Iterator<Item = Self> {
        let number = move |kind: usize| Self(place.0 * FenceSet::KINDS.len() + kind);
        let kinds = FenceSet::KINDS.iter().enumerate().filter(move |(_, (kind, _))| kinds.contains(*kind));
        kinds.map(move |(kind, _)| number(kind))
    }
}

/// All candidates that forbid an execution of the program of this number, each once, in order.
pub(crate) fn clause(
    places: &Places,
    program: usize,
    execution: &Execution,
    replayed: &Replayed,
) -> Result<Vec<Candidate>, String> {
    let chart = places.charts.get(program).ok_or("a counterexample is of a program that is not there")?;
    let mut clause = Vec::new();
    for thread in 0..chart.threads.len() {
        let thread = ThreadId::new(thread);
        let own = replayed.steps.iter().filter(|step| step.access.thread == thread && !step.overtook.is_empty());
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            continue;
        }
        let way = places.way(chart, thread, execution)?;
        for step in own {
            for overtaken in &step.overtook {
                let kinds = FenceSet::from_first(overtaken.kind) & FenceSet::from_second(step.kind);
                let between = way.between(overtaken.index, step.access.index);
                clause.extend(between.into_iter().flat_map(|place| Candidate::at(place, kinds)));
            }
        }
    }
    clause.sort();
    clause.dedup();
    Ok(clause)
}
