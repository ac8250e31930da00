//! Progress of transactions: the others do what the property lets them do, and a thread does not commit.

use cyrano_engine::{Fate, Lasso, StepFacts};
use cyrano_ir::{Op, Progress, ThreadId, TxEvent};

use super::{Claim, no_lasso};
use crate::error::ReplayError;
use crate::machine::Machine;

impl Claim<'_> {
    /// The lasso violates a progress property.
    pub(super) fn makes_no_progress(&self, progress: Progress) -> Result<(), ReplayError> {
        let before = self.snapshot(0)?;
        for (thread, rest) in self.program.thread_ids().zip(&before.threads) {
            if !rest.pending.is_empty() && !self.performs_oldest(thread) {
                let name = &self.program.thread(thread).name;
                return no_lasso(format!("the oldest deferred access of {name} is not performed in a round"));
            }
        }
        self.lets_it(progress)?;
        let Lasso { thread, fate, .. } = self.lasso;
        let name = &self.program.thread(*thread).name;
        let shown = self.suffers(*thread, *fate)?;
        if shown { Ok(()) } else { no_lasso(format!("{name} does not do what is claimed in a round")) }
    }

    /// How a transaction ends in a step.
    fn ended(&self, step: &StepFacts) -> Option<TxEvent> {
        match self.program.instr(step.access.thread, step.instr).op {
            Op::Transaction(event @ (TxEvent::Commit | TxEvent::Abort)) => Some(event),
            _ => None,
        }
    }

    /// Whether a thread has a transaction under way after the stem.
    fn is_busy(&self, thread: ThreadId) -> bool {
        let own = || self.steps[..self.lasso.stem.steps].iter().filter(|step| step.access.thread == thread);
        let ended = own().filter(|step| self.ended(step).is_some()).map(|step| step.access.index).max();
        // What was issued before the end of the last transaction belongs to that one.
        let later = |step: &&StepFacts| ended.is_none_or(|ended| step.access.index > ended);
        own().filter(later).any(|step| step.access.read.is_some() || step.access.written.is_some())
    }

    /// The other threads do what the property lets them do.
    fn lets_it(&self, progress: Progress) -> Result<(), ReplayError> {
        for other in self.program.thread_ids().filter(|other| *other != self.lasso.thread) {
            let still = self.round_of(other).next().is_none() && self.lasso.round.choices[other.index()] == 0;
            let ends = self.round_of(other).any(|step| self.ended(step).is_some());
            let fair = match progress {
                Progress::Solo => still,
                Progress::CrashFreeSolo => still && !self.is_busy(other),
                Progress::Local => {
                    let stuck = || Ok(self.suffers(other, Fate::Waits)? || self.suffers(other, Fate::Blocked)?);
                    ends || still && !self.is_busy(other) || stuck()?
                }
            };
            if !fair {
                return no_lasso(format!("{} does not do its part", self.program.thread(other).name));
            }
        }
        Ok(())
    }

    /// Whether this happens to a thread in a round.
    fn suffers(&self, thread: ThreadId, fate: Fate) -> Result<bool, ReplayError> {
        let (before, after) = (self.snapshot(0)?, self.snapshot(1)?);
        let (before, after) = (&before.threads[thread.index()], &after.threads[thread.index()]);
        let ends: Vec<TxEvent> = self.round_of(thread).filter_map(|step| self.ended(step)).collect();
        let steps = self.round_of(thread).count();
        Ok(match fate {
            Fate::Aborts => ends.contains(&TxEvent::Abort) && !ends.contains(&TxEvent::Commit),
            Fate::Waits => {
                ends.is_empty() && before.commands == after.commands && (steps > 0 || before.endless.is_some())
            }
            Fate::Blocked if self.is_out_of_order() => steps == 0 && self.stays_blocked_out_of_order(thread)?,
            Fate::Blocked => steps == 0 && self.stays_blocked(&before.machine),
            Fate::Spins => false,
        })
    }

    /// Whether the section that a thread stands at is closed after the stem and after every step of a round.
    pub(super) fn stays_blocked(&self, machine: &Machine<'_>) -> bool {
        machine.at_section() && self.moments().all(|memory| self.is_closed(machine, &memory))
    }
}
