//! The subset construction on one side of an inclusion, built as it is walked.
//!
//! Invariant: a set is a sorted list of states, interned, so that equal sets have equal numbers; the empty set means that
//! no run is left, that is, the history is not in the language.

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, StateId};

/// The number of an interned set of states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SetId(pub(super) u32);

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

    pub(super) fn step(&mut self, set: SetId, letter: usize) -> SetId {
        let entry = set.0 as usize * self.letters + letter;
        if self.next[entry] == UNKNOWN {
            let mut union = std::mem::take(&mut self.scratch);
            union.clear();
            for &state in &*self.sets[set.0 as usize] {
                self.automaton.successors(state, letter, &mut union);
            }
            union.sort_unstable();
            union.dedup();
            self.scratch = union.clone();
            self.next[entry] = self.intern(union).0;
        }
        SetId(self.next[entry])
    }

    pub(super) fn len(&self, set: SetId) -> usize {
        self.sets[set.0 as usize].len()
    }

    pub(super) fn is_subset(&self, small: SetId, large: SetId) -> bool {
        let mut rest = self.sets[large.0 as usize].iter();
        self.sets[small.0 as usize].iter().all(|s| rest.by_ref().find(|l| *l >= s) == Some(s))
    }

    fn intern(&mut self, set: Vec<StateId>) -> SetId {
        if let Some(id) = self.numbers.get(set.as_slice()) {
            return *id;
        }
        let id = SetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 sets fit into memory"));
        let set: Box<[StateId]> = set.into();
        self.numbers.insert(set.clone(), id);
        self.sets.push(set);
        self.next.resize(self.sets.len() * self.letters, UNKNOWN);
        id
    }
}
