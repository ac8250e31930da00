//! One walker's copies of the values in a dictionary, which it reads without locks: for hashes and bytes of packed states that mean the same on all
//! machines.
//!
//! The numbers in a packed state mean nothing elsewhere, and of threads that may exchange their places the order depends on them. So what says which
//! machine a state belongs to is made of the values: the sum of their hashes, in which there is no order, mixed ([`route`]).

use super::dictionary::{Dictionary, Value, mix};

/// Values of all parts, by owner and number.
pub(crate) struct Copies {
    owners: Vec<usize>,
    values: Vec<Vec<Value>>,
}

impl Copies {
    pub fn new(dictionary: &Dictionary) -> Self {
        let owners = dictionary.owners();
        Self { values: vec![Vec::new(); owners.len()], owners }
    }

    /// The value with a number, if there is one.
    #[inline]
    pub fn value(&mut self, dictionary: &Dictionary, part: usize, number: u32) -> Option<&Value> {
        let owner = self.owners[part];
        if self.values[owner].len() <= number as usize {
            self.fill(dictionary, owner);
        }
        self.values[owner].get(number as usize)
    }

    #[cold]
    fn fill(&mut self, dictionary: &Dictionary, owner: usize) {
        dictionary.copy(owner, &mut self.values[owner]);
    }

    /// Bytes that it takes beside the dictionary.
    pub fn bytes(&self) -> u64 {
        self.values.iter().map(|values| (values.capacity() * size_of::<Value>()) as u64).sum()
    }
}

/// What says where a state belongs, from the sum of the hashes of its values.
#[inline]
pub(crate) fn route(sum: u64) -> u64 {
    mix(sum)
}
