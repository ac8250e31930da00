//! The visited set: exact, append-only, insertions in batches.
//!
//! States live in an arena of chunks, one record after the other in the order in which they were found; for a breadth-first
//! search that order is also the work list, and the record's parent makes paths. An open-addressing table of 64-bit slots
//! points into the arena; a slot holds the address of a record and some bits of its hash, so that most comparisons that
//! would fail never touch the record.
//!
//! **Invariant:** a record is never moved or changed, and a state is in the arena at most once: two states are the same only if
//! all their bytes are.
//!
//! Insertions come in batches: the slots of all of them are prefetched first, then the records that their tags point to,
//! then they are inserted one by one. On common machines this is several times faster than one at a time, because the cache
//! misses of a batch overlap.

use std::hash::Hasher;

/// The address of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Record(u64);

impl Record {
    /// The parent of an initial state.
    pub const NONE: Self = Self(ADDRESS);

    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

const CHUNK_BITS: u32 = 20;
const CHUNK: usize = 1 << CHUNK_BITS;
const ADDRESS_BITS: u32 = 40;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
const EMPTY: u64 = u64::MAX;
/// Parent (5 bytes) and length (3 bytes).
const HEADER: usize = 8;
/// The longest state that fits a record.
pub(crate) const MAX_STATE: usize = CHUNK - HEADER;
/// How many insertions make a batch.
pub(crate) const BATCH: usize = 16;

/// The visited set.
pub(crate) struct Table {
    slots: Vec<u64>,
    chunks: Vec<Box<[u8]>>,
    /// Where the last chunk ends so far.
    used: usize,
    states: u64,
    /// Only this many low bits of a hash count, and bytes are not compared: a deliberate bug for tests.
    confuse: bool,
}

/// States that wait to be inserted.
#[derive(Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Clone, Copy)]
struct Item {
    start: usize,
    end: usize,
    hash: u64,
    parent: Record,
}

impl Batch {
    /// Adds a state, whose bytes `encode` appends, and says how many bytes it has.
    pub fn push(&mut self, parent: Record, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        encode(&mut self.bytes);
        let hash = hash(&self.bytes[start..]);
        self.items.push(Item { start, end: self.bytes.len(), hash, parent });
        self.bytes.len() - start
    }

    /// Takes the last state back.
    pub fn pop(&mut self) {
        if let Some(item) = self.items.pop() {
            self.bytes.truncate(item.start);
        }
    }

    pub fn is_full(&self) -> bool {
        self.items.len() >= BATCH
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    // The low bits choose the slot and the high bits make the tag, so both have to depend on every byte.
    let mixed = hasher.finish() ^ bytes.len() as u64;
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

impl Table {
    pub fn new(confuse: bool) -> Self {
        Self { slots: vec![EMPTY; 1 << 10], chunks: Vec::new(), used: CHUNK, states: 0, confuse }
    }

    /// How many states there are.
    pub fn len(&self) -> u64 {
        self.states
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        (self.slots.len() * 8 + self.chunks.len() * CHUNK) as u64
    }

    /// The first record.
    pub fn first(&self) -> Record {
        Record(0)
    }

    /// Where the next record will start, once one is there: a bound for [`Table::next`].
    pub fn end(&self) -> Record {
        match self.chunks.len() {
            0 => Record(0),
            chunks => Record((((chunks - 1) << CHUNK_BITS) + self.used) as u64),
        }
    }

    /// The state of a record.
    pub fn state(&self, record: Record) -> &[u8] {
        let (chunk, at) = split(record.0);
        let bytes = &self.chunks[chunk][at..];
        &bytes[HEADER..HEADER + length(bytes)]
    }

    /// The record that a record was found from.
    pub fn parent(&self, record: Record) -> Record {
        let (chunk, at) = split(record.0);
        let mut parent = [0; 8];
        parent[..5].copy_from_slice(&self.chunks[chunk][at..at + 5]);
        Record(u64::from_le_bytes(parent))
    }

    /// The record after this one, if there is one.
    pub fn next(&self, record: Record) -> Option<Record> {
        let (chunk, at) = split(record.0);
        let after = at + HEADER + length(&self.chunks[chunk][at..]);
        let ended = after + HEADER > CHUNK || (chunk + 1 < self.chunks.len() && self.ends(chunk, after));
        let next = if ended {
            Record(((chunk + 1) << CHUNK_BITS) as u64)
        } else {
            Record(record.0 - at as u64 + after as u64)
        };
        (next < self.end()).then_some(next)
    }

    /// Whether a full chunk has no record at `at`: the length of every record is at least one.
    fn ends(&self, chunk: usize, at: usize) -> bool {
        length(&self.chunks[chunk][at..]) == 0
    }

    /// Inserts the states of a batch that are new, and empties it.
    pub fn insert(&mut self, batch: &mut Batch) {
        while (self.states as usize + batch.items.len()) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let mask = self.slots.len() as u64 - 1;
        for item in &batch.items {
            prefetch(&self.slots[(item.hash & mask) as usize]);
        }
        for item in &batch.items {
            let slot = self.slots[(item.hash & mask) as usize];
            if slot != EMPTY && slot >> ADDRESS_BITS == tag(item.hash) {
                let (chunk, at) = split(slot & ADDRESS);
                prefetch(&self.chunks[chunk][at]);
            }
        }
        for item in &batch.items {
            self.insert_one(&batch.bytes[item.start..item.end], *item);
        }
        batch.items.clear();
        batch.bytes.clear();
    }

    fn insert_one(&mut self, bytes: &[u8], item: Item) {
        let hash = if self.confuse { item.hash & 0x3f } else { item.hash };
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != EMPTY {
            let slot = self.slots[at];
            let same = slot >> ADDRESS_BITS == tag(hash);
            if same && (self.confuse || self.state(Record(slot & ADDRESS)) == bytes) {
                return;
            }
            at = (at + 1) & mask;
        }
        let record = self.append(bytes, item.parent);
        self.slots[at] = tag(hash) << ADDRESS_BITS | record.0;
        self.states += 1;
    }

    fn append(&mut self, bytes: &[u8], parent: Record) -> Record {
        assert!(bytes.len() <= MAX_STATE, "a state of {} bytes does not fit a record", bytes.len());
        let needed = HEADER + bytes.len();
        if self.used + needed > CHUNK {
            self.chunks.push(vec![0; CHUNK].into_boxed_slice());
            self.used = 0;
        }
        let chunk = self.chunks.len() - 1;
        let address = ((chunk << CHUNK_BITS) + self.used) as u64;
        assert!(address < ADDRESS, "the arena is larger than its addresses");
        let record = &mut self.chunks[chunk][self.used..self.used + needed];
        record[..5].copy_from_slice(&parent.0.to_le_bytes()[..5]);
        record[5..8].copy_from_slice(&(bytes.len() as u32).to_le_bytes()[..3]);
        record[HEADER..].copy_from_slice(bytes);
        self.used += needed;
        Record(address)
    }

    /// Doubles the slots. The hashes are computed again from the arena, which is read in order.
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        // Freed before the larger one is there: the arena has everything that is needed to fill it again.
        self.slots = Vec::new();
        self.slots = vec![EMPTY; size];
        let mut record = (self.states > 0).then(|| self.first());
        while let Some(current) = record {
            let mut hash = hash(self.state(current));
            if self.confuse {
                hash &= 0x3f;
            }
            let mut at = hash as usize & (size - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = tag(hash) << ADDRESS_BITS | current.0;
            record = self.next(current);
        }
    }
}

fn split(address: u64) -> (usize, usize) {
    ((address >> CHUNK_BITS) as usize, address as usize & (CHUNK - 1))
}

/// The high bits of a hash. All ones would look like an empty slot.
fn tag(hash: u64) -> u64 {
    (hash >> ADDRESS_BITS).min((1 << (64 - ADDRESS_BITS)) - 2)
}

fn length(record: &[u8]) -> usize {
    u32::from_le_bytes([record[5], record[6], record[7], 0]) as usize
}

/// Asks for the cache line of a value that is needed soon.
#[inline]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on caches, and the reference is valid.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(value).cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Inserts pseudo-random states with many repetitions and compares with a plain map.
    #[test]
    fn agrees_with_a_plain_map() {
        let mut table = Table::new(false);
        let mut plain: HashMap<Vec<u8>, u64> = HashMap::new();
        let (mut batch, mut seed) = (Batch::default(), 1u64);
        for round in 0..200_000u64 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let length = 1 + (seed % 40) as usize;
            let byte = (seed >> 20) as u8 % 64;
            let bytes: Vec<u8> = (0..length).map(|i| byte ^ (i as u8 % 3) ^ ((seed >> 40) as u8 % 32)).collect();
            let fresh = plain.len() as u64;
            plain.entry(bytes.clone()).or_insert(fresh);
            batch.push(Record(round & 0xffff), |out| out.extend(&bytes));
            if batch.is_full() {
                table.insert(&mut batch);
            }
        }
        table.insert(&mut batch);
        assert_eq!(table.len(), plain.len() as u64);
        let mut record = Some(table.first());
        let mut order = 0;
        while let Some(current) = record {
            assert_eq!(plain.remove(table.state(current)), Some(order), "the arena keeps the order of discovery");
            order += 1;
            record = table.next(current);
        }
        assert!(plain.is_empty());
    }
}
