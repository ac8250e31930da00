//! Equal threads: of the executions that differ only by who of them is who, one is looked at.
//!
//! Threads are *sorted* here if they have the same code, nobody asks for their registers, and the first thing that each does is a read-modify-write of one location
//! that writes whatever it finds, and to which nothing but read-modify-writes writes. What is asked for then is that such a thread begins after the one of its
//! group before it did, by `po | rf`: its first read sees what that one wrote, or what came of it ([`Graph::is_sorted`]).
//!
//! **Argument.** The writes to that location are read-modify-writes, each of which reads from the one right before it; so their order is one of `rf`. The first
//! events of a group are among them, and no thread fails to get there. So each way to exchange the threads of a group makes another execution of the same one,
//! with another order of these events, and exactly one of them is sorted. Nothing that is asked tells these executions apart.
//! What is asked of the search ([`crate::search`]) still holds: a sorted graph without what is not before some of its events by `po | rf` is sorted, as the thread
//! before is always among what is kept; and reading from the last write is allowed always, since the last write comes after all others by `rf`, and the thread
//! before has begun, as the first thread that goes on is the next.
//!
//! `tests/symmetry.rs` compares with all executions: those that are found, with their threads exchanged in every way, are all there are, each once.
//! Symmetry reduction for execution graphs is from Kokologiannakis, Marmanis, Vafeiadis: "SPORE: combining symmetry and partial order reduction" (PLDI 2024), which sorts
//! threads by any prefix that they have in common.

use cyrano_engine::{Query, Question};
use cyrano_ir::automorphisms::alike;
use cyrano_ir::dataflow::exit_registers;
use cyrano_ir::{AccessKind, Addr, Change, FinalVar, LocId, Op, Program, Property, Thread, ThreadId};

use crate::graph::Graph;
use crate::rows::EventId;

/// Whether a question is the same for equal threads.
pub(crate) fn is_about_all(query: &Query<'_>) -> bool {
    let Question::Holds(Property::Final { cond, .. }) = query.question() else { return true };
    let mut names = false;
    cond.for_each_var(&mut |var| names |= matches!(var, FinalVar::Reg(..)));
    !names
}

/// For each thread the one that begins before it.
pub(crate) fn predecessors(program: &Program) -> Vec<Option<usize>> {
    let mut before = vec![None; program.threads.len()];
    for group in alike(program) {
        let is_told = group.iter().any(|thread| !exit_registers(program, ThreadId::new(*thread)).is_empty());
        let first = first_update(program.thread(ThreadId::new(group[0])));
        if !is_told && first.is_some_and(|loc| is_only_updated(program, loc)) {
            group.windows(2).for_each(|pair| before[pair[1]] = Some(pair[0]));
        }
    }
    before
}

/// The location of a read-modify-write that a thread does first, whatever it finds.
fn first_update(thread: &Thread) -> Option<LocId> {
    let local = |op: &&Op| !matches!(op, Op::Assign { .. } | Op::OperationBegin(_) | Op::OperationEnd);
    let access = thread.code.iter().map(|instr| &instr.op).find(local)?.access()?;
    let writes = matches!(access.change, Some(Change::Set(_) | Change::Add(_)));
    match access.addr {
        Addr::Fixed(loc) if access.kind == AccessKind::Rmw && writes => Some(loc),
        _ => None,
    }
}

/// Whether nothing but read-modify-writes writes to a location.
fn is_only_updated(program: &Program, loc: LocId) -> bool {
    let mut stores = program.accesses().filter(|access| access.kind == AccessKind::Store);
    !stores.any(|access| program.cells(&access.addr).contains(&loc.index()))
}

impl<const W: usize> Graph<'_, W> {
    /// Whether a read, if it is the first event of its thread, comes after the first event of the thread before.
    #[inline]
    pub(crate) fn is_sorted(&self, read: EventId) -> bool {
        let thread = usize::from(self.event(read).thread);
        let Some(before) = self.code[thread].after else { return true };
        let first = |thread: usize| self.runners[thread].events.first().copied();
        first(thread) != Some(read) || first(before).is_some_and(|id| self.before[usize::from(read)].contains(id))
    }
}
