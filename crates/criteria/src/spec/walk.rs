//! Histories on their way through an automaton that may have several moves for an event.
//!
//! [`rejection`] walks one history, and is what a replay goes by. [`Walk`] serves a search: the sets of states that histories lead to are
//! numbered as they are met, and what follows each of them is computed once. **Invariant:** equal numbers are equal sets. The numbers depend on the order of
//! the search, so they mean nothing to another process.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, StateId};
use crate::history::Event;

/// Where a specification rejects a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// The event without a move, by its place.
    pub at: usize,
    /// Where the automaton is then, if there are words for it.
    pub place: Option<String>,
}

/// Where a history is rejected; `None` if it is accepted. Events that are not in the alphabet do not count.
pub fn rejection(automaton: &mut dyn Automaton, history: &[Event]) -> Option<Rejection> {
    let mut states = automaton.initial();
    for (at, event) in history.iter().enumerate() {
        let Some(letter) = automaton.alphabet().iter().position(|known| known == event) else { continue };
        let next = successors(automaton, &states, letter);
        if next.is_empty() {
            return Some(Rejection { at, place: states.first().and_then(|state| automaton.stuck(*state, letter)) });
        }
        states = next;
    }
    None
}

fn successors(automaton: &mut dyn Automaton, states: &[StateId], letter: usize) -> Vec<StateId> {
    let mut next = Vec::new();
    states.iter().for_each(|state| automaton.successors(*state, letter, &mut next));
    next.sort_unstable();
    next.dedup();
    next
}

/// Sets of states, numbered; 0 is the initial one.
pub struct Walk {
    letters: FxHashMap<Event, usize>,
    known: Mutex<Known>,
}

struct Known {
    automaton: Box<dyn Automaton>,
    sets: Vec<Vec<StateId>>,
    numbers: FxHashMap<Vec<StateId>, u32>,
    /// What follows a set by a letter; nothing if there is no move.
    after: FxHashMap<(u32, usize), Option<u32>>,
}

impl Walk {
    /// Through this automaton.
    pub fn new(mut automaton: Box<dyn Automaton>) -> Self {
        let letters = automaton.alphabet().iter().copied().enumerate().map(|(letter, event)| (event, letter)).collect();
        let initial = automaton.initial();
        let numbers = FxHashMap::from_iter([(initial.clone(), 0)]);
        let known = Known { automaton, sets: vec![initial], numbers, after: FxHashMap::default() };
        Self { letters, known: Mutex::new(known) }
    }

    /// The set after an event; `None` if there is no move. An event that is not in the alphabet changes nothing.
    pub fn step(&self, set: u32, event: Event) -> Option<u32> {
        let Some(letter) = self.letters.get(&event) else { return Some(set) };
        let known = &mut *self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(after) = known.after.get(&(set, *letter)) {
            return *after;
        }
        let next = successors(known.automaton.as_mut(), &known.sets[set as usize], *letter);
        let after = (!next.is_empty()).then(|| known.number(next));
        known.after.insert((set, *letter), after);
        after
    }
}

impl Known {
    fn number(&mut self, set: Vec<StateId>) -> u32 {
        let new = u32::try_from(self.sets.len()).expect("fewer than 2^32 sets fit into memory");
        let number = *self.numbers.entry(set.clone()).or_insert(new);
        if number == new {
            self.sets.push(set);
        }
        number
    }
}
