//! States as tuples of numbered parts, and steps that are remembered (reduction of work, not of states: `remembered-steps`).
//!
//! A state falls into parts: each thread (program counter, live registers, queue), each shared location, and who runs under a serial
//! model. Every value that a part takes on gets a number ([`intern`]), and a state is the tuple of its numbers, packed into a few
//! words ([`layout`]). This is lossless compression, and widths follow what is needed: when the numbers of a part outgrow
//! their bits, all stored states get a wider layout ([`Parts::widen`]).
//!
//! A step of a thread depends on its own part and on the locations it touches, and changes no others ([`touch`]); so what it does is
//! computed once for every combination of these, by the stepper, and remembered as the difference between the words before and
//! after ([`memo`]). A search then takes a few operations on words for each step, whatever the program and the model.
//!
//! **Argument.** The key of a remembered step has all that the step depends on, so the same key has the same successors; the
//! difference covers all that the step changes. Both are checked in debug builds, where every difference is compared with the whole
//! successor; and the search without remembered steps ([`crate::plain`]) counts the same states and transitions.
//!
//! Not for criteria with a memory of their own (transactions, the shadow of atomic blocks), timestamps or a program's own order:
//! there a step changes parts of other threads.

mod ample;
mod expand;
mod intern;
mod layout;
mod memo;
mod touch;

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;

use crate::machine::Machine;
use crate::search::{End, Found, Search, Worker};
use crate::state::State;
use crate::store::{Store, WordKeys, to_words};

use expand::Remembering;
use intern::Interner;
use layout::{Field, Layout, MOST_WORDS};

/// The parts of a program's states.
pub(crate) struct Parts<'m> {
    m: &'m Machine<'m>,
    layout: Layout,
    /// For each field the values it can have; threads that may exchange their places share them.
    values: Vec<usize>,
    interners: Vec<Interner>,
}

/// A number does not fit its field.
#[derive(Clone, Copy, Debug)]
struct TooWide;

impl<'m> Parts<'m> {
    /// The parts, if steps depend on little.
    pub fn new(m: &'m Machine<'m>) -> Option<Self> {
        let local = m.monitor.is_none() && m.values.is_none() && m.shadows.is_none() && m.timestamps.is_none();
        let plain = m.own_order.is_none() && m.symmetry.is_none() && m.variable_symmetry.is_empty();
        if !(m.config.remembered_steps && local && plain) {
            return None;
        }
        let threads = m.threads.len();
        let fields = threads + m.program.locations.len() + usize::from(m.model.serial);
        let mut values: Vec<usize> = (0..fields).collect();
        for group in &m.alike {
            group.iter().for_each(|thread| values[*thread] = group[0]);
        }
        let interners = (0..fields).map(|_| Interner::default()).collect();
        let parts = Self { m, layout: Layout::default(), values, interners };
        parts.widened().map(|layout| Self { layout, ..parts })
    }

    /// A layout in which all numbers so far fit, with some room; `None` if it has too many words.
    fn widened(&self) -> Option<Layout> {
        let width = |field: usize| {
            let count = self.interners[self.values[field]].len();
            let room = if field < self.m.threads.len() { 8 } else { 1 };
            let bits = usize::BITS - (count + count / 2).max(room).saturating_sub(1).leading_zeros();
            bits.max(self.layout.fields.get(field).map_or(0, |field| field.width))
        };
        let widths: Vec<u32> = (0..self.values.len()).map(width).collect();
        let layout = Layout::new(&widths);
        (layout.words <= MOST_WORDS && widths.iter().all(|width| *width <= 32)).then_some(layout)
    }

    /// Widens the layout, and all stored states with it; false if it would have too many words.
    fn widen(&mut self, store: &mut Store) -> bool {
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

    fn thread(&self, thread: usize) -> Field {
        self.layout.fields[thread]
    }

    fn location(&self, loc: usize) -> Field {
        self.layout.fields[self.m.threads.len() + loc]
    }

    /// Who runs, under a serial model.
    fn running(&self) -> Option<Field> {
        self.m.model.serial.then(|| self.layout.fields[self.layout.fields.len() - 1])
    }

    /// Puts the number of a part's value into the words.
    fn store_part(&self, field: usize, value: &[u8], words: &mut [u64]) -> Result<(), TooWide> {
        let number = self.interners[self.values[field]].number(value);
        let place = self.layout.fields[field];
        if u64::from(number) >> place.width != 0 {
            return Err(TooWide);
        }
        place.put(words, number);
        Ok(())
    }

    fn store_thread(
        &self,
        state: &State,
        thread: usize,
        words: &mut [u64],
        scratch: &mut Vec<u8>,
    ) -> Result<(), TooWide> {
        scratch.clear();
        self.m.encode_thread(state, thread, scratch);
        self.store_part(thread, scratch, words)
    }

    fn store_location(
        &self,
        state: &State,
        loc: usize,
        words: &mut [u64],
        scratch: &mut Vec<u8>,
    ) -> Result<(), TooWide> {
        scratch.clear();
        crate::codec::put(scratch, state.memory[loc]);
        self.store_part(self.m.threads.len() + loc, scratch, words)
    }

    fn store_running(&self, state: &State, words: &mut [u64], scratch: &mut Vec<u8>) -> Result<(), TooWide> {
        if self.m.model.serial {
            scratch.clear();
            crate::codec::put(scratch, state.running.into());
            self.store_part(self.layout.fields.len() - 1, scratch, words)?;
        }
        Ok(())
    }

    /// Packs a whole state.
    fn pack(&self, state: &State, words: &mut [u64], scratch: &mut Vec<u8>) -> Result<(), TooWide> {
        (0..self.m.threads.len()).try_for_each(|thread| self.store_thread(state, thread, words, scratch))?;
        (0..state.memory.len()).try_for_each(|loc| self.store_location(state, loc, words, scratch))?;
        self.store_running(state, words, scratch)
    }

    /// Unpacks a whole state.
    fn unpack(&self, words: &[u64], state: &mut State) {
        let value = |field: usize, number: u32| {
            self.interners[self.values[field]].with(number, |mut bytes| crate::codec::take(&mut bytes))
        };
        state.regs.fill(0);
        state.pending.fill(0);
        let threads = self.m.threads.len();
        for thread in 0..threads {
            let number = self.thread(thread).get(words);
            self.interners[self.values[thread]]
                .with(number, |mut bytes| self.m.decode_thread(&mut bytes, thread, state));
        }
        for loc in 0..state.memory.len() {
            state.memory[loc] = value(threads + loc, self.location(loc).get(words));
        }
        state.running = self.running().map_or(0, |field| value(self.values.len() - 1, field.get(words)) as u16);
    }

    /// The encoded form of a stored state.
    fn canonical(&self, stored: &[u8]) -> Vec<u8> {
        let (mut state, mut out) = (self.m.initial(), Vec::new());
        self.unpack(&to_words::<MOST_WORDS>(stored), &mut state);
        self.m.encode_canonical(&state, &mut out);
        out
    }

    fn bytes(&self) -> u64 {
        self.interners.iter().map(Interner::bytes).sum()
    }
}

/// Searches by parts; `None` if a state has too many.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Option<Found<'m, 'a>> {
    let mut parts = Parts::new(m)?;
    let begin = |bytes: usize| Search::new(m, property, Store::new(Some(bytes), m.config), limits, watch);
    let mut search = begin(parts.layout.bytes);
    loop {
        let end = with_words(
            parts.layout.words,
            Running { parts: &parts, property, search: &mut search, workers: limits.workers },
        );
        match end {
            End::Over => return Some(search.finish(parts.bytes(), |stored| parts.canonical(stored))),
            End::Reshape => {
                if !parts.widen(&mut search.store) {
                    return None;
                }
                if m.config.fingerprints {
                    // Those of the old layout say nothing now. What is known about the parts is kept, so this happens a few times only.
                    search = begin(parts.layout.bytes);
                }
            }
        }
    }
}

/// Something to do with states of a number of words that is known when it is compiled.
trait WithWords {
    type Out;
    fn call<const W: usize>(self) -> Self::Out;
}

fn with_words<F: WithWords>(words: usize, f: F) -> F::Out {
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

struct Running<'r, 'm, 'a> {
    parts: &'r Parts<'m>,
    property: Option<&'a Property>,
    search: &'r mut Search<'m, 'a>,
    workers: usize,
}

impl WithWords for Running<'_, '_, '_> {
    type Out = End;

    fn call<const W: usize>(self) -> End {
        let worker = |_| Worker::new(Remembering::<W>::new(self.parts, self.property));
        let mut workers: Vec<_> = (0..self.workers).map(worker).collect();
        let end = self.search.run(&mut workers);
        self.search.retire(workers);
        end
    }
}
