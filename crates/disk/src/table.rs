//! A set of states in memory: records in chunks, and an open-addressing table of 64-bit slots that point to them.
//!
//! **Invariant:** a state is in it at most once; two states are the same only if all their bytes are. Records stay where they are and
//! in the order in which they came until the table is emptied.
//!
//! Insertions come in batches, of which all slots are prefetched first, then the records that their tags point to, as in the explorer's
//! own store: the cache misses of a batch overlap.

use cyrano_explore::store::prefetch;
use xxhash_rust::xxh3::xxh3_64;

use crate::budget::Budget;
use crate::record;

const OFFSET_BITS: u32 = 20;
const ADDRESS_BITS: u32 = 40;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
const SMALLEST: usize = 256;

/// States that wait for their insertion.
#[derive(Default)]
pub(crate) struct Batch {
    records: Vec<u8>,
    /// The hash of each state, and where its record starts.
    items: Vec<(u64, u32)>,
    /// Where its slot is, or may be.
    places: Vec<usize>,
}

/// How many states a batch has at most, and about how many bytes.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 1 << 13;

impl Batch {
    /// Adds a state; true if the batch is full then.
    #[inline]
    pub fn push(&mut self, hash: u64, parent: u64, state: &[u8]) -> bool {
        self.items.push((hash, self.records.len() as u32));
        record::push(&mut self.records, parent, state);
        self.items.len() >= BATCH || self.records.len() >= BATCH_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// The hash of a state, the same on all machines.
#[inline]
pub(crate) fn hash(state: &[u8]) -> u64 {
    xxh3_64(state)
}

/// Where a record is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Address(u64);

impl Address {
    fn new(chunk: usize, offset: usize) -> Self {
        Self((chunk as u64) << OFFSET_BITS | offset as u64)
    }

    fn split(self) -> (usize, usize) {
        ((self.0 >> OFFSET_BITS) as usize, (self.0 & ((1 << OFFSET_BITS) - 1)) as usize)
    }
}

struct Chunk {
    bytes: Box<[u8]>,
    used: usize,
}

/// A set of states.
#[derive(Default)]
pub(crate) struct Table {
    slots: Vec<u64>,
    len: usize,
    chunks: Vec<Chunk>,
}

impl Table {
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Behind the last record. If that fills its chunk, this is the start of the next one.
    pub fn end(&self) -> Address {
        match self.chunks.last() {
            Some(chunk) => Address(((self.chunks.len() as u64 - 1) << OFFSET_BITS) + chunk.used as u64),
            None => Address(0),
        }
    }

    /// The state at an address.
    #[inline]
    pub fn state(&self, at: Address) -> &[u8] {
        let record = self.record(at);
        let (_, length) = record::head(record).expect("an address is that of a record");
        &record[record::HEAD..record::HEAD + length]
    }

    #[inline]
    fn record(&self, at: Address) -> &[u8] {
        let (chunk, offset) = at.split();
        &self.chunks[chunk].bytes[offset..]
    }

    /// The record at an address is that of an old state.
    pub fn mark_old(&mut self, at: Address) {
        let (chunk, offset) = at.split();
        record::mark_old(&mut self.chunks[chunk].bytes[offset..]);
    }

    /// Visits the records from an address on, in order. A record has its head.
    pub fn for_each(&self, from: Address, mut visit: impl FnMut(Address, &[u8])) {
        let (first, mut offset) = from.split();
        for (number, chunk) in self.chunks.iter().enumerate().skip(first) {
            while offset < chunk.used {
                let rest = &chunk.bytes[offset..chunk.used];
                let (_, length) = record::head(rest).expect("chunks are made of records");
                visit(Address::new(number, offset), &rest[..record::HEAD + length]);
                offset += record::HEAD + length;
            }
            offset = 0;
        }
    }

    /// Inserts the states of a batch that are new, and empties the batch.
    pub fn insert(&mut self, batch: &mut Batch, budget: &Budget) {
        self.make_room(batch.items.len(), budget);
        for (hash, _) in &batch.items {
            prefetch(&raw const self.slots[self.home(*hash)]);
        }
        batch.places.clear();
        for (hash, start) in &batch.items {
            let at = self.probe(*hash, self.home(*hash));
            if self.slots[at] != 0 {
                // A record may lie on two lines.
                let (record, wanted) =
                    (self.record(address(self.slots[at])).as_ptr(), &batch.records[*start as usize..]);
                prefetch(record);
                prefetch(record.wrapping_add(record::HEAD + record::head(wanted).map_or(0, |(_, length)| length)));
            }
            batch.places.push(at);
        }
        for ((hash, start), at) in batch.items.iter().zip(&batch.places) {
            let record = &batch.records[*start as usize..];
            let (_, length) = record::head(record).expect("a batch is made of records");
            self.insert_one(*hash, *at, &record[..record::HEAD + length], budget);
        }
        batch.items.clear();
        batch.records.clear();
    }

    /// The first slot from here on that is empty or may be that of the state with this hash.
    #[inline]
    fn probe(&self, hash: u64, mut at: usize) -> usize {
        let tag = tag(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 || slot >> ADDRESS_BITS == tag {
                return at;
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
    }

    #[inline]
    fn insert_one(&mut self, hash: u64, mut at: usize, record: &[u8], budget: &Budget) {
        loop {
            at = self.probe(hash, at);
            if self.slots[at] == 0 {
                let address = self.append(record, budget);
                self.slots[at] = tag(hash) << ADDRESS_BITS | (address.0 + 1);
                self.len += 1;
                return;
            }
            if record::same(self.state(address(self.slots[at])), &record[record::HEAD..]) {
                return;
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
    }

    #[inline]
    fn append(&mut self, record: &[u8], budget: &Budget) -> Address {
        if self.chunks.last().is_none_or(|chunk| chunk.bytes.len() - chunk.used < record.len()) {
            self.chunks.push(Chunk { bytes: budget.chunk(record.len()), used: 0 });
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let address = Address::new(number, chunk.used);
        record::copy(&mut chunk.bytes[chunk.used..chunk.used + record.len()], record);
        chunk.used += record.len();
        address
    }

    /// Makes room for so many states more. If there is no memory for more slots, those that there are get fuller than they should.
    fn make_room(&mut self, more: usize, budget: &Budget) {
        let wanted = self.len + more;
        if wanted * 4 <= self.slots.len() * 3 {
            return;
        }
        let larger = (self.slots.len() + self.slots.len() / 2).max(wanted * 2).max(SMALLEST);
        let growth = (larger - self.slots.len()) as u64 * 8;
        if !self.slots.is_empty() && budget.refuses(growth) {
            if wanted * 16 <= self.slots.len() * 15 {
                return;
            }
            return self.rehash(wanted * 16 / 13, budget);
        }
        self.rehash(larger, budget);
    }

    /// Fills a table of another size; the old one is freed before, for the records have everything that is needed.
    fn rehash(&mut self, size: usize, budget: &Budget) {
        budget.give(self.slots.len() as u64 * 8);
        self.slots = Vec::new();
        let mut slots = vec![0; size];
        budget.take(size as u64 * 8);
        self.for_each(Address(0), |address, record| {
            let hash = hash(&record[record::HEAD..]);
            let mut at = home(hash, size);
            while slots[at] != 0 {
                at = if at + 1 == size { 0 } else { at + 1 };
            }
            slots[at] = tag(hash) << ADDRESS_BITS | (address.0 + 1);
        });
        self.slots = slots;
    }

    /// Forgets all states.
    pub fn clear(&mut self, budget: &Budget) {
        budget.recycle(self.chunks.drain(..).map(|chunk| chunk.bytes));
        self.slots.fill(0);
        self.len = 0;
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        home(hash, self.slots.len())
    }
}

/// The first slot to look at. The highest bits of a hash choose the table, the lowest ones are the tag.
#[inline]
fn home(hash: u64, slots: usize) -> usize {
    ((u128::from(hash << 8) * slots as u128) >> 64) as usize
}

#[inline]
fn tag(hash: u64) -> u64 {
    hash & ((1 << (64 - ADDRESS_BITS)) - 1)
}

#[inline]
fn address(slot: u64) -> Address {
    Address((slot & ADDRESS) - 1)
}
