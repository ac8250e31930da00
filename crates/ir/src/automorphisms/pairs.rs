//! Renamings that are found step by step: walks over two pieces of code pair what stands in the same place.

/// A map that is one-to-one and grows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairs {
    to: Vec<Option<usize>>,
    from: Vec<Option<usize>>,
}

impl Pairs {
    /// Knows nothing about `size` numbers.
    pub fn new(size: usize) -> Self {
        Self { to: vec![None; size], from: vec![None; size] }
    }

    /// Adds a pair; none if it contradicts another.
    pub fn add(&mut self, a: usize, b: usize) -> Option<()> {
        let fits = self.to[a].is_none_or(|known| known == b) && self.from[b].is_none_or(|known| known == a);
        fits.then(|| (self.to[a], self.from[b]) = (Some(b), Some(a)))
    }

    /// The partner of each number, as far as it is known.
    pub fn partners(self) -> Vec<Option<usize>> {
        self.to
    }

    /// The map, with the identity wherever nothing is known; none if that is not one-to-one.
    pub fn complete(mut self) -> Option<Vec<usize>> {
        for at in 0..self.to.len() {
            if self.to[at].is_none() {
                self.add(at, at)?;
            }
        }
        self.to.into_iter().collect()
    }
}
