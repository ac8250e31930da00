//! Remembered steps beside the shadow of atomic blocks ([`crate::criteria::shadow`]), which is one part of a state like what a criterion keeps.
//!
//! A step is remembered without the shadow and says what the shadow takes part in: choices, commits, what is handed on. What becomes of the shadow is looked
//! up by its number and by what is said ([`crate::encoding::hearing`]). Two things depend on more:
//!
//! - Where no thread is in a block, memory is compared: that depends on memory and on the shadow, and is remembered by both.
//! - Of threads that look the same only the first takes its steps ([`crate::reductions::symmetric_threads`]): they do if their parts have the same number and their
//!   copies in the shadow are the same, which is remembered by the number of the shadow.

use rustc_hash::FxHashMap;

use super::{Halt, Home, Remembering};
use crate::criteria::hearing::Heard;
use crate::encoding::hearing::Outcome;
use crate::encoding::layout::{Bits, and};

/// Beyond this many comparisons of memory with the shadow's all are forgotten.
const MOST_COMPARED: usize = 1 << 21;

/// What is remembered about shadows.
pub(super) struct Blocks<const W: usize> {
    /// The bits of memory and of the shadow.
    pub compares: [u64; W],
    /// What comes of comparing memory, by these.
    compared: FxHashMap<[u64; W], Outcome>,
    /// By the number of the shadow: for each thread the first one that is alike and has the same copies.
    alike: Vec<Option<Box<[usize]>>>,
}

impl<const W: usize> Blocks<W> {
    pub fn new() -> Self {
        Self { compares: [0; W], compared: FxHashMap::default(), alike: Vec::new() }
    }

    pub fn bytes(&self) -> u64 {
        let compared = self.compared.capacity() * size_of::<([u64; W], Outcome)>();
        (compared + self.alike.capacity() * size_of::<Option<Box<[usize]>>>()) as u64
    }
}

impl<H: Home, const W: usize> Remembering<'_, '_, '_, H, W> {
    /// Whether an earlier thread looks like this one, so that its steps stand for those of both.
    pub(super) fn looks_like_another(&mut self, words: &[u64; W], thread: usize) -> bool {
        if self.m.symmetric_threads.is_empty() {
            return false;
        }
        let shadow = self.parts[self.criterion()].get(words) as usize;
        if self.blocks.alike.get(shadow).is_none_or(Option::is_none) {
            self.decode(words);
            let alike = self.m.copies_like(&self.state).into_boxed_slice();
            let known = &mut self.blocks.alike;
            known.resize(known.len().max(shadow + 1), None);
            known[shadow] = Some(alike);
        }
        let Some(Some(alike)) = self.blocks.alike.get(shadow) else { return false };
        let number = |thread: usize| self.threads[thread].part.get(words);
        (0..thread).any(|other| alike[other] == alike[thread] && number(other) == number(thread))
    }

    /// Compares memory with that of the shadow, if no thread is in a block; false if no serial run does what was done.
    #[inline]
    pub(super) fn agrees(&mut self, words: &mut [u64; W]) -> Result<bool, Halt> {
        for thread in 0..self.threads.len() {
            if !self.learnt(words, thread).outside {
                return Ok(true);
            }
        }
        let outcome = match self.blocks.compared.get(&and(words, &self.blocks.compares)) {
            Some(outcome) => *outcome,
            None => self.compare(words)?,
        };
        if let Outcome::Keeps(number) = outcome {
            self.parts[self.criterion()].put(words, number);
        }
        Ok(outcome != Outcome::Wrong)
    }

    #[cold]
    fn compare(&mut self, words: &[u64; W]) -> Result<Outcome, Halt> {
        self.computed += 1;
        self.decode(words);
        let heard = self.stepper.compare_memory(&mut self.state);
        let outcome = if heard == Heard::Wrong { Outcome::Wrong } else { Outcome::Keeps(self.number_of_criterion()?) };
        if self.blocks.compared.len() >= MOST_COMPARED {
            self.blocks.compared = FxHashMap::default();
        }
        self.blocks.compared.insert(and(words, &self.blocks.compares), outcome);
        Ok(outcome)
    }
}
