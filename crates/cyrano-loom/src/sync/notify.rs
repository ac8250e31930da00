//! A message without contents.

use std::panic::Location;
use std::sync::atomic::Ordering;

use cyrano_graphs::native::Written;

use crate::word::{Word, tags};

/// loom's `Notify`: whoever waits goes on after one notification; what comes before it waits is kept, once.
#[derive(Debug)]
pub struct Notify {
    word: Word,
}

fn leave_word(_: u64, _: [u64; 2]) -> Written {
    Written::Value(1)
}

impl Notify {
    /// A new one.
    #[track_caller]
    pub fn new() -> Self {
        Self { word: Word::new(0, Location::caller()) }
    }

    /// Lets whoever waits, or will wait, go on.
    #[track_caller]
    pub fn notify(&self) {
        self.word.update(leave_word, [0; 2], (tags(Ordering::Release), tags(Ordering::Release)), Location::caller());
    }

    /// Waits for a notification.
    #[track_caller]
    pub fn wait(&self) {
        self.word.take(1, 0, Location::caller());
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}
