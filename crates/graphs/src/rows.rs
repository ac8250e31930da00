//! Sets of events, as bits.
//!
//! A graph of at most 64·`W` events keeps its relations as one such set an event. A search that meets a larger graph begins again with a larger `W`
//! ([`crate::Graphs`]).

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// The number of an event: the place of its data, free again once the event is gone.
pub type EventId = u16;

/// No event; as a write, the one that gives memory what it holds at first.
pub(crate) const INITIAL: EventId = EventId::MAX;

/// A set of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row<const W: usize>([u64; W]);

impl<const W: usize> Row<W> {
    pub(crate) const EMPTY: Self = Self([0; W]);

    #[inline]
    pub(crate) fn one(event: EventId) -> Self {
        let mut row = Self::EMPTY;
        row.insert(event);
        row
    }

    #[inline]
    pub(crate) fn contains(&self, event: EventId) -> bool {
        event != INITIAL && self.0[usize::from(event) / 64] >> (event % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn insert(&mut self, event: EventId) {
        self.0[usize::from(event) / 64] |= 1 << (event % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, event: EventId) {
        self.0[usize::from(event) / 64] &= !(1 << (event % 64));
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// As words of 64 bits, the lowest numbers first.
    pub(crate) fn words(&self) -> [u64; W] {
        self.0
    }

    /// The smallest number that is not in the set.
    #[inline]
    pub(crate) fn first_free(&self) -> Option<EventId> {
        let word = self.0.iter().position(|word| *word != u64::MAX)?;
        Some((64 * word) as EventId + self.0[word].trailing_ones() as EventId)
    }

    /// Its events, by number.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = EventId> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    (64 * at) as EventId + bit as EventId
                })
            })
        })
    }
}

impl<const W: usize> BitOr for Row<W> {
    type Output = Self;

    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl<const W: usize> BitOrAssign for Row<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(one, other)| *one |= other);
    }
}

impl<const W: usize> BitAnd for Row<W> {
    type Output = Self;

    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl<const W: usize> BitAndAssign for Row<W> {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(one, other)| *one &= other);
    }
}

impl<const W: usize> Not for Row<W> {
    type Output = Self;

    #[inline]
    fn not(mut self) -> Self {
        self.0.iter_mut().for_each(|word| *word = !*word);
        self
    }
}
