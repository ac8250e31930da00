//! Which reads see a write that comes after them: the condition for revisits ([`crate::search`]).

use crate::faults::Fault;
use crate::graph::{Graph, Kind};
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;
use crate::thread::Writing;

/// Finds the reads that are to see the next write of a thread: looks at what was added last first, and stops at what was not added in the maximal way.
pub(crate) fn revisited<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    thread: usize,
    writing: &Writing,
    fault: Option<Fault>,
    found: &mut Vec<EventId>,
) {
    let causes = graph.needs(thread, fault);
    if fault == Some(Fault::NoRevisits) || !graph.is_read(writing.loc, causes) {
        return;
    }
    let mut there = graph.alive;
    for id in graph.order.iter().rev().copied() {
        if causes.contains(id) {
            continue;
        }
        let event = graph.event(id);
        let maximal = is_maximal(graph, id, &there, fault);
        if matches!(event.kind, Kind::Read(_)) && event.loc == Some(writing.loc) {
            let source = if fault == Some(Fault::AnySource) { is_maximal(graph, id, &there, None) } else { maximal };
            if source || fault == Some(Fault::AnyRevisited) {
                found.push(id);
            }
        }
        if !maximal {
            return;
        }
        there.remove(id);
    }
}

/// Whether an event was added as the last one of those that are there: of what was there before it, and what a write depends on.
pub(crate) fn is_maximal<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    id: EventId,
    there: &Row<W>,
    fault: Option<Fault>,
) -> bool {
    let event = graph.event(id);
    let last = || {
        let mut last = event.loc.map_or(INITIAL, |loc| graph.last(loc));
        while last != INITIAL && !there.contains(last) {
            last = graph.event(last).previous;
        }
        last
    };
    match (event.kind, event.loc) {
        (Kind::Fence(_) | Kind::Spawn(_) | Kind::Join(_), _) => true,
        (Kind::Choice { first }, _) => first || fault == Some(Fault::AnyChoice),
        (Kind::Read(from), _) => fault == Some(Fault::AnySource) || last() == from,
        (Kind::Write(_), Some(loc)) => {
            (fault == Some(Fault::AnyReader) || !graph.readers(id, loc).meets(there))
                && (fault == Some(Fault::AnyPlace) || last() == id)
        }
        (Kind::Write(_), None) => unreachable!("a write is somewhere"),
    }
}
