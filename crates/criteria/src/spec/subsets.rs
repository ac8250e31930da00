//! The subset construction on one side of an inclusion, built as it is walked.
//!
//! Invariant: a set is a sorted list of states, interned, so that equal sets have equal numbers; the empty set means that
//! no run is left, that is, the history is not in the language.
//! A set of one state is not interned: its number is the state's. So where the automaton is deterministic nothing is kept here.

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, StateId};
use super::renamings::Renaming;

/// The number of a set of states: of its one state, or of an interned set if [`INTERNED`] is in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SetId(u32);

const INTERNED: u32 = 1 << 31;

/// Not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// The deterministic automaton of the sets of states that a history can lead to.
pub(super) struct Subsets<'a> {
    automaton: &'a mut dyn Automaton,
    letters: usize,
    numbers: FxHashMap<Box<[StateId]>, SetId>,
    sets: Vec<Box<[StateId]>>,
    /// For each set and letter the number of the next set, or [`UNKNOWN`].
    next: Vec<u32>,
    scratch: Vec<StateId>,
}

impl<'a> Subsets<'a> {
    pub(super) fn new(automaton: &'a mut dyn Automaton) -> Self {
        let letters = automaton.alphabet().len();
        Self {
            automaton,
            letters,
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            next: Vec::new(),
            scratch: Vec::new(),
        }
    }

    pub(super) fn initial(&mut self) -> SetId {
        let set = self.automaton.initial();
        self.intern(set)
    }

    pub(super) fn is_deterministic(&self) -> bool {
        self.automaton.is_deterministic()
    }

    pub(super) fn step(&mut self, set: SetId, letter: usize) -> SetId {
        let Some(number) = set.interned() else {
            self.scratch.clear();
            self.automaton.successors(StateId(set.0), letter, &mut self.scratch);
            if let [state] = self.scratch[..] {
                return SetId(state.0);
            }
            let union = self.scratch.clone();
            return self.intern(union);
        };
        let entry = number * self.letters + letter;
        if self.next[entry] == UNKNOWN {
            let mut union = std::mem::take(&mut self.scratch);
            union.clear();
            for &state in &*self.sets[number] {
                self.automaton.successors(state, letter, &mut union);
            }
            union.sort_unstable();
            union.dedup();
            self.scratch = union.clone();
            self.next[entry] = self.intern(union).0;
        }
        SetId(self.next[entry])
    }

    /// The set of the renamed states.
    pub(super) fn renamed(&mut self, set: SetId, by: Renaming) -> SetId {
        let Some(number) = set.interned() else { return SetId(self.automaton.renamed(StateId(set.0), by).0) };
        let mut renamed: Vec<StateId> =
            self.sets[number].iter().map(|state| self.automaton.renamed(*state, by)).collect();
        renamed.sort_unstable();
        self.intern(renamed)
    }

    pub(super) fn len(&self, set: SetId) -> usize {
        set.interned().map_or(1, |number| self.sets[number].len())
    }

    pub(super) fn is_subset(&self, small: SetId, large: SetId) -> bool {
        let (one, other) = (StateId(small.0), StateId(large.0));
        let states = |set: SetId| set.interned().map(|number| &*self.sets[number]);
        let (small, large) = (states(small), states(large));
        let (small, large) =
            (small.unwrap_or(std::slice::from_ref(&one)), large.unwrap_or(std::slice::from_ref(&other)));
        let mut rest = large.iter();
        small.iter().all(|s| rest.by_ref().find(|l| *l >= s) == Some(s))
    }

    fn intern(&mut self, set: Vec<StateId>) -> SetId {
        if let [state] = set[..] {
            assert!(state.0 < INTERNED, "fewer than 2^31 states fit into memory");
            return SetId(state.0);
        }
        if let Some(id) = self.numbers.get(set.as_slice()) {
            return *id;
        }
        let number = u32::try_from(self.sets.len()).ok().filter(|number| *number < INTERNED - 1);
        let id = SetId(INTERNED | number.expect("fewer than 2^31 sets fit into memory"));
        let set: Box<[StateId]> = set.into();
        self.numbers.insert(set.clone(), id);
        self.sets.push(set);
        self.next.resize(self.sets.len() * self.letters, UNKNOWN);
        id
    }
}

impl SetId {
    /// The number among the interned sets.
    fn interned(self) -> Option<usize> {
        (self.0 & INTERNED != 0).then_some((self.0 & !INTERNED) as usize)
    }
}
