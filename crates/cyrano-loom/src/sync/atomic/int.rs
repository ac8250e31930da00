//! Atomic numbers.

use std::panic::Location;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use super::{atomic, compute};
use crate::word::Word;

macro_rules! int {
    ($type:ident, $value:ident) => {
        #[doc = concat!("`std::sync::atomic::", stringify!($type), "`.")]
        pub struct $type {
            word: Word,
        }

        atomic!([] $type, $value, (|value: $value| value as u64), (|word: u64| word as $value));

        impl $type {
            fn of(word: Word) -> Self {
                Self { word }
            }

            compute!(/// Adds.
                fetch_add, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old.wrapping_add(value));
            compute!(/// Subtracts.
                fetch_sub, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old.wrapping_sub(value));
            compute!(/// Stores the bits that both have.
                fetch_and, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old & value);
            compute!(/// Stores the bits that not both have.
                fetch_nand, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| !(old & value));
            compute!(/// Stores the bits that one has.
                fetch_or, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old | value);
            compute!(/// Stores the bits that one has and not the other.
                fetch_xor, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old ^ value);
            compute!(/// Stores the larger one.
                fetch_max, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old.max(value));
            compute!(/// Stores the smaller one.
                fetch_min, $value, (|value: $value| value as u64), (|word: u64| word as $value), |old, value| old.min(value));
        }

        impl Default for $type {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

int!(AtomicI8, i8);
int!(AtomicI16, i16);
int!(AtomicI32, i32);
int!(AtomicI64, i64);
int!(AtomicIsize, isize);
int!(AtomicU8, u8);
int!(AtomicU16, u16);
int!(AtomicU32, u32);
int!(AtomicU64, u64);
int!(AtomicUsize, usize);
