//! A specification with its states numbered, so that any two can be compared through one object-safe trait.
//!
//! Invariant: states are numbered in the order in which they were first reached, each successor list is computed at most
//! once, and lists are sorted and free of duplicates.
//! Nothing is built before it is asked for, so a comparison that ends early never pays for the rest of an automaton.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Specification;
use super::renamings::{Renaming, RenamingSet, Renamings};
use crate::history::{Event, Size};

/// The number of a state of one [`Automaton`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateId(pub u32);

/// A finite automaton over events, all of whose states accept, built as it is walked.
pub trait Automaton: Send {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The threads and variables that it is for.
    fn size(&self) -> Size;

    /// The letters. Two automata can be compared if these are the same.
    fn alphabet(&self) -> &[Event];

    /// The initial states, sorted.
    fn initial(&mut self) -> Vec<StateId>;

    /// Appends the successors by the letter with this position in the alphabet, sorted.
    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>);

    /// How many states have been reached so far.
    fn states(&self) -> usize;

    /// For a state without a move for a letter: where the automaton is, if there are words for it.
    fn stuck(&self, _: StateId, _: usize) -> Option<String> {
        None
    }

    /// Whether there is one initial state, and at most one successor by each letter.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// The renamings of threads and variables that map runs to runs, if the automaton can apply them to its states.
    fn renamings(&self) -> Option<Arc<Renamings>> {
        None
    }

    /// The state that the renamed events lead to. Without [`Automaton::renamings`] there is nothing to rename.
    fn renamed(&self, state: StateId, _: Renaming) -> StateId {
        state
    }

    /// The renamings that lead from a state to the one that was chosen among all that renamings make of it.
    fn to_representative(&self, _: StateId) -> RenamingSet {
        RenamingSet(1)
    }
}

/// The [`Automaton`] of a [`Specification`].
pub struct Numbered<S: Specification> {
    spec: S,
    alphabet: Vec<Event>,
    numbers: FxHashMap<S::State, StateId>,
    states: Vec<S::State>,
    /// For each state and letter the stretch of `lists` with its successors, or [`UNKNOWN`].
    known: Vec<Stretch>,
    lists: Vec<StateId>,
}

/// A part of the pool of successor lists.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: u32,
    len: u32,
}

/// No list has been computed yet. There is one of these for every state and letter, so it must not cost extra bytes.
const UNKNOWN: Stretch = Stretch { start: u32::MAX, len: u32::MAX };

impl<S: Specification> Numbered<S> {
    /// Over all events of the specification's size.
    pub fn new(spec: S) -> Self {
        let alphabet = spec.size().alphabet();
        Self::over(spec, alphabet)
    }

    /// Over these events.
    pub fn over(spec: S, alphabet: Vec<Event>) -> Self {
        Self { alphabet, spec, numbers: FxHashMap::default(), states: Vec::new(), known: Vec::new(), lists: Vec::new() }
    }

    fn number(&mut self, state: S::State) -> StateId {
        if let Some(id) = self.numbers.get(&state) {
            return *id;
        }
        let id = StateId(u32::try_from(self.states.len()).expect("fewer than 2^32 states fit into memory"));
        self.numbers.insert(state.clone(), id);
        self.states.push(state);
        self.known.resize(self.states.len() * self.alphabet.len(), UNKNOWN);
        id
    }

    fn number_all(&mut self, states: Vec<S::State>) -> Vec<StateId> {
        let mut ids: Vec<StateId> = states.into_iter().map(|s| self.number(s)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl<S: Specification> Automaton for Numbered<S> {
    fn name(&self) -> &'static str {
        self.spec.name()
    }

    fn size(&self) -> Size {
        self.spec.size()
    }

    fn alphabet(&self) -> &[Event] {
        &self.alphabet
    }

    fn initial(&mut self) -> Vec<StateId> {
        let states = self.spec.initial();
        self.number_all(states)
    }

    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>) {
        let entry = state.0 as usize * self.alphabet.len() + letter;
        if self.known[entry] == UNKNOWN {
            let next = self.spec.step(&self.states[state.0 as usize], self.alphabet[letter]);
            let ids = self.number_all(next);
            let start = u32::try_from(self.lists.len()).expect("fewer than 2^32 transitions fit into memory");
            self.known[entry] = Stretch { start, len: ids.len() as u32 };
            self.lists.extend(ids);
        }
        let Stretch { start, len } = self.known[entry];
        out.extend_from_slice(&self.lists[start as usize..][..len as usize]);
    }

    fn states(&self) -> usize {
        self.states.len()
    }

    fn stuck(&self, state: StateId, letter: usize) -> Option<String> {
        self.spec.stuck(&self.states[state.0 as usize], self.alphabet[letter])
    }
}

/// Walks the whole automaton and counts its states; the callback may stop the walk, which gives `None`.
pub fn reachable_states(automaton: &mut dyn Automaton, mut go_on: impl FnMut(usize) -> bool) -> Option<usize> {
    automaton.initial();
    let letters = automaton.alphabet().len();
    let mut scratch = Vec::new();
    let mut next = 0;
    // States are numbered in the order in which they are reached, so the numbers themselves are the queue.
    while next < automaton.states() {
        if next % 4096 == 0 && !go_on(next) {
            return None;
        }
        for letter in 0..letters {
            scratch.clear();
            automaton.successors(StateId(next as u32), letter, &mut scratch);
        }
        next += 1;
    }
    Some(next)
}
