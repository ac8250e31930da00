//! The order of sequentially consistent events of C11 (`psc-base | psc-fences` of `rc11.cat`), kept while a graph grows.
//!
//! What is kept is the transitive closure: for each event of the order those that are before it ([`Strong::rows`]).
//!
//! **Argument.** A new event `e` is the last one of its thread, and nothing happens after it. So nothing comes between two events that are there because of `e`: `co` and `fr` lead past it
//! whether it is there or not, and `po` and happens-before do not lead through it. What is new is what leads to `e`, if `e` is in the order itself ([`Strong::direct`]), and what leads away from it, by
//! `co` or `fr` to writes that come later at its location: from `e`, if it is in the order, and from fences that happen before `e`; to such writes if they are in the order, and to fences that these writes, or whoever
//! reads from them, happen before. There is a cycle now if and only if one of these leads to what is before it already. Else rows grow by what leads away from `e`,
//! and their old values are written down to be taken back.
//!
//! *What leads to an access.* `x` is before the access `e` by `scb` if it is before it in its thread, if it is at its location and happens before it, by `co` or `fr`, or by way of other locations: `x` is followed in its thread, elsewhere, by
//! something that happens before something in the thread of `e`, elsewhere, before `e`. Of the first and of the last kind only the last `x` of each thread is looked at: with `x` everything before it in its thread
//! is of the kind, what is in the order there is before the last one that is, as the rows are closed, and fences that happen before some `x` happen before the last. What leads to a fence is computed by definition.
//!
//! Where events go for a revisit all rows are computed anew, as paths may have led through what is gone.

use cyrano_ir::{LocId, Tags};

use super::Scratch;
use crate::graph::{Event, Graph, Kind};
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;

/// The order of sequentially consistent events.
#[derive(Clone, Debug)]
pub(in crate::models::views) struct Strong<const W: usize> {
    /// What is before each event of the order.
    rows: Vec<Row<W>>,
    /// The events of the order, and the fences among them. Events that are gone may be here: they are in no other set.
    all: Row<W>,
    fences: Row<W>,
    /// Rows as they were before they changed.
    log: Vec<(EventId, Row<W>)>,
    /// Whether there is a cycle: the event that was added last is not allowed.
    cyclic: bool,
    scratch: Scratch<W>,
}

impl<const W: usize> Default for Strong<W> {
    fn default() -> Self {
        let (all, fences) = (Row::EMPTY, Row::EMPTY);
        Self { rows: Vec::new(), all, fences, log: Vec::new(), cyclic: false, scratch: Scratch::default() }
    }
}

/// Whether an event is in the order, and is a fence.
fn kind(event: &Event) -> (bool, bool) {
    match event.kind {
        Kind::Fence(fence) => (fence.tags().contains(Tags::SEQ_CST), fence.tags().contains(Tags::SEQ_CST)),
        Kind::Read(_) | Kind::Write(_) => (event.tags.spoken().contains(Tags::SEQ_CST), false),
        Kind::Choice { .. } | Kind::Spawn(_) | Kind::Join(_) => (false, false),
    }
}

/// Whether a model knows of an event.
fn is_known(event: &Event) -> bool {
    event.is_access() || matches!(event.kind, Kind::Fence(_))
}

/// Where an event is, if it is an access.
fn place(event: &Event) -> Option<LocId> {
    event.loc.filter(|_| event.is_access())
}

impl<const W: usize> Strong<W> {
    /// Whether the event that was added last closes no cycle.
    pub(in crate::models::views) fn is_allowed(&self) -> bool {
        !self.cyclic
    }

    pub(in crate::models::views) fn mark(&self) -> usize {
        self.log.len()
    }

    pub(in crate::models::views) fn restore(&mut self, mark: usize) {
        self.cyclic = false;
        while self.log.len() > mark {
            let Some((id, row)) = self.log.pop() else { return };
            self.rows[usize::from(id)] = row;
        }
    }

    /// Notes what an event is.
    fn note<R: Run>(&mut self, graph: &Graph<'_, W, R>, id: EventId) -> bool {
        if self.rows.len() < graph.events.len() {
            self.rows.resize(graph.events.len(), Row::EMPTY);
        }
        let (strong, fence) = kind(graph.event(id));
        for (set, is) in [(&mut self.all, strong), (&mut self.fences, fence)] {
            if is { set.insert(id) } else { set.remove(id) }
        }
        strong
    }

    /// An event was added, and this happens before each event.
    pub(in crate::models::views) fn added<'a, R: Run>(
        &mut self,
        graph: &'a Graph<'_, W, R>,
        hb: impl Fn(EventId) -> &'a Row<W>,
        id: EventId,
    ) {
        let strong = self.note(graph, id);
        if strong {
            let direct = self.direct(graph, &hb, id);
            self.rows[usize::from(id)] = direct.iter().fold(direct, |row, before| row | self.rows[usize::from(before)]);
        }
        let event = graph.event(id);
        let Some(loc) = place(event) else { return };
        let first = if let Kind::Read(from) = event.kind { graph.after(from, loc) } else { event.next };
        let fences = *hb(id) & self.fences;
        if first == INITIAL || !strong && fences.is_empty() {
            return;
        }
        let (mut writes, mut seen, mut at) = (Row::EMPTY, Row::EMPTY, first);
        while at != INITIAL {
            writes.insert(at);
            seen |= *graph.readers(at, loc);
            at = graph.event(at).next;
        }
        let all = self.fences & graph.alive;
        let after = |row: Row<W>| {
            let fences = all.iter().filter(|fence| hb(*fence).meets(&row));
            fences.fold(Row::EMPTY, |row, fence| row | Row::one(fence))
        };
        let base = writes & self.all | after(writes);
        let own = Row::one(id);
        if strong {
            self.lead(graph, own, base);
        }
        if !fences.is_empty() {
            self.lead(graph, fences, base | after(seen));
        }
    }

    /// Notes that each of some events comes before each of some others.
    fn lead<R: Run>(&mut self, graph: &Graph<'_, W, R>, from: Row<W>, to: Row<W>) {
        let before = from.iter().fold(from, |row, id| row | self.rows[usize::from(id)]);
        if before.meets(&to) {
            self.cyclic = true;
            return;
        }
        if to.is_empty() {
            return;
        }
        for later in (self.all & graph.alive).iter() {
            let old = self.rows[usize::from(later)];
            if to.contains(later) || old.meets(&to) {
                self.log.push((later, old));
                self.rows[usize::from(later)] = old | before;
            }
        }
    }

    /// What leads to an event of the order, but for what is before that.
    fn direct<'a, R: Run>(
        &mut self,
        graph: &'a Graph<'_, W, R>,
        hb: &impl Fn(EventId) -> &'a Row<W>,
        id: EventId,
    ) -> Row<W> {
        let event = graph.event(id);
        let Some(loc) = place(event) else {
            let happens = |id: EventId| *hb(id);
            return self.scratch.c11_fence(graph, happens, id, (self.all, self.fences));
        };
        let thread = usize::from(event.thread);
        let own = graph.runners[thread].events();
        let own = &own[..own.iter().rposition(|other| *other == id).unwrap_or(own.len())];
        let mut found = self.at(graph, hb, id, loc);
        if let Some(last) = own.last() {
            found |= self.up_to(hb, own, *last);
        }
        let elsewhere = |other: &&EventId| is_known(graph.event(**other)) && place(graph.event(**other)) != Some(loc);
        let Some(between) = own.iter().rev().find(elsewhere).map(|last| *hb(*last)) else { return found };
        for (number, runner) in graph.runners.iter().enumerate().filter(|(number, _)| *number != thread) {
            let counts = |other: &EventId| between.contains(*other) && is_known(graph.event(*other));
            let events = runner.events();
            let Some(last) = events.iter().rposition(counts) else { continue };
            let of = place(graph.event(events[last]));
            let differs = |other: &EventId| {
                let other = graph.event(*other);
                is_known(other) && (place(other) != of || of.is_none())
            };
            debug_assert_ne!(number, thread);
            if let Some(first) = events[..last].iter().rposition(differs) {
                found |= self.up_to(hb, &events[..=first], events[first]);
            }
        }
        found
    }

    /// Of the events of a thread up to one the last that is in the order, and the fences that happen before that one, or are it.
    fn up_to<'a>(&self, hb: &impl Fn(EventId) -> &'a Row<W>, events: &[EventId], last: EventId) -> Row<W> {
        let fences = (*hb(last) | Row::one(last)) & self.fences;
        let strong = events.iter().rev().find(|id| self.all.contains(**id));
        strong.map_or(fences, |id| fences | Row::one(*id))
    }

    /// What leads to an access by what is at its location: what happens before it, and what is before it by `co` and `fr`.
    fn at<'a, R: Run>(
        &self,
        graph: &'a Graph<'_, W, R>,
        hb: &impl Fn(EventId) -> &'a Row<W>,
        id: EventId,
        loc: LocId,
    ) -> Row<W> {
        let event = graph.event(id);
        let mut there = *graph.readers(INITIAL, loc);
        // What comes earlier than a write leads to it in any case.
        let (mut earlier, mut passed) = (Row::EMPTY, !matches!(event.kind, Kind::Write(_)));
        for write in graph.writes(loc) {
            if write == id {
                (earlier, passed) = (there, true);
            }
            there.insert(write);
            there |= *graph.readers(write, loc);
        }
        debug_assert!(passed);
        let mut starts = there & *hb(id) | earlier;
        starts.remove(id);
        let direct = starts & self.all;
        if self.fences.is_empty() {
            return direct;
        }
        starts.iter().fold(direct, |row, start| row | *hb(start) & self.fences)
    }

    /// Becomes what it is for a graph of which nothing is known.
    pub(in crate::models::views) fn compute<'a, R: Run>(
        &mut self,
        graph: &'a Graph<'_, W, R>,
        hb: impl Fn(EventId) -> &'a Row<W>,
    ) {
        self.log.clear();
        self.cyclic = false;
        let there = || graph.runners.iter().flat_map(|runner| runner.events().iter().copied());
        (self.all, self.fences) = (Row::EMPTY, Row::EMPTY);
        let strong: Vec<EventId> = there().filter(|id| self.note(graph, *id)).collect();
        for id in &strong {
            self.rows[usize::from(*id)] = self.direct(graph, &hb, *id);
        }
        for middle in &strong {
            let row = self.rows[usize::from(*middle)];
            for id in &strong {
                if self.rows[usize::from(*id)].contains(*middle) {
                    self.rows[usize::from(*id)] |= row;
                }
            }
        }
    }
}
