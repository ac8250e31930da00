//! Where the parts of a state lie in its words.

/// The most words of a state.
pub(crate) const MOST_WORDS: usize = 16;

/// The bits of one part: inside one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Field {
    pub word: u32,
    pub shift: u32,
    pub width: u32,
}

impl Field {
    #[inline]
    pub fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.shift
    }

    #[inline]
    pub fn get(self, words: &[u64]) -> u32 {
        ((words[self.word as usize] >> self.shift) & ((1 << self.width) - 1)) as u32
    }

    /// Puts a number in; the bits must be able to hold it.
    #[inline]
    pub fn put(self, words: &mut [u64], number: u32) {
        let word = &mut words[self.word as usize];
        *word = *word & !self.mask() | u64::from(number) << self.shift;
    }
}

/// Where all parts lie: one after the other, none across two words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    pub fields: Vec<Field>,
    /// How many words there are.
    pub words: usize,
    /// How many bytes of them are used.
    pub bytes: usize,
}

impl Layout {
    /// A layout with these widths in bits.
    pub fn new(widths: &[u32]) -> Self {
        let mut fields = Vec::with_capacity(widths.len());
        let (mut word, mut shift) = (0, 0);
        for width in widths {
            if shift + width > 64 {
                (word, shift) = (word + 1, 0);
            }
            // A field without bits may stand at the end of a word, where no shift leads.
            fields.push(if *width == 0 { Field::default() } else { Field { word, shift, width: *width } });
            shift += width;
        }
        let bytes = (word as usize * 8 + shift.div_ceil(8) as usize).max(1);
        let needed = bytes.div_ceil(8);
        // Only some numbers of words have code of their own.
        let words = [1, 2, 3, 4, 6, 8, 12].into_iter().find(|words| *words >= needed).unwrap_or(needed.max(MOST_WORDS));
        Self { fields, words, bytes: bytes.max(8 * words - 7) }
    }

    /// The same state in another layout.
    pub fn convert(&self, from: &[u64], to: &Self, out: &mut [u64]) {
        out.fill(0);
        for (old, new) in self.fields.iter().zip(&to.fields) {
            new.put(out, old.get(from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_a_change_of_layout() {
        let (narrow, wide) = (Layout::new(&[3, 30, 31, 0, 5]), Layout::new(&[8, 32, 32, 1, 20]));
        assert_eq!((narrow.words, narrow.bytes, wide.words, wide.bytes), (2, 9, 2, 15));
        let (mut words, mut other) = ([0; 2], [u64::MAX; 2]);
        for (field, value) in narrow.fields.iter().zip([5, 1 << 29, (1 << 31) - 1, 0, 17]) {
            field.put(&mut words, value);
        }
        narrow.convert(&words, &wide, &mut other);
        let read: Vec<u32> = wide.fields.iter().map(|field| field.get(&other)).collect();
        assert_eq!(read, [5, 1 << 29, (1 << 31) - 1, 0, 17]);
    }
}
