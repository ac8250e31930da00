//! The levels of the search as the workers of one process share them: what is left to be expanded, and when the next level begins.
//!
//! **Invariant:** a level begins for nobody before all workers of the process have inserted all of it. That all of a level has arrived, at every worker of every process, is
//! what timely's frontier says; but what has arrived at another worker of this process may still be in its inbox, and if this one went on, it could find such a state
//! again and put it into a later level than its first. So workers wait for each other here once for each level.
//!
//! Workers take spans of records one at a time until none is left, whoever found them: nobody waits while there is work.
//!
//! **Who may send.** A worker can send at the time of a level only if it has a capability for it, and can take part in expanding the level only then. A worker that
//! has put states into the next level holds a capability for that, so that nothing is left undone; after a [`WIDE`] level all hold one that had one. The others let it go, because that is how the search
//! ends, and are *asleep* until states come to them or a wide level begins: then those who are awake send them an empty letter, with which comes
//! the right to take part in the next one. So thin levels, for which one worker is enough, are not delayed by the others telling everybody what they do not do.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use crate::table::RecordId;

/// A level of so many states in a process is worth the help of all its workers.
pub(crate) const WIDE: u64 = 1 << 10;

/// Records to be expanded: those of a range of addresses, and the place of the first one. The others follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    pub first: RecordId,
    pub range: Range<u64>,
}

/// The levels of a process.
pub(crate) struct Levels {
    workers: usize,
    state: Mutex<LevelState>,
}

#[derive(Default)]
struct LevelState {
    /// The time of the level that was begun last.
    time: u64,
    /// What is left of it.
    left: VecDeque<Claim>,
    /// How many states of it the process has.
    states: u64,
    /// The same for the next level, as far as workers are ready for it.
    coming: VecDeque<Claim>,
    coming_states: u64,
    ready: usize,
    /// The workers that are asleep, by their numbers in the process.
    asleep: Vec<usize>,
    /// Those who wait for the next level to begin.
    waiting: Vec<Thread>,
}

impl Levels {
    pub fn new(workers: usize) -> Self {
        Self { workers, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, LevelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker has inserted everything of the level of this time; these are its records of that, and so many. The last worker begins it.
    pub fn ready(&self, time: u64, claims: Vec<Claim>, states: u64) {
        let state = &mut *self.state();
        state.coming.extend(claims);
        state.coming_states += states;
        state.ready += 1;
        if state.ready < self.workers {
            return state.waiting.push(std::thread::current());
        }
        state.time = time;
        state.ready = 0;
        state.left = std::mem::take(&mut state.coming);
        state.states = std::mem::take(&mut state.coming_states);
        state.waiting.drain(..).for_each(|thread| thread.unpark());
    }

    /// How many states this process has of the level of this time, if that has begun.
    pub fn begun(&self, time: u64) -> Option<u64> {
        let state = self.state();
        (state.time == time).then_some(state.states)
    }

    /// Some records of the level under way that nobody has taken yet.
    pub fn claim(&self) -> Option<Claim> {
        self.state().left.pop_front()
    }

    /// A worker is asleep, or no longer.
    pub fn note_sleep(&self, local: usize, asleep: bool) {
        let list = &mut self.state().asleep;
        list.retain(|other| *other != local);
        if asleep {
            list.push(local);
        }
    }

    /// Those who are to be woken.
    pub fn take_asleep(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().asleep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_begins_when_all_are_ready() {
        let levels = Levels::new(2);
        let claim = |n: u64| Claim { first: RecordId(n), range: n..n + 1 };
        levels.ready(1, vec![claim(1), claim(2)], 2);
        assert_eq!((levels.begun(1), levels.claim()), (None, None));
        levels.ready(1, vec![claim(3)], 1);
        assert_eq!(levels.begun(1), Some(3));
        // One is faster than the other: what it has for the next level waits.
        assert_eq!(levels.claim(), Some(claim(1)));
        levels.ready(2, vec![claim(4)], 1);
        assert_eq!((levels.begun(1), levels.begun(2)), (Some(3), None));
        assert_eq!([levels.claim(), levels.claim(), levels.claim()], [Some(claim(2)), Some(claim(3)), None]);
        levels.ready(2, Vec::new(), 0);
        assert_eq!((levels.begun(1), levels.begun(2), levels.claim()), (None, Some(1), Some(claim(4))));
    }

    #[test]
    fn sleepers_are_woken_once() {
        let levels = Levels::new(3);
        for (local, asleep) in [(0, true), (2, true), (2, true), (1, true), (1, false)] {
            levels.note_sleep(local, asleep);
        }
        assert_eq!(levels.take_asleep(), [0, 2]);
        assert_eq!(levels.take_asleep(), []);
    }
}
