//! A place where threads wait for each other.

use crate::sync::{Condvar, Mutex};

/// `std::sync::Barrier`.
#[derive(Debug)]
pub struct Barrier {
    /// How many have come in this round, and which round it is.
    come: Mutex<(usize, usize)>,
    all: Condvar,
    threads: usize,
}

/// Whether a thread was the one that let all go on.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A new one for so many threads.
    #[track_caller]
    pub fn new(threads: usize) -> Self {
        Self { come: Mutex::new((0, 0)), all: Condvar::new(), threads }
    }

    /// Waits until all are there.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let Ok(mut come) = self.come.lock() else { unreachable!("locks are not poisoned") };
        let round = come.1;
        come.0 += 1;
        if come.0 < self.threads {
            let waited = self.all.wait_while(come, |come| come.1 == round);
            return BarrierWaitResult(waited.is_err());
        }
        *come = (0, round.wrapping_add(1));
        self.all.notify_all();
        BarrierWaitResult(true)
    }
}
