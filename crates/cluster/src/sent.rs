//! States that were sent lately, so that they are not sent again: most states are found several times, mostly within a level.
//!
//! **Argument.** What was sent at this time or at an earlier one is, or will be, in its owner's table, in this level or an earlier one, when the next level begins; to
//! send it again would change nothing there. Only states that are the same in all their bytes count as the same, and within a search the same bytes
//! always mean the same state. If a state is forgotten here, it is sent once more.

/// Bytes of an entry: the length of a state and one, and its bytes. Half a cache line.
const ENTRY: usize = 32;
/// The most entries.
const MOST: u64 = 1 << 18;
/// Of the memory that there is, one part of so many may be used.
const SHARE: u64 = 64;

/// A cache of states: each has one place where it can be, and a new one replaces the one there.
pub(crate) struct Sent {
    /// As many as a power of two, or none.
    entries: Vec<[u8; ENTRY]>,
}

impl Sent {
    /// An empty one, for a worker that may use this many bytes in all.
    pub fn new(memory: u64) -> Self {
        let entries = (memory / SHARE / ENTRY as u64).min(MOST);
        let entries = if entries == 0 { 0 } else { 1 << entries.ilog2() };
        Self { entries: vec![[0; ENTRY]; entries] }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (self.entries.len() * ENTRY) as u64
    }

    /// Whether a state with this hash was sent before, as far as is known; from now on it is.
    #[inline]
    pub fn was_sent(&mut self, hash: u64, state: &[u8]) -> bool {
        let at = hash as usize & self.entries.len().wrapping_sub(1);
        let Some(entry) = self.entries.get_mut(at).filter(|_| state.len() < ENTRY) else { return false };
        let length = state.len();
        if entry[0] as usize == length + 1 && entry[1..=length] == *state {
            return true;
        }
        entry[0] = length as u8 + 1;
        entry[1..=length].copy_from_slice(state);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_counts_as_sent() {
        let mut sent = Sent::new(1 << 20);
        assert_eq!(sent.bytes(), 1 << 14);
        // Hashes say nothing; neither do beginnings.
        let states: [&[u8]; 5] = [&[], &[0], &[0, 0], &[1], &[7; ENTRY - 1]];
        for state in states {
            assert!(!sent.was_sent(5, state));
            assert!(sent.was_sent(5, state) && sent.was_sent(5 + 512, state), "{state:?}");
            assert!(!sent.was_sent(6, state));
        }
        assert!(!sent.was_sent(5, states[0]), "it was replaced");
        // Too long to be remembered; no memory at all.
        let long = [7; ENTRY];
        assert!(!sent.was_sent(5, &long) && !sent.was_sent(5, &long));
        let mut none = Sent::new(100);
        assert!(!none.was_sent(5, &[1]) && !none.was_sent(5, &[1]) && none.bytes() == 0);
    }
}
