//! Limits, cancellation and progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When to give up.
    pub deadline: Option<Instant>,
    /// How many bytes the engine's own data may take.
    pub memory: u64,
    /// How many accesses one thread may defer at a time (explorer). Reaching it makes the verdict `bounded`.
    pub deferred: usize,
    /// How often one thread may take the same backward jump (interpreter). Reaching it makes the verdict `bounded`.
    pub iterations: usize,
    /// How many threads the engine may use (explorer).
    pub workers: usize,
    /// Set from outside to stop early.
    pub cancel: Arc<AtomicBool>,
    /// How often the run may still look at its limits; it is interrupted then. Engines look after so many steps each, whatever the clock says, so
    /// that this limits work: a test that uses it does the same on a slow machine.
    pub looks: Option<Arc<AtomicU64>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: None,
            memory: 8 << 30,
            deferred: 12,
            iterations: 3,
            workers: 1,
            cancel: Arc::default(),
            looks: None,
        }
    }
}

/// Which limit stopped a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The deadline passed.
    Timeout,
    /// Memory is used up.
    Memory,
    /// Somebody asked to stop.
    Cancelled,
    /// The instance has more accesses than the engine can hold.
    Size,
}

impl Stop {
    /// The words used in a verdict's reason.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Timeout => "time limit reached",
            Self::Memory => "memory limit reached",
            Self::Cancelled => "interrupted",
            Self::Size => "larger than this engine can hold",
        }
    }
}

impl Limits {
    /// Gives the run this much time from now.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        self
    }

    /// Lets the run look at its limits so often.
    #[must_use]
    pub fn with_looks(self, looks: u64) -> Self {
        Self { looks: Some(Arc::new(looks.into())), ..self }
    }

    /// Whether the work that was granted is done.
    fn is_worked_off(&self) -> bool {
        let spend = |left: u64| left.checked_sub(1);
        self.looks
            .as_ref()
            .is_some_and(|looks| looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err())
    }

    /// Whether somebody asked to stop, or the deadline passed. Where little is done at a time, this is no look at what was granted.
    pub fn is_over(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the run has to stop, given what it uses now. Call it every few thousand steps.
    pub fn exceeded(&self, bytes: u64) -> Option<Stop> {
        if self.cancel.load(Ordering::Relaxed) || self.is_worked_off() {
            Some(Stop::Cancelled)
        } else if bytes > self.memory {
            Some(Stop::Memory)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(Stop::Timeout)
        } else {
            None
        }
    }
}

/// How a run is getting on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// States (explorer) or executions (interpreter) so far.
    pub states: u64,
    /// States still to be expanded.
    pub frontier: u64,
    /// Depth of the search.
    pub depth: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// Which part of the search is done, where that can be estimated (execution graphs).
    pub share: Option<f64>,
}

/// Somebody who wants to know how a run is getting on.
pub trait Watch: Sync {
    /// Called now and then.
    fn progress(&self, progress: Counters);
}

/// Ignores progress.
impl Watch for () {
    fn progress(&self, _: Counters) {}
}
