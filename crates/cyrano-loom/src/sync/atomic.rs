//! What `std::sync::atomic` has.
//!
//! A location is made where the value is, by `new`, so that `new` is no `const fn`: whether what it was made with is there for another thread is a question of happens-before
//! like any other, and a constant would not know who made it.

mod bool;
mod int;
mod ptr;

use std::panic::Location;
pub use std::sync::atomic::Ordering;

pub use self::bool::AtomicBool;
pub use self::int::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use self::ptr::AtomicPtr;

use crate::word::tags;
use cyrano_ir::Tags;

/// Passes a fence.
#[track_caller]
pub fn fence(order: Ordering) {
    crate::word::fence(order, Location::caller());
}

/// A fence for the compiler only. It orders nothing among threads.
pub fn compiler_fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed compiler fence");
}

/// In loom, a hint that spins; in `std`, gone.
#[track_caller]
pub fn spin_loop_hint() {
    crate::rt::idle::idle(Location::caller());
}

#[track_caller]
pub(crate) fn loading(order: Ordering) -> Tags {
    assert!(!matches!(order, Ordering::Release | Ordering::AcqRel), "there is no such thing as a {order:?} load");
    tags(order)
}

#[track_caller]
pub(crate) fn storing(order: Ordering) -> Tags {
    assert!(!matches!(order, Ordering::Acquire | Ordering::AcqRel), "there is no such thing as a {order:?} store");
    tags(order)
}

/// The orders of a read-modify-write that always writes.
pub(crate) fn updating(order: Ordering) -> (Tags, Tags) {
    (tags(order), tags(order))
}

/// What all atomic types have: `$type` holds a `$value`, which is a word by `$into`, and a word is one by `$from`.
macro_rules! atomic {
    ([$($generic:tt)*] $type:ty, $value:ty, $into:expr, $from:expr) => {
        impl<$($generic)*> $type {
            /// A new one that holds this.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self::of(Word::new($into(value), Location::caller()))
            }

            /// Loads.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                $from(self.word.load(super::loading(order), Location::caller()))
            }

            /// Stores.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.word.store($into(value), super::storing(order), Location::caller());
            }

            /// Stores, and says what was there.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                fn apply(_: u64, [new, _]: [u64; 2]) -> Written {
                    Written::Value(new)
                }
                $from(self.word.update(apply, [$into(value), 0], super::updating(order), Location::caller()))
            }

            /// Stores if this is there, and says what was there.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    order => order,
                };
                match self.compare_exchange(current, new, order, failure) {
                    Ok(value) | Err(value) => value,
                }
            }

            /// Stores if this is there; what was there, as an error if it was something else.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                fn apply(value: u64, [current, new]: [u64; 2]) -> Written {
                    if value == current { Written::Value(new) } else { Written::Nothing }
                }
                let orders = (crate::word::tags(success), super::loading(failure));
                let (current, new) = ($into(current), $into(new));
                let read = self.word.update(apply, [current, new], orders, Location::caller());
                if read == current { Ok($from(read)) } else { Err($from(read)) }
            }

            /// The same, and it may fail for nothing though the value is there: so often in a thread as `Builder::spurious_failures` says.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let place = Location::caller();
                if !crate::rt::ask::fails_for_nothing(place) {
                    return self.compare_exchange(current, new, success, failure);
                }
                let read = self.word.load(super::loading(failure), place);
                if read != $into(current) {
                    // It fails anyway, which is the other choice.
                    crate::rt::ask::drops(place);
                }
                Err($from(read))
            }

            /// Stores what a function makes of what is there, as long as it makes something; what was there, as an error if it made nothing.
            #[track_caller]
            pub fn fetch_update<F: FnMut($value) -> Option<$value>>(
                &self,
                store: Ordering,
                load: Ordering,
                mut update: F,
            ) -> Result<$value, $value> {
                let mut current = self.load(load);
                while let Some(new) = update(current) {
                    match self.compare_exchange(current, new, store, load) {
                        Ok(value) => return Ok(value),
                        Err(value) => current = value,
                    }
                }
                Err(current)
            }

            /// What is there, for somebody who is alone with it: an access of somebody else that does not happen before is a race.
            ///
            /// # Safety
            ///
            /// As in loom, nothing can happen: a race is found, and ends the execution.
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $value {
                $from(self.word.exclusive(false, Location::caller()))
            }

            /// Has a look at what is there, and changes it, alone.
            #[track_caller]
            pub fn with_mut<R>(&mut self, look: impl FnOnce(&mut $value) -> R) -> R {
                let place = Location::caller();
                let mut value = $from(self.word.exclusive(true, place));
                let before = $into(value);
                let result = look(&mut value);
                if $into(value) != before {
                    self.word.store($into(value), crate::word::tags(Ordering::Relaxed), place);
                }
                result
            }

            /// What is there, in the end.
            #[track_caller]
            pub fn into_inner(self) -> $value {
                $from(self.word.exclusive(true, Location::caller()))
            }
        }

        impl<$($generic)*> From<$value> for $type {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl<$($generic)*> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // A load would be an event.
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    };
}

/// A read-modify-write that computes.
macro_rules! compute {
    ($(#[$doc:meta])* $name:ident, $value:ty, $into:expr, $from:expr, |$old:ident, $operand:ident| $new:expr) => {
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self, value: $value, order: Ordering) -> $value {
            fn apply(old: u64, [operand, _]: [u64; 2]) -> Written {
                let ($old, $operand): ($value, $value) = ($from(old), $from(operand));
                Written::Value($into($new))
            }
            $from(self.word.update(apply, [$into(value), 0], super::updating(order), Location::caller()))
        }
    };
}

pub(crate) use {atomic, compute};
