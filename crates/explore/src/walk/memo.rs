//! Remembered steps of one thread on packed states: what they do to the words, by the bits that they depend on.

use cyrano_engine::Violation;

/// Beyond this many remembered steps all are forgotten: it is only a cache.
const MOST_ENTRIES: usize = 1 << 20;

/// What the steps of a thread do.
pub(crate) struct Memo<const W: usize> {
    /// One more than the number of an entry, or 0.
    slots: Vec<u32>,
    entries: Vec<Entry<W>>,
    /// The differences that steps make, those of an entry one after the other.
    changes: Vec<[u64; W]>,
    /// What they add to the sum of the hashes of all values, if that is wanted.
    sums: Vec<u64>,
    /// What goes wrong in steps.
    events: Vec<Violation>,
}

/// The steps from one place.
#[derive(Clone, Copy)]
pub(crate) struct Entry<const W: usize> {
    key: [u64; W],
    changes: (u32, u32),
    events: (u32, u32),
}

impl<const W: usize> Entry<W> {
    #[inline]
    pub fn steps(&self) -> u64 {
        u64::from(self.changes.1 - self.changes.0) + u64::from(self.events.1 - self.events.0)
    }

    #[inline]
    pub fn goes_wrong(&self) -> bool {
        self.events.0 != self.events.1
    }
}

impl<const W: usize> Memo<W> {
    pub fn new() -> Self {
        Self { slots: vec![0; 64], entries: Vec::new(), changes: Vec::new(), sums: Vec::new(), events: Vec::new() }
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

    #[inline]
    pub fn find(&self, key: &[u64; W]) -> Option<Entry<W>> {
        let mut at = self.home(key);
        loop {
            let entry = &self.entries[(self.slots[at] as usize).checked_sub(1)?];
            if entry.key == *key {
                return Some(*entry);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Remembers steps: the differences, with what each adds to the sum of hashes.
    pub fn add(&mut self, key: [u64; W], changes: &[([u64; W], u64)], events: &[Violation]) -> Entry<W> {
        if self.entries.len() >= MOST_ENTRIES {
            *self = Self::new();
        }
        let from = (self.changes.len() as u32, self.events.len() as u32);
        self.changes.extend(changes.iter().map(|(change, _)| change));
        self.sums.extend(changes.iter().map(|(_, sum)| sum));
        self.events.extend_from_slice(events);
        let to = (self.changes.len() as u32, self.events.len() as u32);
        let entry = Entry { key, changes: (from.0, to.0), events: (from.1, to.1) };
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
    pub fn changes(&self, entry: &Entry<W>) -> &[[u64; W]] {
        &self.changes[entry.changes.0 as usize..entry.changes.1 as usize]
    }

    /// What the changes add to the sum of hashes, in the same order.
    #[inline]
    pub fn sums(&self, entry: &Entry<W>) -> &[u64] {
        &self.sums[entry.changes.0 as usize..entry.changes.1 as usize]
    }

    pub fn events(&self, entry: &Entry<W>) -> &[Violation] {
        &self.events[entry.events.0 as usize..entry.events.1 as usize]
    }

    pub fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<Entry<W>>();
        (self.slots.len() * 4 + entries + self.changes.capacity() * size_of::<[u64; W]>() + self.sums.capacity() * 8)
            as u64
    }
}
