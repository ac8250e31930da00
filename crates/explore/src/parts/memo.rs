//! Remembered steps of one thread.

use cyrano_engine::Violation;

/// Beyond this many remembered steps all are forgotten: it is only a cache.
const MOST_ENTRIES: usize = 1 << 20;

/// What the steps of a thread do, by all that they depend on.
pub(crate) struct Memo<const W: usize> {
    /// One more than the number of an entry, or 0.
    slots: Vec<u32>,
    entries: Vec<Entry<W>>,
    /// The differences of all entries.
    changes: Vec<[u64; W]>,
    /// What goes wrong in steps of entries.
    events: Vec<Violation>,
}

/// What the steps from one place do.
#[derive(Clone, Copy)]
pub(crate) struct Entry<const W: usize> {
    key: [u64; W],
    pub changes: (u32, u32),
    pub events: (u32, u32),
    /// Whether every step brings the thread forward; see `ample`.
    pub forward: bool,
}

impl<const W: usize> Entry<W> {
    /// How many steps there are.
    #[inline]
    pub fn steps(&self) -> u64 {
        u64::from(self.changes.1 - self.changes.0) + u64::from(self.events.1 - self.events.0)
    }
}

impl<const W: usize> Memo<W> {
    pub fn new() -> Self {
        Self { slots: vec![0; 64], entries: Vec::new(), changes: Vec::new(), events: Vec::new() }
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
    pub fn find(&self, key: &[u64; W]) -> Option<&Entry<W>> {
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
    pub fn add(&mut self, key: [u64; W], changes: &[[u64; W]], events: &[Violation], forward: bool) -> Entry<W> {
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
            forward,
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
    pub fn changes(&self, entry: &Entry<W>) -> &[[u64; W]] {
        &self.changes[entry.changes.0 as usize..entry.changes.1 as usize]
    }

    pub fn events(&self, entry: &Entry<W>) -> &[Violation] {
        &self.events[entry.events.0 as usize..entry.events.1 as usize]
    }

    pub fn bytes(&self) -> usize {
        self.slots.len() * 4
            + self.entries.capacity() * std::mem::size_of::<Entry<W>>()
            + self.changes.capacity() * std::mem::size_of::<[u64; W]>()
    }
}
