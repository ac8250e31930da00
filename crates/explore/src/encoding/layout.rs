//! Where the numbers of a state's parts lie in its words.
//!
//! In memory a part's bits lie together, and when they are too few all states get another layout ([`super::tuples`]). Where states are kept, in files or
//! on other machines, a bit never changes its place, so a part may come to have bits in several places ([`Bits`] says what both have in common).

/// The most words of a state in memory.
pub(crate) const MOST_WORDS: usize = 16;
/// The most words of a state that is kept.
pub(crate) const MOST_KEPT_WORDS: usize = 64;

/// Bits of one part, inside one word: some of its number's, from `from` on, as many as `low` has ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment {
    pub word: u32,
    pub shift: u32,
    pub low: u32,
    pub from: u32,
}

impl Segment {
    #[inline]
    fn mask(self) -> u64 {
        u64::from(self.low) << self.shift
    }
}

/// The bits of a part.
pub(crate) trait Bits: Clone {
    /// From where they are.
    fn new(segments: &[Segment]) -> Self;
    /// The number in them.
    fn get(&self, words: &[u64]) -> u32;
    /// Puts a number in; they must be able to hold it.
    fn put(&self, words: &mut [u64], number: u32);
    /// Sets all of them.
    fn add_to(&self, mask: &mut [u64]);
}

/// All in one place, from bit 0 of the number on.
impl Bits for Segment {
    fn new(segments: &[Segment]) -> Self {
        debug_assert!(segments.len() <= 1, "in memory a part's bits lie together");
        segments.first().copied().unwrap_or_default()
    }

    #[inline]
    fn get(&self, words: &[u64]) -> u32 {
        (words[self.word as usize] >> self.shift) as u32 & self.low
    }

    #[inline]
    fn put(&self, words: &mut [u64], number: u32) {
        let word = &mut words[self.word as usize];
        *word = *word & !self.mask() | u64::from(number) << self.shift;
    }

    #[inline]
    fn add_to(&self, mask: &mut [u64]) {
        mask[self.word as usize] |= self.mask();
    }
}

/// In any number of places. Most have one.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    first: Segment,
    rest: Box<[Segment]>,
}

impl Bits for Spread {
    fn new(segments: &[Segment]) -> Self {
        let (first, rest) =
            segments.split_first().map_or((Segment::default(), &[][..]), |(first, rest)| (*first, rest));
        Self { first, rest: rest.into() }
    }

    #[inline]
    fn get(&self, words: &[u64]) -> u32 {
        self.rest.iter().fold(self.first.get(words), |number, part| number | part.get(words) << part.from)
    }

    fn put(&self, words: &mut [u64], number: u32) {
        self.first.put(words, number & self.first.low);
        self.rest.iter().for_each(|part| part.put(words, number >> part.from & part.low));
    }

    fn add_to(&self, mask: &mut [u64]) {
        self.first.add_to(mask);
        self.rest.iter().for_each(|part| part.add_to(mask));
    }
}

/// Bits for one part after the other, none across two words.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cursor {
    word: u32,
    shift: u32,
}

impl Cursor {
    /// The next bits of a part, which begin with this one of its number.
    pub fn next(&mut self, width: u32, from: u32) -> Segment {
        if self.shift + width > 64 {
            (self.word, self.shift) = (self.word + 1, 0);
        }
        let low = ((1u64 << width) - 1) as u32;
        let segment = Segment { word: self.word, shift: self.shift, low, from };
        self.shift += width;
        // A part without bits may stand at the end of a word, where no shift leads.
        if width == 0 { Segment::default() } else { segment }
    }

    /// How many words are used.
    pub fn words(self) -> usize {
        self.word as usize + usize::from(self.shift > 0)
    }

    /// How many bytes are used.
    pub fn bytes(self) -> usize {
        self.word as usize * 8 + self.shift.div_ceil(8) as usize
    }
}

/// Something to do with states of a number of words that is known when it is compiled.
pub(crate) trait WithWords {
    type Out;
    fn call<const W: usize>(self) -> Self::Out;
}

/// Does it with at least so many words. Only some numbers of words have code of their own.
pub(crate) fn with_words<F: WithWords>(words: usize, f: F) -> F::Out {
    match rounded(words) {
        1 => f.call::<1>(),
        2 => f.call::<2>(),
        3 => f.call::<3>(),
        4 => f.call::<4>(),
        6 => f.call::<6>(),
        8 => f.call::<8>(),
        12 => f.call::<12>(),
        MOST_WORDS => f.call::<MOST_WORDS>(),
        _ => f.call::<MOST_KEPT_WORDS>(),
    }
}

/// The bits of either.
#[inline]
pub(crate) fn or<const W: usize>(one: &[u64; W], other: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| one[at] | other[at])
}

/// How many words [`with_words`] makes of so many.
pub(crate) fn rounded(words: usize) -> usize {
    [1, 2, 3, 4, 6, 8, 12, MOST_WORDS].into_iter().find(|size| *size >= words).unwrap_or(MOST_KEPT_WORDS)
}

#[inline]
pub(crate) fn and<const W: usize>(words: &[u64; W], mask: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] & mask[at])
}

#[inline]
pub(crate) fn xor<const W: usize>(words: &[u64; W], change: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] ^ change[at])
}

/// Sorts the numbers of threads that may exchange their places ([`crate::reductions::symmetric_threads`]).
#[inline]
pub(crate) fn sort<B: Bits, const W: usize>(groups: &[Vec<B>], words: &mut [u64; W]) {
    for group in groups {
        for end in 1..group.len() {
            let number = group[end].get(words);
            let mut at = end;
            while at > 0 && group[at - 1].get(words) > number {
                let before = group[at - 1].get(words);
                group[at].put(words, before);
                at -= 1;
            }
            if at != end {
                group[at].put(words, number);
            }
        }
    }
}
