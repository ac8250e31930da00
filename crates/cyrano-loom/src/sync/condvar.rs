//! Condition variables: threads that wait are a set, and who notifies one takes any of them out.
//!
//! Nobody wakes without being notified. Code that is right with such wake-ups and wrong without them waits for ever, which is found.

use std::fmt;
use std::panic::Location;
use std::sync::LockResult;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cyrano_graphs::native::{Request, Written};

use crate::rt::{self, Place, ask};
use crate::sync::MutexGuard;
use crate::word::{Word, tags};

/// `std::sync::Condvar`.
pub struct Condvar {
    /// By bit, the threads that wait.
    waiting: Word,
}

/// Whether a wait ended since nobody came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it did.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

fn enter(waiting: u64, [own, _]: [u64; 2]) -> Written {
    Written::Value(waiting | own)
}

fn leave(waiting: u64, [own, _]: [u64; 2]) -> Written {
    if waiting & own == 0 { Written::Nothing } else { Written::Value(waiting & !own) }
}

fn wait(waiting: u64, [own, _]: [u64; 2]) -> Written {
    if waiting & own == 0 { Written::Nothing } else { Written::Wait }
}

fn pause(waiting: u64, [own, _]: [u64; 2]) -> Written {
    if waiting & own == 0 { Written::Nothing } else { Written::Pause }
}

fn one(_: u64, _: [u64; 2]) -> Written {
    Written::Bit
}

fn all(waiting: u64, _: [u64; 2]) -> Written {
    if waiting == 0 { Written::Nothing } else { Written::Value(0) }
}

impl Condvar {
    /// A new one.
    #[track_caller]
    pub fn new() -> Self {
        Self { waiting: Word::new(0, Location::caller()) }
    }

    /// It says nothing about what others have done: that is what the lock is for.
    fn update(&self, apply: fn(u64, [u64; 2]) -> Written, own: u64, place: Place) -> u64 {
        self.waiting.update(apply, [own, 0], (tags(Ordering::Relaxed), tags(Ordering::Relaxed)), place)
    }

    /// Gives the lock back, waits until somebody notifies, and takes the lock again.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let place = Location::caller();
        let own = self.begin(&guard, place);
        self.update(wait, own, place);
        guard.mutex.word.take(0, 1, place);
        Ok(guard)
    }

    fn begin<T: ?Sized>(&self, guard: &MutexGuard<'_, T>, place: Place) -> u64 {
        let own = 1 << rt::with(|state| state.current);
        self.update(enter, own, place);
        guard.release(place);
        own
    }

    /// Waits as long as a condition holds.
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// The same as [`Self::wait`], but the time may be over before somebody notifies, however long it is.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        _: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        let in_time = ask::ask(Request::Choose(2), place) == 0;
        let own = self.begin(&guard, place);
        let timed_out = if in_time {
            self.update(pause, own, place);
            false
        } else {
            self.update(leave, own, place) & own != 0
        };
        guard.mutex.word.take(0, 1, place);
        Ok((guard, WaitTimeoutResult(timed_out)))
    }

    /// Wakes one of those that wait, whichever.
    #[track_caller]
    pub fn notify_one(&self) {
        self.update(one, 0, Location::caller());
    }

    /// Wakes all that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        self.update(all, 0, Location::caller());
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
