//! Names that are used again in an execution: was each of them free when it was taken?
//!
//! When a thread makes a choice is not recorded, only between which of its accesses. What a thread does between two accesses commutes
//! with the others, so it counts as done right before the next access, and a name counts as taken then: at that moment
//! nobody else may hold it, nor the thread itself when it chose.

use cyrano_engine::StepFacts;
use cyrano_ir::dataflow::{Live, Liveness, Names};
use cyrano_ir::{RegId, ThreadId};

use super::{Claim, Snapshot, no_lasso};
use crate::error::ReplayError;
use crate::machine::Machine;

/// A name that a thread takes.
struct Taken {
    thread: ThreadId,
    pool: usize,
    name: i128,
    /// How many accesses the thread had made.
    accesses: usize,
    /// What its registers held that are looked at later.
    own: Vec<Live>,
}

impl Claim<'_> {
    /// The program's names.
    pub(super) fn names(&self) -> Result<Names, ReplayError> {
        Names::new(self.program).map_or_else(|| no_lasso("something may hold names of two kinds"), Ok)
    }

    /// Gives the names of a state the smallest numbers, so that states that differ in names only are the same.
    pub(super) fn rename(&self, state: &mut Snapshot<'_>) -> Result<(), ReplayError> {
        let names = self.names()?;
        if !names.is_empty() {
            let threads = self.program.thread_ids().zip(&state.threads);
            let live: Vec<Live> = threads.flat_map(|(thread, rest)| self.live(thread, &rest.machine)).collect();
            let Snapshot { threads, memory } = state;
            names.rename(memory, &live, |thread, register, value| {
                threads[thread.index()].machine.registers[register] = Some(value);
            });
        }
        Ok(())
    }

    /// The registers of a thread that it may still look at.
    fn live(&self, thread: ThreadId, machine: &Machine<'_>) -> Vec<Live> {
        let declared = self.program.thread(thread);
        let live = Liveness::new(declared, []);
        let used = (0..declared.registers.len()).filter(|at| live.is_live(machine.pc, RegId::new(*at)));
        used.filter_map(|at| Some((thread, at, machine.registers[at]?))).collect()
    }

    /// Whoever takes a name takes one that nobody holds.
    pub(super) fn takes_free_names(&self) -> Result<(), ReplayError> {
        let names = self.names()?;
        if names.is_empty() {
            return Ok(());
        }
        for thread in self.program.thread_ids() {
            for taken in self.taken(&names, thread)? {
                let held = names.held(&self.memory(self.before(&taken)), &self.others(&taken)?);
                if !names.is_free(&held, taken.pool, taken.name) {
                    let (name, number) = (&self.program.thread(thread).name, taken.name);
                    return no_lasso(format!("{name} takes the name {number}, which somebody holds"));
                }
            }
        }
        Ok(())
    }

    fn taken(&self, names: &Names, thread: ThreadId) -> Result<Vec<Taken>, ReplayError> {
        let mut taken = Vec::new();
        let all = self.execution.choices[thread.index()].len();
        self.rest_after(thread, self.steps, all, &mut |machine, name| {
            if let Some(pool) = names.pool_at(thread, machine.pc) {
                let own = self.live(thread, machine);
                taken.push(Taken { thread, pool, name, accesses: machine.events.len(), own });
            }
        })?;
        Ok(taken)
    }

    /// The steps up to the access that follows.
    fn before(&self, taken: &Taken) -> &[StepFacts] {
        let mut own = self.steps.iter().enumerate().filter(|(_, step)| step.access.thread == taken.thread);
        let until = own.nth(taken.accesses).map_or(self.steps.len(), |(at, _)| at);
        &self.steps[..until]
    }

    /// What the other threads hold then, and what the thread itself held.
    fn others(&self, taken: &Taken) -> Result<Vec<Live>, ReplayError> {
        let mut live = taken.own.clone();
        for other in self.program.thread_ids().filter(|other| *other != taken.thread) {
            let rest = self.rest(other, self.before(taken), self.execution.choices[other.index()].len())?;
            live.extend(self.live(other, &rest.machine));
        }
        Ok(live)
    }
}
