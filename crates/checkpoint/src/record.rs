//! A state with where it was found from: what logs, and the letters of a cluster, are made of.
//!
//! ```text
//! parent 56 bits, length, the state's bytes       (little endian; lengths have seven bits in a byte)
//! ```

/// Bytes of a parent.
const PARENT: usize = 7;

/// The most bytes that a record has beside the state's.
const HEAD: usize = PARENT + 4;

/// Appends a record.
#[inline]
pub fn push(out: &mut Vec<u8>, parent: u64, state: &[u8]) {
    out.extend_from_slice(&parent.to_le_bytes()[..PARENT]);
    let mut length = state.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(state);
}

/// The records in some bytes, which may be anything: for each its parent and its state. The last item is `None` if the bytes end in the middle of one.
pub struct Records<'a>(pub &'a [u8]);

impl<'a> Records<'a> {
    /// How many there are, if they are whole.
    pub fn count_whole(self) -> Option<usize> {
        let mut count = 0;
        for record in self {
            record?;
            count += 1;
        }
        Some(count)
    }

    #[inline]
    fn split(&self) -> Option<(u64, &'a [u8], &'a [u8])> {
        let (parent, rest) = self.0.split_first_chunk::<PARENT>()?;
        let [a, b, c, d, e, f, g] = *parent;
        let end = rest.iter().take(HEAD - PARENT).position(|byte| *byte < 0x80)?;
        let length = rest[..=end].iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
        let (state, rest) = rest[end + 1..].split_at_checked(length)?;
        Some((u64::from_le_bytes([a, b, c, d, e, f, g, 0]), state, rest))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Option<(u64, &'a [u8])>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((parent, state, rest)) = self.split() else {
            self.0 = &[];
            return Some(None);
        };
        self.0 = rest;
        Some(Some((parent, state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let lengths = [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 20];
        let states: Vec<Vec<u8>> = lengths.iter().map(|length| vec![*length as u8; *length]).collect();
        let mut out = Vec::new();
        states.iter().enumerate().for_each(|(at, state)| push(&mut out, (1 << 56) - 1 - at as u64, state));
        let read: Vec<(u64, &[u8])> = Records(&out).flatten().collect();
        assert_eq!(Records(&out).count_whole(), Some(lengths.len()));
        assert!(read.iter().zip(0..).all(|((parent, _), at)| *parent == (1 << 56) - 1 - at));
        assert!(read.iter().map(|(_, state)| *state).eq(states.iter().map(Vec::as_slice)));
        for cut in [1, 6, 7, 8, 16] {
            assert_eq!(Records(&out[..cut]).count_whole().is_some(), cut == 8 || cut == 16 + 1, "{cut} bytes");
        }
        assert_eq!(Records(&[0xff; 20]).count_whole(), None);
    }
}
