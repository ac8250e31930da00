//! Threads that wait for what they will not see: an execution in which a thread has stopped behind an old write is not gone on with.
//!
//! A thread waits where an `assume` does not hold or where it spins ([`crate::thread`]). What it read last may be an old write: then the newer one is there
//! already, and nothing that comes will make the thread read it.
//!
//! **Argument.** Let the last event of the waiting thread be a read that was not added in the maximal way ([`crate::search::revisit`]), or a choice of another value than
//! the first. Nobody reads from it and nothing of its thread comes after it, so no write depends on it. So a revisit that gives the thread another past would have
//! to see this event go, or be of it, and the condition for revisits forbids both: what was newer when it was added was added earlier, or belongs to the causes of
//! the write that it reads from, and stays as long as it does. Hence the thread waits in whatever is found from here, and no execution that ends is lost.
//! What else is looked at is lost neither. An error of another thread does not depend on the last read of this one: take such reads away, and let all threads go
//! on as far as they go, in the maximal way, taking away again what becomes old on the way. That ends, for writes are only added, and it is an execution with the
//! same error in which nobody waits behind an old write, nor does in any graph on the way to it. Threads that deadlock or hang have all read the last writes.
//!
//! **Sorted threads** ([`crate::symmetry`]). A write may need the read of the waiting thread by a tie, and not what that read has missed. A revisit for it keeps the read and lets the newer write go. Then the read stays for good: the
//! write that revisited needs it, and is read by a read that stands before it, so that neither is maximal as long as the other is there, and another revisit of that read is for a write that needs it, too.
//! So the thread waits in whatever is found from here all the same, and no sorted execution that ends is lost. For the rest take the execution of the argument above with its threads exchanged so that it is sorted: nobody waits behind
//! an old write in it either. Nor does anybody on the way to it: whose read was kept by a tie alone has a neighbour that did like things up to a read from the same write, and waits, too, or up to a read from a later write of the location
//! (threads are sorted, and of what is only their own they read alike), which stays with it, so that the read is old in the end.
//!
//! **Races** of accesses that are not atomic are looked at in executions that wait. Where objects are fresh ([`crate::fresh`]) a race is there as soon as its later access is. So what is said of errors holds of
//! races in which the last read of the waiting thread has no part; where it has one the execution is not left ([`Consistency::may_race`](crate::models::consistency::Consistency::may_race)).
//!
//! **Where it is off** ([`is_about_waits`]).
//! - Whether spinning threads end: they may write what is there. Races, where objects are not fresh.
//! - Freed memory: the read of a waiting thread may itself find its object freed, and does not where it reads what is newer.
//! - Sections that are held together ([`crate::units`]): an assertion that failed does not end the search there, and may be about the read that a thread waits behind.

use cyrano_engine::Query;
use cyrano_ir::{Program, Property, Tags};
use cyrano_memory::Model;

use crate::faults::Fault;
use crate::fits::has_units;
use crate::graph::{Graph, Kind};
use crate::rows::EventId;
use crate::run::Run;
use crate::search::revisit::is_maximal;
use crate::thread::Status;

/// Whether a question may be about what waiting threads read, under a model with one order of all accesses or under one about relations.
pub(crate) fn is_about_waits(query: &Query<'_>, model: &Model, (ordered, fresh): (bool, bool)) -> bool {
    let program = query.program();
    let has_flags = model.cat().is_some_and(|cat| cat.plan().axioms.iter().any(|axiom| axiom.flag));
    let ends = matches!(query.property(), Some(Property::Live(_)));
    ends || has_flags && has_plain(program) && !fresh || program.has_headers() || ordered && has_units(program)
}

/// Whether a program has accesses that are not atomic.
fn has_plain(program: &Program) -> bool {
    program.accesses().any(|access| !access.tags.spoken().contains(Tags::ATOMIC))
}

/// What a thread waits behind, if that is something old.
pub(crate) fn waits_in_vain<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    thread: usize,
    fault: Option<Fault>,
) -> Option<EventId> {
    let runner = &graph.runners[thread];
    let waits = matches!(runner.status(), Some(Status::Blocked | Status::Spins | Status::Again));
    let last = runner.events().last().copied().filter(|_| waits)?;
    let could_go = matches!(graph.event(last).kind, Kind::Read(_) | Kind::Choice { .. });
    let is_old = fault == Some(Fault::AnyWait) || !is_maximal(graph, last, &graph.alive, None);
    (could_go && is_old).then_some(last)
}
