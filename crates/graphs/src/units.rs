//! Accesses that nobody comes between: read-modify-writes, and the atomic sections of models with one order of all accesses.
//!
//! Under such a model a section may have any accesses: they are consecutive in the order, and each is kept behind what it would be kept behind alone. So an
//! execution is one in which the relation of [`crate::models::total`] has no cycle after every section has become one event.
//!
//! **Argument** for when that is asked: at the end, of graphs in which no thread goes on ([`Order::new`]), and not before. The search finds every graph that is
//! consistent without it, each once; those are the ones that it is asked of. A graph on the way there that somebody comes between may lose that
//! somebody in a revisit, and must not be given up. So nothing that is wrong may end the search before its graph is whole, either ([`crate::goals`]).
//! A section whose one path is a load and then a store to the same location is a read-modify-write all along ([`crate::fits`]).

use crate::graph::{Event, Graph, Kind};
use crate::models::total::{Kept, Total};
use crate::rows::{EventId, INITIAL, Row};

/// What is before what, in every order of all accesses that shows a graph.
#[derive(Debug)]
pub(crate) struct Order<const W: usize> {
    /// For each event those that it is held together with, itself among them.
    units: Vec<Row<W>>,
    /// What is before its unit.
    before: Vec<Row<W>>,
}

impl<const W: usize> Order<W> {
    /// Of those events that count; none if somebody comes between what belongs together.
    pub(crate) fn new(graph: &Graph<'_, W>, kept: Kept) -> Option<Self> {
        let total = Total::new(kept, graph.program());
        let units = units(graph);
        let counted = || graph.order.iter().copied().filter(|id| !units[usize::from(*id)].is_empty());
        let all = counted().fold(Row::EMPTY, |row, id| row | Row::one(id));
        let mut before = vec![Row::EMPTY; graph.events.len()];
        for id in counted() {
            let unit = units[usize::from(id)];
            let direct = unit.iter().fold(Row::EMPTY, |row, other| row | total.direct(graph, other));
            before[usize::from(id)] = whole(&units, direct & all & !unit);
        }
        for middle in counted() {
            let row = before[usize::from(middle)];
            for id in counted() {
                if before[usize::from(id)].contains(middle) {
                    before[usize::from(id)] |= row;
                }
            }
        }
        let is_free = |id: EventId| !before[usize::from(id)].meets(&units[usize::from(id)]);
        let is_order = counted().all(is_free);
        is_order.then_some(Self { units, before })
    }

    /// What is before an event, but for what it is held together with.
    pub(crate) fn before(&self, id: EventId) -> Row<W> {
        self.before[usize::from(id)]
    }

    /// What an event is held together with, and the event.
    pub(crate) fn unit(&self, id: EventId) -> Row<W> {
        self.units[usize::from(id)]
    }

    /// Whether an event counts.
    pub(crate) fn counts(&self, id: EventId) -> bool {
        !self.unit(id).is_empty()
    }

    /// Whether an access comes before another one, whatever the order; the initial write before all.
    pub(crate) fn is_before(&self, graph: &Graph<'_, W>, one: EventId, other: EventId) -> bool {
        if one == INITIAL || other == INITIAL {
            return one == INITIAL && other != INITIAL;
        }
        if self.unit(one).contains(other) {
            let own = &graph.runners[usize::from(graph.event(one).thread)].events;
            let place = |id: EventId| own.iter().position(|own| *own == id);
            return place(one) < place(other);
        }
        self.before(other).contains(one)
    }
}

/// A set with all that its members are held together with.
fn whole<const W: usize>(units: &[Row<W>], set: Row<W>) -> Row<W> {
    set.iter().fold(set, |row, id| row | units[usize::from(id)])
}

/// What each event is held together with; nothing for those that do not count.
fn units<const W: usize>(graph: &Graph<'_, W>) -> Vec<Row<W>> {
    let mut units = vec![Row::EMPTY; graph.events.len()];
    for runner in &graph.runners {
        let own = &runner.events[..runner.counted()];
        let mut unit: Row<W> = Row::EMPTY;
        let mut last = None;
        for (at, id) in own.iter().enumerate() {
            let section = runner.section_at(at);
            let Event { kind, .. } = *graph.event(*id);
            let is_second = matches!(kind, Kind::Write(Some(half)) if unit.contains(half));
            if !is_second && (section.is_none() || section != last) {
                unit = Row::EMPTY;
            }
            last = section;
            unit.insert(*id);
            unit.iter().for_each(|member| units[usize::from(member)] = unit);
        }
    }
    units
}
