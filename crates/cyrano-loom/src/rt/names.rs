//! Names for threads and locations: who made them, and as the how-manieth. The numbers of these names are the same in every execution of a search, and for all who search.

use std::sync::{Mutex, PoisonError};

use cyrano_ir::LocId;
use rustc_hash::FxHashMap;

/// Who made it, and after how many others.
pub(crate) type Name = (usize, usize);

/// What names stand for which numbers.
#[derive(Clone, Debug, Default)]
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
    /// The number of a thread. What is not known here is looked up with all, who give it a number if they do not know it either.
    pub(crate) fn thread(&mut self, name: Name, all: &Mutex<Self>) -> usize {
        if at(&self.threads, name).is_none() {
            self.learn(all, |all| all.give_thread(name));
        }
        self.threads[name.0][name.1]
    }

    /// The number of a location.
    #[inline]
    pub(crate) fn location(&mut self, name: Name, all: &Mutex<Self>) -> LocId {
        if at(&self.locations, name).is_none() {
            self.learn(all, |all| all.give_location(name));
        }
        self.locations[name.0][name.1]
    }

    /// The location of a static, by its address.
    pub(crate) fn of_static(&mut self, address: usize, all: &Mutex<Self>) -> LocId {
        if !self.statics.contains_key(&address) {
            self.learn(all, |all| {
                let next = LocId::new(all.last_location);
                if *all.statics.entry(address).or_insert(next) == next {
                    all.last_location += 1;
                }
            });
        }
        self.statics[&address]
    }

    /// The threads with numbers, by thread those that it began.
    pub(crate) fn threads(&self) -> &[Vec<usize>] {
        &self.threads
    }

    /// With these numbers for threads.
    pub(crate) fn with_threads(threads: Vec<Vec<usize>>) -> Self {
        let last_thread = threads.iter().flatten().copied().max().unwrap_or_default();
        Self { threads, last_thread, ..Self::default() }
    }

    fn learn(&mut self, all: &Mutex<Self>, give: impl FnOnce(&mut Self)) {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        give(&mut all);
        self.clone_from(&all);
    }

    fn give_thread(&mut self, (by, number): Name) {
        if self.threads.len() <= by {
            self.threads.resize(by + 1, Vec::new());
        }
        while self.threads[by].len() <= number {
            self.last_thread += 1;
            self.threads[by].push(self.last_thread);
        }
    }

    fn give_location(&mut self, (by, number): Name) {
        if self.locations.len() <= by {
            self.locations.resize(by + 1, Vec::new());
        }
        while self.locations[by].len() <= number {
            self.locations[by].push(LocId::new(self.last_location));
            self.last_location += 1;
        }
    }
}

#[inline]
fn at<T>(all: &[Vec<T>], (by, number): Name) -> Option<&T> {
    all.get(by)?.get(number)
}
