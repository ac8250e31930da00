//! Atomic truth values.

use std::panic::Location;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use super::{atomic, compute};
use crate::word::Word;

/// `std::sync::atomic::AtomicBool`.
pub struct AtomicBool {
    word: Word,
}

fn into(value: bool) -> u64 {
    u64::from(value)
}

fn from(word: u64) -> bool {
    word != 0
}

atomic!([] AtomicBool, bool, into, from);

impl AtomicBool {
    fn of(word: Word) -> Self {
        Self { word }
    }

    compute!(/// Stores whether both hold.
        fetch_and, bool, into, from, |old, value| old & value);
    compute!(/// Stores whether not both hold.
        fetch_nand, bool, into, from, |old, value| !(old & value));
    compute!(/// Stores whether one holds.
        fetch_or, bool, into, from, |old, value| old | value);
    compute!(/// Stores whether one holds and not the other.
        fetch_xor, bool, into, from, |old, value| old ^ value);

    /// Stores the contrary.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}
