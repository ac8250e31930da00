//! Objects that are freed.
//!
//! Under models that say what happens before what, an access is right in a life of its object ([`cyrano_ir::guards`]; [`freed_unordered`]). That is asked of whole
//! graphs, too, as objects are freed late. What iterations that are left out would show is argued in [`crate::races`].
//!
//! Under models with one order of all accesses, an access looks at its object's header at its own place in that order (axiom 10 of
//! `cyrano_memory`, `cyrano_ir::guards`).
//!
//! Looks are no events. **Argument.** A graph stands for every order of its accesses that the model's relation, with what is held together, is part of. There
//! is one in which an access comes after a write to the header and before the next such write, unless it is before the first in all of them, or the second before
//! it in all: two more pairs close no cycle then, as the first write is before the second in any case. So an access is wrong in some order if and only if it fits behind a
//! write that does not say [`ALIVE`]. That is asked of whole graphs: what goes wrong on the way goes wrong in whatever comes of it.

use cyrano_engine::Violation;
use cyrano_ir::guards::{ALIVE, misses};
use cyrano_ir::{LocId, ThreadId};

use crate::graph::{Graph, Kind};
use crate::rows::{EventId, INITIAL, Row};
use crate::units::Order;

/// An access that finds its object freed.
pub(crate) struct Freed {
    pub(crate) violation: Violation,
    /// The write to the header, the access, and the next write to the header.
    pub(crate) between: [EventId; 3],
}

/// Looks for an access that may find its object freed, in one order of all accesses.
pub(crate) fn freed<const W: usize>(graph: &Graph<'_, W>, order: &Order<W>) -> Option<Freed> {
    let (violation, [from, to], id) = guarded(graph, |id, header| falls_between(graph, order, id, header))?;
    Some(Freed { violation, between: [from, id, to] })
}

/// Looks for an access that is in no life of its object, where this happens before each event.
pub(crate) fn freed_unordered<const W: usize>(graph: &Graph<'_, W>, before: &[Row<W>]) -> Option<Violation> {
    let happens = |first: EventId, later: EventId| before[usize::from(later)].contains(first);
    let is_wrong = |id: EventId, header: LocId| {
        let initial = (graph.written(INITIAL, header) == ALIVE, true, false);
        let lives = graph.writes(header).map(|write| {
            (graph.written(write, header) == ALIVE, happens(write, id), write == id || happens(id, write))
        });
        misses(std::iter::once(initial).chain(lives)).then_some(())
    };
    guarded(graph, is_wrong).map(|(violation, ..)| violation)
}

/// The first access that has a header to look at of which something is wrong.
fn guarded<T, const W: usize>(
    graph: &Graph<'_, W>,
    is_wrong: impl Fn(EventId, LocId) -> Option<T>,
) -> Option<(Violation, T, EventId)> {
    let program = graph.program();
    for (thread, runner) in graph.runners.iter().enumerate() {
        for (at, id) in runner.events[..runner.counted()].iter().copied().enumerate() {
            let instr = runner.instr_at(at);
            let kind = graph.code[thread].op(instr).access_kind();
            let (Some(loc), Some(kind)) = (graph.event(id).loc, kind) else { continue };
            let Some(header) = program.guard(loc, kind) else { continue };
            if let Some(found) = is_wrong(id, header) {
                let (thread, error) = (ThreadId::new(thread), program.guard_error(loc));
                return Some((Violation::Error { thread, instr, error }, found, id));
            }
        }
    }
    None
}

/// The neighbouring writes to a header between which an access may come, the first of which does not say that the object is alive.
fn falls_between<const W: usize>(
    graph: &Graph<'_, W>,
    order: &Order<W>,
    access: EventId,
    header: LocId,
) -> Option<[EventId; 2]> {
    let counts = |id: &EventId| order.counts(*id) && matches!(graph.event(*id).kind, Kind::Write(_));
    let writes: Vec<EventId> = std::iter::once(INITIAL).chain(graph.writes(header).filter(counts)).collect();
    let found = writes.iter().enumerate().find(|(at, from)| {
        let to = writes.get(at + 1);
        graph.written(**from, header) != ALIVE
            && **from != access
            && !order.is_before(graph, access, **from)
            && to.is_none_or(|to| !order.is_before(graph, *to, access) && !is_one(order, **from, *to, access))
    });
    found.map(|(at, from)| [*from, writes.get(at + 1).copied().unwrap_or(INITIAL)])
}

/// Whether two writes are held together, so that an access elsewhere does not come between them.
fn is_one<const W: usize>(order: &Order<W>, from: EventId, to: EventId, access: EventId) -> bool {
    from != INITIAL && order.unit(from).contains(to) && !order.unit(from).contains(access)
}
