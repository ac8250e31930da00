//! Numbers for the values that a part has had so far.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// The values of one part, numbered in the order in which they were first seen. Shared by all workers.
#[derive(Default)]
pub(crate) struct Interner(RwLock<Known>);

#[derive(Default)]
struct Known {
    numbers: FxHashMap<Box<[u8]>, u32>,
    values: Vec<Box<[u8]>>,
    bytes: usize,
}

impl Interner {
    /// The number of a value.
    pub fn number(&self, value: &[u8]) -> u32 {
        if let Some(number) = self.0.read().unwrap_or_else(PoisonError::into_inner).numbers.get(value) {
            return *number;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(value) {
            return *number;
        }
        let number = u32::try_from(known.values.len()).expect("fewer than four billion values of a part");
        known.values.push(value.into());
        known.numbers.insert(value.into(), number);
        known.bytes += 2 * value.len() + 64;
        number
    }

    /// Looks at the value with this number.
    pub fn with<R>(&self, number: u32, look: impl FnOnce(&[u8]) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner).values[number as usize])
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values.len()
    }

    pub fn bytes(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).bytes as u64
    }
}
