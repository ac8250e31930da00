//! Sets of one thread's registers, one bit each.

use std::fmt;

use crate::ids::RegId;

/// A set of registers of one thread.
///
/// **Invariant:** all sets that meet in one operation were made for the same number of registers.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RegSet {
    words: Box<[u64]>,
}

impl RegSet {
    /// The empty set for a thread with this many registers.
    pub fn new(registers: usize) -> Self {
        Self { words: vec![0; registers.div_ceil(64)].into() }
    }

    /// Whether the register is in the set.
    #[inline]
    pub fn contains(&self, reg: RegId) -> bool {
        self.words[reg.index() / 64] >> (reg.index() % 64) & 1 == 1
    }

    /// Adds a register.
    #[inline]
    pub fn insert(&mut self, reg: RegId) {
        self.words[reg.index() / 64] |= 1 << (reg.index() % 64);
    }

    /// Takes a register out.
    #[inline]
    pub fn remove(&mut self, reg: RegId) {
        self.words[reg.index() / 64] &= !(1 << (reg.index() % 64));
    }

    /// Adds all registers of `other`; says whether that changed anything.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.words.iter_mut().zip(&*other.words) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    /// The registers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = RegId> + '_ {
        let bits = |word: u64| {
            std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)))
                .take_while(|word| *word != 0)
                .map(u64::trailing_zeros)
        };
        let words = self.words.iter().enumerate();
        words.flat_map(move |(i, word)| bits(*word).map(move |bit| RegId::new(i * 64 + bit as usize)))
    }
}

impl fmt::Debug for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
