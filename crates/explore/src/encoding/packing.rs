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
use crate::store::to_words;

use super::dictionary::{Cut, Dictionary};
use super::foreign::Foreign;
use super::kept::{Packed, Walks, walk};
use super::layout::MOST_KEPT_WORDS;
use super::remembering::{Halt, nothing};

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
        let dictionary = machine.has_local_steps().then(|| Dictionary::new(Cut::Fine.owners(machine)))?;
        Some(Self { machine, property, dictionary: Arc::new(dictionary) })
    }

    /// Gives each part as many bits as some states need, which a walk with other numbers finds from both ends of the frontier; false if that is too much.
    pub(crate) fn learn(&mut self) -> bool {
        let sample = Dictionary::new(self.dictionary.owners());
        let mut walker = Walker::packed(self.machine, self.property, &sample, false);
        let (mut seen, mut frontier) = (FxHashSet::default(), VecDeque::new());
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
            walker.expand(&state, |next| found(next, &mut frontier));
        }
        let enough = !walker.must_give_up();
        Arc::get_mut(&mut self.dictionary).is_some_and(|dictionary| enough && dictionary.reserve(&sample.counts()))
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
        self.unpack_any(state, &mut bytes)?;
        Some(self.machine.canonical(bytes))
    }

    /// Appends a plain form of a packed state. Of threads that may exchange their places the order is any: the form is for [`Walker::pack`].
    pub fn unpack_any(&self, state: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.dictionary.unpack(&to_words::<MOST_KEPT_WORDS>(state), out)
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
    pub fn with_words<R>(
        &mut self,
        mut work: impl FnMut(&mut dyn Walks<'s, 's>, &mut Packed) -> Result<R, Halt>,
    ) -> Option<R> {
        while let Some(inner) = &mut self.walk {
            match work(inner.as_mut(), &mut self.out) {
                Ok(done) => return Some(done),
                Err(Halt::NoRoom | Halt::Formless) => {
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

    /// Visits the packed states that something makes, each with what says where it belongs.
    #[inline]
    pub fn visit(
        &mut self,
        mut work: impl FnMut(&mut dyn Walks<'s, 's>, &mut Packed) -> Result<(), Halt>,
        visit: impl FnMut(&[u8], u64),
    ) {
        self.with_words(|walk, out| work(walk, out));
        self.out.for_each(visit);
    }

    /// Learns what another process has learnt.
    pub fn hear(&mut self, foreign: &mut Foreign, first: usize, events: &[u8]) -> Option<()> {
        let heard = foreign.hear(self.dictionary, first, events);
        self.full |= heard.is_none();
        heard
    }

    /// What was found out.
    pub fn found(&self) -> Option<(&Judge<'s, 's>, Notes)> {
        let (judge, mut notes) = self.walk.as_ref()?.findings();
        notes.too_large |= self.full;
        Some((judge, notes))
    }

    pub fn bytes(&self) -> u64 {
        self.walk.as_ref().map_or(0, |walk| walk.all_bytes())
    }
}
