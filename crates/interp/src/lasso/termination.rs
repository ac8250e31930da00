//! Termination: every thread is treated fairly in a round, and one of them never gets done. `docs/termination.md` has the definition.
//!
//! Whether a thread issues accesses or chooses in a round is known from how far it has come before and after. If it does neither and does not run for ever
//! without an access, it stands still; then nothing of its own can be pending (what is performed in a round is not issued again), so that only its end, a
//! section that is closed at some moment, or the setup thread can keep it from going on.

use cyrano_engine::{Fate, Lasso};
use cyrano_ir::{Op, ThreadId};

use super::rest::Rest;
use super::{Claim, Snapshot, no_lasso};
use crate::error::ReplayError;

impl Claim<'_> {
    /// The lasso violates termination.
    pub(super) fn never_ends(&self) -> Result<(), ReplayError> {
        self.is_decidable()?;
        let (before, after) = (self.snapshot(0)?, self.snapshot(1)?);
        let mut goes_on = false;
        for thread in self.program.thread_ids() {
            let rest = &before.threads[thread.index()];
            let name = &self.program.thread(thread).name;
            let started = self.has_started(&before, thread);
            if started && (rest.refused || rest.failed) {
                return no_lasso(format!("an `assume` fails, or something goes wrong, in {name}"));
            }
            goes_on |= started && self.moves(rest, thread);
            if started && !self.moves(rest, thread) && !self.is_excused(rest) {
                return no_lasso(format!("{name} could go on, and does not"));
            }
            if !rest.pending.is_empty() && !self.performs_oldest(thread) {
                return no_lasso(format!("the oldest deferred access of {name} is not performed in a round"));
            }
        }
        if !goes_on {
            return no_lasso("nobody takes a step in a round");
        }
        self.gets_nowhere(&before, &after)
    }

    /// There is a notion of fairness, and it is said how far threads come.
    pub(super) fn is_decidable(&self) -> Result<(), ReplayError> {
        if self.model.reordering().serial || self.model.own_order(self.program).is_some() {
            return no_lasso("under this model fairness is not defined");
        }
        if self.lasso.stem.issued.is_empty() {
            return no_lasso("it is not said how far threads have come");
        }
        Ok(())
    }

    /// Axiom 8: whether a thread may take steps after the stem.
    pub(super) fn has_started(&self, before: &Snapshot<'_>, thread: ThreadId) -> bool {
        self.program.setup.is_none_or(|setup| {
            let rest = &before.threads[setup.index()];
            setup == thread || is_done(rest) && rest.pending.is_empty()
        })
    }

    /// Whether a thread takes program steps in a round.
    pub(super) fn moves(&self, rest: &Rest<'_>, thread: ThreadId) -> bool {
        self.issues(thread) || rest.endless.is_some()
    }

    /// Whether a thread issues accesses or chooses in a round.
    pub(super) fn issues(&self, thread: ThreadId) -> bool {
        let round = &self.lasso.round;
        round.issued[thread.index()] > 0 || round.choices[thread.index()] > 0
    }

    /// Whether a thread that stands still cannot take a step at some moment of a round.
    fn is_excused(&self, rest: &Rest<'_>) -> bool {
        let closed = || self.moments().any(|memory| self.is_closed(&rest.machine, &memory));
        rest.pending.is_empty() && (is_done(rest) || rest.machine.at_section() && closed())
    }

    /// Whether a thread performs an access in a round when it has performed all those before.
    pub(super) fn performs_oldest(&self, thread: ThreadId) -> bool {
        let Lasso { stem, round, .. } = self.lasso;
        let mut performed: Vec<u32> = Vec::new();
        self.steps[..stem.steps + round.steps].iter().enumerate().any(|(at, step)| {
            let access = step.access;
            let own = access.thread == thread;
            let oldest = own && (0..access.index).all(|earlier| performed.contains(&earlier));
            performed.extend(own.then_some(access.index));
            oldest && at >= stem.steps
        })
    }

    /// The thread neither ends nor passes a mark.
    fn gets_nowhere(&self, before: &Snapshot<'_>, after: &Snapshot<'_>) -> Result<(), ReplayError> {
        let Lasso { thread, fate, .. } = self.lasso;
        let started = self.has_started(before, *thread);
        let (before, after) = (&before.threads[thread.index()], &after.threads[thread.index()]);
        let name = &self.program.thread(*thread).name;
        if started && is_done(before) {
            return no_lasso(format!("{name} has come to its end"));
        }
        // A thread that waits for the setup thread is run on in a snapshot as if it did not.
        if started && (before.marks != after.marks || before.endless == Some(true)) {
            return no_lasso(format!("{name} passes a mark in a round"));
        }
        let moves = started && self.moves(before, *thread);
        let as_claimed = match fate {
            Fate::Spins => moves,
            Fate::Blocked => !moves,
            Fate::Aborts | Fate::Waits => false,
        };
        if as_claimed { Ok(()) } else { no_lasso(format!("{name} does not do what is claimed in a round")) }
    }
}

/// Whether a thread has come to its end.
pub(super) fn is_done(rest: &Rest<'_>) -> bool {
    matches!(rest.machine.op(), Op::Halt)
}
