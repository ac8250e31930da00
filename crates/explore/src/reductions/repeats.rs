//! Stores that a client can repeat for ever.
//!
//! The most general client of a software transactional memory may write the same variable again and again; where stores are
//! deferred nothing forces them out, and the queue would grow without bound. So (reduction `repeated-stores`, for criteria for
//! transactions only) a command is not carried out if all that it does is to defer one more store to a variable for which
//! the queue holds two equal ones already, the second of which came about in the same way.
//!
//! **Argument.** Call a command *spare* if it performs nothing, defers exactly one store, to a transactional variable that
//! only ever holds one value, and leaves the thread as it was otherwise (fences aside). A client that leaves a spare command out does
//! everything else just the same: fewer deferred entries make nothing else wait longer, and memory holds the same values.
//! Take an execution that goes wrong in its last step, with three deferred stores e1, e2, e3 of one thread to one variable, all
//! equal, where the commands of e2 and e3 are spare. They belong to one transaction, since its end waits for its stores, and
//! are performed in this order.
//! - If e3 is not performed in it, the client can leave out e3.
//! - Otherwise it can leave out e2. The transaction still stores to the variable at the earlier and at the later point in time. A conflict
//!   with an event before e2 is one with e3, and a conflict with an event after e2 is one with e1; what reads or overwrites
//!   the value of e2, and so forbids to roll it back, does so with e1's. A load may be used that was not, because e2 stood between
//!   it and its `rfin`; that only adds conflicts. So this execution goes wrong as well, at the same step or before.
//!
//! Leaving out one store after the other ends, and the execution at the end is among those that are explored.

use cyrano_ir::{AccessKind, Program};

use crate::semantics::machine::Machine;
use crate::semantics::state::{Entry, State, ThreadState, What};
use crate::semantics::step::Successor;

/// For each location, whether it is a transactional variable that only ever holds its initial value.
pub(crate) fn constant_variables(program: &Program) -> Vec<bool> {
    let mut constant: Vec<bool> = program.locations.iter().map(|_| false).collect();
    program.transactional.iter().for_each(|loc| constant[loc.index()] = true);
    for instr in program.threads.iter().flat_map(|thread| &thread.code) {
        let Some(addr) = instr.op.addr().filter(|_| instr.op.access_kind().is_some_and(AccessKind::writes)) else {
            continue;
        };
        let stored = instr.op.access().and_then(|access| access.set()).and_then(crate::reductions::data::stored);
        for loc in program.cells(addr) {
            constant[loc] &= stored == Some(program.locations[loc].init);
        }
    }
    constant
}

impl Machine<'_> {
    /// The command that led from `before` to `after` is over: marks its store as spare if it is, and says whether the command
    /// need not be explored.
    pub(crate) fn repeats(&self, before: &State, after: &mut Successor) -> bool {
        let thread = after.thread;
        if !self.spare(before, after) {
            return false;
        }
        let queue = &mut after.state.threads[thread].queue;
        let Some(last) = queue.iter().rposition(|entry| entry.access().is_some()) else {
            return false;
        };
        queue[last].spare = true;
        let (new, earlier) = (&queue[last], &queue[..last]);
        let mut equal = earlier.iter().rev().filter(|entry| entry.loc == new.loc && entry.access().is_some());
        let same =
            |entry: Option<&Entry>| entry.is_some_and(|entry| entry.data == new.data && entry.instr == new.instr);
        let (second, first) = (equal.next(), equal.next());
        same(second) && same(first) && second.is_some_and(|entry| entry.spare)
    }

    /// Whether a command did nothing but defer one store to a variable that only ever holds one value.
    fn spare(&self, before: &State, after: &Successor) -> bool {
        let thread = after.thread;
        let (old, new) = (&before.threads[thread], &after.state.threads[thread]);
        if old.pc != new.pc || !after.accesses.is_empty() || after.event.is_some() {
            return false;
        }
        let info = &self.threads[thread];
        let unchanged = |reg: &u32| {
            let at = info.base + *reg as usize;
            let pending = |state: &State| state.pending.get(at).copied();
            before.regs[at] == after.state.regs[at] && pending(before) == pending(&after.state)
        };
        if !info.live[new.pc as usize].iter().all(unchanged) {
            return false;
        }
        let fence = |entry: &&Entry| matches!(entry.what, What::Fence(_));
        let mut added = new.queue.iter().filter(|entry| !fence(entry));
        let kept = old.queue.iter().filter(|entry| !fence(entry)).all(|entry| added.next() == Some(entry));
        let store = added.next();
        let constant =
            |entry: &Entry| entry.what == What::Access(AccessKind::Store) && self.constant[entry.loc as usize];
        kept && store.is_some_and(|entry| constant(entry) && entry.known() && !entry.chained) && added.next().is_none()
    }
}

/// Forgets that a store is spare where nobody will ask: it is the first of its variable.
pub(crate) fn forget_spare(thread: &mut ThreadState) {
    for at in 0..thread.queue.len() {
        let (earlier, rest) = thread.queue.split_at_mut(at);
        let entry = &mut rest[0];
        entry.spare &= earlier.iter().any(|other| other.loc == entry.loc && other.access().is_some());
    }
}
