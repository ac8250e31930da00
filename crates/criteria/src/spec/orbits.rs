//! The automaton of a monitor, with states that differ by a renaming of threads and variables kept once.
//!
//! A monitor treats threads and variables alike: its step commutes with every renaming g, `step(g s, g e) = g step(s, e)`
//! ([`Monitor::permute`]). So all states are the renamings of a few *representatives*, one for each orbit, and a state is told by the number of
//! its representative r and by a renaming h with `s = h r`. What follows it is `step(h r, e) = h step(r, h⁻¹ e)`: successors are computed
//! and remembered for representatives only.
//!
//! **Invariant:** a state has one number. Of the renamings that make it out of the representative, which are a coset of those that leave the
//! representative as it is, the first counts.
//!
//! The representative is the one whose encoding comes first among renamings that sort the threads and the variables by their *colours*
//! ([`Monitor::colours`]). Colours are renamed with the state, so the choice is the same for all states of an orbit; they spare most of the renamings.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, StateId};
use super::renamings::{Renaming, RenamingSet, Renamings};
use crate::history::{Event, Size};
use crate::monitor::{Monitor, MonitorState};

/// The longest encoding of a state of the sizes that have few enough renamings.
const KEY: usize = 24;

/// The encoding of a state, with zeros behind it. It says itself where it ends, so these add nothing.
type Key = [u8; KEY];

/// A successor that has not been computed yet, and one that does not exist.
const UNKNOWN: u32 = u32::MAX;
const REJECTED: u32 = u32::MAX - 1;

/// A monitor with its states numbered by orbits.
pub struct Orbits {
    monitor: Monitor,
    alphabet: Vec<Event>,
    group: Arc<Renamings>,
    numbers: FxHashMap<Key, u32>,
    representatives: Vec<Key>,
    /// The renamings that leave each representative as it is.
    stabilisers: Vec<RenamingSet>,
    /// For each representative and letter the successor, [`UNKNOWN`] or [`REJECTED`].
    next: Vec<u32>,
    /// The representative that was looked at last, read.
    last: (u32, MonitorState),
    /// How many states the orbits have.
    states: usize,
    scratch: Vec<u8>,
}

impl Orbits {
    /// The automaton of a monitor; none if its size has too many renamings.
    pub fn new(monitor: Monitor) -> Option<Self> {
        let alphabet = monitor.size().alphabet();
        let group = Arc::new(Renamings::new(monitor.size(), &alphabet)?);
        Some(Self {
            monitor,
            alphabet,
            group,
            numbers: FxHashMap::default(),
            representatives: Vec::new(),
            stabilisers: Vec::new(),
            next: Vec::new(),
            last: (UNKNOWN, monitor.initial()),
            states: 0,
            scratch: Vec::new(),
        })
    }

    fn key(&mut self, state: &MonitorState) -> Key {
        self.scratch.clear();
        self.monitor.encode(state, &mut self.scratch);
        let mut key = [0; KEY];
        key[..self.scratch.len()].copy_from_slice(&self.scratch);
        key
    }

    /// The number of a state.
    fn number(&mut self, state: &MonitorState) -> StateId {
        let group = Arc::clone(&self.group);
        let (thread_colours, var_colours) = self.monitor.colours(state);
        let mut best: Option<(Key, Renaming, MonitorState)> = None;
        for (renaming, threads, vars) in group.all() {
            if sorts(&thread_colours, threads) && sorts(&var_colours, vars) {
                let renamed = self.monitor.permute(state, threads, vars);
                let key = self.key(&renamed);
                if best.as_ref().is_none_or(|(least, ..)| key < *least) {
                    best = Some((key, renaming, renamed));
                }
            }
        }
        let (key, renaming, representative) = best.expect("colours can be sorted");
        let orbit = match self.numbers.get(&key) {
            Some(orbit) => *orbit,
            None => self.add(key, &representative),
        };
        self.id(orbit, group.inverse(renaming))
    }

    fn add(&mut self, key: Key, state: &MonitorState) -> u32 {
        let group = Arc::clone(&self.group);
        let mut stabiliser = RenamingSet(0);
        let (thread_colours, var_colours) = self.monitor.colours(state);
        for (renaming, threads, vars) in group.all() {
            // A renaming that keeps the state keeps its colours, which are sorted.
            let kept = sorts(&thread_colours, threads) && sorts(&var_colours, vars);
            if kept && self.key(&self.monitor.permute(state, threads, vars)) == key {
                stabiliser.insert(renaming);
            }
        }
        let orbit = self.representatives.len() as u32;
        assert!((orbit as usize + 1) * group.len() < 1 << 31, "fewer than 2^31 states fit into memory");
        self.states += group.len() / stabiliser.len();
        self.stabilisers.push(stabiliser);
        self.numbers.insert(key, orbit);
        self.representatives.push(key);
        self.next.resize(self.representatives.len() * self.alphabet.len(), UNKNOWN);
        orbit
    }

    /// The number of the state that a renaming makes of a representative.
    fn id(&self, orbit: u32, renaming: Renaming) -> StateId {
        let stabiliser = self.stabilisers[orbit as usize];
        let first = if stabiliser.len() == 1 {
            renaming
        } else {
            stabiliser.iter().map(|kept| self.group.product(renaming, kept)).min().unwrap_or(renaming)
        };
        StateId(orbit * self.group.len() as u32 + u32::from(first.0))
    }

    /// The orbit of a state, and what makes the state out of the representative.
    fn parts(&self, state: StateId) -> (u32, Renaming) {
        let size = self.group.len() as u32;
        (state.0 / size, Renaming((state.0 % size) as u8))
    }

    /// The successor of a representative.
    fn step(&mut self, orbit: u32, letter: usize) -> u32 {
        if self.last.0 != orbit {
            let (state, _) = self.monitor.decode(&self.representatives[orbit as usize]).expect("it was encoded");
            self.last = (orbit, state);
        }
        let mut state = self.last.1;
        match self.monitor.step(&mut state, self.alphabet[letter]) {
            Ok(()) => self.number(&state).0,
            Err(_) => REJECTED,
        }
    }
}

/// Whether the colours are in order once each has moved to where the renaming puts it.
fn sorts(colours: &[u32], renaming: &[u8]) -> bool {
    let mut sorted = [0; 8];
    renaming.iter().zip(colours).for_each(|(to, colour)| sorted[usize::from(*to)] = *colour);
    sorted[..renaming.len()].is_sorted()
}

impl Automaton for Orbits {
    fn name(&self) -> &'static str {
        self.monitor.criterion().name()
    }

    fn size(&self) -> Size {
        self.monitor.size()
    }

    fn alphabet(&self) -> &[Event] {
        &self.alphabet
    }

    fn initial(&mut self) -> Vec<StateId> {
        let state = self.monitor.initial();
        vec![self.number(&state)]
    }

    fn successors(&mut self, state: StateId, letter: usize, out: &mut Vec<StateId>) {
        let (orbit, renaming) = self.parts(state);
        let own = self.group.letter(self.group.inverse(renaming), letter);
        let entry = orbit as usize * self.alphabet.len() + own;
        if self.next[entry] == UNKNOWN {
            self.next[entry] = self.step(orbit, own);
        }
        if self.next[entry] != REJECTED {
            out.push(self.renamed(StateId(self.next[entry]), renaming));
        }
    }

    fn states(&self) -> usize {
        self.states
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn renamings(&self) -> Option<Arc<Renamings>> {
        Some(Arc::clone(&self.group))
    }

    fn renamed(&self, state: StateId, by: Renaming) -> StateId {
        let (orbit, renaming) = self.parts(state);
        self.id(orbit, self.group.product(by, renaming))
    }

    fn to_representative(&self, state: StateId) -> RenamingSet {
        let (orbit, renaming) = self.parts(state);
        let back = self.group.inverse(renaming);
        let mut all = RenamingSet(0);
        self.stabilisers[orbit as usize].iter().for_each(|kept| all.insert(self.group.product(kept, back)));
        all
    }
}
