//! Whole instances, with the whole step function, so that what is put together from steps of one thread can be compared with them.

use rustc_hash::FxHashSet;

use super::{Apart, MembersWalker, split};

/// All that an instance does.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Its states, taken apart.
    pub states: Vec<Apart>,
    /// Whether a step or a state is wrong.
    pub wrong: bool,
    /// Whether there is a deadlock.
    pub dead: bool,
}

impl MembersWalker<'_> {
    /// All states of the instance as it is; none if there are more than `most`.
    pub fn reachable(&mut self, most: usize) -> Option<Whole> {
        let (mut known, mut found) = (FxHashSet::default(), Whole::default());
        let mut waiting: Vec<Vec<u8>> = Vec::new();
        self.stepper.initial(&mut self.successors);
        loop {
            for successor in self.successors.iter_mut() {
                found.wrong |= successor.event.is_some() || self.m.moment(&successor.state).0.is_some();
                let mut bytes = Vec::new();
                self.m.encode(&successor.state, &mut bytes);
                if successor.event.is_none() && known.insert(bytes.clone()) {
                    for thread in 0..self.family.len() {
                        self.counters.iter().for_each(|counter| counter.clamp(self.m, &mut successor.state, thread));
                    }
                    let mut global = Vec::new();
                    let members = split(self.m, self.family, &successor.state, &mut global);
                    found.states.push((global, members));
                    waiting.push(bytes);
                }
            }
            let Some(next) = waiting.pop() else { return Some(found) };
            if known.len() > most {
                return None;
            }
            self.m.decode(&next, &mut self.state);
            self.stepper.successors(&self.state, &mut self.successors);
            if self.successors.len() == 0 {
                found.dead |= self.stepper.deadlock(&self.state).is_some_and(|blocked| !blocked.is_empty());
            }
        }
    }
}
