//! What `std::cell` has, and threads share without synchronising: accesses that race are found.
//!
//! A cell has no events. Where an access stands among the events of its thread says what happens before it ([`crate::rt::access`]), and threads run in an order
//! in which, without a race, the value is what it must be.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use crate::rt::access::{Access, History, Kind};
use crate::rt::{self, Place, Plain, fail, fiber};

/// What is known of a cell.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: usize,
    epoch: u64,
}

impl Known {
    fn new(place: Place) -> Self {
        rt::with(|state| {
            let history = History::made(state.now());
            state.plain.push(Plain { history, place, readers: 0, writer: false });
            Self { number: state.plain.len() - 1, epoch: state.epoch }
        })
    }

    fn access(self, kind: Kind, place: Place) {
        if std::thread::panicking() {
            return;
        }
        if rt::with(|state| state.epoch) != self.epoch {
            fail("this cell was made in another execution: nothing of one may be kept for the next, in a static for example".to_owned(), place);
        }
        let fine = rt::with(|state| {
            let (thread, at) = state.now();
            let access = Access { thread, at, kind };
            let fresh = state.is_fresh();
            let plain = &mut state.plain[self.number];
            if fresh && let Some(other) = plain.history.race(access, &state.scene) {
                let made = plain.place;
                state.race((other, access), Some(made), place);
                return false;
            }
            plain.history.note(access);
            true
        });
        if !fine {
            fiber::leave();
        }
    }

    /// Lends it.
    fn lend(self, kind: Kind, place: Place) {
        self.access(kind, place);
        if std::thread::panicking() {
            return;
        }
        let lent = rt::with(|state| {
            let plain = &mut state.plain[self.number];
            let free = !plain.writer && (plain.readers == 0 || kind == Kind::Read);
            match kind {
                Kind::Read => plain.readers += 1,
                _ => plain.writer = true,
            }
            free.then_some(plain.place)
        });
        if lent.is_none() {
            let what =
                if kind == Kind::Read { "read while it is written" } else { "written while it is read or written" };
            fail(format!("a cell is {what}"), place);
        }
    }

    /// Takes it back: it was accessed until now.
    fn take_back(self, kind: Kind, place: Place) {
        if rt::try_with(|state| state.epoch == self.epoch) != Some(true) {
            return;
        }
        self.access(kind, place);
        rt::with(|state| {
            let plain = &mut state.plain[self.number];
            match kind {
                Kind::Read => plain.readers = plain.readers.saturating_sub(1),
                _ => plain.writer = false,
            }
        });
    }
}

/// `std::cell::UnsafeCell`, whose accesses are seen.
pub struct UnsafeCell<T: ?Sized> {
    known: Known,
    value: std::cell::UnsafeCell<T>,
}

/// A pointer to read by. The cell is read as long as it lives.
pub struct ConstPtr<T: ?Sized> {
    known: Known,
    place: Place,
    pointer: *const T,
}

/// A pointer to write by. The cell is written as long as it lives.
pub struct MutPtr<T: ?Sized> {
    known: Known,
    place: Place,
    pointer: *mut T,
}

impl<T> UnsafeCell<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { known: Known::new(Location::caller()), value: std::cell::UnsafeCell::new(value) }
    }

    /// The value, in the end.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.known.access(Kind::Write, Location::caller());
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads.
    #[track_caller]
    pub fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        self.get().with(look)
    }

    /// Writes.
    #[track_caller]
    pub fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        self.get_mut().with(change)
    }

    /// Reads as long as the pointer lives.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let place = Location::caller();
        self.known.lend(Kind::Read, place);
        ConstPtr { known: self.known, place, pointer: self.value.get() }
    }

    /// Writes as long as the pointer lives.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let place = Location::caller();
        self.known.lend(Kind::Write, place);
        MutPtr { known: self.known, place, pointer: self.value.get() }
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for a pointer: nobody writes as long as the reference lives. That is looked at.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: as the caller says.
        unsafe { &*self.pointer }
    }

    /// Has a look by the pointer, which is not to be used afterwards.
    pub fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        look(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// As for a pointer: nobody else has a reference as long as this one lives. That is looked at.
    #[expect(clippy::mut_from_ref, reason = "as in loom")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: as the caller says.
        unsafe { &mut *self.pointer }
    }

    /// Has a look by the pointer, which is not to be used afterwards.
    pub fn with<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.pointer)
    }
}

impl<T: ?Sized> Drop for ConstPtr<T> {
    fn drop(&mut self) {
        self.known.take_back(Kind::Read, self.place);
    }
}

impl<T: ?Sized> Drop for MutPtr<T> {
    fn drop(&mut self) {
        self.known.take_back(Kind::Write, self.place);
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer.fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer.fmt(f)
    }
}

/// `std::cell::Cell`, whose accesses are seen. Like that one it stays with one thread, unless unsafe code says otherwise.
pub struct Cell<T> {
    cell: UnsafeCell<T>,
    thread: PhantomData<*const ()>,
}

// SAFETY: as `std::cell::Cell`: with its value.
unsafe impl<T: Send> Send for Cell<T> {}

impl<T> Cell<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { cell: UnsafeCell::new(value), thread: PhantomData }
    }

    /// Writes.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Writes, and says what was there.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: nobody has a reference to the value, since none is given out, and threads that should not be here are found out before they access it.
        self.cell.with_mut(|place| unsafe { std::mem::replace(&mut *place, value) })
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if !std::ptr::eq(self, other) {
            // SAFETY: these are two cells, and nobody has a reference to the value of either.
            self.cell.with_mut(|one| other.cell.with_mut(|other| unsafe { std::ptr::swap(one, other) }));
        }
    }

    /// The value, and the default in its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Reads.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: nobody has a reference to write by.
        self.cell.with(|place| unsafe { *place })
    }

    /// The value, in the end.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}
