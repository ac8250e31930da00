//! States as tuples of numbered parts, and steps that are remembered (reduction of work, not of states: `remembered-steps`).
//!
//! A state falls into parts: each thread (program counter, live registers, queue), each shared location, and who runs under a serial
//! model. Every value that a part takes on gets a number ([`intern`]), and a state is the tuple of its numbers, packed into a few
//! words ([`layout`]). This is lossless compression, and widths follow what is needed: when the numbers of a part outgrow
//! their bits, all stored states get a wider layout ([`tuples`]).
//!
//! A step of a thread depends on its own part and on the locations it touches, and changes no others ([`touch`]); so what it does is
//! computed once for every combination of these, by the stepper, and remembered as the difference between the words before and
//! after ([`crate::encoding::memo`]). A search then takes a few operations on words for each step, whatever the program and the model.
//!
//! **Argument.** The key of a remembered step has all that the step depends on, so the same key has the same successors; the
//! difference covers all that the step changes. Both are checked in debug builds, where every difference is compared with the whole
//! successor; and the search without remembered steps ([`crate::search::plain`]) counts the same states and transitions.
//!
//! Not for criteria with a memory of their own (transactions, the shadow of atomic blocks), timestamps or a program's own order:
//! there a step changes parts of other threads.

mod expand;
mod intern;
mod layout;
mod numbered;
mod packed;
mod touch;
mod tuples;

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;

use crate::search::{End, Found, Search};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::store::to_words;

use expand::Remembering;
use layout::{Field, MOST_WORDS};
use numbered::{Numbered, TooWide};
use tuples::Tuples;

pub(crate) use packed::search as search_packed;

/// The parts of a program's states: threads first, then locations, then who runs.
pub(crate) struct Parts<'m> {
    m: &'m Machine<'m>,
    numbered: Numbered,
}

impl Machine<'_> {
    /// Whether a step of a thread depends on its own part and the locations it touches and changes nothing else; and whether that is used.
    pub(crate) fn has_local_steps(&self) -> bool {
        let local =
            self.monitor.is_none() && self.values.is_none() && self.shadows.is_none() && self.timestamps.is_none();
        let plain = self.own_order.is_none() && self.symmetry.is_none() && self.variable_symmetry.is_empty();
        self.config.remembered_steps && local && plain
    }
}

impl<'m> Parts<'m> {
    /// The parts, if steps depend on little.
    pub fn new(m: &'m Machine<'m>) -> Option<Self> {
        if !m.has_local_steps() {
            return None;
        }
        let threads = m.threads.len();
        let fields = threads + m.program.locations.len() + usize::from(m.model.serial);
        let mut values: Vec<usize> = (0..fields).collect();
        for group in &m.symmetric_threads {
            // Threads that may exchange their places share their values.
            group.iter().for_each(|thread| values[*thread] = group[0]);
        }
        let room = (0..fields).map(|field| if field < threads { 8 } else { 1 }).collect();
        Some(Self { m, numbered: Numbered::new(values, room)? })
    }

    fn thread(&self, thread: usize) -> Field {
        self.numbered.layout.fields[thread]
    }

    fn location(&self, loc: usize) -> Field {
        self.numbered.layout.fields[self.m.threads.len() + loc]
    }

    /// Who runs, under a serial model.
    fn running(&self) -> Option<Field> {
        self.m.model.serial.then(|| self.numbered.layout.fields[self.last()])
    }

    fn last(&self) -> usize {
        self.numbered.layout.fields.len() - 1
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
        self.numbered.put(thread, scratch, words)
    }

    fn store_location(
        &self,
        state: &State,
        loc: usize,
        words: &mut [u64],
        scratch: &mut Vec<u8>,
    ) -> Result<(), TooWide> {
        scratch.clear();
        crate::encoding::codec::put(scratch, state.memory[loc]);
        self.numbered.put(self.m.threads.len() + loc, scratch, words)
    }

    fn store_running(&self, state: &State, words: &mut [u64], scratch: &mut Vec<u8>) -> Result<(), TooWide> {
        if self.m.model.serial {
            scratch.clear();
            crate::encoding::codec::put(scratch, state.running.into());
            self.numbered.put(self.last(), scratch, words)?;
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
        let value =
            |field: usize| self.numbered.with(field, words, |mut bytes| crate::encoding::codec::take(&mut bytes));
        state.regs.fill(0);
        state.pending.fill(0);
        let threads = self.m.threads.len();
        for thread in 0..threads {
            self.numbered.with(thread, words, |mut bytes| self.m.decode_thread(&mut bytes, thread, state));
        }
        for loc in 0..state.memory.len() {
            state.memory[loc] = value(threads + loc);
        }
        state.running = self.running().map_or(0, |_| value(self.last()) as u16);
    }
}

impl<'m> Tuples<'m> for Parts<'m> {
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
        search.run(|| Remembering::<W>::new(self, property))
    }

    fn canonical(&self, stored: &[u8]) -> Vec<u8> {
        let (mut state, mut out) = (self.m.initial(), Vec::new());
        self.unpack(&to_words::<MOST_WORDS>(stored), &mut state);
        self.m.encode_canonical(&state, &mut out);
        out
    }
}

/// Searches by parts; `None` if a state has too many.
pub(crate) fn search<'m, 'a>(
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Option<Found<'m, 'a>> {
    tuples::search(Parts::new(m)?, property, limits, watch)
}
