//! Names that are used again in an execution: was each of them free when it was taken?
//!
//! When a thread makes a choice is not recorded, only between which of its accesses. A name counts as taken right before the access that
//! follows, and what a thread does on its own up to where it takes one as done right after the access before. If each name is free
//! then, the execution is one in which names are taken at these moments. And it is free then if it was free when it was taken: from
//! that time on its taker had it and nobody else did, and others are looked at before they take their next one, so they hold no more
//! than they did. At that moment nobody else may hold the name, nor the thread itself when it chose.

use cyrano_engine::StepFacts;
use cyrano_ir::dataflow::{Live, Liveness, Names};
use cyrano_ir::{RegId, ThreadId};

use super::rest::Until;
use super::{Claim, Snapshot, no_lasso};
use crate::error::ReplayError;
use crate::machine::Machine;

/// A name that a thread takes.
struct Taken {
    thread: ThreadId,
    pool: usize,
    name: i128,
    /// How many accesses the thread had made, and how many choices.
    accesses: usize,
    choices: usize,
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
            let live: Vec<Live> = self
                .program
                .thread_ids()
                .zip(&state.threads)
                .flat_map(|(thread, rest)| self.live(thread, &rest.machine))
                .collect();
            let registers = live.len();
            let ahead: Vec<Live> = self
                .program
                .thread_ids()
                .zip(&state.threads)
                .flat_map(|(thread, rest)| rest.live_ahead(thread))
                .collect();
            let live = [live, ahead].concat();
            let Snapshot { threads, memory } = state;
            let mut of_ahead: Vec<&mut i128> = Vec::new();
            let mut machines = Vec::new();
            for rest in threads {
                of_ahead.extend(rest.ahead.iter_mut().filter_map(|ahead| ahead.value.as_mut()).map(|(_, value)| value));
                machines.push(&mut rest.machine);
            }
            names.rename(memory, &live, |at, value| match at.checked_sub(registers) {
                Some(at) => *of_ahead[at] = value,
                None => machines[live[at].0.index()].registers[live[at].1] = Some(value),
            });
        }
        Ok(())
    }

    /// The registers of a thread that it may still look at.
    pub(super) fn live(&self, thread: ThreadId, machine: &Machine<'_>) -> Vec<Live> {
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
        let all: Result<Vec<Vec<Taken>>, _> =
            self.program.thread_ids().map(|thread| self.taken(&names, thread)).collect();
        let all = all?;
        for taken in all.iter().flatten() {
            let held = match self.is_out_of_order() {
                true => self.held_out_of_order(&names, taken.thread, taken.accesses)?,
                false => names.held(&self.memory(self.before(taken)), &self.others(taken, &all)?),
            };
            if !names.is_free(&held, taken.pool, taken.name) {
                let (name, number) = (&self.program.thread(taken.thread).name, taken.name);
                return no_lasso(format!("{name} takes the name {number}, which somebody holds"));
            }
        }
        Ok(())
    }

    fn taken(&self, names: &Names, thread: ThreadId) -> Result<Vec<Taken>, ReplayError> {
        let mut taken = Vec::new();
        let all = self.execution.choices[thread.index()].len();
        let until = Until { issued: self.made(thread, self.steps), choices: all };
        self.rest(thread, self.steps, until, &mut |machine, name| {
            if let Some(pool) = names.pool_at(thread, machine.pc) {
                let own = self.live(thread, machine);
                let (accesses, choices) = (machine.events.len(), machine.choices.len());
                taken.push(Taken { thread, pool, name, accesses, choices, own });
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

    /// How many of these steps are a thread's.
    pub(super) fn made(&self, thread: ThreadId, steps: &[StepFacts]) -> usize {
        steps.iter().filter(|step| step.access.thread == thread).count()
    }

    /// What the other threads hold then, and what the thread itself held.
    fn others(&self, taken: &Taken, all: &[Vec<Taken>]) -> Result<Vec<Live>, ReplayError> {
        let mut live = taken.own.clone();
        let before = self.before(taken);
        for other in self.program.thread_ids().filter(|other| *other != taken.thread) {
            let made = self.made(other, before);
            let next = all[other.index()].iter().find(|next| next.accesses >= made);
            let choices = next.map_or(self.execution.choices[other.index()].len(), |next| next.choices);
            let rest = self.rest(other, before, Until { issued: made, choices }, &mut |_, _| {})?;
            live.extend(self.live(other, &rest.machine));
        }
        Ok(live)
    }
}
