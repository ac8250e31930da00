//! Long states, compressed: what is stored is the tuple of the numbers of a state's memory, threads and criterion.
//!
//! For criteria with a memory of their own, and for timestamps, steps cannot be remembered as differences ([`super`]), and states are
//! encoded as bytes ([`crate::search::plain`]). But the same memories, threads and histories come back in many states. So the bytes of
//! a long state are cut into these, and each gets a number; states that differ have different tuples. It takes a few look-ups for a
//! state, and less than half of the memory; for short states that would not pay.

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;

use crate::criteria::judge::Judge;
use crate::encoding::codec::take;
use crate::search::plain::Plain;
use crate::search::{End, Expander, Found, Reshape, Search};
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;
use crate::store::{Address, Keys, Store, WordKeys, to_words};

use super::layout::MOST_WORDS;
use super::numbered::{Numbered, TooWide};
use super::tuples::{self, Tuples};

/// How states are cut: memory (and who runs), the threads, the rest.
struct Pieces<'m> {
    m: &'m Machine<'m>,
    numbered: Numbered,
}

impl<'m> Pieces<'m> {
    fn new(m: &'m Machine<'m>) -> Option<Self> {
        let threads = m.threads.len();
        // Threads with the same code have the same values.
        let code = |t: usize| &m.program.threads[t].code;
        let first = |t: usize| (0..t).find(|other| code(*other) == code(t)).unwrap_or(t);
        let values = std::iter::once(0).chain((0..threads).map(|t| 1 + first(t))).chain([threads + 1]).collect();
        Some(Self { m, numbered: Numbered::new(values, vec![64; threads + 2])? })
    }

    /// Packs the bytes of a state.
    fn pack(&self, bytes: &[u8], words: &mut [u64]) -> Result<(), TooWide> {
        let mut rest = bytes;
        for _ in 0..self.m.program.locations.len() + usize::from(self.m.model.serial) {
            take(&mut rest);
        }
        let mut from = bytes.len() - rest.len();
        self.numbered.put(0, &bytes[..from], words)?;
        for thread in 0..self.m.threads.len() {
            self.m.skip_thread(&mut rest, thread);
            let to = bytes.len() - rest.len();
            self.numbered.put(1 + thread, &bytes[from..to], words)?;
            from = to;
        }
        self.numbered.put(1 + self.m.threads.len(), rest, words)
    }

    /// Appends the bytes of a packed state.
    fn unpack(&self, words: &[u64], out: &mut Vec<u8>) {
        for field in 0..self.numbered.layout.fields.len() {
            self.numbered.with(field, words, |bytes| out.extend_from_slice(bytes));
        }
    }
}

/// One worker.
struct Packed<'p, 'm, 'a, const W: usize> {
    pieces: &'p Pieces<'m>,
    plain: Plain<'m, 'a>,
    keys: WordKeys<W>,
    bytes: Vec<u8>,
    /// Transitions so far; those of a state that has to be expanded again do not count.
    transitions: u64,
}

impl<const W: usize> Packed<'_, '_, '_, W> {
    /// Packs what the plain expander has found, or forgets all of it.
    fn collect(&mut self, parent: Address) -> Result<(), Reshape> {
        let waiting = self.keys.len();
        let mut wide = false;
        let (pieces, keys) = (self.pieces, &mut self.keys);
        self.plain.drain(|bytes| {
            let mut words = [0; W];
            wide |= pieces.pack(bytes, &mut words).is_err();
            keys.push(parent, words);
        });
        if wide {
            self.keys.truncate(waiting);
            self.plain.set_transitions(self.transitions);
            return Err(Reshape);
        }
        self.transitions = self.plain.found().0.transitions;
        Ok(())
    }
}

impl<'m, 'a, const W: usize> Expander<'m, 'a> for Packed<'_, 'm, 'a, W> {
    type Keys = WordKeys<W>;

    fn seed(&mut self) -> Result<(), Reshape> {
        self.plain.start();
        self.collect(Address::NONE)
    }

    fn expand(&mut self, store: &Store, record: Address) -> Result<(), Reshape> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.pieces.unpack(&store.words::<W>(record), &mut bytes);
        self.plain.walk(&bytes, record);
        self.bytes = bytes;
        self.collect(record)
    }

    fn keys(&mut self) -> &mut WordKeys<W> {
        &mut self.keys
    }

    fn judge(&self) -> &Judge<'m, 'a> {
        self.plain.found().0
    }

    fn notes(&self) -> Notes {
        self.plain.found().1
    }

    fn reached(&self) -> &[bool] {
        self.plain.reached()
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn shared_bytes(&self) -> u64 {
        self.pieces.numbered.bytes()
    }

    fn finish(self) -> Judge<'m, 'a> {
        self.plain.finish()
    }
}

impl<'m> Tuples<'m> for Pieces<'m> {
    fn machine(&self) -> &'m Machine<'m> {
        self.m
    }

    fn numbered(&self) -> &Numbered {
        &self.numbered
    }

    fn numbered_mut(&mut self) -> &mut Numbered {
        &mut self.numbered
    }

    fn run<'a, const W: usize>(&self, property: Option<&'a Property>, search: &mut Search<'m, 'a>) -> End {
        search.run(|| {
            let keys = WordKeys::<W>::new(self.numbered.layout.bytes);
            Packed { pieces: self, plain: Plain::new(self.m, property), keys, bytes: Vec::new(), transitions: 0 }
        })
    }

    fn canonical(&self, stored: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.unpack(&to_words::<MOST_WORDS>(stored), &mut out);
        out
    }
}

/// Searches with compressed states; `None` if they are short, or cannot be.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Option<Found<'m, 'a>> {
    let mut first = Vec::new();
    m.encode(&m.initial(), &mut first);
    let pieces = (first.len() >= m.config.compressed_from).then(|| Pieces::new(m)).flatten()?;
    tuples::search(pieces, property, limits, watch)
}
