//! A state with the number of the state it was found from: the same bytes in memory and in the log.
//!
//! ```text
//! parent 40 bits, length 23 bits, old 1 bit; the state's bytes       (little endian)
//! ```
//!
//! `old` is set in memory only: the state turned out to be an old one.

/// Bytes of a record's head.
pub(crate) const HEAD: usize = 8;
/// The parent of initial states.
pub(crate) const NO_PARENT: u64 = (1 << PARENT_BITS) - 1;
/// The longest state, more than the explorer can have.
const LONGEST: usize = (1 << 23) - 1;

const PARENT_BITS: u32 = 40;
const OLD: u8 = 0x80;

/// Appends a record.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, parent: u64, state: &[u8]) {
    assert!(state.len() <= LONGEST, "a state of {} bytes does not fit a record", state.len());
    let head = parent | (state.len() as u64) << PARENT_BITS;
    out.extend_from_slice(&head.to_le_bytes());
    match (state.first_chunk::<4>(), state.last_chunk::<4>()) {
        // Short states are frequent: no call for a handful of bytes.
        (Some(first), Some(last)) if state.len() <= 8 => {
            let end = out.len() + state.len();
            let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
            out.extend_from_slice(&(first | last << (8 * (state.len() - 4))).to_le_bytes());
            out.truncate(end);
        }
        _ => out.extend_from_slice(state),
    }
}

/// Copies a record; both slices have the same length.
#[inline]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    match (from.first_chunk::<8>(), from.last_chunk::<8>()) {
        (Some(first), Some(last)) if from.len() <= 16 => {
            let tail = from.len() - 8;
            to[..8].copy_from_slice(first);
            to[tail..tail + 8].copy_from_slice(last);
        }
        _ => to.copy_from_slice(from),
    }
}

/// Whether two states are the same.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        4..=8 => a.first_chunk::<4>() == b.first_chunk::<4>() && a.last_chunk::<4>() == b.last_chunk::<4>(),
        9..=16 => a.first_chunk::<8>() == b.first_chunk::<8>() && a.last_chunk::<8>() == b.last_chunk::<8>(),
        _ => a == b,
    }
}

/// The parent and the state's length in a head.
#[inline]
pub(crate) fn head(record: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*record.first_chunk()?) & !(1 << 63);
    Some((word & NO_PARENT, (word >> PARENT_BITS) as usize))
}

/// Whether a record was marked as an old one.
#[inline]
pub(crate) fn is_old(record: &[u8]) -> bool {
    record[HEAD - 1] & OLD != 0
}

/// Marks a record.
#[inline]
pub(crate) fn mark_old(record: &mut [u8]) {
    record[HEAD - 1] |= OLD;
}

/// The records in some bytes: for each its parent and its state. The last item is `None` if the bytes end in the middle of one.
pub(crate) struct Records<'a>(pub &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Option<(u64, &'a [u8])>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((parent, length)) = head(self.0).filter(|(_, length)| HEAD + length <= self.0.len()) else {
            self.0 = &[];
            return Some(None);
        };
        let (record, rest) = self.0.split_at(HEAD + length);
        self.0 = rest;
        Some(Some((parent, &record[HEAD..])))
    }
}
