//! What progress asks of steps and states: which threads have a transaction under way, and names that nobody holds.
//!
//! A transaction begins with its first access, to whatever location, as for opacity. Whether a thread has one under way is part of its state here.
//! Where a thread chooses a name ([`cyrano_ir::dataflow::Names`]) it takes the smallest that nobody holds: one is as good as another, and this one
//! keeps states few. In stored states names are renumbered, as timestamps are.

use cyrano_ir::dataflow::{Live, Names};
use cyrano_ir::{InstrId, ThreadId};

use crate::criteria::runs::graph::Threads;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

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

    /// The registers that matter in a state.
    fn live(&self, state: &State) -> Vec<Live> {
        let mut live = Vec::new();
        for (t, (thread, info)) in state.threads.iter().zip(&self.threads).enumerate() {
            let registers = info.live[thread.pc as usize].iter();
            live.extend(registers.map(|reg| (ThreadId::new(t), *reg as usize, state.regs[info.base + *reg as usize])));
        }
        live
    }

    /// Renumbers the names in a state.
    pub(crate) fn renumber_names(&self, state: &mut State) {
        let Some(names) = self.names.filter(|names| !names.is_empty()) else { return };
        let live = self.live(state);
        let State { memory, regs, .. } = state;
        names.rename(memory, &live, |thread, register, value| {
            regs[self.threads[thread.index()].base + register] = value;
        });
    }

    /// The name that a step has to choose, if it chooses one: none if all are held.
    fn fresh_name(&self, names: &Names, state: &State, step: &Successor) -> Option<Option<i128>> {
        let pool = names.pool_at(ThreadId::new(step.thread), InstrId(state.threads[step.thread].pc))?;
        step.choices.first()?;
        Some(names.free(&names.held(&state.memory, &self.live(state)), pool))
    }
}

impl Stepper<'_> {
    /// Notes whose transactions are under way after the steps from a state, and leaves out those that choose another name than they should.
    pub(crate) fn note_progress(&mut self, state: &State, out: &mut Successors) {
        let Some(names) = self.m.names else { return };
        for step in out.iter_mut() {
            if let Some(fresh) = self.m.fresh_name(names, state, step) {
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
