//! What one thread has deferred: its store buffer, with the fences it passed meanwhile.
//!
//! Only stores are deferred under `tso` and `pso`. Stores that an atomic section makes without a load stand in the buffer as one entry, for they are
//! performed together.

use cyrano_ir::{AccessKind, FenceSet};

/// The models for which there is a machine here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffering {
    /// None: a store is performed where it stands.
    Sc,
    /// One buffer, first in, first out.
    Tso,
    /// Stores to different locations leave it in any order.
    Pso,
}

impl Buffering {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sc, Self::Tso, Self::Pso];

    /// The model's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Pso => "pso",
        }
    }
}

/// What stands in a buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Entry {
    /// Locations with the values they get, each once, at the same moment.
    Stores(Vec<(usize, i128)>),
    /// A fence was passed here.
    Fence(FenceSet),
}

/// A store buffer, oldest entry first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Buffer(Vec<Entry>);

impl Buffer {
    /// Whether nothing is deferred.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many entries wait to be performed.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|entry| matches!(entry, Entry::Stores(_))).count()
    }

    /// Defers stores.
    pub fn push(&mut self, stores: Vec<(usize, i128)>) {
        self.0.push(Entry::Stores(stores));
    }

    /// Passes a fence. It means something only behind a store.
    pub fn fence(&mut self, kinds: FenceSet) {
        match self.0.last_mut() {
            Some(Entry::Fence(known)) => *known |= kinds,
            Some(Entry::Stores(_)) => self.0.push(Entry::Fence(kinds)),
            None => {}
        }
    }

    /// The value that a load of the same thread sees, if the buffer has one for it.
    pub fn forwarded(&self, loc: usize) -> Option<i128> {
        let stores = self.0.iter().rev().filter_map(|entry| match entry {
            Entry::Stores(stores) => stores.iter().find(|(to, _)| *to == loc),
            Entry::Fence(_) => None,
        });
        { stores }.next().map(|(_, value)| *value)
    }

    /// Whether an access of this kind, behind everything in the buffer, may be performed now: the model keeps no pair with an entry, and no fence orders one.
    pub fn lets_pass(&self, model: Buffering, kind: AccessKind, loc: usize) -> bool {
        passes(&self.0, model, kind, loc)
    }

    /// The entries that may be performed next, by their places; 0 is the oldest.
    pub fn ready(&self, model: Buffering) -> Vec<usize> {
        let ready = |place: &usize| match &self.0[*place] {
            Entry::Fence(_) => false,
            Entry::Stores(stores) => {
                stores.iter().all(|(loc, _)| passes(&self.0[..*place], model, AccessKind::Store, *loc))
            }
        };
        (0..self.0.len()).filter(ready).collect()
    }

    /// Performs the entry at a place.
    pub fn perform(&mut self, place: usize, memory: &mut [i128]) {
        let Entry::Stores(stores) = self.0.remove(place) else { panic!("a fence is not performed") };
        stores.iter().for_each(|(loc, value)| memory[*loc] = *value);
        // A fence with no store before it, or right behind another one, is nothing new.
        let rest = std::mem::take(self);
        for entry in rest.0 {
            match entry {
                Entry::Stores(_) => self.0.push(entry),
                Entry::Fence(kinds) => self.fence(kinds),
            }
        }
    }
}

/// Whether an access may be performed before all of these.
fn passes(earlier: &[Entry], model: Buffering, kind: AccessKind, loc: usize) -> bool {
    let mut fences = FenceSet::NONE;
    for entry in earlier.iter().rev() {
        match entry {
            Entry::Fence(kinds) => fences |= *kinds,
            Entry::Stores(stores) => {
                // Of store-load and store-store `tso` keeps the second, and `pso` only to one address; a read-modify-write is both.
                let kept = kind.writes() && (model == Buffering::Tso || stores.iter().any(|(to, _)| *to == loc));
                if kept || fences.orders(AccessKind::Store, kind) {
                    return false;
                }
            }
        }
    }
    true
}
