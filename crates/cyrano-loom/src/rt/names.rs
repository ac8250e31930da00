//! Names for threads and locations: who made them, and as the how-manieth. The numbers of these names are the same in every execution of a search.

use cyrano_ir::LocId;
use rustc_hash::FxHashMap;

/// What names stand for which numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By thread, those that it began.
    threads: Vec<Vec<usize>>,
    last_thread: usize,
    /// By thread, the locations that it made.
    locations: Vec<Vec<LocId>>,
    last_location: usize,
    statics: FxHashMap<usize, LocId>,
}

impl Names {
    /// The thread that another one begins, after so many others.
    pub(crate) fn thread(&mut self, by: usize, number: usize) -> usize {
        if self.threads.len() <= by {
            self.threads.resize(by + 1, Vec::new());
        }
        while self.threads[by].len() <= number {
            self.last_thread += 1;
            self.threads[by].push(self.last_thread);
        }
        self.threads[by][number]
    }

    /// The location that a thread makes, after so many others.
    pub(crate) fn location(&mut self, by: usize, number: usize) -> LocId {
        if self.locations.len() <= by {
            self.locations.resize(by + 1, Vec::new());
        }
        while self.locations[by].len() <= number {
            self.locations[by].push(LocId::new(self.last_location));
            self.last_location += 1;
        }
        self.locations[by][number]
    }

    /// The location of a static.
    pub(crate) fn of_static(&mut self, address: usize) -> LocId {
        *self.statics.entry(address).or_insert_with(|| {
            self.last_location += 1;
            LocId::new(self.last_location - 1)
        })
    }
}
