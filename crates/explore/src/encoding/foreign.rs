//! Packed states of another process: what its numbers are here.
//!
//! A process tells what it has learnt in order ([`super::dictionary`]), so that its packed states can be read part by part: the number of each part
//! leads to the number that the same value has here. What is told twice, by several workers of that process, is learnt once.

use super::dictionary::Dictionary;
use super::event::Event;
use super::layout::{Bits, MOST_KEPT_WORDS, Spread};

/// What is known of another process's numbers.
pub struct Foreign {
    owners: Vec<usize>,
    /// Has bits, but no values.
    layout: Dictionary,
    fields: Vec<Spread>,
    /// By owner and number there: the number here.
    numbers: Vec<Vec<u32>>,
    learnt: usize,
    /// The words of the state that is read.
    words: [u64; MOST_KEPT_WORDS],
    /// How many of them are not zero, at most.
    used: usize,
}

impl Foreign {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let owners = dictionary.owners();
        let parts = owners.len();
        Self {
            layout: Dictionary::new(owners.clone()),
            owners,
            fields: Vec::new(),
            numbers: vec![Vec::new(); parts],
            learnt: 0,
            words: [0; MOST_KEPT_WORDS],
            used: 0,
        }
    }

    /// Learns what the other one learnt after its first `first` things. `None` if that makes no sense, or there is no room for it here.
    pub(crate) fn hear(&mut self, here: &Dictionary, first: usize, mut events: &[u8]) -> Option<()> {
        let mut at = first;
        while !events.is_empty() {
            let event = Event::read(&mut events)?;
            at += 1;
            if at <= self.learnt {
                continue;
            }
            if at > self.learnt + 1 {
                return None;
            }
            match &event {
                Event::Bits(..) => {
                    self.layout.happen(event)?;
                    self.fields.clear();
                }
                Event::Value(part, value) => {
                    let part = *part as usize;
                    self.owners.get(part).filter(|owner| **owner == part)?;
                    self.numbers[part].push(here.number(part, value).ok()?);
                }
            }
            self.learnt = at;
        }
        if self.fields.is_empty() {
            self.fields = self.layout.layout().1.iter().map(|segments| Spread::new(segments)).collect();
        }
        Some(())
    }

    /// Takes up a packed state of the other process.
    #[inline]
    pub(crate) fn read(&mut self, state: &[u8]) -> Option<()> {
        if state.len() > 8 * MOST_KEPT_WORDS {
            return None;
        }
        let (whole, rest) = state.as_chunks::<8>();
        let mut count = whole.len();
        self.words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        if !rest.is_empty() {
            self.words[count] = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            count += 1;
        }
        self.words[count..self.used.max(count)].fill(0);
        self.used = count;
        Some(())
    }

    /// The number here of a part of that state.
    #[inline]
    pub(crate) fn number(&self, part: usize) -> Option<u32> {
        let number = self.fields.get(part)?.get(&self.words);
        self.numbers[self.owners[part]].get(number as usize).copied()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.numbers.iter().map(|numbers| (numbers.capacity() * 4) as u64).sum::<u64>() + size_of::<Self>() as u64
    }
}
