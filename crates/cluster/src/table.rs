//! The states that one worker owns.
//!
//! A state belongs to one worker of all processes, by its hash; only that worker ever touches it, so there are no locks. Records lie
//! in chunks, in the order in which they were found, each with the worker and number of the record that it was
//! found from; an open-addressing table of 64-bit slots (24 bits of the hash, 40 bits of address) points to them.
//!
//! **Invariant:** two states are the same only if all their bytes are; records never move or change, and those of a level lie
//! together.
//!
//! Places are numbers, not addresses: a search that is resumed may have the same states in other bytes. To find a record by its number is rare, so
//! only some addresses are kept for that.
//!
//! Insertions come in batches whose cache misses overlap, as in `cyrano_explore`.

use std::ops::Range;

use crate::wire::{length_at, push_length};

const EMPTY: u64 = u64::MAX;
const ADDRESS_BITS: u32 = 40;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// Bits of an address within its chunk.
const CHUNK_BITS: u32 = 21;
const CHUNK: usize = 1 << CHUNK_BITS;
/// Bytes of a record before its length.
pub(crate) const PARENT: usize = 8;
/// Of so many records the address of one is kept.
const SPACING: u64 = 64;
/// How full the table gets, and how full if there is no memory for a larger one, in sixteenths.
const FILL: usize = 12;
const FULL: usize = 15;
/// How many insertions overlap.
pub(crate) const BATCH: usize = 32;

/// A record of some worker: whose it is, and which of them it is in the order in which they were found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place(pub u64);

impl Place {
    /// Where initial states come from.
    pub const NONE: Self = Self(u64::MAX);

    pub fn new(worker: usize, number: u64) -> Self {
        Self((worker as u64) << ADDRESS_BITS | number)
    }

    pub fn worker(self) -> usize {
        (self.0 >> ADDRESS_BITS) as usize
    }

    pub fn number(self) -> u64 {
        self.0 & ADDRESS
    }
}

/// The hash of a state's bytes, the same on all machines.
#[inline]
pub(crate) fn hash(state: &[u8]) -> u64 {
    const KEYS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let mut hash = state.len() as u64 ^ KEYS[1];
    let (chunks, rest) = state.as_chunks::<8>();
    for chunk in chunks {
        hash = fold(hash ^ u64::from_le_bytes(*chunk), KEYS[0]).rotate_left(23);
    }
    // What is left, with bytes before it if there are some: quicker than to copy it.
    let last = match (rest, state.last_chunk()) {
        ([], _) => 0,
        (_, Some(last)) => u64::from_le_bytes(*last),
        (_, None) => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    fold(fold(hash ^ last, KEYS[0]) ^ KEYS[1], KEYS[0])
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    wide as u64 ^ (wide >> 64) as u64
}

/// The worker that owns states with this hash. Independent of the bits that the table uses.
#[inline]
pub(crate) fn owner(hash: u64, workers: usize) -> usize {
    let mixed = hash.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32;
    ((mixed * workers as u64) >> 32) as usize
}

/// States that wait for their insertion.
#[derive(Default)]
pub(crate) struct Pending {
    bytes: Vec<u8>,
    keys: Vec<(u64, Place, usize)>,
}

impl Pending {
    #[inline]
    pub fn push(&mut self, hash: u64, parent: Place, state: &[u8]) {
        self.bytes.extend_from_slice(state);
        self.keys.push((hash, parent, self.bytes.len()));
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

/// There is no memory for more states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoRoom;

/// The states of one worker.
pub(crate) struct Table {
    slots: Vec<u64>,
    chunks: Vec<Vec<u8>>,
    states: u64,
    /// The addresses of some records.
    marks: Vec<u64>,
    fill: usize,
    limit: u64,
    /// Bytes of these that something else takes.
    pub beside: u64,
}

impl Table {
    /// An empty table that may take this many bytes.
    pub fn new(limit: u64) -> Self {
        Self {
            slots: vec![EMPTY; 1 << 12],
            chunks: Vec::new(),
            states: 0,
            marks: Vec::new(),
            fill: FILL,
            limit,
            beside: 0,
        }
    }

    pub fn len(&self) -> u64 {
        self.states
    }

    pub fn bytes(&self) -> u64 {
        (self.slots.len() * 8 + self.chunks.len() * CHUNK + self.marks.capacity() * 8) as u64
    }

    /// The address behind the last record.
    pub fn end(&self) -> u64 {
        self.chunks.last().map_or(0, |chunk| (((self.chunks.len() - 1) << CHUNK_BITS) + chunk.len()) as u64)
    }

    /// The address of the record with this number, or where the next one begins at the earliest.
    pub fn address(&self, number: u64) -> u64 {
        let Some(mark) = self.marks.get((number / SPACING) as usize).filter(|_| number < self.states) else {
            return self.end();
        };
        let mut rest = *mark..self.end();
        for _ in 0..number % SPACING {
            match self.first(rest.clone()) {
                Some((_, _, after)) => rest = after,
                None => break,
            }
        }
        self.first(rest).map_or(self.end(), |(address, ..)| address)
    }

    /// The state and the parent of a record; `None` if there is no such record.
    pub fn record(&self, number: u64) -> Option<(&[u8], Place)> {
        self.at(self.address(number))
    }

    /// The state and the parent of the record at an address.
    pub fn at(&self, address: u64) -> Option<(&[u8], Place)> {
        let chunk = self.chunks.get((address >> CHUNK_BITS) as usize)?;
        let record = chunk.get(address as usize & (CHUNK - 1)..).filter(|record| record.len() > PARENT)?;
        let parent = Place(u64::from_le_bytes(*record.first_chunk()?));
        let (length, taken) = length_at(&record[PARENT..]);
        Some((record.get(PARENT + taken..PARENT + taken + length)?, parent))
    }

    /// The first record of a range of addresses, and the range without it.
    #[inline]
    pub fn first(&self, range: Range<u64>) -> Option<(u64, &[u8], Range<u64>)> {
        let mut at = range.start;
        if at >= range.end {
            return None;
        }
        // The rest of a chunk may be unused.
        if at as usize & (CHUNK - 1) >= self.chunks[(at >> CHUNK_BITS) as usize].len() {
            at = ((at >> CHUNK_BITS) + 1) << CHUNK_BITS;
        }
        let offset = at as usize & (CHUNK - 1);
        let record = self.chunks.get((at >> CHUNK_BITS) as usize)?.get(offset + PARENT..)?;
        if at >= range.end {
            return None;
        }
        let (length, taken) = length_at(record);
        let next = at + (PARENT + taken + length) as u64;
        Some((at, &record[taken..taken + length], next..range.end))
    }

    /// Inserts what waits, as far as it is new.
    pub fn insert(&mut self, pending: &mut Pending) -> Result<(), NoRoom> {
        let mut start = 0;
        for batch in pending.keys.chunks(BATCH) {
            if (self.states as usize + BATCH) * 16 > self.slots.len() * self.fill {
                self.make_room()?;
            }
            let mask = self.slots.len() - 1;
            batch.iter().for_each(|(hash, ..)| prefetch(&raw const self.slots[*hash as usize & mask]));
            for (hash, ..) in batch {
                let slot = self.slots[*hash as usize & mask];
                if slot >> ADDRESS_BITS == tag(*hash) {
                    let chunk = &self.chunks[((slot & ADDRESS) >> CHUNK_BITS) as usize];
                    prefetch(&raw const chunk[slot as usize & (CHUNK - 1)]);
                }
            }
            for (hash, parent, end) in batch {
                self.insert_one(*hash, *parent, &pending.bytes[start..*end]);
                start = *end;
            }
        }
        pending.keys.clear();
        pending.bytes.clear();
        Ok(())
    }

    #[inline]
    fn insert_one(&mut self, hash: u64, parent: Place, state: &[u8]) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                let address = self.append(parent, state);
                if self.states.is_multiple_of(SPACING) {
                    self.marks.push(address);
                }
                self.slots[at] = tag(hash) << ADDRESS_BITS | address;
                self.states += 1;
                return;
            }
            if slot >> ADDRESS_BITS == tag(hash) && self.is_state(slot & ADDRESS, state) {
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn is_state(&self, address: u64, state: &[u8]) -> bool {
        let chunk = &self.chunks[(address >> CHUNK_BITS) as usize];
        let record = &chunk[(address as usize & (CHUNK - 1)) + PARENT..];
        let (length, taken) = length_at(record);
        length == state.len() && &record[taken..taken + length] == state
    }

    #[inline]
    fn append(&mut self, parent: Place, state: &[u8]) -> u64 {
        // A length takes four bytes at most: states are shorter than half a chunk.
        let needed = PARENT + 4 + state.len();
        if self.chunks.last().is_none_or(|chunk| chunk.len() + needed > CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let at = self.chunks.len() - 1;
        let chunk = &mut self.chunks[at];
        let address = (at << CHUNK_BITS) + chunk.len();
        chunk.extend_from_slice(&parent.0.to_le_bytes());
        push_length(chunk, state.len());
        chunk.extend_from_slice(state);
        address as u64
    }

    /// Makes room for some states: by more slots or, if there are no bytes for them, by filling those that there are.
    fn make_room(&mut self) -> Result<(), NoRoom> {
        let arena = (self.chunks.len() * CHUNK) as u64;
        let size = self.slots.len() * if self.slots.len() < 1 << 18 { 4 } else { 2 };
        let addresses = (self.chunks.len() as u64) < ADDRESS >> CHUNK_BITS;
        if arena + size as u64 * 8 + self.beside <= self.limit && addresses {
            self.refill(size);
        } else if self.fill < FULL && addresses {
            self.fill = FULL;
        }
        let crowded = (self.states as usize + BATCH) * 16 > self.slots.len() * self.fill;
        if crowded { Err(NoRoom) } else { Ok(()) }
    }

    fn refill(&mut self, size: usize) {
        self.slots = Vec::new();
        self.slots = vec![EMPTY; size];
        let mut batch = Vec::with_capacity(BATCH);
        let mut rest = 0..self.end();
        loop {
            let next = self.first(rest).map(|(address, state, rest)| (hash(state), address, rest));
            if let Some((hash, address, _)) = next {
                prefetch(&raw const self.slots[hash as usize & (size - 1)]);
                batch.push((hash, address));
            }
            if batch.len() == BATCH || next.is_none() {
                for (hash, address) in batch.drain(..) {
                    let mut at = hash as usize & (size - 1);
                    while self.slots[at] != EMPTY {
                        at = (at + 1) & (size - 1);
                    }
                    self.slots[at] = tag(hash) << ADDRESS_BITS | address;
                }
            }
            match next {
                Some((_, _, after)) => rest = after,
                None => return,
            }
        }
    }
}

/// The high bits of a hash. All ones would look like an empty slot.
#[inline]
fn tag(hash: u64) -> u64 {
    (hash >> ADDRESS_BITS).min((1 << (64 - ADDRESS_BITS)) - 2)
}

/// Asks for the cache line of a value that is needed soon.
#[inline]
fn prefetch<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on caches, whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(value.cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(table: &mut Table, states: impl IntoIterator<Item = Vec<u8>>) -> Result<(), NoRoom> {
        let mut pending = Pending::default();
        for state in states {
            pending.push(hash(&state), Place::new(3, table.end()), &state);
        }
        table.insert(&mut pending)
    }

    fn all(table: &Table) -> Vec<Vec<u8>> {
        let mut rest = 0..table.end();
        let mut states = Vec::new();
        while let Some((_, state, after)) = table.first(rest) {
            states.push(state.to_vec());
            rest = after;
        }
        states
    }

    #[test]
    fn each_state_is_kept_once_and_in_order() {
        let mut table = Table::new(1 << 30);
        let state = |n: u32| {
            let mut bytes = n.to_le_bytes().to_vec();
            bytes.resize(4 + n as usize % 300, n as u8);
            bytes
        };
        for _ in 0..2 {
            insert(&mut table, (0..20_000).map(state)).expect("there is room");
            insert(&mut table, (0..20_000).rev().map(state)).expect("there is room");
        }
        assert_eq!(table.len(), 20_000);
        assert!(table.end() > CHUNK as u64, "several chunks are wanted here");
        assert!(all(&table).into_iter().eq((0..20_000).map(state)));
        for number in [0, 1, 63, 64, 65, 12_345, 19_999] {
            assert_eq!(table.record(number).map(|(state, _)| state), Some(&state(number as u32)[..]));
        }
        assert_eq!((table.record(20_000), table.address(20_000)), (None, table.end()));
    }

    #[test]
    fn long_states_and_empty_ones() {
        let mut table = Table::new(1 << 30);
        let states = [vec![], vec![1; 1 << 20], vec![], vec![2; 1 << 20], vec![1; 1 << 20]];
        insert(&mut table, states.clone()).expect("there is room");
        assert_eq!(all(&table), [states[0].clone(), states[1].clone(), states[3].clone()]);
    }

    #[test]
    fn memory_ends() {
        let mut table = Table::new(3 << 20);
        let mut inserted = 0;
        while insert(&mut table, (0..1000u64).map(|n| (inserted + n).to_le_bytes().to_vec())).is_ok() {
            inserted += 1000;
            assert!(inserted < 1 << 20, "it never ends");
        }
        assert!(inserted > 10_000);
    }

    #[test]
    fn records_lead_back() {
        let mut table = Table::new(1 << 30);
        insert(&mut table, [vec![7, 8]]).expect("there is room");
        assert_eq!(table.record(0), Some((&[7, 8][..], Place::new(3, 0))));
        assert_eq!(table.record(1 << 30), None);
        let place = Place::new(1000, 12345);
        assert_eq!((place.worker(), place.number()), (1000, 12345));
    }

    #[test]
    fn owners_are_even() {
        let mut counts = [0; 3];
        (0..30_000u64).for_each(|n| counts[owner(hash(&n.to_le_bytes()), 3)] += 1);
        assert!(counts.iter().all(|count| (9_000..11_000).contains(count)), "{counts:?}");
    }
}
