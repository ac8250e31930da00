//! Memory and values that are to be given back by the end of an execution.

pub use std::alloc::Layout;
use std::panic::Location;

use crate::rt::{self, Owned, Place, fail};

fn own(what: &'static str, place: Place) -> (usize, u64) {
    rt::with(|state| {
        let given_back = state.making_lazy > 0;
        state.owned.push(Owned { what, place, given_back });
        (state.owned.len() - 1, state.epoch)
    })
}

/// `std::alloc::alloc`, of memory that is to be given back.
///
/// # Safety
///
/// As in `std`.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    note(unsafe { std::alloc::alloc(layout) }, Location::caller())
}

/// `std::alloc::alloc_zeroed`, of memory that is to be given back.
///
/// # Safety
///
/// As in `std`.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    note(unsafe { std::alloc::alloc_zeroed(layout) }, Location::caller())
}

fn note(memory: *mut u8, place: Place) -> *mut u8 {
    let (number, _) = own("memory", place);
    rt::with(|state| state.memory.insert(memory as usize, number));
    memory
}

/// Gives memory back that [`alloc`] or [`alloc_zeroed`] has given.
///
/// # Safety
///
/// As in `std`. Memory that is not known here is a violation, and not given back.
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let known = rt::with(|state| {
        let number = state.memory.remove(&(memory as usize))?;
        state.owned[number].given_back = true;
        Some(())
    });
    if known.is_none() && !std::thread::panicking() {
        fail("memory is given back that was not given, or was given back before".to_owned(), Location::caller());
    }
    if known.is_some() {
        // SAFETY: the memory is there, as it was given and not given back; the rest is as the caller says.
        unsafe { std::alloc::dealloc(memory, layout) };
    }
}

/// A value that is to be dropped, or taken out, by the end of an execution.
#[derive(Debug)]
pub struct Track<T> {
    value: std::mem::ManuallyDrop<T>,
    number: usize,
    epoch: u64,
}

impl<T> Track<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let (number, epoch) = own("a value", Location::caller());
        Self { value: std::mem::ManuallyDrop::new(value), number, epoch }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value, to change.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    fn give_back(&self) {
        // Outside of the execution that made it nobody asks for it.
        rt::try_with(|state| {
            if state.epoch == self.epoch {
                state.owned[self.number].given_back = true;
            }
        });
    }

    /// The value, in the end.
    pub fn into_inner(self) -> T {
        self.give_back();
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used any more, and not dropped.
        unsafe { std::mem::ManuallyDrop::take(&mut this.value) }
    }
}

impl<T> Drop for Track<T> {
    fn drop(&mut self) {
        self.give_back();
        // SAFETY: it is not used any more.
        unsafe { std::mem::ManuallyDrop::drop(&mut self.value) };
    }
}
