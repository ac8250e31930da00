//! The order of sequentially consistent accesses and fences (`psc` of Lahav et al. 2017; the names are those of `rc11.cat` and `ra.cat`).
//!
//! The order has an edge from one such event to another if something after the first by happens-before is before something that happens before the second. What
//! is before a fence is computed backwards from it, with sets of events. That is done anew for every fence, and under `ra` for every event, as there only fences are in the order; what is
//! before an access of C11 is kept ([`kept`]).

pub(super) mod kept;

use cyrano_ir::{FenceSet, LocId};

use crate::graph::{Event, Graph, Kind};
use crate::rows::{EventId, Row};
use crate::run::Run;

/// What is computed for one question, kept for its memory.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const W: usize> {
    relations: Vec<Relations<W>>,
    /// The events that are accesses or fences: a model knows of no others.
    known: Row<W>,
}

/// What is before an access at its location.
#[derive(Clone, Copy, Debug)]
struct Relations<const W: usize> {
    /// Writes that hit it before this one did.
    co: Row<W>,
    /// Reads that did not see this write.
    fr: Row<W>,
    /// All of these, and whom a read reads from.
    eco: Row<W>,
    /// All accesses to the location.
    loc: Row<W>,
}

impl<const W: usize> Default for Scratch<W> {
    fn default() -> Self {
        Self { relations: Vec::new(), known: Row::EMPTY }
    }
}

impl<const W: usize> Scratch<W> {
    /// Whether the fences that order a store before a load are in one order: `acyclic strong ; (hb | hb ; eco ; hb) ; strong`.
    pub(crate) fn fences<R: Run>(&mut self, graph: &Graph<'_, W, R>, hb: impl Fn(EventId) -> Row<W>) -> bool {
        let is_strong = |event: &Event| matches!(event.kind, Kind::Fence(fence) if fence.kinds().is_some_and(|kinds| kinds.meets(FenceSet::SL)));
        let strong = those(graph, is_strong);
        if is_small(strong) {
            return true;
        }
        self.relate(graph);
        is_acyclic(strong, |fence| self.before_fence(&hb, fence, strong))
    }

    /// What is before a fence of C11 by `psc-base | psc-fences`, of events that are sequentially consistent, and of fences that are.
    pub(super) fn c11_fence<R: Run>(
        &mut self,
        graph: &Graph<'_, W, R>,
        hb: impl Fn(EventId) -> Row<W>,
        fence: EventId,
        (strong, fences): (Row<W>, Row<W>),
    ) -> Row<W> {
        self.relate(graph);
        let mut starts = Row::EMPTY;
        for end in (hb(fence) | Row::one(fence)).iter() {
            starts |= self.scb(graph, &hb, end);
        }
        let mut found = starts & strong;
        for start in starts.iter() {
            found |= hb(start) & fences;
        }
        found | self.before_fence(&hb, fence, fences)
    }

    /// The fences that are before one by happens-before, perhaps with communication in between.
    fn before_fence(&self, hb: &impl Fn(EventId) -> Row<W>, fence: EventId, fences: Row<W>) -> Row<W> {
        let mut seen = Row::EMPTY;
        for end in hb(fence).iter() {
            seen |= self.relations[usize::from(end)].eco;
        }
        let mut found = hb(fence) & fences;
        for start in seen.iter() {
            found |= hb(start) & fences;
        }
        found
    }

    /// `scb`: what is before an event by program order, by happens-before between accesses to one location, or by way of other locations, and by `co` and `fr`.
    fn scb<R: Run>(&self, graph: &Graph<'_, W, R>, hb: &impl Fn(EventId) -> Row<W>, id: EventId) -> Row<W> {
        let Relations { co, fr, loc, .. } = self.relations[usize::from(id)];
        let mut between = Row::EMPTY;
        for last in self.elsewhere(graph, id).iter() {
            between |= hb(last);
        }
        let mut row = program_order(graph, id) | hb(id) & loc | co | fr;
        for first in (between & self.known).iter() {
            row |= self.elsewhere(graph, first);
        }
        row
    }

    /// What is before an event in its thread, at another location or at none.
    fn elsewhere<R: Run>(&self, graph: &Graph<'_, W, R>, id: EventId) -> Row<W> {
        program_order(graph, id) & self.known & !self.relations[usize::from(id)].loc
    }

    /// Computes what is before each access at its location.
    fn relate<R: Run>(&mut self, graph: &Graph<'_, W, R>) {
        let none = Relations { co: Row::EMPTY, fr: Row::EMPTY, eco: Row::EMPTY, loc: Row::EMPTY };
        self.relations.clear();
        self.relations.resize(graph.events.len(), none);
        self.known = those(graph, |event| !matches!(event.kind, Kind::Choice { .. } | Kind::Spawn(_) | Kind::Join(_)));
        for id in graph.order.iter().copied() {
            let event = graph.event(id);
            let Some(loc) = event.loc.filter(|_| event.is_access()) else { continue };
            if self.relations[usize::from(id)].loc.is_empty() {
                self.relate_at(graph, loc);
            }
        }
    }

    fn relate_at<R: Run>(&mut self, graph: &Graph<'_, W, R>, loc: LocId) {
        let mut all = *graph.readers(crate::rows::INITIAL, loc);
        for write in graph.writes(loc) {
            all |= *graph.readers(write, loc) | Row::one(write);
        }
        for id in all.iter() {
            self.relations[usize::from(id)].loc = all;
        }
        let (mut co, mut fr) = (Row::EMPTY, *graph.readers(crate::rows::INITIAL, loc));
        for write in graph.writes(loc) {
            let relations = &mut self.relations[usize::from(write)];
            (relations.co, relations.fr, relations.eco) = (co, fr, co | fr);
            co.insert(write);
            let readers = *graph.readers(write, loc);
            for read in readers.iter() {
                self.relations[usize::from(read)].eco = co | fr;
            }
            fr |= readers;
        }
    }
}

/// What is before an event in its thread.
fn program_order<const W: usize, R: Run>(graph: &Graph<'_, W, R>, id: EventId) -> Row<W> {
    let own = graph.runners[usize::from(graph.event(id).thread)].events();
    own.iter().take_while(|other| **other != id).fold(Row::EMPTY, |row, other| row | Row::one(*other))
}

fn those<const W: usize, R: Run>(graph: &Graph<'_, W, R>, test: impl Fn(&Event) -> bool) -> Row<W> {
    let there = graph.order.iter().filter(|id| test(graph.event(**id)));
    there.fold(Row::EMPTY, |row, id| row | Row::one(*id))
}

/// One event is in order: a cycle through it would be one of happens-before and communication.
fn is_small<const W: usize>(row: Row<W>) -> bool {
    row.iter().take(2).count() < 2
}

/// Whether these have an order in which everything comes after what is before it.
fn is_acyclic<const W: usize>(mut left: Row<W>, before: impl Fn(EventId) -> Row<W>) -> bool {
    let rows: Vec<(EventId, Row<W>)> = left.iter().map(|id| (id, before(id))).collect();
    while !left.is_empty() {
        let free = rows.iter().find(|(id, before)| left.contains(*id) && !before.meets(&left));
        let Some((id, _)) = free else { return false };
        left.remove(*id);
    }
    true
}
