//! What is done once.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use crate::rt::Place;
use crate::word::{Word, tags};

const NEW: u64 = 0;
const RUNNING: u64 = 1;
const DONE: u64 = 2;

/// Whoever comes first begins, others wait until it is done.
fn begin(value: u64, _: [u64; 2]) -> Written {
    match value {
        NEW => Written::Value(RUNNING),
        RUNNING => Written::Wait,
        _ => Written::Nothing,
    }
}

impl Word {
    /// Does something the first time; whoever comes later waits until it is done, and sees it.
    pub(crate) fn once(&self, place: Place, act: impl FnOnce()) {
        // Most come when it is done.
        if self.load(tags(Ordering::Acquire), place) == DONE {
            return;
        }
        if self.update(begin, [0; 2], (tags(Ordering::Acquire), tags(Ordering::Acquire)), place) == NEW {
            act();
            self.store(DONE, tags(Ordering::Release), place);
        }
    }

    pub(crate) fn is_done(&self, place: Place) -> bool {
        self.load(tags(Ordering::Acquire), place) == DONE
    }
}

/// `std::sync::Once`.
#[derive(Debug)]
pub struct Once {
    word: Word,
}

/// `std::sync::OnceState`; nothing is ever poisoned.
#[derive(Debug)]
pub struct OnceState(());

impl OnceState {
    /// Whether somebody has panicked, which ends the execution here.
    pub fn is_poisoned(&self) -> bool {
        false
    }
}

impl Once {
    /// A new one.
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "as in `std`")]
    pub fn new() -> Self {
        Self { word: Word::new(NEW, Location::caller()) }
    }

    /// Calls a function if nobody has.
    #[track_caller]
    pub fn call_once(&self, act: impl FnOnce()) {
        self.word.once(Location::caller(), act);
    }

    /// The same.
    #[track_caller]
    pub fn call_once_force(&self, act: impl FnOnce(&OnceState)) {
        self.word.once(Location::caller(), || act(&OnceState(())));
    }

    /// Whether it is done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.word.is_done(Location::caller())
    }
}

/// `std::sync::OnceLock`.
pub struct OnceLock<T> {
    word: Word,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: as for `std::sync::OnceLock`: the value is written by who has begun, before it says that it is done, and read by those who have read that it is.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// A new one without a value.
    #[track_caller]
    pub fn new() -> Self {
        Self { word: Word::new(NEW, Location::caller()), value: UnsafeCell::new(None) }
    }

    fn value(&self) -> Option<&T> {
        // SAFETY: it is done, so that nobody writes any more.
        unsafe { (*self.value.get()).as_ref() }
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.word.is_done(Location::caller()) { self.value() } else { None }
    }

    /// Puts a value there; gives it back if there is one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.put(Location::caller(), || value.take());
        value.map_or(Ok(()), Err)
    }

    /// The value, which a function makes if it is not there.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.put(Location::caller(), || Some(make()));
        match self.value() {
            Some(value) => value,
            None => unreachable!("it was put there"),
        }
    }

    fn put(&self, place: Place, make: impl FnOnce() -> Option<T>) {
        self.word.once(place, || {
            let value = make();
            // SAFETY: nobody else has begun, and nobody reads before this is done.
            unsafe { *self.value.get() = value };
        });
    }

    /// The value, for somebody who has it for himself.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// The value, in the end.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}
