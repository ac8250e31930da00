//! Atomic pointers.

use std::panic::Location;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use super::atomic;
use crate::word::Word;

/// `std::sync::atomic::AtomicPtr`.
pub struct AtomicPtr<T> {
    word: Word,
    pointer: std::marker::PhantomData<*mut T>,
}

// SAFETY: it holds the number of a location and of a run, and no pointer; what is stored there are addresses, as in `std`, whose type is `Send` and `Sync`, too.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

fn into<T>(value: *mut T) -> u64 {
    value.expose_provenance() as u64
}

fn from<T>(word: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(word as usize)
}

atomic!([T] AtomicPtr<T>, *mut T, into, from);

impl<T> AtomicPtr<T> {
    fn of(word: Word) -> Self {
        Self { word, pointer: std::marker::PhantomData }
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
