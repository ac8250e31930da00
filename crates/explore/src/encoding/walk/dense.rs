//! Packed states with remembered steps: what a [`crate::Walker`] of a [`crate::Packing`] does.
//!
//! A state is the numbers of its parts ([`super::dictionary`]) in a few words, and a step of a thread is a difference of words that is looked up by
//! the bits that the step depends on ([`crate::encoding::memo`]). The argument is that of [`crate::encoding::parts`]; here the difference is that of all parts, whatever the
//! step touches. Of threads that may exchange their places ([`crate::reductions::symmetric_threads`]) the numbers are sorted: numbers never change, so neither does
//! the form that stands for all.
//!
//! The bytes of a packed state are those of its words, little endian, without zeros at the end.

use cyrano_engine::Violation;
use cyrano_ir::Property;

use crate::criteria::judge::Judge;
use crate::encoding::memo::{Entry, Memo};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successors};
use crate::store::Address;

use super::copies::{Copies, route};
use super::dictionary::{Dictionary, NoRoom, Segment};
use super::foreign::Foreign;
use super::split;

/// The packed successors of a state.
#[derive(Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// How many bytes each takes here, and how many of these count.
    stride: usize,
    lengths: Vec<u16>,
    /// Where they belong, if that is wanted.
    routes: Vec<u64>,
}

impl Packed {
    /// Visits the bytes of each.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(&[u8])) {
        for (state, length) in self.bytes.chunks_exact(self.stride.max(1)).zip(&self.lengths) {
            visit(&state[..usize::from(*length)]);
        }
    }

    /// Visits the bytes of each, and where it belongs.
    #[inline]
    pub fn for_each_routed(&self, mut visit: impl FnMut(&[u8], u64)) {
        let states = self.bytes.chunks_exact(self.stride.max(1)).zip(&self.lengths);
        for ((state, length), route) in states.zip(&self.routes) {
            visit(&state[..usize::from(*length)], *route);
        }
    }

    fn clear(&mut self, words: usize) {
        self.bytes.clear();
        self.lengths.clear();
        self.routes.clear();
        self.stride = 8 * words;
    }

    #[inline]
    fn push<const W: usize>(&mut self, words: &[u64; W]) {
        let (mut length, mut last) = (0, 0);
        for (at, word) in words.iter().enumerate() {
            self.bytes.extend_from_slice(&word.to_le_bytes());
            if *word != 0 {
                (length, last) = (8 * at + 8, word.leading_zeros() as usize / 8);
            }
        }
        self.lengths.push((length - last) as u16);
    }
}

/// Why a state is not expanded.
pub(crate) enum Halt {
    /// States have more words now.
    Reshape,
    NoRoom,
}

impl From<NoRoom> for Halt {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// A walk over packed states, whatever the number of words.
pub(crate) trait Walks<'m, 'a>: Send {
    /// Finds the successors of a state.
    fn successors_of(&mut self, state: &[u8], out: &mut Packed) -> Result<(), Halt>;
    /// Packs the bytes of a state.
    fn pack(&mut self, bytes: &[u8], out: &mut Packed) -> Result<(), Halt>;
    /// What says where a packed state belongs, the same on all machines.
    fn route(&mut self, state: &[u8]) -> Result<u64, Halt>;
    /// Appends the values of a packed state, one after the other.
    fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<(), Halt>;
    /// Packs a packed state of another process.
    fn translate(&mut self, foreign: &mut Foreign, state: &[u8], out: &mut Packed) -> Result<(), Halt>;
    fn judge(&self) -> &Judge<'m, 'a>;
    fn notes(&self) -> Notes;
    fn bytes(&self) -> u64;
    /// What outlives a change of the number of words.
    fn into_findings(self: Box<Self>) -> (Judge<'m, 'a>, Notes);
}

/// What is found out so far, and a walk with as many words as the dictionary needs now.
pub(crate) fn walk<'m, 'a: 'm>(
    m: &'m Machine<'m>,
    dictionary: &'m Dictionary,
    routed: bool,
    findings: (Judge<'m, 'a>, Notes),
) -> Box<dyn Walks<'m, 'a> + 'm> {
    match dictionary.layout().2 {
        0..=1 => Box::new(Dense::<1>::new(m, dictionary, routed, findings)),
        2 => Box::new(Dense::<2>::new(m, dictionary, routed, findings)),
        3 => Box::new(Dense::<3>::new(m, dictionary, routed, findings)),
        4 => Box::new(Dense::<4>::new(m, dictionary, routed, findings)),
        5..=6 => Box::new(Dense::<6>::new(m, dictionary, routed, findings)),
        7..=8 => Box::new(Dense::<8>::new(m, dictionary, routed, findings)),
        9..=16 => Box::new(Dense::<16>::new(m, dictionary, routed, findings)),
        _ => Box::new(Dense::<{ super::dictionary::MOST_WORDS }>::new(m, dictionary, routed, findings)),
    }
}

/// Nothing found out yet.
pub(crate) fn nothing<'m, 'a>(m: &'m Machine<'m>, property: Option<&'a Property>) -> (Judge<'m, 'a>, Notes) {
    (Judge::new(m, property), Notes::default())
}

/// A walk with `W` words.
struct Dense<'m, 'a, const W: usize> {
    m: &'m Machine<'m>,
    dictionary: &'m Dictionary,
    stepper: Stepper<'m>,
    judge: Judge<'m, 'a>,
    /// The layout that is known here.
    version: usize,
    parts: Vec<Field>,
    threads: Vec<Thread<W>>,
    state: State,
    successors: Successors,
    scratch: Vec<u8>,
    ends: Vec<usize>,
    numbers: Vec<u32>,
    /// Values, if it is wanted where states belong.
    copies: Option<Copies>,
}

/// Where the number of a part lies. Most have one segment.
#[derive(Clone, Debug)]
pub(super) struct Field {
    first: Segment,
    rest: Box<[Segment]>,
}

impl Field {
    pub fn new(segments: &[Segment]) -> Self {
        let none = Segment { word: 0, shift: 0, width: 0, from: 0 };
        let (first, rest) = segments.split_first().map_or((none, &[][..]), |(first, rest)| (*first, rest));
        Self { first, rest: rest.into() }
    }

    #[inline]
    pub fn get(&self, words: &[u64]) -> u32 {
        self.rest.iter().fold(self.first.get(words), |number, segment| number | segment.get(words))
    }

    fn put(&self, words: &mut [u64], number: u32) {
        self.first.put(words, number);
        self.rest.iter().for_each(|segment| segment.put(words, number));
    }

    fn add_to(&self, mask: &mut [u64]) {
        mask[self.first.word] |= self.first.mask();
        self.rest.iter().for_each(|segment| mask[segment.word] |= segment.mask());
    }
}

/// What is known about one thread.
struct Thread<const W: usize> {
    field: Field,
    /// By the number of its part.
    places: Vec<Place<W>>,
    /// A change is a difference of words, and what it adds to the sum of the hashes of all values, if that is wanted.
    memo: Memo<W, ([u64; W], u64), ()>,
}

/// Where a thread stands: the bits that its next steps depend on, and whether it is done.
#[derive(Clone, Copy)]
struct Place<const W: usize> {
    known: bool,
    done: bool,
    depends: [u64; W],
}

impl<'m, 'a, const W: usize> Dense<'m, 'a, W> {
    fn new(
        m: &'m Machine<'m>,
        dictionary: &'m Dictionary,
        routed: bool,
        (judge, notes): (Judge<'m, 'a>, Notes),
    ) -> Self {
        let mut stepper = Stepper::new(m);
        stepper.notes = notes;
        let none = Field::new(&[]);
        let thread = |_| Thread { field: none.clone(), places: Vec::new(), memo: Memo::new() };
        let mut dense = Self {
            m,
            dictionary,
            stepper,
            judge,
            version: usize::MAX,
            parts: Vec::new(),
            threads: (0..m.threads.len()).map(thread).collect(),
            state: m.initial(),
            successors: Successors::default(),
            scratch: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
            copies: routed.then(|| Copies::new(dictionary)),
        };
        // Whoever has too few words finds out with the first state.
        let _ = dense.refresh();
        dense
    }

    /// Takes on the layout as it is now. Remembered steps stay true: their keys have zeros where the new bits are.
    fn refresh(&mut self) -> Result<(), Halt> {
        if self.version == self.dictionary.version() {
            return Ok(());
        }
        let (version, segments, words) = self.dictionary.layout();
        if words > W {
            return Err(Halt::Reshape);
        }
        self.version = version;
        self.parts = segments.iter().map(|segments| Field::new(segments)).collect();
        let first = self.parts.len() - self.threads.len();
        for (thread, field) in self.threads.iter_mut().zip(&self.parts[first..]) {
            thread.field = field.clone();
            thread.places.clear();
        }
        Ok(())
    }

    /// Packs a state's bytes.
    fn words(&mut self, bytes: &[u8]) -> Result<[u64; W], Halt> {
        split(self.m, bytes, &mut self.ends);
        self.dictionary.numbers_of(bytes, &self.ends, &mut self.numbers)?;
        self.refresh()?;
        let mut words = [0; W];
        self.parts.iter().zip(&self.numbers).for_each(|(field, number)| field.put(&mut words, *number));
        Ok(words)
    }

    /// The words of a packed state, with the layout that it needs.
    fn read(&mut self, state: &[u8]) -> Result<[u64; W], Halt> {
        if state.len() > 8 * W {
            return Err(if self.dictionary.layout().2 > W { Halt::Reshape } else { Halt::NoRoom });
        }
        self.refresh()?;
        Ok(to_words(state))
    }

    /// The sum of the hashes of all values, if that is wanted.
    fn sum(&mut self, words: &[u64; W]) -> u64 {
        let Some(copies) = &mut self.copies else { return 0 };
        self.parts.iter().enumerate().fold(0, |sum, (part, field)| {
            let value = copies.value(self.dictionary, part, field.get(words));
            sum.wrapping_add(value.map_or(0, |value| value.hash))
        })
    }

    fn decode(&mut self, words: &[u64; W]) {
        self.scratch.clear();
        let whole = self.dictionary.unpack(words, &mut self.scratch);
        debug_assert!(whole.is_some(), "a packed state has numbers of this dictionary");
        self.m.decode(&self.scratch, &mut self.state);
    }

    /// What the next steps of a thread depend on.
    #[cold]
    fn learn(&mut self, words: &[u64; W], thread: usize) {
        self.decode(words);
        let mut depends = [0; W];
        self.threads[thread].field.add_to(&mut depends);
        for loc in self.m.touched(&self.state, thread) {
            self.parts[loc as usize].add_to(&mut depends);
        }
        if self.m.model.serial {
            self.parts[self.m.program.locations.len()].add_to(&mut depends);
        }
        if let Some(setup) = self.m.program.setup {
            // Until the setup thread is done only it steps; with its last step all others start.
            let all = thread == setup.index() && self.m.unfinished_setup(&self.state).is_some();
            let others = self.threads.iter().enumerate().filter(|(t, _)| all || *t == setup.index());
            others.for_each(|(_, other)| other.field.add_to(&mut depends));
        }
        let done = self.m.done(&self.state, thread);
        let steps = &mut self.threads[thread];
        let number = steps.field.get(words) as usize;
        if steps.places.len() <= number {
            steps.places.resize(number + 1, Place { known: false, done: false, depends: [0; W] });
        }
        steps.places[number] = Place { known: true, done, depends };
    }

    /// Lets the stepper compute the steps of a thread, and remembers them.
    #[cold]
    fn compute(&mut self, words: &[u64; W], thread: usize) -> Result<Entry<W, ()>, Halt> {
        self.decode(words);
        let mut out = std::mem::take(&mut self.successors);
        out.clear();
        self.stepper.steps_of(&self.state, thread, &mut out);
        let (mut changes, mut events) = (Vec::new(), Vec::new());
        let mut failed = None;
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            if let Some(event) = &successor.event {
                events.push(event.clone());
                continue;
            }
            let mut bytes = Vec::new();
            self.m.encode(&successor.state, &mut bytes);
            match self.words(&bytes) {
                Ok(new) => changes.push((xor(&new, words), self.sum(&new).wrapping_sub(self.sum(words)))),
                Err(halt) => failed = Some(halt),
            }
        }
        self.successors = out;
        if let Some(halt) = failed {
            return Err(halt);
        }
        // The layout may be another one now, and with it the bits that a place depends on.
        self.place(words, thread);
        let key = and(words, &self.threads[thread].places[self.threads[thread].field.get(words) as usize].depends);
        Ok(self.threads[thread].memo.add(key, &changes, &events, ()))
    }

    /// Where a thread stands.
    #[inline]
    fn place(&mut self, words: &[u64; W], thread: usize) -> Place<W> {
        let number = self.threads[thread].field.get(words) as usize;
        match self.threads[thread].places.get(number) {
            Some(place) if place.known => *place,
            _ => {
                self.learn(words, thread);
                self.threads[thread].places[number]
            }
        }
    }

    fn successors(&mut self, words: &[u64; W], out: &mut Packed) -> Result<(), Halt> {
        let sum = self.sum(words);
        let routed = self.copies.is_some();
        let (mut steps, mut done) = (0, true);
        for thread in 0..self.threads.len() {
            let place = self.place(words, thread);
            done &= place.done;
            let entry = match self.threads[thread].memo.find(&and(words, &place.depends)) {
                Some(entry) => *entry,
                None => self.compute(words, thread)?,
            };
            steps += entry.steps();
            let memo = &self.threads[thread].memo;
            for (change, added) in memo.changes(&entry) {
                let mut new = xor(words, change);
                if new != *words {
                    if !self.m.symmetric_threads.is_empty() {
                        sort(self.m, &self.threads, &mut new);
                    }
                    out.push(&new);
                    if routed {
                        out.routes.push(route(sum.wrapping_add(*added)));
                    }
                }
            }
            if entry.goes_wrong() {
                let events: Vec<Violation> = self.threads[thread].memo.events(&entry).to_vec();
                events.iter().for_each(|event| self.judge.wrong_step(Address::NONE, event, None));
            }
        }
        self.judge.transitions += steps;
        if done || steps == 0 {
            self.decode(words);
            self.judge.look(Address::NONE, &self.state, steps as usize, &mut self.stepper);
        }
        Ok(())
    }
}

impl<'m, 'a, const W: usize> Walks<'m, 'a> for Dense<'m, 'a, W> {
    fn successors_of(&mut self, state: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        let words = self.read(state)?;
        self.successors(&words, out)
    }

    fn pack(&mut self, bytes: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        let mut words = self.words(bytes)?;
        sort(self.m, &self.threads, &mut words);
        out.push(&words);
        Ok(())
    }

    fn route(&mut self, state: &[u8]) -> Result<u64, Halt> {
        let words = self.read(state)?;
        Ok(route(self.sum(&words)))
    }

    fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<(), Halt> {
        let words = self.read(state)?;
        let Some(copies) = &mut self.copies else {
            return self.dictionary.unpack(&words, out).ok_or(Halt::NoRoom);
        };
        for (part, field) in self.parts.iter().enumerate() {
            let value = copies.value(self.dictionary, part, field.get(&words)).ok_or(Halt::NoRoom)?;
            out.extend_from_slice(&value.bytes);
        }
        Ok(())
    }

    fn translate(&mut self, foreign: &mut Foreign, state: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        self.refresh()?;
        foreign.read(state).ok_or(Halt::NoRoom)?;
        let mut words = [0; W];
        for (part, field) in self.parts.iter().enumerate() {
            field.put(&mut words, foreign.number(part).ok_or(Halt::NoRoom)?);
        }
        sort(self.m, &self.threads, &mut words);
        out.push(&words);
        Ok(())
    }

    fn judge(&self) -> &Judge<'m, 'a> {
        &self.judge
    }

    fn notes(&self) -> Notes {
        self.stepper.notes
    }

    fn bytes(&self) -> u64 {
        let places = |thread: &Thread<W>| (thread.places.capacity() * size_of::<Place<W>>()) as u64;
        let steps: u64 = self.threads.iter().map(|thread| thread.memo.bytes() + places(thread)).sum();
        steps + self.copies.as_ref().map_or(0, Copies::bytes)
    }

    fn into_findings(self: Box<Self>) -> (Judge<'m, 'a>, Notes) {
        (self.judge, self.stepper.notes)
    }
}

/// The words of a packed state; there must be enough.
#[inline]
pub(crate) fn to_words<const W: usize>(state: &[u8]) -> [u64; W] {
    let mut words = [0; W];
    let (whole, rest) = state.as_chunks::<8>();
    words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    if let Some(word) = words.get_mut(whole.len()).filter(|_| !rest.is_empty()) {
        *word = match state.last_chunk() {
            // The bytes before it are shifted out: quicker than one by one.
            Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
    }
    words
}

#[inline]
fn and<const W: usize>(words: &[u64; W], mask: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] & mask[at])
}

#[inline]
fn xor<const W: usize>(words: &[u64; W], change: &[u64; W]) -> [u64; W] {
    std::array::from_fn(|at| words[at] ^ change[at])
}

/// Sorts the parts of threads that may exchange their places.
fn sort<const W: usize>(m: &Machine<'_>, threads: &[Thread<W>], words: &mut [u64; W]) {
    for group in &m.symmetric_threads {
        let number = |words: &[u64; W], at: usize| threads[group[at]].field.get(words);
        for end in 1..group.len() {
            let moved = number(words, end);
            let mut at = end;
            while at > 0 && number(words, at - 1) > moved {
                let before = number(words, at - 1);
                threads[group[at]].field.put(words, before);
                at -= 1;
            }
            if at != end {
                threads[group[at]].field.put(words, moved);
            }
        }
    }
}
