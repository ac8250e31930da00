//! The states of a program as byte strings, for searches that keep them elsewhere: on disk, or on other machines.
//!
//! A [`Space`] is a question about a program, prepared; each thread of a search has a [`Walker`], which turns one state into its
//! successors. The bytes of a state are the same on every machine that runs the same version on the same question, so they can be
//! compared, hashed, sorted, stored and sent. What a search found out beside states is a [`Summary`] of plain numbers; where
//! something goes wrong it names a state, and [`Space::answer`] builds the answer from the path to it.

use std::collections::BTreeSet;

use cyrano_engine::{Answer, Limits, Query, Question, Stats, Stop};
use cyrano_ir::{Property, TxCriterion};

use crate::criteria::judge::{Hit, Judge};
use crate::encoding::dictionary::Dictionary;
use crate::encoding::foreign::Foreign;
use crate::encoding::packing::{PackedWalk, Packing, SharedNumbers};
use crate::encoding::taught::{self, Taught, Unteachable};
use crate::search::Found;
use crate::search::plain::{Bytes, Plain};
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;
use crate::store::Address;
use crate::{Explore, timestamps};

/// A question about a program, prepared for a search.
pub struct Space<'a> {
    machine: Machine<'a>,
    config: &'a Explore,
    query: Query<'a>,
    gap: Option<i128>,
}

/// Where something goes wrong, or a witness is found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wrong {
    /// In the state itself.
    Here,
    /// In a step from it.
    InStep,
}

/// What a search found out beside states.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Transitions taken.
    pub transitions: u64,
    /// Whether some execution runs to its end.
    pub ended: bool,
    /// The valuations of the observed variables, if they were asked for.
    pub outcomes: BTreeSet<Vec<i128>>,
    /// What verdicts depend on, as bits.
    pub notes: u32,
    /// A thread and an instruction whose `limit` does not always hold.
    pub limited: Option<(usize, u32)>,
}

impl Summary {
    /// Adds what another part of the search found out.
    pub fn absorb(&mut self, other: Self) {
        self.transitions += other.transitions;
        self.ended |= other.ended;
        self.outcomes.extend(other.outcomes);
        self.notes |= other.notes;
        self.limited = self.limited.or(other.limited);
    }

    /// Whether the search must be abandoned: [`Space::wider`] says what to do instead.
    pub fn must_give_up(&self) -> bool {
        let notes = Notes::from_bits(self.notes, None);
        notes.too_large || notes.gap_too_small
    }
}

impl<'a> Space<'a> {
    /// Prepares a question. Progress, termination and commit-atomicity need other searches; for them there is no space.
    pub fn new(query: Query<'a>, config: &'a Explore, limits: &Limits) -> Option<Self> {
        let property = property(query);
        // A specification's states have numbers that mean nothing to another process.
        let specified = matches!(property, Some(Property::Transactions(TxCriterion::Spec(_))));
        if specified || matches!(property, Some(Property::Progress(_) | Property::Live(_) | Property::CommitAtomicity))
        {
            return None;
        }
        let ranked =
            config.timestamps && query.program().has_timestamps() && !timestamps::observed(query.program(), property);
        Some(Self::with_gap(query, config, limits, ranked.then_some(1)))
    }

    fn with_gap(query: Query<'a>, config: &'a Explore, limits: &Limits, gap: Option<i128>) -> Self {
        let machine = Machine::new(query.program(), query.model(), config, property(query), limits.deferred, gap);
        Self { machine, config, query, gap }
    }

    /// If a search had to give up because timestamps were too close together: the same question with larger gaps.
    pub fn wider(&self, summary: &Summary, limits: &Limits) -> Option<Self> {
        let too_small = Notes::from_bits(summary.notes, None).gap_too_small;
        self.gap.filter(|_| too_small)?;
        Some(Self::with_gap(self.query, self.config, limits, crate::larger(self.gap)))
    }

    /// The same question, after searches that found these notes and gave up.
    pub fn widened(self, notes: &[u32], limits: &Limits) -> Option<Self> {
        notes
            .iter()
            .try_fold(self, |space, notes| space.wider(&Summary { notes: *notes, ..Summary::default() }, limits))
    }

    /// One thread's part of a search.
    pub fn walker(&self) -> Walker<'_> {
        Walker { plain: Plain::new(&self.machine, property(self.query), Bytes::default()), packed: None }
    }

    /// Teaches a search that takes steps itself, until it ends.
    pub fn teach<T: Taught>(&self, search: &mut T) -> Result<T::End, Unteachable> {
        taught::teach(&self.machine, property(self.query), search)
    }

    /// A way to pack states that has learnt how many values their parts have; none where that does not serve.
    pub fn packing(&self) -> Option<Packing<'_>> {
        self.empty_packing().and_then(|mut packing| packing.learn().then_some(packing))
    }

    /// A way to pack states with the numbers of another one of the same space.
    pub fn packing_with(&self, numbers: &SharedNumbers) -> Option<Packing<'_>> {
        self.empty_packing().and_then(|packing| packing.with_numbers(numbers))
    }

    /// A way to pack states that has learnt nothing yet, for [`Packing::import`].
    pub fn empty_packing(&self) -> Option<Packing<'_>> {
        Packing::new(&self.machine, property(self.query))
    }

    /// The answer after a search. `path` has the states from an initial one to the one where something goes wrong, that one included; it is
    /// empty if something goes wrong before all threads have come to their first rest.
    pub fn answer(
        &self,
        path: &[Vec<u8>],
        wrong: Option<Wrong>,
        summary: &Summary,
        stop: Option<Stop>,
        stats: Stats,
        limits: &Limits,
    ) -> Answer {
        let mut judge = Judge::new(&self.machine, property(self.query));
        judge.ended = summary.ended;
        judge.outcomes.clone_from(&summary.outcomes);
        if let Some(wrong) = wrong {
            let mut walker = self.walker();
            match path.last() {
                Some(last) => walker.expand(last, |_| {}),
                None => walker.initial(|_| {}),
            };
            let violation = walker.hit().and_then(|hit| hit.violation.clone());
            judge.hit = Some(Hit { record: Address::NONE, violation, in_step: wrong == Wrong::InStep });
        }
        let notes = Notes::from_bits(summary.notes, summary.limited);
        let stats = Stats { transitions: summary.transitions, ..stats };
        let found = Found { stop, path: path.to_vec(), judge, notes, reached: None, stats, growing: None };
        self.config.answer(&self.machine, property(self.query), found, limits)
    }
}

fn property(query: Query<'_>) -> Option<&Property> {
    match query.question() {
        Question::Holds(property) => Some(property),
        Question::Outcomes => None,
    }
}

/// Turns states into their successors.
pub struct Walker<'s> {
    plain: Plain<'s, 's>,
    /// If states are packed: with remembered steps.
    packed: Option<PackedWalk<'s>>,
}

impl<'s> Walker<'s> {
    pub(crate) fn packed(
        machine: &'s Machine<'s>,
        property: Option<&'s Property>,
        dictionary: &'s Dictionary,
        routed: bool,
    ) -> Self {
        let packed = Some(PackedWalk::new(machine, property, dictionary, routed));
        Self { plain: Plain::new(machine, property, Bytes::default()), packed }
    }

    /// Visits the initial states; says if one of them goes wrong at once.
    pub fn initial(&mut self, mut visit: impl FnMut(&[u8])) -> Option<Wrong> {
        match &mut self.packed {
            Some(packed) => self.plain.initial_states(|state| {
                packed.visit(|walk, out| walk.pack_bytes(state, out), |state, _| visit(state));
            }),
            None => self.plain.initial_states(visit),
        }
        self.wrong()
    }

    /// Visits the successors of a state, with repetitions; says if something goes wrong there.
    #[inline]
    pub fn expand(&mut self, state: &[u8], mut visit: impl FnMut(&[u8])) -> Option<Wrong> {
        match &mut self.packed {
            Some(packed) => packed.visit(|walk, out| walk.successors_of(state, out), |state, _| visit(state)),
            None => self.plain.successors_of(state, visit),
        }
        self.wrong()
    }

    /// The same for a walker of [`Packing::routing_walker`]: each successor with a hash that says where it belongs, which is the same on all machines and
    /// for all forms of a state.
    #[inline]
    pub fn expand_routed(&mut self, state: &[u8], visit: impl FnMut(&[u8], u64)) -> Option<Wrong> {
        if let Some(packed) = &mut self.packed {
            packed.visit(|walk, out| walk.successors_of(state, out), visit);
        }
        self.wrong()
    }

    /// The hash of [`Walker::expand_routed`] of a packed state. If there is none, the search must be given up.
    pub fn route(&mut self, state: &[u8]) -> Option<u64> {
        self.packed.as_mut()?.with_words(|walk, _| walk.route(state))
    }

    /// Visits the packed form of a plain state, unless the search must be given up.
    pub fn pack(&mut self, state: &[u8], mut visit: impl FnMut(&[u8])) {
        if let Some(packed) = &mut self.packed {
            packed.visit(|walk, out| walk.pack_bytes(state, out), |state, _| visit(state));
        }
    }

    /// Learns what the packing of another process had learnt after its first `first` things ([`Packing::export`]). If that makes no sense, or there is no
    /// room for it here, the search must be given up.
    pub fn hear(&mut self, foreign: &mut Foreign, first: usize, events: &[u8]) -> Option<()> {
        self.packed.as_mut()?.hear(foreign, first, events)
    }

    /// Visits the packed form of a packed state of another process, unless the search must be given up.
    #[inline]
    pub fn translate(&mut self, foreign: &mut Foreign, state: &[u8], mut visit: impl FnMut(&[u8])) {
        if let Some(packed) = &mut self.packed {
            packed.visit(|walk, out| walk.translate(foreign, state, out), |state, _| visit(state));
        }
    }

    /// Appends a plain form of a packed state. Of threads that may exchange their places the order is any: the form is for [`Walker::pack`].
    pub fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        self.packed.as_mut()?.with_words(|walk, _| {
            out.truncate(start);
            walk.unpack(state, out)
        })
    }

    /// Whether the search must be abandoned; see [`Summary::must_give_up`].
    pub fn must_give_up(&self) -> bool {
        self.found().any(|(_, notes)| notes.too_large || notes.gap_too_small)
    }

    /// Bytes that it has come to take for remembered steps.
    pub fn bytes(&self) -> u64 {
        self.packed.as_ref().map_or(0, PackedWalk::bytes)
    }

    /// What was found out about packed states and about others.
    fn found(&self) -> impl Iterator<Item = (&Judge<'s, 's>, Notes)> {
        self.packed.as_ref().and_then(PackedWalk::found).into_iter().chain([self.plain.found()])
    }

    fn hit(&self) -> Option<&Hit> {
        self.found().find_map(|(judge, _)| judge.hit.as_ref())
    }

    fn wrong(&self) -> Option<Wrong> {
        self.hit().map(|hit| if hit.in_step { Wrong::InStep } else { Wrong::Here })
    }

    /// What was found out so far.
    pub fn summary(&self) -> Summary {
        let mut all = Summary::default();
        self.found().for_each(|(judge, notes)| all.absorb(summary(judge, notes)));
        all
    }
}

pub(crate) fn summary(judge: &Judge<'_, '_>, notes: Notes) -> Summary {
    Summary {
        transitions: judge.transitions,
        ended: judge.ended,
        outcomes: judge.outcomes.clone(),
        notes: notes.bits(),
        limited: notes.limited,
    }
}
