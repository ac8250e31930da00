//! Transactions: their events, and the treatment of stores that a client can repeat for ever.
//!
//! The most general client of a software transactional memory may write the same variable again and again; where stores are
//! deferred, nothing forces them out, and the queue would grow without bound. So (reduction `repeated-stores`, for
//! transactional criteria only) a store that is equal to one which already waits, with nothing but stores behind it, is not
//! enqueued: the waiting one and the stores behind it from then on stand for *any number* of equal stores each. Performed
//! once, such an entry makes nothing wait any more and may be performed again, until something is performed that has to
//! follow it or the transaction ends; then it is dropped. It may also be dropped at any time.
//!
//! **Argument.** This allows every execution of the exact semantics. The stores that an entry stands for were all issued before
//! anything that is enqueued behind it later as a single access; each of them is performed at some point after the entry's
//! first store and before whatever has to follow it, writing the same value to the same address; and whatever waited for one of
//! them waits for fewer entries here. It may allow more, for the order between entries that stand for many is lost. So *no
//! violation* with merging means no violation, whereas a violation is looked for again without merging, and only that one is
//! reported.
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

    /// Whether an equal store waits already, so that it can stand for this one too.
    pub(crate) fn merged(&mut self, successor: &mut Successor, new: &Entry) -> bool {
        let store = What::Access(AccessKind::Store);
        if !self.m.merge || new.chained || new.what != store || matches!(new.data, Data::Waiting(_)) {
            return false;
        }
        let queue = &mut successor.state.threads[successor.thread].queue;
        let Some(latest) = queue.iter().rposition(|entry| entry.loc == new.loc && entry.what == store) else {
            return false;
        };
        let equal = queue[latest].data == new.data && queue[latest].instr == new.instr;
        let plain = |entry: &Entry| entry.what == store && entry.known() && !entry.chained;
        if !equal || !queue[latest..].iter().all(plain) {
            return false;
        }
        for entry in &mut queue[latest..] {
            if entry.repeat == Repeat::Once {
                entry.repeat = Repeat::Many;
            }
        }
        queue[latest].repeat = Repeat::Many;
        true
    }
}
