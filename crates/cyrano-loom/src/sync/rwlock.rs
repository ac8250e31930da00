//! Locks that one writer has at a time, or any number of readers.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{LockResult, TryLockError, TryLockResult};

use cyrano_graphs::native::Written;

use crate::word::{Word, tags};

/// Otherwise, how many readers there are.
const WRITTEN: u64 = u32::MAX as u64;

/// `std::sync::RwLock`. It is never poisoned: a panic ends the execution.
pub struct RwLock<T: ?Sized> {
    word: Word,
    value: UnsafeCell<T>,
}

// SAFETY: as for `std::sync::RwLock`: who writes is alone with the value, and who reads is there with others who read. Each comes and goes by one step that reads
// and writes the number of readers, so that all come and go in one order, in which threads run.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// A reader has the lock as long as it lives.
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    thread: PhantomData<*const ()>,
}

/// A writer has the lock as long as it lives.
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    thread: PhantomData<*const ()>,
}

fn enter(value: u64, [waits, _]: [u64; 2]) -> Written {
    match value {
        WRITTEN if waits != 0 => Written::Wait,
        WRITTEN => Written::Nothing,
        readers => Written::Value(readers + 1),
    }
}

fn leave(readers: u64, _: [u64; 2]) -> Written {
    Written::Value(readers - 1)
}

fn write(value: u64, _: [u64; 2]) -> Written {
    if value == 0 { Written::Value(WRITTEN) } else { Written::Nothing }
}

impl<T> RwLock<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { word: Word::new(0, Location::caller()), value: UnsafeCell::new(value) }
    }

    /// What it holds, in the end.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.value.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    fn taking(&self) -> (cyrano_ir::Tags, cyrano_ir::Tags) {
        (tags(Ordering::Acquire), tags(Ordering::Relaxed))
    }

    /// Waits until nobody writes, and reads.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.word.update(enter, [1, 0], self.taking(), Location::caller());
        Ok(RwLockReadGuard { lock: self, thread: PhantomData })
    }

    /// Reads if nobody writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.word.update(enter, [0, 0], self.taking(), Location::caller()) {
            WRITTEN => Err(TryLockError::WouldBlock),
            _ => Ok(RwLockReadGuard { lock: self, thread: PhantomData }),
        }
    }

    /// Waits until nobody is there, and writes.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.word.take(0, WRITTEN, Location::caller());
        Ok(RwLockWriteGuard { lock: self, thread: PhantomData })
    }

    /// Writes if nobody is there.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.word.update(write, [0; 2], self.taking(), Location::caller()) {
            0 => Ok(RwLockWriteGuard { lock: self, thread: PhantomData }),
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

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let orders = (tags(Ordering::Release), tags(Ordering::Release));
        self.lock.word.update(leave, [0; 2], orders, Location::caller());
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.lock.word.store(0, tags(Ordering::Release), Location::caller());
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes as long as this guard lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody else is there as long as this guard lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

// SAFETY: shared guards give shared references only.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
