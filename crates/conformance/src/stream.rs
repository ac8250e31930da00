//! Random numbers (xorshift) that depend on nothing but their seed, so that a seed names a test.

/// A stream of numbers.
pub struct Stream(u64);

impl Stream {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The same, further on: seeds that are close to each other start alike.
    pub fn mixed(seed: u64) -> Self {
        let mut stream = Self::new(seed);
        for _ in 0..8 {
            stream.below(2);
        }
        stream
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// One of these.
    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}
