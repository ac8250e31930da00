//! Sorting addresses by the bytes that they stand for.
//!
//! Eight bytes of each state are kept beside its address and sorted as a number; of those that are equal the next eight bytes are looked at
//! (Bentley and Sedgewick's multikey sort with a cache). A prefix that all states of a group share is skipped at once.

use cyrano_explore::store::Address;

/// An address and the bytes that are compared now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    key: u64,
    pub address: Address,
}

impl Entry {
    pub fn new(address: Address) -> Self {
        Self { key: 0, address }
    }
}

/// Groups of at most this size are sorted by comparisons.
const SMALL: usize = 12;

/// Sorts by the bytes of `state`, as slices are compared.
pub(crate) fn sort<'s>(entries: &mut [Entry], state: impl Fn(Address) -> &'s [u8]) {
    let mut groups = vec![(0..entries.len(), 0)];
    while let Some((range, depth)) = groups.pop() {
        let group = &mut entries[range.clone()];
        let ends = group.iter().any(|entry| state(entry.address).len() <= depth);
        if group.len() <= SMALL || ends {
            group.sort_unstable_by(|a, b| state(a.address).cmp(state(b.address)));
            continue;
        }
        let depth = shared_prefix(group, depth, &state);
        for entry in group.iter_mut() {
            entry.key = bytes_at(state(entry.address), depth);
        }
        group.sort_unstable_by_key(|entry| entry.key);
        let mut start = range.start;
        for same in group.chunk_by(|a, b| a.key == b.key) {
            let end = start + same.len();
            if same.len() > 1 {
                groups.push((start..end, depth + 8));
            }
            start = end;
        }
    }
}

/// How many bytes all states of a group share, if they share `depth` bytes.
fn shared_prefix<'s>(group: &[Entry], depth: usize, state: &impl Fn(Address) -> &'s [u8]) -> usize {
    let Some((first, others)) = group.split_first() else { return depth };
    let first = state(first.address);
    let mut shared = first.len();
    for other in others {
        let other = &state(other.address)[depth..];
        shared = depth + common_prefix(&first[depth..shared], other);
        if shared == depth {
            break;
        }
    }
    shared
}

/// How many bytes two slices share at their beginning.
#[inline]
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let mut shared = 0;
    while let (Some(x), Some(y)) = (a[shared..].first_chunk(), b[shared..].first_chunk()) {
        let different = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if different != 0 {
            return shared + different.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    while shared < length && a[shared] == b[shared] {
        shared += 1;
    }
    shared
}

/// Eight bytes from here on as a number that orders as they do; behind the end there are zeros.
#[inline]
fn bytes_at(state: &[u8], from: usize) -> u64 {
    let rest = &state[from..];
    match rest.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => rest.iter().chain(std::iter::repeat(&0)).take(8).fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
