//! Threads that wait for what they will not see: an execution in which a thread has stopped behind an old write is not gone on with.
//!
//! A thread waits where an `assume` does not hold or where it spins ([`crate::thread`]). What it read last may be an old write: then the newer one is there
//! already, and nothing that comes will make the thread read it.
//!
//! **Argument.** Let the last event of the waiting thread be a read that was not added in the maximal way ([`crate::revisit`]), or a choice of another value than
//! the first. Nobody reads from it and nothing of its thread comes after it, so no write depends on it. So a revisit that gives the thread another past would have
//! to see this event go, or be of it, and the condition for revisits forbids both: what was newer when it was added was added earlier, or belongs to the causes of
//! the write that it reads from, and stays as long as it does. Hence the thread waits in whatever is found from here, and no execution that ends is lost.
//! What else is looked at is lost neither. An error of another thread does not depend on the last read of this one: take such reads away, and let all threads go
//! on as far as they go, in the maximal way, taking away again what becomes old on the way. That ends, for writes are only added, and it is an execution with the
//! same error in which nobody waits behind an old write, nor does in any graph on the way to it. Threads that deadlock or hang have all read the last writes.
//!
//! **Where it is off** ([`is_about_waits`], and where threads are sorted).
//! - Whether spinning threads end: they may write what is there. Races of accesses that are not atomic: they are looked at in executions that wait.
//! - Freed memory: the read of a waiting thread may itself find its object freed, and does not where it reads what is newer.
//! - Sections that are held together ([`crate::units`]): an assertion that failed does not end the search there, and may be about the read that a thread waits behind.
//! - Sorted threads ([`crate::symmetry`]): the argument takes reads away and adds them again in the maximal way, which has not been argued for graphs that must be
//!   sorted. Sorting saves a factor of all exchanges and is kept.

use cyrano_engine::Query;
use cyrano_ir::{Program, Property, Tags};
use cyrano_memory::Model;

use crate::fits::has_units;
use crate::graph::{Graph, Kind};
use crate::revisit::is_maximal;
use crate::run::Run;
use crate::thread::Status;

/// Whether a question may be about what waiting threads read, under a model with one order of all accesses or under one about relations.
pub(crate) fn is_about_waits(query: &Query<'_>, model: &Model, ordered: bool) -> bool {
    let program = query.program();
    let has_flags = model.cat().is_some_and(|cat| cat.plan().axioms.iter().any(|axiom| axiom.flag));
    let ends = matches!(query.property(), Some(Property::Live(_)));
    ends || has_flags && has_plain(program) || program.has_headers() || ordered && has_units(program)
}

/// Whether a program has accesses that are not atomic.
fn has_plain(program: &Program) -> bool {
    program.accesses().any(|access| !access.tags.spoken().contains(Tags::ATOMIC))
}

/// Whether a thread waits behind something old.
pub(crate) fn waits_in_vain<const W: usize, R: Run>(graph: &Graph<'_, W, R>, thread: usize) -> bool {
    let runner = &graph.runners[thread];
    let Some(last) =
        runner.events().last().filter(|_| matches!(runner.status(), Some(Status::Blocked | Status::Spins)))
    else {
        return false;
    };
    let could_go = matches!(graph.event(*last).kind, Kind::Read(_) | Kind::Choice { .. });
    could_go && !is_maximal(graph, *last, &graph.alive, None)
}
