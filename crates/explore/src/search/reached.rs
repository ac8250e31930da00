//! Which instructions threads come to: after a complete search, the others are reached by no execution.
//!
//! An instruction is reached when a thread's program counter is at it. The stepper notes that wherever it runs an instruction, also in the
//! middle of a step and in an atomic section that turns out to be shut; so it does not matter how much is one step.
//!
//! **Why this is exact with reductions.** With remembered steps each different step is computed once, by the stepper. With ample
//! sets every step of every execution is taken in some state that agrees with the full search on all it depends on, the thread's own part and what
//! it touches ([`crate::encoding::remembering`], `ample`); so the same instructions are passed. Lazy choices, dead loads, sorted and repeated stores
//! keep what each thread does up to the order between threads. With symmetries some threads, or variables, stand for others: then what is reached by one is reached by those that it
//! stands for. Where clients may be renamed the source text says which instructions are copies of each other.
//! Under a program's own order threads do not run through their code, and nothing is said.

use cyrano_ir::{InstrId, Interchangeable, Span, ThreadId};
use rustc_hash::FxHashSet;

use crate::semantics::machine::Machine;
use crate::semantics::step::Stepper;

/// Adds what another worker has come to.
pub(crate) fn add(all: &mut [bool], other: &[bool]) {
    all.iter_mut().zip(other).for_each(|(all, other)| *all |= other);
}

impl Stepper<'_> {
    /// A thread is at an instruction.
    #[inline]
    pub(crate) fn reaches(&mut self, thread: usize, pc: u32) {
        self.reached[self.m.threads[thread].first + pc as usize] = true;
    }
}

impl Machine<'_> {
    /// How many instructions all threads have.
    pub(crate) fn instructions(&self) -> usize {
        self.program.threads.iter().map(|thread| thread.code.len()).sum()
    }

    /// The instructions that no execution reaches, if that is known.
    pub(crate) fn unreached(&self, mut reached: Vec<bool>) -> Option<Vec<(ThreadId, InstrId)>> {
        if self.own_order.is_some() {
            return None;
        }
        self.close_under_threads(&mut reached);
        self.close_under_exchanges(&mut reached);
        self.close_under_variables(&mut reached);
        self.close_under_clients(&mut reached);
        let at = |thread: usize, pc: usize| self.threads[thread].first + pc;
        let all = self.program.threads.iter().enumerate();
        let all = all.flat_map(|(thread, of)| (0..of.code.len()).map(move |pc| (thread, pc)));
        let missed = all.filter(|(thread, pc)| !reached[at(*thread, *pc)]);
        Some(missed.map(|(thread, pc)| (ThreadId::new(thread), InstrId::new(pc))).collect())
    }

    /// Threads that stand for each other have the same code.
    fn close_under_threads(&self, reached: &mut [bool]) {
        let everybody = self.symmetry.as_ref().map(|_| (0..self.threads.len()).collect());
        for group in everybody.iter().chain(&self.symmetric_threads) {
            let of = |thread: usize| self.threads[thread].first;
            for pc in 0..self.program.threads[group[0]].code.len() {
                let any = group.iter().any(|thread| reached[of(*thread) + pc]);
                group.iter().for_each(|thread| reached[of(*thread) + pc] = any);
            }
        }
    }

    /// The same for threads with objects of their own.
    fn close_under_exchanges(&self, reached: &mut [bool]) {
        let before = reached.to_vec();
        for one in &self.exchanges {
            for (thread, info) in self.threads.iter().enumerate() {
                for pc in (0..self.program.threads[thread].code.len()).filter(|pc| before[info.first + pc]) {
                    reached[self.threads[one.thread(thread)].first + pc] = true;
                }
            }
        }
    }

    /// The renamings are a whole group, so each need be applied only once.
    fn close_under_variables(&self, reached: &mut [bool]) {
        let before = reached.to_vec();
        for renaming in &self.variable_symmetry {
            for (thread, info) in self.threads.iter().enumerate() {
                for (pc, partner) in renaming.threads[thread].code.iter().enumerate() {
                    if let Some(partner) = partner.filter(|_| before[info.first + pc]) {
                        reached[info.first + partner as usize] = true;
                    }
                }
            }
        }
    }

    fn close_under_clients(&self, reached: &mut [bool]) {
        if self.values.as_ref().is_none_or(|values| values.renames == Interchangeable::default()) {
            return;
        }
        let spans = || self.program.threads.iter().flat_map(|thread| &thread.code).map(|instr| instr.span);
        let known: FxHashSet<Span> =
            spans().zip(reached.iter()).filter(|(_, reached)| **reached).map(|(s, _)| s).collect();
        spans().zip(reached).for_each(|(span, reached)| *reached |= known.contains(&span));
    }
}
