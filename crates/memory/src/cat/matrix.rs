//! Sets of events and relations between events, as bits.
//!
//! **Invariant:** bits beyond the last event are 0, so that equal sets are equal words; a relation has one row of whole words per event.

/// How many words hold so many bits.
fn words(bits: usize) -> usize {
    bits.div_ceil(64).max(1)
}

/// A set of the numbers below some bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    len: usize,
    words: Vec<u64>,
}

/// The ones in a row of words, ascending.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(at * 64 + bit)
        })
    })
}

impl Bits {
    /// No number below `len`.
    pub fn new(len: usize) -> Self {
        Self { len, words: vec![0; words(len)] }
    }

    /// All numbers below `len`.
    pub fn full(len: usize) -> Self {
        (0..len).fold(Self::new(len), |mut all, one| {
            all.insert(one);
            all
        })
    }

    /// Those of the numbers below `len` that pass.
    pub fn filter(len: usize, mut test: impl FnMut(usize) -> bool) -> Self {
        let mut found = Self::new(len);
        (0..len).filter(|one| test(*one)).for_each(|one| found.insert(one));
        found
    }

    /// Adds a number.
    pub fn insert(&mut self, one: usize) {
        self.words[one / 64] |= 1 << (one % 64);
    }

    /// Whether it has the number.
    #[inline]
    pub fn contains(&self, one: usize) -> bool {
        self.words[one / 64] >> (one % 64) & 1 == 1
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Its numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.words)
    }

    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| op(*a, *b));
        Self { len: self.len, words: words.collect() }
    }

    /// What is in either.
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// What is in both.
    pub fn inter(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// What is only in the first.
    pub fn diff(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// What is not in it.
    pub fn complement(&self) -> Self {
        Self::full(self.len).diff(self)
    }
}

/// A relation between the numbers below some bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Matrix {
    len: usize,
    /// Words in a row.
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    /// No pair of numbers below `len`.
    pub fn new(len: usize) -> Self {
        let width = words(len);
        Self { len, width, words: vec![0; len * width] }
    }

    /// Those of the pairs that pass.
    pub fn filter(len: usize, mut test: impl FnMut(usize, usize) -> bool) -> Self {
        let mut found = Self::new(len);
        for from in 0..len {
            (0..len).filter(|to| test(from, *to)).for_each(|to| found.insert(from, to));
        }
        found
    }

    /// How many numbers it is about.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a pair.
    #[inline]
    pub fn insert(&mut self, from: usize, to: usize) {
        self.words[from * self.width + to / 64] |= 1 << (to % 64);
    }

    /// Takes a pair away.
    #[inline]
    pub fn remove(&mut self, from: usize, to: usize) {
        self.words[from * self.width + to / 64] &= !(1 << (to % 64));
    }

    /// Whether it has the pair.
    #[inline]
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.words[from * self.width + to / 64] >> (to % 64) & 1 == 1
    }

    fn row(&self, from: usize) -> &[u64] {
        &self.words[from * self.width..(from + 1) * self.width]
    }

    /// The pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len).flat_map(|from| ones(self.row(from)).map(move |to| (from, to)))
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| op(*a, *b));
        Self { len: self.len, width: self.width, words: words.collect() }
    }

    /// What is in either.
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// What is in both.
    pub fn inter(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// What is only in the first.
    pub fn diff(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// All other pairs.
    pub fn complement(&self) -> Self {
        let all = Bits::full(self.len);
        Self::product(&all, &all).diff(self)
    }

    /// All pairs of one from the first and one from the second.
    pub fn product(first: &Bits, second: &Bits) -> Self {
        let mut all = Self::new(first.len);
        for from in first.iter() {
            all.words[from * all.width..(from + 1) * all.width].copy_from_slice(&second.words);
        }
        all
    }

    /// Each with itself.
    pub fn diagonal(set: &Bits) -> Self {
        let mut all = Self::new(set.len);
        set.iter().for_each(|one| all.insert(one, one));
        all
    }

    /// Pairs with something between them: one step of `self`, then one of `other`.
    pub fn seq(&self, other: &Self) -> Self {
        let mut all = Self::new(self.len);
        if self.width == 1 {
            // Nearly always: a row is a word.
            for (reached, row) in all.words.iter_mut().zip(&self.words) {
                let mut left = *row;
                while left != 0 {
                    *reached |= other.words[left.trailing_zeros() as usize];
                    left &= left - 1;
                }
            }
            return all;
        }
        for from in 0..self.len {
            for between in ones(self.row(from)) {
                for (word, more) in all.words[from * all.width..].iter_mut().zip(other.row(between)) {
                    *word |= more;
                }
            }
        }
        all
    }

    /// The pairs turned around.
    pub fn inverse(&self) -> Self {
        let mut all = Self::new(self.len);
        self.iter().for_each(|(from, to)| all.insert(to, from));
        all
    }

    /// With each number and itself.
    pub fn reflexive(mut self) -> Self {
        (0..self.len).for_each(|one| self.insert(one, one));
        self
    }

    /// Pairs with a way of at least one step (Warshall).
    pub fn closure(mut self) -> Self {
        if self.width == 1 {
            for through in 0..self.len {
                let reached = self.words[through];
                for word in &mut self.words {
                    if *word >> through & 1 == 1 {
                        *word |= reached;
                    }
                }
            }
            return self;
        }
        for through in 0..self.len {
            let reached = self.row(through).to_vec();
            for from in 0..self.len {
                if self.contains(from, through) {
                    for (word, more) in self.words[from * self.width..].iter_mut().zip(&reached) {
                        *word |= more;
                    }
                }
            }
        }
        self
    }

    /// What is first in a pair.
    pub fn domain(&self) -> Bits {
        Bits::filter(self.len, |from| self.row(from).iter().any(|word| *word != 0))
    }

    /// What is second in a pair.
    pub fn range(&self) -> Bits {
        let mut all = Bits::new(self.len);
        for from in 0..self.len {
            all.words.iter_mut().zip(self.row(from)).for_each(|(word, more)| *word |= more);
        }
        all
    }

    /// Whether nothing is paired with itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.len).all(|one| !self.contains(one, one))
    }

    /// Whether no way leads back to where it starts: what nothing leads to is taken away until nothing is left.
    pub fn is_acyclic(&self) -> bool {
        let mut left = Bits::full(self.len);
        loop {
            let mut led_to = Bits::new(self.len);
            for from in left.iter() {
                led_to.words.iter_mut().zip(self.row(from)).for_each(|(word, more)| *word |= more);
            }
            let next = left.inter(&led_to);
            if next.is_empty() {
                return true;
            }
            if next == left {
                return false;
            }
            left = next;
        }
    }

    /// A shortest way that leads back to where it starts.
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let found = (0..self.len).filter_map(|start| self.way(start, start));
        found.min_by_key(Vec::len)
    }

    /// A shortest way of at least one step, without its end.
    fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before: Vec<Option<usize>> = vec![None; self.len];
        let mut ahead = std::collections::VecDeque::from([from]);
        while let Some(at) = ahead.pop_front() {
            if self.contains(at, to) {
                let mut way = vec![at];
                while *way.last()? != from {
                    way.push(before[*way.last()?]?);
                }
                way.reverse();
                return Some(way);
            }
            for next in ones(self.row(at)) {
                if next != from && before[next].is_none() {
                    before[next] = Some(at);
                    ahead.push_back(next);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers beyond one word, so that rows of several words are met.
    const LENS: [usize; 4] = [0, 5, 64, 130];

    fn random(len: usize, seed: u64, odds: u64) -> Matrix {
        let mut state = seed | 1;
        Matrix::filter(len, |_, _| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20).is_multiple_of(odds)
        })
    }

    #[test]
    fn operations_are_what_their_definitions_say() {
        for (len, seed) in LENS.into_iter().flat_map(|len| (1..4).map(move |seed| (len, seed))) {
            let (a, b) = (random(len, seed, 7), random(len, seed + 100, 9));
            let check = |made: Matrix, test: &dyn Fn(usize, usize) -> bool| assert_eq!(made, Matrix::filter(len, test));
            check(a.union(&b), &|x, y| a.contains(x, y) || b.contains(x, y));
            check(a.inter(&b), &|x, y| a.contains(x, y) && b.contains(x, y));
            check(a.diff(&b), &|x, y| a.contains(x, y) && !b.contains(x, y));
            check(a.complement(), &|x, y| !a.contains(x, y));
            check(a.inverse(), &|x, y| a.contains(y, x));
            check(a.seq(&b), &|x, y| (0..len).any(|z| a.contains(x, z) && b.contains(z, y)));
            check(Matrix::product(&a.domain(), &b.range()), &|x, y| a.domain().contains(x) && b.range().contains(y));
            check(Matrix::diagonal(&a.range()), &|x, y| x == y && (0..len).any(|z| a.contains(z, x)));
            assert_eq!(a.domain(), Bits::filter(len, |x| (0..len).any(|y| a.contains(x, y))));
            assert_eq!(a.domain().complement(), Bits::filter(len, |x| !a.domain().contains(x)));
        }
    }

    #[test]
    fn closures_and_cycles() {
        for (len, seed) in LENS.into_iter().flat_map(|len| (1..12).map(move |seed| (len, seed))) {
            let a = random(len, seed, len.max(1) as u64);
            let mut steps = a.clone();
            let mut all = a.clone();
            for _ in 0..len {
                steps = steps.seq(&a);
                all = all.union(&steps);
            }
            assert_eq!(a.clone().closure(), all);
            assert_eq!(a.is_acyclic(), all.is_irreflexive());
            let cycle = a.cycle();
            assert_eq!(cycle.is_none(), a.is_acyclic());
            if let Some(cycle) = cycle {
                let around = cycle.iter().zip(cycle.iter().cycle().skip(1));
                assert!(around.into_iter().all(|(from, to)| a.contains(*from, *to)), "{cycle:?}");
            }
        }
    }
}
