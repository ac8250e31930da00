//! Transactions: their events, and the treatment of stores that a client can repeat for ever.
//!
//! The most general client of a software transactional memory may write the same variable again and again; where stores are
//! deferred, nothing forces them out, and the queue would grow without bound. So (reduction `repeated-stores`, for
//! transactional criteria only) a store that is equal to the latest one that waits for the same address is not enqueued on its
//! own: one entry at the end of the queue stands for *any number* of such stores, none included. It makes nothing wait and
//! waits for nothing; it goes away when something behind it is performed that has to follow it, when the transaction ends, or
//! at any other time.
//!
//! **Argument.** This allows every execution of the exact semantics: each store that the entry stands for was issued before
//! whatever is enqueued behind the entry, is performed before whatever has to follow it, and writes the same value to the same
//! address; nothing waits for it here, and it waits for nothing. When one more such store is issued, the entry moves to the
//! end, which only makes it last longer. It may allow more. So *no violation* with merging means no violation, whereas a
//! violation is looked for again without merging, and only that one is reported.
//!
//! Events of transactions (`rfin`, `commit`, `abort`) happen as soon as the rules allow. No violation is lost: a history in
//! which such an event comes later has the same conflicts and fewer transactions that precede others in real time, and a
//! load counts as used from a later point on; so if the later history is wrong, the earlier one is wrong as well.

use cyrano_criteria::history::{Action, Event};
use cyrano_engine::{Access, Violation};
use cyrano_ir::{AccessKind, ThreadId, TxEvent};

use crate::state::{Data, Entry, Repeat, State, What};
use crate::step::{Stepper, Successor, Successors};

/// Whether nothing in the queue keeps an event of a transaction from happening.
pub(crate) fn can_happen(queue: &[Entry], event: TxEvent) -> bool {
    !queue.iter().any(|entry| entry.waits() && entry.access().is_some_and(|kind| event.follows(kind)))
}

impl Stepper<'_> {
    /// Lets an event of a transaction happen, if it can.
    pub(crate) fn happens(&mut self, successor: &mut Successor, event: TxEvent) -> bool {
        let thread = successor.thread;
        if !can_happen(&successor.state.threads[thread].queue, event) {
            return false;
        }
        let action = match event {
            TxEvent::ReadFinish => Action::ReadFinish,
            TxEvent::Commit => Action::Commit,
            TxEvent::Abort => Action::Abort,
        };
        self.notes.committed |= event == TxEvent::Commit;
        if event != TxEvent::ReadFinish {
            self.forget_repeats(successor);
        }
        let index = successor.state.threads[thread].issued;
        successor.state.threads[thread].issued += 1;
        successor.accesses.push(Access { thread: ThreadId::new(thread), index, read: None, written: None });
        self.observe(successor, action);
        true
    }

    /// The store need not be performed again, and from now on it is not.
    pub(crate) fn drop_repeat(&mut self, state: &State, thread: usize, position: usize, out: &mut Successors) {
        let index = out.start(state, thread);
        self.m.remove_entry(&mut out.at(index).state, thread, position, None);
        self.m.prune_fences(&mut out.at(index).state, thread);
        self.settle(out, index, thread);
    }

    /// Removes the stores that need not be performed again.
    fn forget_repeats(&mut self, successor: &mut Successor) {
        let thread = successor.thread;
        let again = |entry: &Entry| entry.repeat == Repeat::Again;
        while let Some(position) = successor.state.threads[thread].queue.iter().position(again) {
            self.m.remove_entry(&mut successor.state, thread, position, None);
        }
        self.m.prune_fences(&mut successor.state, thread);
    }

    /// Tells the monitor about an access, if it is one to a transactional variable.
    pub(crate) fn observe_access(
        &mut self,
        successor: &mut Successor,
        kind: AccessKind,
        pc: u32,
        loc: u32,
        wrote: bool,
    ) {
        if successor.state.monitor.is_none() {
            return;
        }
        if let Some(var) = self.m.variables[loc as usize] {
            let op = self.m.op(successor.thread, pc);
            if let Some(action) = cyrano_engine::history::access(kind, op, wrote, var) {
                self.observe(successor, action);
            }
        }
    }

    fn observe(&mut self, successor: &mut Successor, action: Action) {
        let event = Event { thread: successor.thread as u8, action };
        if let (Some(monitor), Some(state)) = (&self.m.monitor, &mut successor.state.monitor)
            && monitor.step(state, event).is_err()
        {
            successor.event.get_or_insert(Violation::Transactions);
        }
    }

    /// Drops the repeated stores that the access of `kind` to `loc`, issued when the queue had `position` entries, has to follow.
    /// Returns where the access stands now.
    pub(crate) fn end_repeats(
        &mut self,
        successor: &mut Successor,
        mut position: usize,
        kind: AccessKind,
        loc: u32,
    ) -> usize {
        let thread = successor.thread;
        let mut at = 0;
        while self.m.merge && at < position {
            let queue = &successor.state.threads[thread].queue;
            let fenced = |first| {
                let fences = queue[at..position].iter().filter_map(|entry| match entry.what {
                    What::Fence(set) => Some(set),
                    _ => None,
                });
                fences.into_iter().any(|set| set.orders(first, kind))
            };
            let first = queue[at].access().filter(|_| queue[at].repeat == Repeat::Again);
            let ended = first.is_some_and(|first| self.m.keeps(first, kind, queue[at].loc == loc) || fenced(first));
            if ended {
                self.m.remove_entry(&mut successor.state, thread, at, None);
                position -= 1;
            } else {
                at += 1;
            }
        }
        position
    }

    /// Whether the latest store to the same place is an equal one, so that an entry for any number of them can stand for this one.
    pub(crate) fn merged(&mut self, successor: &mut Successor, new: &Entry) -> bool {
        let store = What::Access(AccessKind::Store);
        if !self.m.merge || new.chained || new.what != store || matches!(new.data, Data::Waiting(_)) {
            return false;
        }
        let thread = successor.thread;
        let queue = &successor.state.threads[thread].queue;
        let writes = |entry: &Entry| entry.loc == new.loc && entry.access().is_some_and(AccessKind::writes);
        let Some(latest) = queue.iter().rposition(writes) else {
            return false;
        };
        let equal = queue[latest].what == store && queue[latest].data == new.data && queue[latest].instr == new.instr;
        if !equal || queue[latest].chained {
            return false;
        }
        if queue[latest].repeat == Repeat::Again {
            self.m.remove_entry(&mut successor.state, thread, latest, None);
            self.m.prune_fences(&mut successor.state, thread);
        }
        successor.state.threads[thread].queue.push(Entry { repeat: Repeat::Again, ..new.clone() });
        true
    }
}
