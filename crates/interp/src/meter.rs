//! What a run has used so far, and when it has to stop.

use cyrano_engine::{Counters, Limits, Stats, Stop, Watch};

/// Steps between two looks at the clock.
const INTERVAL: u64 = 4096;

/// Looks at the clock between two reports.
const REPORT: u64 = 64;

/// Counts work and enforces the limits.
pub(crate) struct Meter<'p> {
    pub(crate) limits: &'p Limits,
    watch: &'p dyn Watch,
    pub(crate) stats: Stats,
    /// Bytes in use, estimated.
    pub(crate) bytes: u64,
    /// Whether a loop inside a section was cut off while candidate values were collected.
    pub(crate) clipped: bool,
    ticks: u64,
}

impl<'p> Meter<'p> {
    /// A fresh meter.
    pub(crate) fn new(limits: &'p Limits, watch: &'p dyn Watch) -> Self {
        Self { limits, watch, stats: Stats::default(), bytes: 0, clipped: false, ticks: 0 }
    }

    /// A fresh meter for a part of the run, with limits of its own.
    pub(crate) fn part<'q>(&self, limits: &'q Limits) -> Meter<'q>
    where
        'p: 'q,
    {
        Meter::new(limits, self.watch)
    }

    /// Counts one step of work.
    pub(crate) fn tick(&mut self) -> Result<(), Stop> {
        self.ticks += 1;
        if !self.ticks.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.bytes);
        if self.ticks.is_multiple_of(INTERVAL * REPORT) {
            let Stats { states, depth, .. } = self.stats;
            self.watch.progress(Counters { states, frontier: 0, depth, bytes: self.bytes, share: None });
        }
        self.limits.exceeded(self.bytes).map_or(Ok(()), Err)
    }
}
