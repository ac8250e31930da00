//! Packed states, for searches that keep all their states in one place: each is a few words with the numbers of its parts, where a plain one has all values.
//!
//! What numbers mean is learnt as the search goes on, so packed states can be compared and hashed within one search only; what was learnt
//! can be kept beside them ([`Packing::export`]) and taken up again ([`Packing::import`]). What a packed state is, and where it belongs, a walker tells in
//! a form that means the same everywhere ([`Packing::routing_walker`]).

use std::collections::VecDeque;
use std::sync::Arc;

use cyrano_ir::Property;
use rustc_hash::FxHashSet;

use crate::criteria::judge::Judge;
use crate::search::space::Walker;
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;

use super::dense::{Halt, Packed, Walks, nothing, to_words, walk};
use super::dictionary::{Dictionary, MOST_WORDS};
use super::foreign::Foreign;
use super::split;

/// So many states are looked at to learn how many values parts have.
const SAMPLE: usize = 1 << 12;

/// How states of a space are packed.
pub struct Packing<'s> {
    machine: &'s Machine<'s>,
    property: Option<&'s Property>,
    dictionary: Arc<Dictionary>,
}

/// The numbers of a packing, for another one of the same space: what one learns both know.
#[derive(Clone)]
pub struct SharedNumbers(Arc<Dictionary>);

impl<'s> Packing<'s> {
    /// A packing that has learnt nothing yet; none where steps do not depend on little.
    pub(crate) fn new(machine: &'s Machine<'s>, property: Option<&'s Property>) -> Option<Self> {
        if !machine.has_local_steps() {
            return None;
        }
        let first = machine.program.locations.len() + usize::from(machine.model.serial);
        let mut owners: Vec<usize> = (0..first + machine.threads.len()).collect();
        for group in &machine.symmetric_threads {
            // Threads that may exchange their places share their numbers.
            group.iter().for_each(|thread| owners[first + thread] = first + group[0]);
        }
        Some(Self { machine, property, dictionary: Arc::new(Dictionary::new(owners)) })
    }

    /// Gives each part as many bits as some states need, which plain walks find from both ends of the frontier; false if that is too much.
    pub(crate) fn learn(&mut self, mut walker: Walker<'_>) -> bool {
        let parts = self.dictionary.layout().1.len();
        let mut values: Vec<FxHashSet<Vec<u8>>> = vec![FxHashSet::default(); parts];
        let (mut seen, mut frontier) = (FxHashSet::default(), VecDeque::new());
        let mut ends = Vec::new();
        let mut found = |state: &[u8], frontier: &mut VecDeque<Vec<u8>>| {
            if !seen.contains(state) {
                seen.insert(state.to_vec());
                frontier.push_back(state.to_vec());
            }
        };
        walker.initial(|state| found(state, &mut frontier));
        for turn in 0..SAMPLE {
            let next = if turn % 2 == 0 { frontier.pop_front() } else { frontier.pop_back() };
            let Some(state) = next else { break };
            split(self.machine, &state, &mut ends);
            let mut start = 0;
            for (values, end) in values.iter_mut().zip(&ends) {
                if !values.contains(&state[start..*end]) {
                    values.insert(state[start..*end].to_vec());
                }
                start = *end;
            }
            walker.expand(&state, |next| found(next, &mut frontier));
        }
        let counts: Vec<usize> = values.iter().map(FxHashSet::len).collect();
        Arc::get_mut(&mut self.dictionary).is_some_and(|dictionary| dictionary.reserve(&counts))
    }

    /// The same with the numbers of another one, if they can be those of this space.
    pub(crate) fn with_numbers(mut self, numbers: &SharedNumbers) -> Option<Self> {
        let fits = self.dictionary.owners() == numbers.0.owners();
        self.dictionary = Arc::clone(&numbers.0);
        fits.then_some(self)
    }

    /// Its numbers, for others.
    pub fn numbers(&self) -> SharedNumbers {
        SharedNumbers(Arc::clone(&self.dictionary))
    }

    /// One thread's part of a search; what it takes and gives are packed states.
    pub fn walker(&'s self) -> Walker<'s> {
        Walker::packed(self.machine, self.property, &self.dictionary, false)
    }

    /// The same; it can also tell where states belong ([`Walker::expand_routed`]), by a hash that is the same on all machines.
    pub fn routing_walker(&'s self) -> Walker<'s> {
        Walker::packed(self.machine, self.property, &self.dictionary, true)
    }

    /// The plain form of a packed state, if it is one.
    pub fn unpack(&self, state: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.dictionary.unpack(&to_words::<MOST_WORDS>(state), &mut bytes)?;
        if self.machine.symmetric_threads.is_empty() {
            return Some(bytes);
        }
        let (mut state, mut sorted) = (self.machine.initial(), Vec::new());
        self.machine.decode(&bytes, &mut state);
        self.machine.encode_canonical(&state, &mut sorted);
        Some(sorted)
    }

    /// Appends a plain form of a packed state. Of threads that may exchange their places the order is any: the form is for [`Walker::pack`].
    pub fn unpack_any(&self, state: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.dictionary.unpack(&to_words::<MOST_WORDS>(state), out)
    }

    /// What another process's numbers mean: nothing is known yet.
    pub fn foreign(&self) -> Foreign {
        Foreign::new(&self.dictionary)
    }

    /// How many things it has learnt.
    pub fn learnt(&self) -> usize {
        self.dictionary.events()
    }

    /// Appends what it has learnt after the first `from` things, not much more than `most` bytes; says how many things that are in all.
    pub fn export(&self, from: usize, most: usize, out: &mut Vec<u8>) -> usize {
        self.dictionary.export(from, most, out)
    }

    /// Learns what another one had learnt, in the same order; false if it makes no sense.
    pub fn import(&mut self, bytes: &[u8]) -> bool {
        Arc::get_mut(&mut self.dictionary).is_some_and(|dictionary| dictionary.import(bytes).is_some())
    }

    /// Bytes of memory that it takes, but for what walkers take.
    pub fn bytes(&self) -> u64 {
        self.dictionary.bytes()
    }
}

/// A walker's part of it.
pub(crate) struct PackedWalk<'s> {
    machine: &'s Machine<'s>,
    dictionary: &'s Dictionary,
    routed: bool,
    walk: Option<Box<dyn Walks<'s, 's> + 's>>,
    out: Packed,
    /// Whether there was no room for more bits.
    full: bool,
}

impl<'s> PackedWalk<'s> {
    pub fn new(
        machine: &'s Machine<'s>,
        property: Option<&'s Property>,
        dictionary: &'s Dictionary,
        routed: bool,
    ) -> Self {
        let walk = Some(walk(machine, dictionary, routed, nothing(machine, property)));
        Self { machine, dictionary, routed, walk, out: Packed::default(), full: false }
    }

    /// Does something, with more words if that is necessary; `None` if there was no room.
    fn with_words<R>(
        &mut self,
        mut work: impl FnMut(&mut dyn Walks<'s, 's>, &mut Packed) -> Result<R, Halt>,
    ) -> Option<R> {
        while let Some(inner) = &mut self.walk {
            match work(inner.as_mut(), &mut self.out) {
                Ok(done) => return Some(done),
                Err(Halt::NoRoom) => {
                    self.full = true;
                    break;
                }
                Err(Halt::Reshape) => {
                    let findings = self.walk.take().map(Walks::into_findings);
                    self.walk = findings.map(|findings| walk(self.machine, self.dictionary, self.routed, findings));
                }
            }
        }
        None
    }

    /// Visits the packed form of a state.
    pub fn pack(&mut self, bytes: &[u8], visit: impl FnMut(&[u8])) {
        self.with_words(|walk, out| walk.pack(bytes, out));
        self.out.for_each(visit);
    }

    /// Visits the packed successors of a packed state.
    #[inline]
    pub fn successors_of(&mut self, state: &[u8], visit: impl FnMut(&[u8])) {
        self.with_words(|walk, out| walk.successors_of(state, out));
        self.out.for_each(visit);
    }

    /// Visits the packed successors of a packed state, each with what says where it belongs.
    #[inline]
    pub fn routed_successors_of(&mut self, state: &[u8], visit: impl FnMut(&[u8], u64)) {
        self.with_words(|walk, out| walk.successors_of(state, out));
        self.out.for_each_routed(visit);
    }

    /// Learns what another process has learnt.
    pub fn hear(&mut self, foreign: &mut Foreign, first: usize, events: &[u8]) -> Option<()> {
        let heard = foreign.hear(self.dictionary, first, events);
        self.full |= heard.is_none();
        heard
    }

    /// Visits the packed form of a packed state of another process.
    #[inline]
    pub fn translate(&mut self, foreign: &mut Foreign, state: &[u8], visit: impl FnMut(&[u8])) {
        self.with_words(|walk, out| walk.translate(foreign, state, out));
        self.out.for_each(visit);
    }

    /// What says where a packed state belongs.
    pub fn route(&mut self, state: &[u8]) -> Option<u64> {
        self.with_words(|walk, _| walk.route(state))
    }

    /// Appends the bytes of a packed state.
    pub fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        self.with_words(|walk, _| {
            out.truncate(start);
            walk.unpack(state, out)
        })
    }

    /// What was found out.
    pub fn found(&self) -> Option<(&Judge<'s, 's>, Notes)> {
        let walk = self.walk.as_ref()?;
        let mut notes = walk.notes();
        notes.too_large |= self.full;
        Some((walk.judge(), notes))
    }

    pub fn bytes(&self) -> u64 {
        self.walk.as_ref().map_or(0, |walk| walk.bytes())
    }
}
