//! Tuples of numbered values, packed into words: what states by parts and long states have in common.

use crate::store::{Store, WordKeys, to_words};

use super::intern::Interner;
use super::layout::{Layout, MOST_WORDS};

/// The fields of a tuple, and the values they have had.
pub(crate) struct Numbered {
    pub layout: Layout,
    /// For each field where its values are; some share them.
    values: Vec<usize>,
    interners: Vec<Interner>,
    /// For each field, how many values it gets room for at first.
    room: Vec<usize>,
}

/// A number does not fit its field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooWide;

impl Numbered {
    /// As many fields as there are values, with room for so many; `None` if they do not fit.
    pub fn new(values: Vec<usize>, room: Vec<usize>) -> Option<Self> {
        let interners = values.iter().map(|_| Interner::default()).collect();
        let mut new = Self { layout: Layout::default(), values, interners, room };
        new.layout = new.widened()?;
        Some(new)
    }

    /// A layout in which all numbers so far fit, with some room; `None` if it has too many words.
    fn widened(&self) -> Option<Layout> {
        let width = |field: usize| {
            let count = self.values_of(field).len();
            let bits = usize::BITS - (count + count / 2).max(self.room[field]).saturating_sub(1).leading_zeros();
            bits.max(self.layout.fields.get(field).map_or(0, |field| field.width))
        };
        let widths: Vec<u32> = (0..self.values.len()).map(width).collect();
        let layout = Layout::new(&widths);
        (layout.words <= MOST_WORDS && widths.iter().all(|width| *width <= 32)).then_some(layout)
    }

    /// Widens the layout, and all stored tuples with it; false if it would have too many words.
    pub fn widen(&mut self, store: &mut Store) -> bool {
        let Some(new) = self.widened() else { return false };
        let old = std::mem::replace(&mut self.layout, new);
        let new = &self.layout;
        let change = |from: &[u8], to: &mut [u8]| {
            let from: [u64; MOST_WORDS] = to_words(from);
            let mut words = [0; MOST_WORDS];
            old.convert(&from, new, &mut words);
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        };
        with_words(new.words, Reshaping { store, bytes: new.bytes, change: &change });
        true
    }

    /// The values of a field.
    pub fn values_of(&self, field: usize) -> &Interner {
        &self.interners[self.values[field]]
    }

    /// Puts the number of a field's value into the words.
    pub fn put(&self, field: usize, value: &[u8], words: &mut [u64]) -> Result<(), TooWide> {
        let number = self.values_of(field).number(value);
        let place = self.layout.fields[field];
        if u64::from(number) >> place.width != 0 {
            return Err(TooWide);
        }
        place.put(words, number);
        Ok(())
    }

    /// Looks at the value of a field.
    pub fn with<R>(&self, field: usize, words: &[u64], look: impl FnOnce(&[u8]) -> R) -> R {
        self.values_of(field).with(self.layout.fields[field].get(words), look)
    }

    pub fn bytes(&self) -> u64 {
        self.interners.iter().map(Interner::bytes).sum()
    }
}

/// Something to do with states of a number of words that is known when it is compiled.
pub(crate) trait WithWords {
    type Out;
    fn call<const W: usize>(self) -> Self::Out;
}

pub(crate) fn with_words<F: WithWords>(words: usize, f: F) -> F::Out {
    match words {
        1 => f.call::<1>(),
        2 => f.call::<2>(),
        3 => f.call::<3>(),
        4 => f.call::<4>(),
        6 => f.call::<6>(),
        8 => f.call::<8>(),
        12 => f.call::<12>(),
        MOST_WORDS => f.call::<MOST_WORDS>(),
        _ => unreachable!("no layout has {words} words"),
    }
}

struct Reshaping<'s, F> {
    store: &'s mut Store,
    bytes: usize,
    change: F,
}

impl<F: Fn(&[u8], &mut [u8])> WithWords for Reshaping<'_, F> {
    type Out = ();

    fn call<const W: usize>(self) {
        self.store.reshape::<WordKeys<W>>(self.bytes, self.change);
    }
}
