//! The visited set: exact, shared by all workers, insertions in batches.
//!
//! States live in an [`arena`] of chunks, each worker appending to a chunk of its own; a record has the state's bytes and the
//! address of the record it was found from, which makes paths. An open-addressing table of 64-bit slots points into
//! the arena; a slot holds the address of a record and some bits of its hash, so that most comparisons that would fail never
//! touch the record.
//!
//! **Invariant:** a record is never changed once a slot points to it, and a state is in the table at most once: two states are the
//! same only if all their bytes are.
//!
//! **Without locks.** A worker that finds an empty slot writes the record to the end of its own chunk first and then puts its address
//! into the slot by compare-and-swap (release); whoever reads the slot (acquire) sees the whole record. If another worker was
//! faster, the record is taken back and the search goes on at the same slot, so that of two equal states one is kept. Slots never
//! become empty again, and the table grows only while no worker is at work ([`Store::make_room`] takes `&mut self`).
//!
//! **Batches.** The slots of all keys of a batch are prefetched first, then the records that their tags point to, then they are
//! inserted one by one. On common machines this is several times faster than one at a time, because the cache misses of a
//! batch overlap.

mod arena;
mod keys;
mod slots;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub use arena::{Address, MAX_STATE};
pub use keys::{ByteKeys, Keys, Stored, bytes_hash};
pub(crate) use keys::{WordKeys, to_words};

use arena::{ADDRESS, ADDRESS_BITS, Arena, CHUNK, Spot};
use slots::Slots;

use crate::Explore;
use crate::faults::Fault;

const EMPTY: u64 = 0;
/// How full the table gets before it grows, in sixteenths.
const FILL: usize = 12;
/// How full the table may get when there is no memory for a larger one, in sixteenths.
const FULL: usize = 15;
/// How many insertions overlap.
pub const BATCH: usize = 32;
/// With fewer chunks than this the table is filled by one worker.
const WORTH_SHARING: usize = 64;
/// Workers count what they insert for themselves, and add it up now and then.
const COUNT_EVERY: u64 = 256;
/// A worker hands on its new records in spans of about this many bytes.
const SPAN: usize = 1 << 13;

/// The visited set. With every state goes where it was found from, a number of `P` bytes: for the search of one process an address in the arena.
pub struct Store<const P: usize = 5> {
    slots: Slots,
    arena: Arena<P>,
    states: Apart<AtomicU64>,
    /// How full it may get, in sixteenths.
    fill: usize,
    /// How many states there may be that are not counted yet, at most.
    margin: usize,
    /// Whether only fingerprints of states are kept: slots hold hashes, and the arena the levels under way.
    fingerprints: bool,
    /// The chunks of the level under way, of those that may be given back.
    level: Range<usize>,
    /// Only this many low bits of a hash count, and bytes are not compared: a deliberate bug for tests.
    confuse: bool,
}

/// Something that many write, on a cache line of its own: what others read beside it must not be fetched again each time.
#[repr(align(128))]
struct Apart<T>(T);

/// Where one worker appends.
#[derive(Default)]
#[repr(align(128))]
pub struct Writer {
    spot: Spot,
    /// Records that were written and not yet handed on, in order.
    spans: Vec<Span>,
    /// How many records were written, and how many of them are counted.
    written: u64,
    counted: u64,
}

/// Records that one worker wrote one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Their addresses.
    pub range: Range<u64>,
    /// How many records the worker had written before.
    pub first: u64,
}

impl Writer {
    /// The records written since the last call, in order, in pieces.
    pub fn take_spans(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.spans)
    }

    /// How many records were written.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl<const P: usize> Store<P> {
    /// An empty set of states of this many bytes each, or of any number of bytes, for so many workers.
    pub fn new(state_bytes: Option<usize>, config: &Explore, workers: usize) -> Self {
        Self::with_arena(Arena::new(state_bytes, CHUNK), config, workers)
    }

    /// An empty set of states of any number of bytes that takes memory in chunks of so many bytes, a power of two.
    pub fn in_chunks(chunk: usize, config: &Explore, workers: usize) -> Self {
        Self::with_arena(Arena::new(None, chunk.min(CHUNK)), config, workers)
    }

    fn with_arena(arena: Arena<P>, config: &Explore, workers: usize) -> Self {
        // What is not counted yet must fit the smallest table as well.
        let margin = BATCH + workers.max(8) * (COUNT_EVERY as usize + BATCH);
        Self {
            slots: Slots::new(smallest(margin)),
            arena,
            states: Apart(AtomicU64::new(0)),
            fill: FILL,
            margin,
            fingerprints: config.fingerprints,
            level: 0..0,
            confuse: config.has_fault(Fault::ConfuseHashes),
        }
    }

    /// An empty set of states of any number of bytes, for one worker, that keeps all of them.
    pub fn exact() -> Self {
        Self::new(None, &Explore::default(), 1)
    }

    /// Whether it keeps fingerprints only.
    pub fn keeps_fingerprints(&self) -> bool {
        self.fingerprints
    }

    /// A level has been expanded: where only fingerprints are kept, its states are not needed any more.
    pub fn next_level<'w>(&mut self, writers: impl Iterator<Item = &'w mut Writer>) {
        if self.fingerprints {
            self.arena.give_back(self.level.clone());
            self.level = self.level.end..self.arena.chunks();
            writers.for_each(|writer| writer.spot = Spot::default());
        }
    }

    /// How many states there are.
    pub fn len(&self) -> u64 {
        self.states.0.load(Ordering::Relaxed)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.slots.len() as u64 * 8 + self.arena.bytes()
    }

    /// The record that a record was found from.
    pub fn parent(&self, record: Address) -> Address {
        self.arena.parent(record)
    }

    /// Gives a record another parent.
    pub fn set_parent(&mut self, record: Address, parent: Address) {
        self.arena.set_parent(record, parent);
    }

    /// The longest state that fits.
    pub fn longest(&self) -> usize {
        self.arena.longest()
    }

    /// Forgets all states, and all but this many bytes of slots. Writers have to begin anew.
    pub fn clear(&mut self, bytes: u64) {
        let mut size = self.slots.len();
        while size as u64 * 8 > bytes && size > smallest(self.margin) {
            size /= 2;
        }
        self.slots = Slots::new(0);
        self.slots = Slots::new(size);
        self.arena = Arena::new(None, self.arena.chunk());
        (self.states, self.level) = (Apart(AtomicU64::new(0)), 0..0);
    }

    /// The records on the way to one, that one included.
    pub fn path(&self, record: Address) -> Vec<Address> {
        let mut path = Vec::new();
        let mut current = record;
        while !current.is_none() {
            path.push(current);
            current = self.parent(current);
        }
        path.reverse();
        path
    }

    /// The bytes of a record's state.
    pub fn state(&self, record: Address) -> &[u8] {
        self.arena.state(record)
    }

    /// The first words of a state of fixed length; bits behind its end are zero.
    #[inline]
    pub fn words<const W: usize>(&self, record: Address) -> [u64; W] {
        self.arena.words(record)
    }

    /// The record after one in the same span.
    #[inline]
    pub fn after(&self, record: Address) -> Address {
        self.arena.after(record)
    }

    /// Whether the table wants to grow before more is inserted.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        (self.len() as usize + self.margin) * 16 > self.slots.len() * self.fill
    }

    /// Inserts the keys that are new. Returns false if the table has to grow first; then some keys may be left.
    pub fn insert<K: Keys>(&self, keys: &mut K, writer: &mut Writer) -> bool {
        let mut from = 0;
        while from < keys.len() {
            if self.is_crowded() {
                keys.forget_first(from);
                return false;
            }
            let to = keys.len().min(from + BATCH);
            self.insert_batch(&mut *keys, from..to, writer);
            if writer.written - writer.counted >= COUNT_EVERY {
                self.count(writer);
            }
            from = to;
        }
        keys.clear();
        true
    }

    fn count(&self, writer: &mut Writer) {
        self.states.0.fetch_add(writer.written - writer.counted, Ordering::Relaxed);
        writer.counted = writer.written;
    }

    /// Counts what a writer has inserted, and notes how far it got. Before [`Store::make_room`] and [`Store::reshape`], for all writers.
    pub fn settle(&self, writer: &mut Writer) {
        self.count(writer);
        self.arena.note_used(&writer.spot);
    }

    #[inline]
    fn insert_batch<K: Keys>(&self, keys: &mut K, batch: Range<usize>, writer: &mut Writer) {
        for at in batch.clone() {
            prefetch(&raw const self.slots[self.home(keys.hash(at))]);
        }
        for at in batch.clone() {
            let hash = keys.hash(at);
            let slot = self.slots[self.home(hash)].load(Ordering::Acquire);
            if !self.fingerprints && slot >> ADDRESS_BITS == tag(hash) {
                prefetch(self.arena.pointer(Address(slot & ADDRESS)));
            }
        }
        for at in batch {
            self.insert_one(keys, at, writer);
        }
    }

    /// The first slot to look at.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn insert_one<K: Keys>(&self, keys: &mut K, key: usize, writer: &mut Writer) {
        let hash = if self.confuse { keys.hash(key) & 0x3f } else { keys.hash(key) };
        let tag = tag(hash);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        let mut written = None;
        loop {
            let mut slot = self.slots[at].load(Ordering::Acquire);
            if slot == EMPTY {
                let address = *written.get_or_insert_with(|| self.arena.append(&*keys, key, &mut writer.spot));
                let full = if self.fingerprints { fingerprint(hash) } else { filled(hash, address.0) };
                match self.slots[at].compare_exchange(EMPTY, full, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        keys.stored(address);
                        return self.hand_on(address, writer);
                    }
                    Err(other) => slot = other,
                }
            }
            let same = if self.fingerprints {
                slot == fingerprint(hash)
            } else {
                let alike = slot >> ADDRESS_BITS == tag;
                alike && (self.confuse || keys.same(key, self.arena.key(Address(slot & ADDRESS))))
            };
            if same {
                if written.is_some() {
                    self.arena.retract(&mut writer.spot);
                }
                return keys.stored(Address(slot & ADDRESS));
            }
            at = (at + 1) & mask;
        }
    }

    /// A record is there to stay: it becomes part of the last span, or begins one.
    #[inline]
    fn hand_on(&self, address: Address, writer: &mut Writer) {
        let end = self.arena.end(&writer.spot);
        match writer.spans.last_mut().map(|span| &mut span.range) {
            Some(span) if span.end == address.0 && self.arena.distance(span.start, address.0) < SPAN => span.end = end,
            _ => writer.spans.push(Span { range: address.0..end, first: writer.written }),
        }
        writer.written += 1;
    }

    /// Makes room within this many bytes, if it can: by more slots or, if there are no bytes for them, by filling those that there are.
    pub fn make_room<K: Keys>(&mut self, limit: u64, workers: usize) -> bool {
        let size = self.slots.len() * growth(self.slots.len());
        if self.arena.bytes() + size as u64 * 8 <= limit {
            self.refill::<K>(size, workers);
        } else if self.fill < FULL {
            self.fill = FULL;
        }
        !self.is_crowded()
    }

    /// Fills a new table of slots from the arena, by several workers. The old one is freed before: the arena has everything that is
    /// needed.
    fn refill<K: Keys>(&mut self, size: usize, workers: usize) {
        if self.fingerprints {
            let old = std::mem::replace(&mut self.slots, Slots::new(size));
            let used = old.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|slot| *slot != EMPTY);
            used.for_each(|slot| self.place(slot, slot));
            return;
        }
        self.slots = Slots::new(0);
        self.slots = Slots::new(size);
        let chunks = self.arena.chunks();
        let next = AtomicUsize::new(0);
        let store = &*self;
        let fill = || {
            let mut pending = Vec::with_capacity(BATCH);
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= chunks {
                    break;
                }
                store.arena.for_each(chunk, |address, key| {
                    let hash = if store.confuse { K::hash_stored(key) & 0x3f } else { K::hash_stored(key) };
                    prefetch(&raw const store.slots[store.home(hash)]);
                    pending.push((hash, filled(hash, address.0)));
                    if pending.len() == BATCH {
                        pending.drain(..).for_each(|(hash, slot)| store.place(hash, slot));
                    }
                });
            }
            pending.drain(..).for_each(|(hash, slot)| store.place(hash, slot));
        };
        let helpers = if chunks < WORTH_SHARING { 0 } else { workers - 1 };
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(fill);
            }
            fill();
        });
    }

    /// Puts a state that is not there yet into its place.
    fn place(&self, hash: u64, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].load(Ordering::Relaxed) != EMPTY
            || self.slots[at].compare_exchange(EMPTY, slot, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            at = (at + 1) & mask;
        }
    }

    /// Gives every state another form of another length; records keep their addresses and order.
    pub fn reshape<K: Keys>(&mut self, state_bytes: usize, change: impl Fn(&[u8], &mut [u8])) {
        self.arena.reshape(state_bytes, change);
        let size = self.slots.len();
        self.refill::<K>(size, 1);
    }
}

/// The fewest slots, with so many states that are not counted yet.
fn smallest(margin: usize) -> usize {
    (margin * 16 / FILL + 1).next_power_of_two()
}

fn growth(slots: usize) -> usize {
    if slots < 1 << 18 { 4 } else { 2 }
}

/// What a slot holds.
#[inline]
fn filled(hash: u64, address: u64) -> u64 {
    tag(hash) << ADDRESS_BITS | address
}

/// A hash as a slot. Nothing but zeros would look like an empty one.
#[inline]
fn fingerprint(hash: u64) -> u64 {
    hash.max(1)
}

/// The high bits of a hash. The highest is always set, so that no slot in use looks empty.
#[inline]
fn tag(hash: u64) -> u64 {
    hash >> ADDRESS_BITS | 1 << (63 - ADDRESS_BITS)
}

/// Asks for the cache line of a value that is needed soon.
#[inline]
pub fn prefetch<T>(value: *const T) {
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
mod tests;
