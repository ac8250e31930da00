//! What criteria make of what they hear, remembered: by the number of what they keep, and by the number of what is said.
//!
//! **Argument.** What a criterion keeps after a step depends on what it kept before and on what it hears ([`crate::criteria::hearing`]), so these two are the
//! whole key. A step that is remembered by its thread's part and the locations it touches writes down what it says; whoever takes it looks up what becomes
//! of what the criterion keeps. There are as many entries as pairs that come up, not as many as states.

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

/// What is said, and what criteria make of it.
#[derive(Default)]
pub(super) struct Hearing {
    numbers: FxHashMap<Box<[Said]>, Speech>,
    speeches: Vec<Box<[Said]>>,
    outcomes: FxHashMap<(Speech, u32), Outcome>,
}

impl Hearing {
    /// The number of what is said.
    pub fn number(&mut self, said: &[Said]) -> Speech {
        if said.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(said) {
            return *number;
        }
        self.speeches.push(said.into());
        let number = self.speeches.len() as Speech;
        self.numbers.insert(said.into(), number);
        number
    }

    /// What is said by a number.
    pub fn speech(&self, number: Speech) -> &[Said] {
        number.checked_sub(1).map_or(&[], |at| &self.speeches[at as usize])
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
