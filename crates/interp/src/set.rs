//! Sets of event numbers.
//!
//! **Invariant:** `rest` never ends in a zero word, so that equal sets are equal values. Sets of numbers below 64, which is
//! all that enumeration ever sees, need no heap; replay may meet longer executions.

/// A set of event numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct EventSet {
    low: u64,
    rest: Vec<u64>,
}

impl FromIterator<usize> for EventSet {
    fn from_iter<I: IntoIterator<Item = usize>>(events: I) -> Self {
        let mut set = Self::default();
        events.into_iter().for_each(|event| set.insert(event));
        set
    }
}

impl EventSet {
    /// Adds an element.
    pub(crate) fn insert(&mut self, event: usize) {
        if event < 64 {
            self.low |= 1 << event;
            return;
        }
        let word = event / 64 - 1;
        if self.rest.len() <= word {
            self.rest.resize(word + 1, 0);
        }
        self.rest[word] |= 1 << (event % 64);
    }

    /// Removes an element.
    pub(crate) fn remove(&mut self, event: usize) {
        if event < 64 {
            self.low &= !(1 << event);
        } else if let Some(word) = self.rest.get_mut(event / 64 - 1) {
            *word &= !(1 << (event % 64));
            while self.rest.last() == Some(&0) {
                self.rest.pop();
            }
        }
    }

    /// Whether it is an element.
    pub(crate) fn contains(&self, event: usize) -> bool {
        if event < 64 {
            return self.low >> event & 1 == 1;
        }
        let word = self.rest.get(event / 64 - 1);
        word.is_some_and(|word| word >> (event % 64) & 1 == 1)
    }

    /// Adds all elements of the other set.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.low |= other.low;
        if self.rest.len() < other.rest.len() {
            self.rest.resize(other.rest.len(), 0);
        }
        for (word, more) in self.rest.iter_mut().zip(&other.rest) {
            *word |= more;
        }
    }

    /// Whether there is no element.
    pub(crate) fn is_empty(&self) -> bool {
        self.low == 0 && self.rest.is_empty()
    }

    /// Whether every element is in the other set.
    pub(crate) fn within(&self, other: &Self) -> bool {
        self.low & !other.low == 0
            && self.rest.len() <= other.rest.len()
            && self.rest.iter().zip(&other.rest).all(|(a, b)| a & !b == 0)
    }

    /// The elements in increasing order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = std::iter::once(self.low).chain(self.rest.iter().copied());
        words.enumerate().flat_map(|(at, word)| {
            let ones = (0..64).filter(move |bit| word >> bit & 1 == 1);
            ones.map(move |bit| at * 64 + bit)
        })
    }

    /// The set with every element moved up.
    pub(crate) fn shifted(&self, by: usize) -> Self {
        if self.rest.is_empty() && by + 64 - self.low.leading_zeros() as usize <= 64 {
            let low = if by < 64 { self.low << by } else { 0 };
            return Self { low, rest: Vec::new() };
        }
        self.iter().map(|event| event + by).collect()
    }

    /// The elements below `bound`.
    pub(crate) fn below(&self, bound: usize) -> Self {
        self.iter().take_while(|event| *event < bound).collect()
    }

    /// The first 64 numbers as bits.
    pub(crate) fn low_bits(&self) -> u64 {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::EventSet;

    fn set(elements: &[usize]) -> EventSet {
        elements.iter().copied().collect()
    }

    #[test]
    fn operations_agree_with_lists() {
        let lists: [&[usize]; 6] = [&[], &[0], &[63], &[3, 64], &[0, 63, 64, 130], &[200]];
        for list in lists {
            assert_eq!(set(list).iter().collect::<Vec<_>>(), list);
            for by in [0, 1, 5, 63, 64, 100] {
                let moved: Vec<_> = list.iter().map(|e| e + by).collect();
                assert_eq!(set(list).shifted(by), set(&moved), "{list:?} by {by}");
            }
            for other in lists {
                let inside = list.iter().all(|e| other.contains(e));
                assert_eq!(set(list).within(&set(other)), inside, "{list:?} {other:?}");
                let mut both = set(list);
                both.absorb(&set(other));
                let union: Vec<_> = list.iter().chain(other).copied().collect();
                assert_eq!(both, set(&union));
            }
        }
    }

    #[test]
    fn removal_keeps_sets_canonical() {
        let mut removed = set(&[1, 70, 200]);
        removed.remove(200);
        removed.remove(70);
        assert_eq!(removed, set(&[1]));
        assert_eq!(set(&[1, 70, 200]).below(70), set(&[1]));
    }
}
