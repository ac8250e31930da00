//! Remembered steps of one thread: what they do, by the bits of a packed state that they depend on.
//!
//! It is a cache for [`super::remembering`], which says why the bits are enough and what a change is.

use std::ops::Range;

use cyrano_engine::Violation;

/// Beyond this many remembered steps all are forgotten: it is only a cache.
const MOST_ENTRIES: usize = 1 << 20;

/// What the steps of a thread do: each a change of type `C`, and for all from one place something of type `A`.
pub(crate) struct Memo<const W: usize, C, A> {
    /// One more than the number of an entry, or 0.
    slots: Vec<u32>,
    entries: Vec<Entry<W, A>>,
    /// The changes of all entries, those of one together.
    changes: Vec<C>,
    /// What goes wrong in steps of entries.
    events: Vec<Violation>,
}

/// What the steps from one place do.
#[derive(Clone, Copy)]
pub(crate) struct Entry<const W: usize, A> {
    key: [u64; W],
    changes: (u32, u32),
    events: (u32, u32),
    /// What is to be known about all of them.
    pub about: A,
}

impl<const W: usize, A> Entry<W, A> {
    /// How many steps there are.
    #[inline]
    pub fn steps(&self) -> u64 {
        u64::from(self.changes.1 - self.changes.0) + u64::from(self.events.1 - self.events.0)
    }

    /// Whether something goes wrong in one of them.
    #[inline]
    pub fn goes_wrong(&self) -> bool {
        self.events.0 != self.events.1
    }
}

impl<const W: usize, C: Copy, A: Copy> Memo<W, C, A> {
    pub fn new() -> Self {
        Self { slots: vec![0; 64], entries: Vec::new(), changes: Vec::new(), events: Vec::new() }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The same with other keys and changes.
    pub fn moved<const V: usize, D: Copy>(
        self,
        key: impl Fn(&[u64; W]) -> [u64; V],
        change: impl Fn(C) -> D,
    ) -> Memo<V, D, A> {
        let entry = |entry: Entry<W, A>| {
            let Entry { changes, events, about, .. } = entry;
            Entry { key: key(&entry.key), changes, events, about }
        };
        let mut new = Memo {
            slots: vec![0; self.slots.len()],
            entries: self.entries.into_iter().map(entry).collect(),
            changes: self.changes.into_iter().map(change).collect(),
            events: self.events,
        };
        (0..new.entries.len()).for_each(|entry| new.place(entry));
        new
    }

    #[inline]
    fn home(&self, key: &[u64; W]) -> usize {
        let mut hash = 0u64;
        for word in key {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        hash as usize & (self.slots.len() - 1)
    }

    /// The entry with this key.
    #[inline]
    pub fn find(&self, key: &[u64; W]) -> Option<&Entry<W, A>> {
        let mut at = self.home(key);
        loop {
            let entry = &self.entries[(self.slots[at] as usize).checked_sub(1)?];
            if entry.key == *key {
                return Some(entry);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Remembers what the steps from a new key do.
    pub fn add(&mut self, key: [u64; W], changes: &[C], events: &[Violation], about: A) -> Entry<W, A> {
        if self.entries.len() >= MOST_ENTRIES {
            *self = Self::new();
        }
        let from = (self.changes.len() as u32, self.events.len() as u32);
        self.changes.extend_from_slice(changes);
        self.events.extend_from_slice(events);
        let entry = Entry {
            key,
            changes: (from.0, self.changes.len() as u32),
            events: (from.1, self.events.len() as u32),
            about,
        };
        self.entries.push(entry);
        if self.entries.len() * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            (0..self.entries.len()).for_each(|entry| self.place(entry));
        } else {
            self.place(self.entries.len() - 1);
        }
        entry
    }

    fn place(&mut self, entry: usize) {
        let mut at = self.home(&self.entries[entry].key);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = entry as u32 + 1;
    }

    #[inline]
    pub fn changes(&self, entry: &Entry<W, A>) -> &[C] {
        &self.changes[entry.changes.0 as usize..entry.changes.1 as usize]
    }

    /// The numbers of the changes of an entry.
    #[inline]
    pub fn range(&self, entry: &Entry<W, A>) -> Range<usize> {
        entry.changes.0 as usize..entry.changes.1 as usize
    }

    /// A change by its number.
    #[inline]
    pub fn change(&self, at: usize) -> C {
        self.changes[at]
    }

    pub fn events(&self, entry: &Entry<W, A>) -> &[Violation] {
        &self.events[entry.events.0 as usize..entry.events.1 as usize]
    }

    pub fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<Entry<W, A>>();
        (self.slots.len() * 4 + entries + self.changes.capacity() * size_of::<C>()) as u64
    }
}
