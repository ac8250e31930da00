//! What a worker does so that its search can be resumed.
//!
//! When a checkpoint is due, a worker *marks* the next level: it sends a word to everybody with the states of that level. So everybody
//! has it when the level begins, and writes its part then, before anything is expanded: what it has is all states up to
//! that level, and all but that level have been expanded. With the word everybody got the right to send at the time of that
//! level, and gives it up only later, so that nobody begins the level behind it before all parts are written
//! ([`crate::part`] says what that is good for).
//!
//! Since records never move, the part of a level can also be written when that level is under way. That is done when a limit ends the
//! search: for the level that all have begun, if nobody is more than one ahead.

use std::time::{Duration, Instant};

use cyrano_checkpoint::Result;
use cyrano_explore::{Packing, Summary};

use crate::log::Log;
use crate::part::Part;
use crate::saved::{Moment, Piece};
use crate::table::Partition;

/// A worker's states, and what they mean if they are packed.
#[derive(Clone, Copy)]
pub(crate) struct States<'t> {
    pub partition: &'t Partition,
    pub packing: Option<&'t Packing<'t>>,
}

/// How it stood when a worker began a level.
#[derive(Clone, Copy)]
pub(crate) struct Reached {
    pub time: u64,
    pub states: u64,
    /// States of the level.
    pub frontier: u64,
    pub depth: u64,
    pub transitions: u64,
}

/// A worker's log, and when it is written.
pub(crate) struct Checkpointer<'s> {
    part: &'s Part,
    log: Log,
    local: usize,
    round: u64,
    /// After which time this worker marks a level, if it ever does.
    patience: Option<Duration>,
    /// Whether the next level is marked.
    pub marked: bool,
    /// The last two levels that were begun, the older one first.
    reached: [Option<Reached>; 2],
    /// The last checkpoint with this worker in it, and when that was.
    written: Option<Moment>,
    last: Instant,
}

impl<'s> Checkpointer<'s> {
    /// For a worker with this number, the local one of its process, that goes on from a checkpoint or not.
    pub fn new(part: &'s Part, log: Log, (index, local): (usize, usize), round: u64, written: Option<Moment>) -> Self {
        // One is enough. The others are for the case that the first one has nothing to do, and not all of them: everybody is told.
        let patience = match (index, local) {
            (0, _) => Some(part.every()),
            (_, 0) => Some(part.every() * 5 / 4),
            _ => None,
        };
        Self { part, log, local, round, patience, marked: false, reached: [None; 2], written, last: Instant::now() }
    }

    /// Whether this worker should mark the next level.
    pub fn is_due(&self) -> bool {
        self.patience.is_some_and(|patience| self.last.elapsed() >= patience)
    }

    /// A level begins; if it was marked, the checkpoint is written.
    pub fn begin(&mut self, states: States<'_>, reached: Reached, summary: impl FnOnce() -> Summary) -> Result<()> {
        self.reached = [self.reached[1], Some(reached)];
        if !std::mem::take(&mut self.marked) {
            return Ok(());
        }
        self.write(states, reached, summary(), false)
    }

    /// The last checkpoint with this worker in it.
    pub fn written(&self) -> Option<Moment> {
        self.written
    }

    /// Writes a checkpoint of a level that was begun, if it is known how it stood then. What was found out since then is found out again,
    /// so it does no harm; numbers are those of then.
    pub fn write_late(&mut self, states: States<'_>, time: u64, summary: Summary) -> Result<()> {
        match self.reached.iter().flatten().find(|reached| reached.time == time).copied() {
            Some(reached) => self.write(states, reached, summary, false),
            None => Ok(()),
        }
    }

    /// Writes that nothing is left to do.
    pub fn write_complete(&mut self, states: States<'_>, depth: u64, summary: Summary) -> Result<()> {
        let transitions = summary.transitions;
        let reached = Reached { time: depth + 2, states: states.partition.len(), frontier: 0, depth, transitions };
        self.write(states, reached, summary, true)
    }

    fn write(&mut self, from: States<'_>, reached: Reached, summary: Summary, complete: bool) -> Result<()> {
        let Reached { time, states, frontier, depth, transitions } = reached;
        let moment = Moment { round: self.round, time };
        let log = self.log.append(from, states)?;
        let summary = Summary { transitions, ..summary };
        let piece = Piece { log, states, frontier, depth, summary };
        self.part.hand_in(moment, self.local, piece, complete)?;
        self.written = Some(moment);
        self.last = Instant::now();
        Ok(())
    }
}
