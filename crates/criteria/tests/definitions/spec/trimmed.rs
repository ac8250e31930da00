//! An automaton without the states from which the running transactions can no longer all end.
//!
//! The paper's automata reject some histories before they go wrong, because nothing good can follow; trimming both sides
//! takes this difference away.

use rustc_hash::FxHashMap;

use super::discipline::Orderly;
use cyrano_criteria::history::{Event, Size};
use cyrano_criteria::spec::Specification;
use cyrano_criteria::spec::automaton::{Automaton, StateId};

pub struct Trimmed {
    name: &'static str,
    size: Size,
    alphabet: Vec<Event>,
    initial: Vec<StateId>,
    /// For each state and letter.
    successors: Vec<Vec<StateId>>,
}

impl Trimmed {
    pub fn new<S: Specification>(spec: Orderly<S>) -> Self {
        let alphabet = spec.size().alphabet();
        let mut numbers = FxHashMap::default();
        let mut states = Vec::new();
        let mut number = |state: <Orderly<S> as Specification>::State, states: &mut Vec<_>| {
            *numbers.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                StateId(states.len() as u32 - 1)
            })
        };
        let initial = spec.initial().into_iter().map(|s| number(s, &mut states)).collect();
        let mut successors: Vec<Vec<StateId>> = Vec::new();
        let mut at = 0;
        while at < states.len() {
            for &event in &alphabet {
                let next = spec.step(&states[at].clone(), event);
                let mut next: Vec<_> = next.into_iter().map(|s| number(s, &mut states)).collect();
                next.sort_unstable();
                successors.push(next);
            }
            at += 1;
        }
        let ends: Vec<bool> = states.iter().map(|(_, conduct)| conduct.iter().all(|c| !c.started)).collect();
        keep_live(&mut successors, alphabet.len(), ends);
        Self { name: spec.name(), size: spec.size(), alphabet, initial, successors }
    }
}

/// Removes the transitions to states from which no end can be reached.
fn keep_live(successors: &mut [Vec<StateId>], letters: usize, mut live: Vec<bool>) {
    let mut predecessors = vec![Vec::new(); live.len()];
    for (entry, list) in successors.iter().enumerate() {
        for to in list {
            predecessors[to.0 as usize].push(entry / letters);
        }
    }
    let mut queue: Vec<usize> = (0..live.len()).filter(|&s| live[s]).collect();
    while let Some(state) = queue.pop() {
        for &before in &predecessors[state] {
            if !std::mem::replace(&mut live[before], true) {
                queue.push(before);
            }
        }
    }
    for list in successors {
        list.retain(|to| live[to.0 as usize]);
    }
}

impl Automaton for Trimmed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn size(&self) -> Size {
        self.size
    }

    fn alphabet(&self) -> &[Event] {
        &self.alphabet
    }

    fn initial(&mut self) -> Vec<StateId> {
        self.initial.clone()
    }

    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>) {
        out.extend_from_slice(&self.successors[state.0 as usize * self.alphabet.len() + letter]);
    }

    fn states(&self) -> usize {
        self.successors.len() / self.alphabet.len()
    }
}
