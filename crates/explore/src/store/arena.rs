//! The arena: records in chunks.
//!
//! An [`Address`] is a number: for states of a fixed length that of the record, else that of its first byte. Its high bits name the
//! chunk. A chunk belongs to the worker that asked for it, and only that worker appends to it; records before its end are
//! read by everybody and never written again.
//!
//! A record begins with where it was found from: a number of `P` bytes, the address of another record or whatever else who inserts it likes.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use super::keys::{Keys, Stored};

/// The address of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Address(pub u64);

impl Address {
    /// The parent of an initial state.
    pub const NONE: Self = Self(ADDRESS);

    /// Whether there is no such record.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

pub(super) const ADDRESS_BITS: u32 = 40;
pub(super) const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// Bytes of a chunk, for states of any length.
pub(super) const CHUNK: usize = 1 << 20;
/// Records of a chunk, for states of a fixed length.
const RECORDS: usize = 1 << 12;
const LENGTH: usize = 3;
/// Behind a chunk's end a word may be read.
const PADDING: usize = 8;
/// The longest state that fits a record.
pub const MAX_STATE: usize = CHUNK - 8 - LENGTH;
/// The most chunks.
const CHUNKS: usize = 1 << 20;

struct Chunk {
    start: AtomicPtr<u8>,
    /// How much of it is in use: records, or bytes.
    used: AtomicU32,
}

/// Records in chunks.
pub(super) struct Arena<const P: usize> {
    directory: Directory,
    next: AtomicUsize,
    /// How many chunks were freed.
    given_back: usize,
    /// Bytes of a state, if all have the same number.
    fixed: Option<usize>,
    /// Bytes of a record if all have the same number, else one.
    unit: usize,
    /// Bits of an address within its chunk.
    bits: u32,
}

/// The chunk that a worker appends to.
#[derive(Default)]
pub(super) struct Spot {
    chunk: Option<usize>,
    used: u32,
    /// Where the last record began.
    last: u32,
}

impl<const P: usize> Arena<P> {
    /// For states of this many bytes each, or of any number of bytes in chunks of so many, a power of two.
    pub fn new(fixed: Option<usize>, chunk: usize) -> Self {
        let bits = if fixed.is_some() { RECORDS.trailing_zeros() } else { chunk.trailing_zeros() };
        let unit = fixed.map_or(1, |bytes| bytes + P);
        Self { directory: Directory::new(CHUNKS), next: AtomicUsize::new(0), given_back: 0, fixed, unit, bits }
    }

    /// Bytes of a chunk, for states of any length.
    pub fn chunk(&self) -> usize {
        1 << self.bits
    }

    /// The longest state that fits a record.
    pub fn longest(&self) -> usize {
        self.fixed.unwrap_or((1 << self.bits) - 8 - LENGTH)
    }

    fn chunk_bytes(&self) -> usize {
        (self.unit << self.bits) + PADDING
    }

    pub fn bytes(&self) -> u64 {
        ((self.chunks() - self.given_back) * self.chunk_bytes()) as u64
    }

    /// How many chunks were made so far.
    pub fn chunks(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Frees some chunks; nobody may ask for their records any more.
    pub fn give_back(&mut self, chunks: Range<usize>) {
        let layout = self.layout();
        self.given_back += chunks.len();
        for chunk in chunks {
            let chunk = self.directory.get_mut(chunk);
            let start = std::mem::replace(chunk.start.get_mut(), std::ptr::null_mut());
            *chunk.used.get_mut() = 0;
            // SAFETY: every chunk was made with this layout, and this one is freed once.
            unsafe { dealloc(start, layout) };
        }
    }

    fn layout(&self) -> Layout {
        Layout::from_size_align(self.chunk_bytes(), 8).expect("a chunk has a size")
    }

    fn allocate(&self) -> *mut u8 {
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(self.layout()) };
        if start.is_null() {
            handle_alloc_error(self.layout());
        }
        start
    }

    /// Where a record begins.
    #[inline]
    pub fn pointer(&self, address: Address) -> *const u8 {
        let chunk = (address.0 >> self.bits) as usize;
        let at = (address.0 & ((1 << self.bits) - 1)) as usize * self.unit;
        // SAFETY: an address is handed out with its chunk, and lies inside it.
        unsafe { self.directory.get(chunk).start.load(Ordering::Acquire).add(at) }
    }

    /// The state of a record.
    #[inline]
    pub fn key(&self, address: Address) -> Stored<'_> {
        let start = self.pointer(address);
        // SAFETY: a record that has an address was written completely and is never written again; it ends inside its chunk.
        let bytes = unsafe {
            match self.fixed {
                Some(size) => std::slice::from_raw_parts(start.add(P), size),
                None => std::slice::from_raw_parts(start.add(P + LENGTH), length::<P>(start)),
            }
        };
        Stored { bytes }
    }

    pub fn state(&self, address: Address) -> &[u8] {
        self.key(address).bytes
    }

    #[inline]
    pub fn words<const W: usize>(&self, address: Address) -> [u64; W] {
        self.key(address).words()
    }

    pub fn parent(&self, address: Address) -> Address {
        let mut parent = [0; 8];
        // SAFETY: every record begins with its parent.
        let stored = unsafe { std::slice::from_raw_parts(self.pointer(address), P) };
        parent[..P].copy_from_slice(stored);
        Address(u64::from_le_bytes(parent))
    }

    /// Gives a record another parent, while nobody reads it.
    pub fn set_parent(&mut self, address: Address, parent: Address) {
        let start = self.pointer(address).cast_mut();
        // SAFETY: every record begins with its parent, and whoever has the arena alone may write there.
        unsafe { std::slice::from_raw_parts_mut(start, P) }.copy_from_slice(&parent.0.to_le_bytes()[..P]);
    }

    #[inline]
    pub fn after(&self, address: Address) -> Address {
        match self.fixed {
            Some(_) => Address(address.0 + 1),
            None => Address(address.0 + (P + LENGTH + self.key(address).bytes.len()) as u64),
        }
    }

    /// How many bytes lie between two addresses.
    #[inline]
    pub fn distance(&self, from: u64, to: u64) -> usize {
        (to - from) as usize * self.unit
    }

    /// The address behind the last record of a spot.
    #[inline]
    pub fn end(&self, spot: &Spot) -> u64 {
        ((spot.chunk.unwrap_or(0) as u64) << self.bits) + u64::from(spot.used)
    }

    /// Writes a record behind the others of a spot.
    pub fn append<K: Keys>(&self, keys: &K, key: usize, spot: &mut Spot) -> Address {
        let size = keys.size(key);
        assert!(size <= self.longest(), "a state of {size} bytes does not fit a record");
        let takes = if self.fixed.is_some() { 1 } else { (P + LENGTH + size) as u32 };
        if spot.chunk.is_none() || u64::from(spot.used + takes) > 1 << self.bits {
            self.add_chunk(spot);
        }
        let address = Address(self.end(spot));
        let start = self.pointer(address).cast_mut();
        // SAFETY: the room behind a spot's records is inside its chunk, belongs to this worker alone, and no slot points there yet.
        let record = unsafe { std::slice::from_raw_parts_mut(start, self.header() + size) };
        record[..P].copy_from_slice(&keys.parent(key).0.to_le_bytes()[..P]);
        if self.fixed.is_none() {
            record[P..P + LENGTH].copy_from_slice(&(size as u32).to_le_bytes()[..LENGTH]);
        }
        keys.write(key, &mut record[self.header()..]);
        spot.last = spot.used;
        spot.used += takes;
        address
    }

    #[inline]
    fn header(&self) -> usize {
        if self.fixed.is_some() { P } else { P + LENGTH }
    }

    fn add_chunk(&self, spot: &mut Spot) {
        self.note_used(spot);
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        assert!(chunk < CHUNKS - 1, "the arena is larger than its addresses");
        // SAFETY: the number of the chunk was drawn by this worker alone, and nobody asks for it before an address in it is handed out.
        unsafe { self.directory.set(chunk, Chunk { start: AtomicPtr::new(self.allocate()), used: AtomicU32::new(0) }) };
        *spot = Spot { chunk: Some(chunk), used: 0, last: 0 };
    }

    /// Takes back the record that was appended last; no slot points to it.
    pub fn retract(&self, spot: &mut Spot) {
        spot.used = spot.last;
    }

    /// Writes down how much of a spot's chunk is in use. Not with every record: others read the directory all the time.
    pub fn note_used(&self, spot: &Spot) {
        if let Some(chunk) = spot.chunk {
            // SAFETY: a spot's chunk was made.
            unsafe { self.directory.get(chunk) }.used.store(spot.used, Ordering::Relaxed);
        }
    }

    /// Visits all records of a chunk, while nobody appends.
    pub fn for_each(&self, chunk: usize, mut visit: impl FnMut(Address, &[u8])) {
        assert!(chunk < self.chunks(), "there is no chunk {chunk}");
        let base = (chunk as u64) << self.bits;
        // SAFETY: all chunks below their number were made.
        let end = base + u64::from(unsafe { self.directory.get(chunk) }.used.load(Ordering::Relaxed));
        let mut at = Address(base);
        while at.0 < end {
            visit(at, self.state(at));
            at = self.after(at);
        }
    }

    /// Gives every state another length and form. Chunk by chunk, so that only one is there twice.
    pub fn reshape(&mut self, fixed: usize, change: impl Fn(&[u8], &mut [u8])) {
        let (next, given_back) = (AtomicUsize::new(0), self.given_back);
        let unit = fixed + P;
        let mut new =
            Self { directory: Directory::new(0), next, given_back, fixed: Some(fixed), unit, bits: self.bits };
        for at in 0..*self.next.get_mut() {
            if self.directory.get_mut(at).start.get_mut().is_null() {
                continue;
            }
            let used = *self.directory.get_mut(at).used.get_mut() as usize;
            let start = new.allocate();
            for record in 0..used {
                let old = Address(((at as u64) << self.bits) + record as u64);
                // SAFETY: the new chunk has room for as many records as the old one had.
                let room = unsafe { std::slice::from_raw_parts_mut(start.add(record * unit), unit) };
                room[..P].copy_from_slice(&self.parent(old).0.to_le_bytes()[..P]);
                change(self.state(old), &mut room[P..]);
            }
            // From here on the chunk has the new form; nobody asks for it before all have.
            let old = std::mem::replace(self.directory.get_mut(at).start.get_mut(), start);
            // SAFETY: the old chunk was made with this layout, and nobody has its address any more.
            unsafe { dealloc(old, self.layout()) };
        }
        std::mem::swap(&mut new.directory, &mut self.directory);
        *new.next.get_mut() = std::mem::take(self.next.get_mut());
        *self = new;
    }
}

impl<const P: usize> Drop for Arena<P> {
    fn drop(&mut self) {
        let layout = self.layout();
        for chunk in 0..*self.next.get_mut() {
            let start = *self.directory.get_mut(chunk).start.get_mut();
            if !start.is_null() {
                // SAFETY: every chunk was made with this layout.
                unsafe { dealloc(start, layout) };
            }
        }
    }
}

/// The chunks by their numbers. Made once, so that workers can add to it without moving it, and not initialised, so that what is not
/// used costs nothing.
struct Directory(Box<[UnsafeCell<MaybeUninit<Chunk>>]>);

// SAFETY: an entry is written once, by the worker that drew its number, before anybody else knows of it; after that only its atomics change.
unsafe impl Sync for Directory {}

impl Directory {
    fn new(size: usize) -> Self {
        let entries: Box<[MaybeUninit<UnsafeCell<MaybeUninit<Chunk>>>]> = Box::new_uninit_slice(size);
        // SAFETY: a cell of something that need not be initialised need not be either.
        Self(unsafe { entries.assume_init() })
    }

    /// # Safety
    /// The chunk was set.
    #[inline]
    unsafe fn get(&self, chunk: usize) -> &Chunk {
        // SAFETY: as the caller says; and numbers are smaller than the directory.
        unsafe { (*self.0.get_unchecked(chunk).get()).assume_init_ref() }
    }

    /// # Safety
    /// Nobody else knows of the chunk yet.
    unsafe fn set(&self, number: usize, chunk: Chunk) {
        // SAFETY: as the caller says.
        unsafe { (*self.0[number].get()).write(chunk) };
    }

    /// A chunk that was set; all below the number of chunks made so far were.
    fn get_mut(&mut self, chunk: usize) -> &mut Chunk {
        // SAFETY: see above.
        unsafe { self.0[chunk].get_mut().assume_init_mut() }
    }
}

/// The length in a record's header.
///
/// # Safety
/// A record begins at `start`.
#[inline]
unsafe fn length<const P: usize>(start: *const u8) -> usize {
    // SAFETY: as the caller says.
    let stored = unsafe { std::slice::from_raw_parts(start.add(P), LENGTH) };
    u32::from_le_bytes([stored[0], stored[1], stored[2], 0]) as usize
}
