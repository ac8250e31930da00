//! States on their way into the store.

use super::arena::Address;

/// States that wait to be inserted, each with its hash and the record it was found from.
pub trait Keys {
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The hash of one.
    fn hash(&self, at: usize) -> u64;
    /// The hash of a state in the arena.
    fn hash_stored(state: &[u8]) -> u64;
    /// Whether one is the state in the arena.
    fn same(&self, at: usize, state: Stored<'_>) -> bool;
    /// How many bytes one has.
    fn size(&self, at: usize) -> usize;
    /// Writes one to the arena, where there is room for its bytes.
    fn write(&self, at: usize, room: &mut [u8]);
    /// Where it was found from.
    fn parent(&self, at: usize) -> Address;
    /// The next one was found to be, or was put, at this record.
    #[inline]
    fn stored(&mut self, _: Address) {}
    /// Drops the first ones.
    fn forget_first(&mut self, count: usize);
    /// Drops all but the first ones.
    fn truncate(&mut self, count: usize);
    /// Drops all.
    fn clear(&mut self) {
        self.truncate(0);
    }
}

/// A state in the arena. Behind its last byte there are at least seven more that may be read.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// States of any length.
#[derive(Default)]
pub struct ByteKeys {
    bytes: Vec<u8>,
    items: Vec<Item>,
    /// Where those are that were inserted, if that is wanted.
    pub(crate) places: Option<Vec<Address>>,
}

#[derive(Clone, Copy)]
struct Item {
    start: usize,
    end: usize,
    hash: u64,
    parent: Address,
}

impl ByteKeys {
    /// Adds a state, whose bytes `encode` appends, and says how many bytes it has.
    pub fn push(&mut self, parent: Address, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        encode(&mut self.bytes);
        let hash = bytes_hash(&self.bytes[start..]);
        self.items.push(Item { start, end: self.bytes.len(), hash, parent });
        self.bytes.len() - start
    }

    /// Adds a state whose [`bytes_hash`] is known.
    #[inline]
    pub fn push_hashed(&mut self, hash: u64, parent: Address, state: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        self.items.push(Item { start, end: self.bytes.len(), hash, parent });
    }
}

impl ByteKeys {
    /// The bytes of one.
    #[inline]
    pub fn state(&self, at: usize) -> &[u8] {
        &self.bytes[self.items[at].start..self.items[at].end]
    }

    /// Visits all and drops them.
    pub fn drain(&mut self, mut visit: impl FnMut(&[u8])) {
        self.items.iter().for_each(|item| visit(&self.bytes[item.start..item.end]));
        self.clear();
    }
}

impl Keys for ByteKeys {
    #[inline]
    fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    fn hash(&self, at: usize) -> u64 {
        self.items[at].hash
    }

    #[inline]
    fn hash_stored(state: &[u8]) -> u64 {
        bytes_hash(state)
    }

    #[inline]
    fn same(&self, at: usize, state: Stored<'_>) -> bool {
        *self.state(at) == *state.bytes
    }

    #[inline]
    fn size(&self, at: usize) -> usize {
        self.items[at].end - self.items[at].start
    }

    #[inline]
    fn write(&self, at: usize, room: &mut [u8]) {
        room.copy_from_slice(self.state(at));
    }

    #[inline]
    fn parent(&self, at: usize) -> Address {
        self.items[at].parent
    }

    #[inline]
    fn stored(&mut self, record: Address) {
        if let Some(places) = &mut self.places {
            places.push(record);
        }
    }

    fn forget_first(&mut self, count: usize) {
        self.items.drain(..count);
    }

    fn truncate(&mut self, count: usize) {
        self.bytes.truncate(self.items.get(count).map_or(self.bytes.len(), |item| item.start));
        self.items.truncate(count);
        if count == 0 {
            self.bytes.clear();
        }
    }
}

/// States of a fixed number of bytes, as words; bits behind the last byte are zero.
pub(crate) struct WordKeys<const W: usize> {
    /// How many bytes a state has in the arena.
    pub size: usize,
    items: Vec<([u64; W], u64, Address)>,
}

impl<const W: usize> WordKeys<W> {
    pub fn new(size: usize) -> Self {
        debug_assert!(size <= 8 * W);
        Self { size, items: Vec::with_capacity(256) }
    }

    #[inline]
    pub fn push(&mut self, parent: Address, words: [u64; W]) {
        self.items.push((words, words_hash(&words), parent));
    }
}

impl<const W: usize> Keys for WordKeys<W> {
    #[inline]
    fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    fn hash(&self, at: usize) -> u64 {
        self.items[at].1
    }

    #[inline]
    fn hash_stored(state: &[u8]) -> u64 {
        words_hash(&to_words::<W>(state))
    }

    #[inline]
    fn same(&self, at: usize, state: Stored<'_>) -> bool {
        state.words::<W>() == self.items[at].0
    }

    #[inline]
    fn size(&self, _: usize) -> usize {
        self.size
    }

    #[inline]
    fn write(&self, at: usize, room: &mut [u8]) {
        for (word, part) in self.items[at].0.iter().zip(room.chunks_mut(8)) {
            part.copy_from_slice(&word.to_le_bytes()[..part.len()]);
        }
    }

    #[inline]
    fn parent(&self, at: usize) -> Address {
        self.items[at].2
    }

    fn forget_first(&mut self, count: usize) {
        self.items.drain(..count);
    }

    #[inline]
    fn truncate(&mut self, count: usize) {
        self.items.truncate(count);
    }
}

impl Stored<'_> {
    /// The state as words; bits behind its end are zero.
    #[inline]
    pub fn words<const W: usize>(self) -> [u64; W] {
        let size = self.bytes.len();
        debug_assert!(size <= 8 * W && size > 8 * (W - 1));
        let mut words = [0; W];
        for (at, word) in words.iter_mut().enumerate() {
            // SAFETY: every word begins before the end of the state, and seven bytes behind it may be read.
            *word = u64::from_le(unsafe { self.bytes.as_ptr().add(8 * at).cast::<u64>().read_unaligned() });
        }
        words[W - 1] &= u64::MAX >> (8 * (8 * W - size));
        words
    }
}

/// Bytes as words, little end first; there must be enough words.
#[inline]
pub(crate) fn to_words<const W: usize>(bytes: &[u8]) -> [u64; W] {
    let mut words = [0; W];
    let (whole, rest) = bytes.as_chunks::<8>();
    words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    if let Some(word) = words.get_mut(whole.len()).filter(|_| !rest.is_empty()) {
        *word = match bytes.last_chunk() {
            // The bytes before it are shifted out: quicker than one by one.
            Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
    }
    words
}

/// A hash whose low bits choose the slot and whose high bits make the tag: all depend on every byte. The same on all machines.
#[inline]
pub fn bytes_hash(bytes: &[u8]) -> u64 {
    let mut hash = SEED ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), FACTOR);
    }
    // What is left, with bytes before it if there are some: quicker than to copy it.
    let last = match (rest, bytes.last_chunk()) {
        ([], _) => 0,
        (_, Some(last)) => u64::from_le_bytes(*last),
        (_, None) => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    fold(fold(hash ^ last, FACTOR), OTHER)
}

/// The same for words.
#[inline]
pub(crate) fn words_hash<const W: usize>(words: &[u64; W]) -> u64 {
    let mut hash = SEED;
    for word in words {
        hash = fold(hash ^ word, FACTOR);
    }
    fold(hash, OTHER)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
const OTHER: u64 = 0xa076_1d64_78bd_642f;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
