//! What criteria make of what they hear, remembered: by the number of what they keep, and by the number of what is said.
//!
//! **Argument.** What a criterion keeps after a step depends on what it kept before and on what it hears ([`crate::criteria::hearing`]), so these two are the
//! whole key. A step that is remembered by its thread's part and the locations it touches writes down what it says; whoever takes it looks up what becomes
//! of what the criterion keeps. There are as many entries as pairs that come up, not as many as states.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::criteria::hearing::Said;

/// Beyond this many outcomes all are forgotten: it is only a cache.
const MOST_OUTCOMES: usize = 1 << 22;

/// What becomes of what a criterion keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It keeps what has this number.
    Keeps(u32),
    /// Something is wrong.
    Wrong,
    /// The step is not taken.
    Dropped,
}

/// The number of what a step says; 0 if it says nothing.
pub(super) type Speech = u32;

/// Numbers of what is said, of several who have to mean the same by them.
type Numbers = Arc<Mutex<FxHashMap<Box<[Said]>, Speech>>>;

/// What is said, and what criteria make of it.
#[derive(Default)]
pub(super) struct Hearing {
    shared: Numbers,
    /// Those that came up here.
    numbers: FxHashMap<Box<[Said]>, Speech>,
    speeches: FxHashMap<Speech, Box<[Said]>>,
    outcomes: FxHashMap<(Speech, u32), Outcome>,
}

impl Hearing {
    /// One that knows nothing, and gives what is said the same numbers as this one.
    pub fn alike(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), ..Self::default() }
    }

    /// The number of what is said.
    pub fn number(&mut self, said: &[Said]) -> Speech {
        if said.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(said) {
            return *number;
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let next = shared.len() as Speech + 1;
        let number = *shared.entry(said.into()).or_insert(next);
        self.speeches.insert(number, said.into());
        self.numbers.insert(said.into(), number);
        number
    }

    /// What is said by a number that came up here.
    pub fn speech(&self, number: Speech) -> &[Said] {
        if number == 0 { &[] } else { &self.speeches[&number] }
    }

    /// What becomes of what has a number, if that is known.
    #[inline]
    pub fn outcome(&self, said: Speech, kept: u32) -> Option<Outcome> {
        self.outcomes.get(&(said, kept)).copied()
    }

    /// Remembers what becomes of it.
    pub fn add(&mut self, said: Speech, kept: u32, outcome: Outcome) {
        if self.outcomes.len() >= MOST_OUTCOMES {
            self.outcomes = FxHashMap::default();
        }
        self.outcomes.insert((said, kept), outcome);
    }

    pub fn bytes(&self) -> u64 {
        (self.outcomes.capacity() * (size_of::<((Speech, u32), Outcome)>() + 1)) as u64
    }
}
