//! What a worker has learnt when states in memory get another layout, for the worker that comes after it.
//!
//! **Argument.** Numbers keep their meaning, so what is known by numbers stays true. Keys and changes of remembered steps are words: each of their fields, those of
//! a key and the differences in a change, moves to where it lies now. A field that had no bits had one value, whose number is 0, as in a key that is moved.

use super::taught::Lesson;
use super::{About, Forms, Hearing, InMemory, Increments, Memo, Remembering};
use crate::encoding::hearing::Speech;
use crate::encoding::layout::{Bits, MOST_WORDS, Segment};
use crate::reductions::stubborn::Deed;

/// Words of any layout.
type Words = [u64; MOST_WORDS];

/// With more entries than this, steps are computed again.
const MOST_MOVED: usize = 1 << 17;

/// What was learnt.
pub(crate) struct Learnt {
    fields: Vec<Segment>,
    forms: Option<Box<Forms>>,
    hearing: Hearing,
    increments: Increments,
    journal: Option<Vec<Lesson<'static>>>,
    /// For each thread its steps, and those that speak.
    threads: Vec<[Moved; 2]>,
}

type Moved = Memo<MOST_WORDS, (Words, (), Deed, Speech), About>;

impl<const W: usize> Remembering<'_, '_, '_, InMemory, W> {
    /// Leaves all that it has learnt; none if that is too much.
    pub fn leave(&mut self) -> Option<Learnt> {
        let entries: usize = self.threads.iter().map(|thread| thread.memo.len() + thread.spoken.len()).sum();
        if entries > MOST_MOVED {
            return None;
        }
        let moved = |memo: &mut Memo<W, _, About>| {
            let memo = std::mem::replace(memo, Memo::new());
            memo.moved(|key| wide(*key), |(change, (), deed, said)| (wide(change), (), deed, said))
        };
        Some(Learnt {
            fields: self.parts.clone(),
            forms: self.forms.take(),
            hearing: std::mem::take(&mut self.hearing),
            increments: std::mem::take(&mut self.increments),
            journal: self.journal.take(),
            threads: self.threads.iter_mut().map(|t| [moved(&mut t.memo), moved(&mut t.spoken)]).collect(),
        })
    }

    /// Takes up what another one has left.
    pub fn take_up(&mut self, learnt: Learnt) {
        let Learnt { fields, forms, hearing, increments, journal, threads } = learnt;
        let parts = &self.parts;
        let words = |old: &Words| {
            let mut new = [0; W];
            fields.iter().zip(parts).for_each(|(old_field, field)| field.put(&mut new, old_field.get(old)));
            new
        };
        let moved = |memo: Moved| memo.moved(words, |(change, (), deed, said)| (words(&change), (), deed, said));
        for (thread, [memo, spoken]) in self.threads.iter_mut().zip(threads) {
            (thread.memo, thread.spoken) = (moved(memo), moved(spoken));
        }
        (self.forms, self.hearing, self.increments, self.journal) = (forms, hearing, increments, journal);
    }
}

fn wide<const W: usize>(words: [u64; W]) -> Words {
    std::array::from_fn(|at| words.get(at).copied().unwrap_or(0))
}
