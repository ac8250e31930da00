//! `sc`, `tso` and `pso`: program order as far as it is kept, and communication, have a common order.
//!
//! The transitive closure of that relation is kept, as what is before each event ([`Total::rows`]). A new event is before nothing but the write that follows the one
//! it reads from, or its own place; so the graph has a cycle with it if and only if that write is before it. What then changes in the closure is what comes
//! after that write, and is written down to be taken back. That a thread sees each location in order (`coherence`) is asked of its own accesses alone.

use cyrano_ir::{FenceSet, LocId, Program};

use crate::graph::{Event, Graph, Kind};
use crate::linear;
use crate::models::consistency::{Consistency, is_seen, places, walk};
use crate::rows::{EventId, INITIAL, Row};
use crate::thread::Writing;
use crate::units::Order;

/// Which program order is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    /// All of it.
    All,
    /// A store may be overtaken by a load.
    Tso,
    /// A store may be overtaken, but not by a store to its own location.
    Pso,
}

/// The closure.
#[derive(Clone, Debug)]
pub(crate) struct Total<'p, const W: usize> {
    kept: Kept,
    /// The program, if accesses to an object and to its header are kept in order.
    headers: Option<&'p Program>,
    rows: Vec<Row<W>>,
    /// Rows as they were before they changed.
    log: Vec<(EventId, Row<W>)>,
}

impl<'p, const W: usize> Total<'p, W> {
    pub(crate) fn new(kept: Kept, program: &'p Program) -> Self {
        let headers = Some(program).filter(|program| program.has_headers());
        Self { kept, headers, rows: Vec::new(), log: Vec::new() }
    }

    /// The events of a thread that a next one is kept behind.
    fn program_order(
        &self,
        graph: &Graph<'_, W>,
        earlier: &[EventId],
        loads: bool,
        stores: bool,
        loc: LocId,
    ) -> Row<W> {
        let mut row = Row::EMPTY;
        let mut fences = FenceSet::NONE;
        for id in earlier.iter().rev().copied() {
            let event = graph.event(id);
            let is_kept = match event.kind {
                Kind::Fence(fence) => {
                    fences |= fence.kinds().unwrap_or(FenceSet::NONE);
                    false
                }
                Kind::Choice { .. } | Kind::Spawn(_) | Kind::Join(_) => false,
                Kind::Read(_) => true,
                Kind::Write(_) => {
                    let in_line = match self.kept {
                        Kept::All => true,
                        Kept::Tso => stores,
                        Kept::Pso => stores && (event.loc == Some(loc) || fences.meets(FenceSet::SS)),
                    };
                    event.rmw || in_line || self.is_tied(event, loc) || loads && fences.meets(FenceSet::SL)
                }
            };
            if is_kept {
                row.insert(id);
                if self.kept == Kept::All {
                    break;
                }
            }
        }
        row
    }

    /// Whether accesses are kept in order because one is to an object and the other one to its header.
    fn is_tied(&self, event: &Event, loc: LocId) -> bool {
        self.headers.zip(event.loc).is_some_and(|(program, other)| program.is_tied(other, loc))
    }

    /// What is directly before an event.
    pub(crate) fn direct(&self, graph: &Graph<'_, W>, id: EventId) -> Row<W> {
        let event = graph.event(id);
        let Some(loc) = event.loc.filter(|_| event.is_access()) else { return Row::EMPTY };
        let own = &graph.runners[usize::from(event.thread)].events;
        let at = own.iter().rposition(|other| *other == id).unwrap_or(own.len());
        let (loads, stores) = Self::roles(event);
        let mut row = self.program_order(graph, &own[..at], loads, stores, loc);
        match event.kind {
            Kind::Read(from)
                if from != INITIAL && (self.kept == Kept::All || graph.event(from).thread != event.thread) =>
            {
                row.insert(from);
            }
            Kind::Write(_) => {
                row |= *graph.readers(event.previous, loc);
                if event.previous != INITIAL {
                    row.insert(event.previous);
                }
            }
            _ => {}
        }
        row
    }

    /// Whether an event is a load and a store for the order that is kept: both halves of a read-modify-write are both.
    fn roles(event: &Event) -> (bool, bool) {
        let reads = matches!(event.kind, Kind::Read(_));
        (reads || event.rmw, !reads || event.rmw)
    }

    fn closed(&self, direct: Row<W>) -> Row<W> {
        direct.iter().fold(direct, |row, id| row | self.rows[usize::from(id)])
    }

    /// Computes the closure for a graph.
    fn compute(&mut self, graph: &Graph<'_, W>) {
        self.log.clear();
        self.rows.clear();
        self.rows.resize(graph.events.len(), Row::EMPTY);
        let there = || graph.runners.iter().flat_map(|runner| runner.events.iter().copied());
        for id in there() {
            self.rows[usize::from(id)] = self.direct(graph, id);
        }
        for middle in there() {
            let row = self.rows[usize::from(middle)];
            for id in there() {
                if self.rows[usize::from(id)].contains(middle) {
                    self.rows[usize::from(id)] |= row;
                }
            }
        }
    }

    /// What is before the next access of a thread, whatever it reads or wherever it stands.
    fn known(&self, graph: &Graph<'_, W>, thread: usize, (loads, stores): (bool, bool), loc: LocId) -> Row<W> {
        self.closed(self.program_order(graph, &graph.runners[thread].events, loads, stores, loc))
    }
}

/// The events of a thread.
fn own<const W: usize>(graph: &Graph<'_, W>, thread: usize) -> Row<W> {
    graph.runners[thread].events.iter().fold(Row::EMPTY, |row, id| row | Row::one(*id))
}

impl<const W: usize> Consistency<W> for Total<'_, W> {
    fn sources(&mut self, graph: &Graph<'_, W>, thread: usize, loc: LocId, found: &mut Vec<EventId>) {
        let updates = graph.runners[thread].may_update(&graph.code[thread]);
        let known = self.known(graph, thread, (true, updates), loc);
        let own = own(graph, thread);
        let stops = |write| known.contains(write) || is_seen(graph, &own, write, loc);
        walk(graph, loc, stops, |write| found.push(write));
    }

    fn places(&mut self, graph: &Graph<'_, W>, thread: usize, writing: &Writing, found: &mut Vec<EventId>) {
        let known = self.known(graph, thread, (writing.half.is_some(), true), writing.loc);
        let own = own(graph, thread);
        let stops = |write| known.contains(write) || is_seen(graph, &own, write, writing.loc);
        places(graph, (thread, writing), stops, found);
    }

    fn added(&mut self, graph: &Graph<'_, W>, id: EventId) {
        if self.rows.len() < graph.events.len() {
            self.rows.resize(graph.events.len(), Row::EMPTY);
        }
        let row = self.closed(self.direct(graph, id));
        self.rows[usize::from(id)] = row;
        let event = graph.event(id);
        let next = match (event.kind, event.loc) {
            (Kind::Read(from), Some(loc)) => graph.after(from, loc),
            (Kind::Write(_), _) => event.next,
            _ => INITIAL,
        };
        if next == INITIAL {
            return;
        }
        let row = row | Row::one(id);
        for later in graph.alive.iter() {
            let old = self.rows[usize::from(later)];
            if later == next || old.contains(next) {
                self.log.push((later, old));
                self.rows[usize::from(later)] |= row;
            }
        }
    }

    fn allows(&mut self, _: &Graph<'_, W>, _: EventId) -> bool {
        true
    }

    fn is_whole(&self, graph: &Graph<'_, W>) -> bool {
        !graph.has_units() || Order::new(graph, self.kept).is_some()
    }

    fn mark(&self) -> usize {
        self.log.len()
    }

    fn restore(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((id, row)) = self.log.pop() else { return };
            self.rows[usize::from(id)] = row;
        }
    }

    /// Paths may have led through what is gone, so that all is computed anew.
    fn copy_part(&mut self, _: &Self, graph: &Graph<'_, W>) {
        self.compute(graph);
    }

    fn happens_before(&mut self, _: &Graph<'_, W>) -> Vec<Row<W>> {
        Vec::new()
    }

    fn order(&self, _: &Graph<'_, W>) -> linear::Order<W> {
        vec![self.rows.clone()]
    }

    fn agrees(&self, graph: &Graph<'_, W>, order: &linear::Order<W>) -> bool {
        order.iter().all(|rows| linear::is_acyclic(graph, rows))
    }

    fn flags(&mut self, _: &Graph<'_, W>) -> Vec<String> {
        Vec::new()
    }

    fn race(&mut self, _: &Graph<'_, W>) -> Option<[EventId; 2]> {
        None
    }
}
