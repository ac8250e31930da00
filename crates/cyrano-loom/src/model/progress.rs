//! How far a long search is: told on a terminal, or if `CYRANO_PROGRESS` is set.

use std::io::{IsTerminal, Write};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cyrano_engine::{Counters, Watch};

use crate::model::checkpoint::Checkpoint;

/// Between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Tells how far a search is.
pub(crate) struct Progressing<'a> {
    place: &'static Location<'static>,
    checkpoint: Option<&'a Checkpoint>,
    begun: Instant,
    last: Mutex<Instant>,
    is_heard: bool,
}

impl<'a> Progressing<'a> {
    pub(crate) fn new(place: &'static Location<'static>, checkpoint: Option<&'a Checkpoint>) -> Self {
        let begun = Instant::now();
        let is_heard = std::env::var_os("CYRANO_PROGRESS").is_some() || std::io::stderr().is_terminal();
        Self { place, checkpoint, begun, last: Mutex::new(begun), is_heard }
    }

    fn line(&self, counters: &Counters) -> String {
        let passed = self.begun.elapsed().as_secs_f64();
        let mut line = format!("{}: {} executions in {passed:.0} s", self.place, counters.states);
        // The parts of a search are of unequal size, so that this is an estimate.
        if let Some(share) = counters.share.filter(|share| *share > 0.0 && *share < 1.0) {
            let all = counters.states as f64 / share;
            let left = passed / share - passed;
            line += &format!("; about {:.1} % of an estimated {all:.0}, {left:.0} s left", 100.0 * share);
        }
        line
    }
}

impl Watch for Progressing<'_> {
    fn progress(&self, counters: Counters) {
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.hears(counters.states);
        }
        if !self.is_heard {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PAUSE {
            *last = Instant::now();
            // Not by `eprintln!`, which tests hold back.
            let _ = writeln!(std::io::stderr(), "{}", self.line(&counters));
        }
    }
}
