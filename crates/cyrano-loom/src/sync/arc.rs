//! References that are counted.
//!
//! What others can see of the count is an event; what they cannot is none.
//! - Nobody looks at the count: then it matters in which order references are dropped only if something is done when the last is, and that is: the value is dropped. So
//!   if dropping the value does something, each drop of a reference is a read-modify-write, release, of how many were dropped, and the last one passes an acquire fence
//!   after it, as in `std`. Clones are none: each is made by who has a reference, before that one is dropped, so that of all references made by the time of a drop
//!   at least one other is left unless the drop is the last. If dropping the value does nothing, drops are none either.
//! - Somebody looks at a count, asks whether a reference is the only one, or has weak ones: the search begins anew, and clones and drops are what they are in `std`.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use crate::rt::{self, Owned, Place, Violation, fiber};
use crate::word::{Word, tags};

/// The references to one value.
#[derive(Debug)]
pub(crate) struct Counted {
    /// How many there are; or how many were dropped.
    word: Option<std::rc::Rc<Word>>,
    /// How many were made; without drops that are events, how many there are.
    made: u64,
    /// The entry in the list of what is to be given back.
    owned: usize,
}

/// `std::sync::Arc`.
pub struct Arc<T: ?Sized> {
    value: std::mem::ManuallyDrop<std::sync::Arc<T>>,
    count: u32,
    epoch: u64,
}

/// `std::sync::Weak`. It counts as long as there is one; that the memory stays, too, is not looked at.
pub struct Weak<T: ?Sized> {
    value: std::sync::Weak<T>,
    count: u32,
    epoch: u64,
}

fn add(count: u64, [more, _]: [u64; 2]) -> Written {
    Written::Value(count.wrapping_add(more))
}

fn add_if_some(count: u64, _: [u64; 2]) -> Written {
    if count == 0 { Written::Nothing } else { Written::Value(count + 1) }
}

fn take_only(count: u64, _: [u64; 2]) -> Written {
    if count == 1 { Written::Value(0) } else { Written::Nothing }
}

fn word(count: u32, epoch: u64) -> Option<std::rc::Rc<Word>> {
    rt::with(|state| if state.epoch == epoch { state.arcs[count as usize].word.clone() } else { None })
}

/// The word that counts; the search begins anew if there is none.
fn counting(count: u32, epoch: u64, place: Place) -> std::rc::Rc<Word> {
    if !rt::with(|state| state.settings.counts) {
        rt::with(|state| {
            state.wants_counts = true;
            let message = "somebody looks at a count".to_owned();
            state.go_wrong(Violation { message, place: Some(place.to_string()), trace: None });
        });
        fiber::leave();
    }
    match word(count, epoch) {
        Some(word) => word,
        None => rt::fail("this `Arc` was made in another execution".to_owned(), place),
    }
}

impl<T> Arc<T> {
    /// A new one.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::from_std(std::sync::Arc::new(value))
    }

    /// A new one that is pinned.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: as in `std`: nobody moves a value out of an `Arc` that is pinned.
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// The value, if this is the only reference.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let place = Location::caller();
        let word = counting(this.count, this.epoch, place);
        let orders = (tags(Ordering::Release), tags(Ordering::Relaxed));
        if word.update(take_only, [0; 2], orders, place) != 1 {
            return Err(this);
        }
        Ok(this.unwrap_last(place))
    }

    /// The value, if this is the last reference.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let place = Location::caller();
        let word = counting(this.count, this.epoch, place);
        if word.update(add, [u64::MAX, 0], (tags(Ordering::Release), tags(Ordering::Release)), place) != 1 {
            let mut this = std::mem::ManuallyDrop::new(this);
            // SAFETY: `this` is not used any more, and not dropped.
            unsafe { std::mem::ManuallyDrop::drop(&mut this.value) };
            return None;
        }
        Some(this.unwrap_last(place))
    }

    fn unwrap_last(self, place: Place) -> T {
        crate::word::fence(Ordering::Acquire, place);
        give_back(self.count);
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used any more, and not dropped.
        let value = unsafe { std::mem::ManuallyDrop::take(&mut this.value) };
        match std::sync::Arc::try_unwrap(value) {
            Ok(value) => value,
            Err(_) => unreachable!("the last reference"),
        }
    }
}

fn give_back(count: u32) {
    rt::with(|state| {
        let owned = state.arcs[count as usize].owned;
        state.owned[owned].given_back = true;
    });
}

impl<T: ?Sized> Arc<T> {
    /// The only reference there is, as one that is counted here: `std`'s can refer to traits.
    #[track_caller]
    pub fn from_std(value: std::sync::Arc<T>) -> Self {
        let place = Location::caller();
        let (counts, epoch) = rt::with(|state| (state.settings.counts, state.epoch));
        let drops = std::mem::needs_drop::<T>();
        let word = (counts || drops).then(|| std::rc::Rc::new(Word::new(u64::from(counts), place)));
        let count = rt::with(|state| {
            let given_back = state.making_lazy > 0;
            state.owned.push(Owned { what: "an `Arc`", place, given_back });
            state.arcs.push(Counted { word, made: 1, owned: state.owned.len() - 1 });
            state.arcs.len() as u32 - 1
        });
        Self { value: std::mem::ManuallyDrop::new(value), count, epoch }
    }

    /// Whether two references are to the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&this.value, &other.value)
    }

    /// Where the value is.
    pub fn as_ptr(this: &Self) -> *const T {
        std::sync::Arc::as_ptr(&this.value)
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        let place = Location::caller();
        counting(this.count, this.epoch, place).load(tags(Ordering::Relaxed), place) as usize
    }

    /// The value for oneself, if this is the only reference.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let place = Location::caller();
        if counting(this.count, this.epoch, place).load(tags(Ordering::Acquire), place) != 1 {
            return None;
        }
        std::sync::Arc::get_mut(&mut this.value)
    }

    /// A reference that does not keep the value.
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        counting(this.count, this.epoch, Location::caller());
        Weak { value: std::sync::Arc::downgrade(&this.value), count: this.count, epoch: this.epoch }
    }

    /// A pointer that stands for this reference.
    pub fn into_raw(this: Self) -> *const T {
        let this = std::mem::ManuallyDrop::new(this);
        let pointer = Self::as_ptr(&this);
        rt::with(|state| state.raw.insert(pointer.cast::<()>() as usize, this.count));
        pointer
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    ///
    /// As in `std`: the pointer is from [`Self::into_raw`], and used for one reference once.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let address = pointer.cast::<()>() as usize;
        let place = Location::caller();
        let Some((count, epoch)) = rt::with(|state| Some((*state.raw.get(&address)?, state.epoch))) else {
            rt::fail("this pointer is none of an `Arc` of this execution".to_owned(), place);
        };
        // SAFETY: the pointer is one of `std`'s `into_raw`, which is `as_ptr` of a reference that is not dropped; the caller says that it is used once.
        let value = unsafe { std::sync::Arc::from_raw(pointer) };
        Self { value: std::mem::ManuallyDrop::new(value), count, epoch }
    }

    /// One reference more, to what a pointer stands for.
    ///
    /// # Safety
    ///
    /// As in `std`: the pointer is from [`Self::into_raw`], and there is a reference.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: as the caller says; the reference itself stays.
        let this = std::mem::ManuallyDrop::new(unsafe { Self::from_raw(pointer) });
        std::mem::forget(Self::clone(&this));
    }

    /// One reference less.
    ///
    /// # Safety
    ///
    /// As in `std`: the pointer is from [`Self::into_raw`], and stands for a reference.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: as the caller says.
        drop(unsafe { Self::from_raw(pointer) });
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let place = Location::caller();
        if rt::with(|state| state.settings.counts) {
            let orders = (tags(Ordering::Relaxed), tags(Ordering::Relaxed));
            counting(self.count, self.epoch, place).update(add, [1, 0], orders, place);
        }
        rt::with(|state| {
            if state.epoch == self.epoch {
                state.arcs[self.count as usize].made += 1;
            }
        });
        Self { value: self.value.clone(), count: self.count, epoch: self.epoch }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        let place = Location::caller();
        let now = rt::try_with(|state| (state.epoch == self.epoch).then_some((state.settings.counts, self.count)));
        // Outside of the execution that made it nobody counts any more.
        let last = match now.flatten().map(|(counts, _)| (counts, word(self.count, self.epoch))) {
            None => false,
            Some((counts, Some(word))) => {
                let more = if counts { u64::MAX } else { 1 };
                let orders = (tags(Ordering::Release), tags(Ordering::Release));
                let before = word.update(add, [more, 0], orders, place);
                let made = rt::with(|state| state.arcs[self.count as usize].made);
                let last = if counts { before == 1 } else { before + 1 == made };
                if last {
                    crate::word::fence(Ordering::Acquire, place);
                }
                last
            }
            Some((_, None)) => rt::with(|state| {
                let counted = &mut state.arcs[self.count as usize];
                counted.made -= 1;
                counted.made == 0
            }),
        };
        if last {
            give_back(self.count);
        }
        // SAFETY: it is not used any more.
        unsafe { std::mem::ManuallyDrop::drop(&mut self.value) };
    }
}

impl<T: ?Sized> Weak<T> {
    /// A reference that keeps the value, if it is there.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let place = Location::caller();
        let orders = (tags(Ordering::Acquire), tags(Ordering::Relaxed));
        if counting(self.count, self.epoch, place).update(add_if_some, [0; 2], orders, place) == 0 {
            return None;
        }
        let value = std::mem::ManuallyDrop::new(self.value.upgrade()?);
        Some(Arc { value, count: self.count, epoch: self.epoch })
    }

    /// How many references keep the value.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let place = Location::caller();
        counting(self.count, self.epoch, place).load(tags(Ordering::Relaxed), place) as usize
    }

    /// Whether two references are to the same value.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.value.ptr_eq(&other.value)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), count: self.count, epoch: self.epoch }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> std::borrow::Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
