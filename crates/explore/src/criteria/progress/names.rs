//! What progress asks of steps and states: which threads have a transaction under way, and names that nobody holds.
//!
//! A transaction begins with its first access, to whatever location, as for opacity. Whether a thread has one under way is part of its state here.
//! Where a thread chooses a name ([`cyrano_ir::dataflow::Names`]) it takes the smallest that nobody holds: one is as good as another, and this one
//! keeps states few. In stored states names are renumbered, as timestamps are.

use cyrano_ir::dataflow::Live;
use cyrano_ir::{InstrId, ThreadId};

use crate::criteria::runs::graph::Threads;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, State, What};
use crate::semantics::step::{Stepper, Successor, Successors};

/// Where a value that matters is.
enum Place {
    /// In this register, of all threads.
    Register(usize),
    /// With what a thread has performed ahead of the text.
    Ahead(usize, usize),
}

/// A transaction is under way.
const BUSY: u8 = 1;

impl Machine<'_> {
    /// Whether what transactions have done is part of a state.
    #[inline]
    pub(crate) fn keeps_deeds(&self) -> bool {
        self.pursuit.is_some() || self.names.is_some()
    }

    /// The threads whose transaction is under way.
    pub(crate) fn busy(&self, state: &State) -> Threads {
        let busy = state.threads.iter().enumerate().filter(|(_, thread)| thread.did & BUSY != 0);
        busy.fold(0, |set, (thread, _)| set | 1 << thread)
    }

    /// What matters in a state besides memory: registers, and what was read out of order into one.
    fn live(&self, state: &State) -> (Vec<Live>, Vec<Place>) {
        let (mut live, mut places) = (Vec::new(), Vec::new());
        for (t, (thread, info)) in state.threads.iter().zip(&self.threads).enumerate() {
            for register in info.live[thread.pc as usize].iter().map(|register| *register as usize) {
                live.push((ThreadId::new(t), register, state.regs[info.base + register]));
                places.push(Place::Register(info.base + register));
            }
            for (at, entry) in thread.queue.iter().enumerate().filter(|_| self.own_order.is_some()) {
                if let (Some(dst), What::Assign, Data::Known(value, _)) =
                    (self.op(t, entry.instr).dst(), entry.what, &entry.data)
                {
                    live.push((ThreadId::new(t), dst.registers().start, *value));
                    places.push(Place::Ahead(t, at));
                }
            }
        }
        (live, places)
    }

    /// Renumbers the names in a state.
    pub(crate) fn renumber_names(&self, state: &mut State) {
        let Some(names) = self.names.filter(|names| !names.is_empty()) else { return };
        let (live, places) = self.live(state);
        let State { memory, regs, threads, .. } = state;
        names.rename(memory, &live, |at, value| match places[at] {
            Place::Register(register) => regs[register] = value,
            Place::Ahead(thread, at) => threads[thread].queue[at].data = Data::Known(value, 0),
        });
    }

    /// The name that a thread takes at an instruction, if it takes one there: none if all are held.
    pub(crate) fn name_for(&self, state: &State, thread: usize, pc: u32) -> Option<Option<i128>> {
        let names = self.names?;
        let pool = names.pool_at(ThreadId::new(thread), InstrId(pc))?;
        Some(names.free(&names.held(&state.memory, &self.live(state).0), pool))
    }

    /// The name that a step has to choose, if it chooses one: none if all are held.
    fn fresh_name(&self, state: &State, step: &Successor) -> Option<Option<i128>> {
        step.choices.first()?;
        self.name_for(state, step.thread, state.threads[step.thread].pc)
    }
}

impl Stepper<'_> {
    /// Notes whose transactions are under way after the steps from a state, and leaves out those that choose another name than they should.
    pub(crate) fn note_progress(&mut self, state: &State, out: &mut Successors) {
        if self.m.names.is_none() {
            return;
        }
        for step in out.iter_mut() {
            if let Some(fresh) = self.m.fresh_name(state, step) {
                self.notes.out_of_names |= fresh.is_none();
                step.dropped |= step.choices.first().map(|(_, chosen)| *chosen) != fresh;
            }
            // What was issued before the end of the last transaction belongs to that one.
            let stale = |state: &State| {
                let queue = &state.threads[step.thread].queue;
                queue.iter().filter(|entry| entry.access().is_some() && entry.stale).count()
            };
            let left_over = if step.moves { 0 } else { stale(state).saturating_sub(stale(&step.state)) };
            let accesses = step.accesses.iter().filter(|access| access.read.is_some() || access.written.is_some());
            let accesses = accesses.count() > left_over;
            let did = &mut step.state.threads[step.thread].did;
            match step.ended {
                Some(_) => *did &= !BUSY,
                None if accesses => *did |= BUSY,
                None => {}
            }
        }
    }
}
