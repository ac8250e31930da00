//! States that were sent lately, so that they are not sent again: most states are found several times, mostly within a level.
//!
//! **Argument.** What was sent at this time or at an earlier one is, or will be, in its owner's table, in this level or an earlier one, when the next level begins; to
//! send it again would change nothing there. Only states that are the same in all their bytes count as the same, and within a search the same bytes
//! always mean the same state. If a state is forgotten here, it is sent once more.

use cyrano_checkpoint::record;
use cyrano_explore::store::{Address, BATCH, ByteKeys, Keys, prefetch};

use crate::table::{RecordId, owner};

/// Bytes of an entry: the length of a state and one, and its bytes. Half a cache line.
const ENTRY: usize = 32;
/// Entries at first, and at most.
const FIRST: usize = 1 << 10;
const MOST: u64 = 1 << 20;
/// It grows by this factor when it has been written so many times over.
const GROWTH: usize = 4;
/// Of the memory that there is, one part of so many may be used.
const SHARE: u64 = 64;

/// States on their way to other processes. They are looked up in batches, so that cache misses overlap.
pub(crate) struct Outgoing {
    waiting: ByteKeys,
    sent: Sent,
}

impl Outgoing {
    /// Nothing yet, for a worker that may use this many bytes in all.
    pub fn new(memory: u64) -> Self {
        Self { waiting: ByteKeys::default(), sent: Sent::new(memory) }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (self.sent.entries.len() * ENTRY) as u64
    }

    /// Adds a state whose owner this hash names.
    #[inline]
    pub fn push(&mut self, route: u64, parent: RecordId, state: &[u8]) {
        self.waiting.push_hashed(route, Address(parent.0), state);
    }

    /// Whether there is enough for a batch.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= BATCH
    }

    /// Writes into the letters to all processes what they were not sent lately.
    pub fn write(&mut self, letters: &mut [Vec<u8>]) {
        let Self { waiting, sent } = self;
        (0..waiting.len()).for_each(|at| sent.prefetch(waiting.hash(at)));
        for at in 0..waiting.len() {
            let (route, state) = (waiting.hash(at), waiting.state(at));
            if !sent.was_sent(route, state) {
                record::push(&mut letters[owner(route, letters.len())], waiting.parent(at).0, state);
            }
        }
        waiting.clear();
        sent.grow();
    }
}

/// A cache of states: each has one place where it can be, and a new one replaces the one there.
struct Sent {
    /// As many as a power of two, or none.
    entries: Vec<[u8; ENTRY]>,
    /// How many there may be.
    most: usize,
    /// How many states were written since it grew.
    written: usize,
}

impl Sent {
    fn new(memory: u64) -> Self {
        let most = (memory / SHARE / ENTRY as u64).min(MOST);
        let most = if most == 0 { 0 } else { 1 << most.ilog2() };
        Self { entries: vec![[0; ENTRY]; most.min(FIRST)], most, written: 0 }
    }

    /// Makes it larger, if it is much too small. What was in it is forgotten.
    fn grow(&mut self) {
        if self.written >= GROWTH * self.entries.len() && self.entries.len() < self.most {
            let entries = self.most.min(GROWTH * self.entries.len());
            (self.entries, self.written) = (vec![[0; ENTRY]; entries], 0);
        }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & self.entries.len().wrapping_sub(1)
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        prefetch(self.entries.as_ptr().wrapping_add(self.place(hash)));
    }

    /// Whether a state with this hash was sent before, as far as is known; from now on it is.
    #[inline]
    fn was_sent(&mut self, hash: u64, state: &[u8]) -> bool {
        let at = self.place(hash);
        let Some(entry) = self.entries.get_mut(at).filter(|_| state.len() < ENTRY) else { return false };
        let length = state.len();
        if entry[0] as usize == length + 1 && entry[1..=length] == *state {
            return true;
        }
        entry[0] = length as u8 + 1;
        entry[1..=length].copy_from_slice(state);
        self.written += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_counts_as_sent() {
        let mut sent = Sent::new(1 << 20);
        assert_eq!(sent.entries.len(), 512);
        // Hashes say nothing; neither do beginnings.
        let states: [&[u8]; 5] = [&[], &[0], &[0, 0], &[1], &[7; ENTRY - 1]];
        for state in states {
            assert!(!sent.was_sent(5, state));
            assert!(sent.was_sent(5, state) && sent.was_sent(5 + 512, state), "{state:?}");
            assert!(!sent.was_sent(6, state));
        }
        assert!(!sent.was_sent(5, states[0]), "it was replaced");
        // A larger one has more places.
        let mut large = Sent::new(1 << 30);
        (0..20_000u64).for_each(|n| {
            assert!(!large.was_sent(n, &n.to_le_bytes()));
            large.grow();
        });
        assert!(large.was_sent(19_999, &19_999u64.to_le_bytes()) && large.entries.len() == 4 * FIRST);
        // Too long to be remembered; no memory at all.
        let long = [7; ENTRY];
        assert!(!sent.was_sent(5, &long) && !sent.was_sent(5, &long));
        let mut none = Sent::new(100);
        none.prefetch(5);
        assert!(!none.was_sent(5, &[1]) && !none.was_sent(5, &[1]));
    }

    #[test]
    fn states_go_to_their_owners_once() {
        let mut outgoing = Outgoing::new(1 << 20);
        let mut letters = vec![Vec::new(); 3];
        let route = |n: u8| u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..2 {
            (0..100).for_each(|n| outgoing.push(route(n), RecordId::new(1, 7), &[n; 5]));
            assert!(outgoing.is_full());
            outgoing.write(&mut letters);
            assert!(!outgoing.is_full());
        }
        let mut expected = vec![Vec::new(); 3];
        (0..100).for_each(|n| record::push(&mut expected[owner(route(n), 3)], RecordId::new(1, 7).0, &[n; 5]));
        // One that was replaced in between is there twice.
        let lengths = |letters: &[Vec<u8>]| letters.iter().map(Vec::len).sum::<usize>();
        assert!(letters.iter().zip(&expected).all(|(letter, first)| letter.starts_with(first) && !first.is_empty()));
        assert!(lengths(&letters) < lengths(&expected) * 3 / 2);
    }
}
