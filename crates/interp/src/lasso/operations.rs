//! Operations that do not get done although threads may only be stopped: memory is treated fairly in a round, and an operation stays unfinished.
//!
//! Which threads may take steps, and whose operations may get done, depends on the property; a thread that takes no step in a round is one that was stopped.

use cyrano_engine::Fate;
use cyrano_ir::{Liveness, ThreadId};

use super::termination::is_done;
use super::{Claim, Snapshot, no_lasso};
use crate::error::ReplayError;

impl Claim<'_> {
    /// The lasso violates a property of operations.
    pub(super) fn never_completes(&self, liveness: Liveness) -> Result<(), ReplayError> {
        self.is_decidable()?;
        let (before, after) = (self.snapshot(0)?, self.snapshot(1)?);
        for thread in self.program.thread_ids() {
            let name = &self.program.thread(thread).name;
            if !before.threads[thread.index()].pending.is_empty() && !self.performs_oldest(thread) {
                return no_lasso(format!("the oldest deferred access of {name} is not performed in a round"));
            }
            let suspect = thread == self.lasso.thread;
            if !suspect && liveness == Liveness::ObstructionFree && self.issues(thread) {
                return no_lasso(format!("{name} takes steps as well"));
            }
            if (suspect || liveness == Liveness::LockFree) && self.passes(&before, &after, thread) {
                return no_lasso(format!("{name} gets an operation done in a round"));
            }
        }
        self.is_stuck_inside(&before)
    }

    /// Whether a thread passes a mark in a round.
    fn passes(&self, before: &Snapshot<'_>, after: &Snapshot<'_>, thread: ThreadId) -> bool {
        let (before, after) = (&before.threads[thread.index()], &after.threads[thread.index()]);
        // One that runs on without an access may as well have been stopped.
        let runs_on = thread == self.lasso.thread && before.endless == Some(true);
        before.marks != after.marks || runs_on
    }

    /// The thread is in an operation, and takes steps in it or stands before a section that stays closed.
    fn is_stuck_inside(&self, before: &Snapshot<'_>) -> Result<(), ReplayError> {
        let thread = self.lasso.thread;
        let rest = &before.threads[thread.index()];
        let name = &self.program.thread(thread).name;
        let inside = self.program.thread(thread).in_operations();
        let in_one = inside.get(rest.machine.pc.index()).copied().unwrap_or(false) && !is_done(rest);
        if !in_one || rest.refused || rest.failed || !self.has_started(before, thread) {
            return no_lasso(format!("{name} is in no operation"));
        }
        let as_claimed = match self.lasso.fate {
            Fate::Spins => self.moves(rest, thread),
            Fate::Blocked => {
                let quiet = before.threads.iter().all(|rest| rest.pending.is_empty()) && self.lasso.round.steps == 0;
                quiet && rest.machine.at_section() && self.is_closed(&rest.machine, &before.memory)
            }
            Fate::Aborts | Fate::Waits => false,
        };
        if as_claimed { Ok(()) } else { no_lasso(format!("{name} does not do what is claimed in a round")) }
    }
}
