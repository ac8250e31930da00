//! Transactions: their events, and what the monitor is told.
//!
//! Events of transactions (`rfin`, `commit`, `abort`) happen as soon as the rules allow. No violation is lost: a history in
//! which such an event comes later has the same conflicts and fewer transactions that precede others in real time, and a
//! load counts as used from a later point on; so if the later history is wrong, the earlier one is wrong as well.
//! That is so for opacity and strict serializability. A specification may say anything, so for it an event is a step of its own, and happens when it likes;
//! and of the reductions only those are used that keep the order of events as it is.

use cyrano_criteria::history::{Action, Event};
use cyrano_criteria::structure::isolation::Deed;
use cyrano_engine::Access;
use cyrano_ir::{AccessKind, ThreadId, TxEvent};

use crate::criteria::hearing::Said;
use crate::semantics::machine::Machine;
use crate::semantics::state::Entry;
use crate::semantics::step::{Stepper, Successor};
use crate::semantics::successors::Told;

impl Machine<'_> {
    /// Whether nothing in the queue keeps an event of a transaction from happening.
    pub(crate) fn can_happen(&self, queue: &[Entry], event: TxEvent) -> bool {
        let before = |entry: &Entry| {
            let data = self.variables[entry.loc as usize].is_some();
            entry.access().is_some_and(|kind| event.follows(kind, data))
        };
        !queue.iter().any(before)
    }
}

impl Stepper<'_> {
    /// Lets an event of a transaction happen, if it can.
    pub(crate) fn happens(&mut self, successor: &mut Successor, event: TxEvent) -> bool {
        let thread = successor.thread;
        if !self.m.can_happen(&successor.state.threads[thread].queue, event) {
            return false;
        }
        let action = match event {
            TxEvent::ReadFinish => Action::ReadFinish,
            TxEvent::Commit => Action::Commit,
            TxEvent::Abort => Action::Abort,
        };
        self.notes.committed |= event == TxEvent::Commit;
        self.notes.read |= event == TxEvent::ReadFinish;
        if self.m.pursuit.is_some() {
            self.note_event(successor, event);
        }
        let index = successor.state.threads[thread].issued;
        successor.state.threads[thread].issued += 1;
        successor.accesses.push(Access { thread: ThreadId::new(thread), index, read: None, written: None });
        if self.m.tells {
            successor.told.push(Told { access: None, instr: 0, action: Some(action) });
        }
        self.observe(successor, action);
        if self.m.notes_deeds {
            let (thread, event) = (thread as u8, Some(action));
            let none =
                Deed { thread, event, location: None, reads: false, writes: false, changes: false, stale: false };
            successor.deeds.push(none);
        }
        if event != TxEvent::ReadFinish {
            successor.ended = Some(event);
            successor.state.threads[thread].queue.iter_mut().for_each(|entry| entry.stale = true);
        }
        true
    }

    /// Tells the monitor about an access, if it is one to a transactional variable.
    pub(crate) fn observe_access(
        &mut self,
        successor: &mut Successor,
        kind: AccessKind,
        pc: u32,
        loc: u32,
        wrote: bool,
        stale: bool,
    ) {
        if wrote && !stale && self.m.variables[loc as usize].is_some() && !self.m.is_rollback(successor.thread, pc) {
            self.notes.stored = true;
            self.note_store(successor);
        }
        if self.m.notes_deeds {
            self.note_deed(successor, kind, pc, loc, stale);
        }
        if self.m.monitor.is_none() && self.m.spec.is_none() && !self.m.tells {
            return;
        }
        if self.m.monitor.is_some() && !stale {
            self.say(successor, Said::Access(successor.thread as u8));
        }
        let op = self.m.op(successor.thread, pc);
        let action =
            self.m.variables[loc as usize].and_then(|var| cyrano_engine::history::access(kind, op, wrote, var));
        if self.m.tells {
            successor.told.push(Told { access: Some((kind, loc)), instr: pc, action });
        }
        if let Some(action) = action {
            self.observe(successor, action);
        }
    }

    /// Notes the access that was performed last. Whether it changes memory is found out by whoever knows what was there before.
    fn note_deed(&self, successor: &mut Successor, kind: AccessKind, pc: u32, loc: u32, stale: bool) {
        let access = successor.accesses.last().expect("an access was performed");
        let variable = self.m.variables[loc as usize];
        let op = self.m.op(successor.thread, pc);
        let event = variable.and_then(|v| cyrano_engine::history::access(kind, op, access.written.is_some(), v));
        successor.deeds.push(Deed {
            thread: successor.thread as u8,
            event,
            location: Some(loc),
            reads: access.read.is_some(),
            writes: access.written.is_some(),
            changes: access.written.is_some(),
            stale,
        });
    }

    fn observe(&mut self, successor: &mut Successor, action: Action) {
        if self.m.monitor.is_some() || self.m.spec.is_some() {
            self.say(successor, Said::Event(Event { thread: successor.thread as u8, action }));
        }
    }
}
