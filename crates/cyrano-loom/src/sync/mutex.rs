//! Locks that one thread has at a time.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{LockResult, TryLockError, TryLockResult};

use cyrano_graphs::native::Written;

use crate::word::{Word, tags};

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// `std::sync::Mutex`. It is never poisoned: a panic ends the execution.
pub struct Mutex<T: ?Sized> {
    pub(crate) word: Word,
    value: UnsafeCell<T>,
}

// SAFETY: as for `std::sync::Mutex`: who has the lock is alone with the value. That one thread has it at a time is an invariant of executions: who takes it reads
// that it is free and writes that it is taken in one step. While a panic is on the way to where it is caught no other thread runs.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The lock is taken as long as it lives.
pub struct MutexGuard<'a, T: ?Sized> {
    pub(crate) mutex: &'a Mutex<T>,
    // As in `std`, a guard stays with its thread.
    thread: PhantomData<*const ()>,
}

impl<T> Mutex<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { word: Word::new(FREE, Location::caller()), value: UnsafeCell::new(value) }
    }

    /// What it holds, in the end.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.value.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until it is free, and takes it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.word.take(FREE, TAKEN, Location::caller());
        Ok(MutexGuard { mutex: self, thread: PhantomData })
    }

    /// Takes it if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        fn apply(value: u64, _: [u64; 2]) -> Written {
            if value == FREE { Written::Value(TAKEN) } else { Written::Nothing }
        }
        let orders = (tags(Ordering::Acquire), tags(Ordering::Relaxed));
        match self.word.update(apply, [0; 2], orders, Location::caller()) {
            FREE => Ok(MutexGuard { mutex: self, thread: PhantomData }),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// What it holds, for somebody who has it for himself.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut())
    }

    /// Whether a panic has left it in disorder, which ends the execution here.
    pub fn is_poisoned(&self) -> bool {
        false
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Gives the lock back, for a wait.
    pub(crate) fn release(&self, place: &'static Location<'static>) {
        self.mutex.word.store(FREE, tags(Ordering::Release), place);
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.release(Location::caller());
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is taken by this guard, so that nobody else has a reference to the value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.mutex.value.get() }
    }
}

// SAFETY: a shared guard gives shared references only.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
