//! Deadlocks that are no mistake: where a program may wait for ever if another one, its serial reference, can do so as well (`atomicity`).
//!
//! What a deadlock *is* when two programs are compared: the values that are observed, and for every thread whether it is done or before which
//! of its sections it waits, by number, so that programs that differ in marks only can be compared. Registers of a thread that is not
//! done are left out: they are on their way.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use cyrano_ir::{FinalVar, Op};

use crate::semantics::machine::Machine;
use crate::semantics::state::State;

/// What a search makes of deadlocks.
#[derive(Clone, Default)]
pub enum Deadlocks {
    /// They are violations, where they are judged at all.
    #[default]
    Wrong,
    /// They are added to the outcomes, if these are asked for. A deadlock has one number more for each thread.
    Collected,
    /// These are allowed.
    Allowed(Arc<BTreeSet<Vec<i128>>>),
}

impl fmt::Debug for Deadlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong => write!(f, "wrong"),
            Self::Collected => write!(f, "collected"),
            Self::Allowed(allowed) => write!(f, "{} allowed", allowed.len()),
        }
    }
}

impl Machine<'_> {
    /// What a state is as a deadlock.
    pub(crate) fn as_deadlock(&self, state: &State) -> Vec<i128> {
        let threads = 0..self.threads.len();
        let observed = self.program.observed.iter().map(|observable| match observable.var {
            FinalVar::Reg(thread, _) if !self.done(state, thread.index()) => 0,
            var => self.final_value(state, var),
        });
        let waits =
            threads.map(|thread| if self.done(state, thread) { 0 } else { 1 + self.sections_before(state, thread) });
        observed.chain(waits).collect()
    }

    /// How many sections stand before a thread's next instruction in its code.
    fn sections_before(&self, state: &State, thread: usize) -> i128 {
        let code = &self.program.threads[thread].code[..state.threads[thread].pc as usize];
        code.iter().filter(|instr| matches!(instr.op, Op::AtomicBegin)).count() as i128
    }
}
