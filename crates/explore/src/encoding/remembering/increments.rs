//! Lists of timestamps that steps add to, by numbers. There are only a few.

use std::sync::{Arc, Mutex, PoisonError};

use crate::reductions::timestamps::Increment;

/// The lists of several workers who have to mean the same by their numbers, and a copy of them.
#[derive(Default)]
pub(super) struct Increments {
    shared: Arc<Mutex<Vec<Vec<Increment>>>>,
    known: Vec<Vec<Increment>>,
}

impl Increments {
    /// Others with the same numbers.
    pub fn alike(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), known: Vec::new() }
    }

    /// The number of a list; 0 if nothing is added to.
    pub fn number(&mut self, list: Vec<Increment>) -> u32 {
        if list.is_empty() {
            return 0;
        }
        let at = self.known.iter().position(|other| *other == list).unwrap_or_else(|| {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let at = shared.iter().position(|other| *other == list).unwrap_or(shared.len());
            if at == shared.len() {
                shared.push(list);
            }
            self.known.clone_from(&shared);
            at
        });
        at as u32 + 1
    }

    /// The list with a number that was given here.
    pub fn list(&self, number: u32) -> &[Increment] {
        number.checked_sub(1).map_or(&[], |at| &self.known[at as usize])
    }
}
