//! The transition system of a program, with every step kept (FOIL, Algorithm 6): one search that somebody observes, as progress does.
//!
//! Only reductions are used that join what nobody can see (`macro-steps`, `dead-registers`) or that rename states (`timestamps`, where labels have no
//! values); events of transactions are steps of their own. So the language of the system is the set of histories of the program.
//!
//! **Invariant:** states are numbered in breadth-first order, which is the order of their records; a step with several labels (an atomic section) passes
//! through states of its own, whose numbers come last.

use std::sync::{Mutex, PoisonError};

use cyrano_criteria::history::Event;
use cyrano_engine::lts::{Label, TransitionSystem};
use cyrano_engine::{Cause, Limits, Query, Watch};
use cyrano_ir::{LocId, ThreadId};
use rustc_hash::FxHashMap;

use crate::search::observer::Observer;
use crate::search::plain::{Bytes, Plain};
use crate::search::{Found, Search};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};
use crate::store::{Address, Store};
use crate::{Explore, supports};

/// More states than this have no numbers.
const MOST_STATES: usize = u32::MAX as usize / 4;

impl Explore {
    /// All states and steps of a program; `Err` says why they are not known.
    pub fn transition_system(
        &self,
        query: Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<TransitionSystem, Cause> {
        supports::supports(&query).map_err(Cause::Refused)?;
        let (program, model) = (query.program(), query.model());
        let config = Self { dead_loads: false, sorted_stores: false, fingerprints: false, ..self.clone() };
        let limits = Limits { workers: 1, ..limits.clone() };
        let ranked = self.timestamps && program.has_timestamps() && !program.transactional.is_empty();
        let mut gap = ranked.then_some(1);
        loop {
            let mut machine = Machine::new(program, model, &config, None, limits.deferred, gap);
            machine.events_wait = true;
            machine.tells = true;
            let steps = Steps { m: &machine, kept: Mutex::default() };
            let mut search = Search::new(&machine, None, Store::exact(), &limits, watch);
            search.run(|| Plain::new(&machine, None, Bytes::noting_places()).observed_by(&steps));
            let own_bytes = steps.kept().size();
            let (Found { stop, notes, .. }, _) = search.finish(own_bytes, <[u8]>::to_vec);
            if notes.gap_too_small {
                gap = crate::larger(gap);
                continue;
            }
            let kept = steps.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
            return match stop {
                _ if notes.bounded => Err(Cause::Deferred(limits.deferred)),
                Some(stop) => Err(stop.into()),
                None => Ok(kept.system()),
            };
        }
    }
}

/// What is kept of a search.
#[derive(Default)]
struct Kept {
    /// The records of all states.
    records: Vec<Address>,
    /// How many states were expanded.
    expanded: u32,
    /// For each step that goes on, in the order in which its end is stored: where it starts and its labels.
    steps: Vec<(u32, Vec<u32>)>,
    /// Where they end.
    ends: Vec<u32>,
    /// Where something goes wrong, and what happens before.
    wrong: Vec<(u32, Vec<u32>)>,
    labels: Vec<Label>,
    numbers: FxHashMap<Label, u32>,
    /// How many states are initial; they are stored before the ends of steps.
    initial: usize,
    stored: usize,
    initial_states: Vec<u32>,
}

impl Kept {
    fn number(&mut self, label: Label) -> u32 {
        let new = self.labels.len() as u32;
        let number = *self.numbers.entry(label).or_insert(new);
        if number == new {
            self.labels.push(label);
        }
        number
    }

    fn state(&self, record: Address) -> u32 {
        self.records.partition_point(|known| *known < record) as u32
    }

    fn size(&self) -> u64 {
        let step = size_of::<(u32, Vec<u32>)>() + size_of::<u32>() * 2;
        (self.records.len() * size_of::<Address>() + self.steps.len() * step) as u64
    }

    /// The system, with a state in front of several initial ones, and states within steps.
    fn system(mut self) -> TransitionSystem {
        let silent = self.number(Label::Silent);
        let own = self.records.len() as u32;
        let mut system = TransitionSystem { own_states: own, states: own, ..TransitionSystem::default() };
        system.steps = self.steps.len() as u64;
        let several = self.initial_states.len() > 1;
        let shift = u32::from(several);
        system.states += shift;
        for initial in self.initial_states.iter().filter(|_| several) {
            system.transitions.push((0, silent, initial + 1));
        }
        for ((from, labels), to) in self.steps.iter().zip(&self.ends) {
            system.pass(from + shift, labels, to + shift, silent);
        }
        if !self.wrong.is_empty() {
            let wrong = self.number(Label::Wrong);
            let end = system.states;
            system.states += 1;
            for (from, labels) in &self.wrong {
                let labels: Vec<u32> = labels.iter().copied().chain([wrong]).collect();
                system.pass(from + shift, &labels, end, silent);
            }
        }
        system.transitions.sort_unstable();
        system.transitions.dedup();
        system.labels = self.labels;
        system
    }
}

/// A transition, or several if there is more than one label.
trait Pass {
    fn pass(&mut self, from: u32, labels: &[u32], to: u32, silent: u32);
}

impl Pass for TransitionSystem {
    fn pass(&mut self, mut from: u32, labels: &[u32], to: u32, silent: u32) {
        let Some((last, first)) = labels.split_last() else { return self.transitions.push((from, silent, to)) };
        for label in first {
            let between = self.states;
            self.states += 1;
            self.transitions.push((from, *label, between));
            from = between;
        }
        self.transitions.push((from, *last, to));
    }
}

/// Keeps the steps that a search comes along.
struct Steps<'m> {
    m: &'m Machine<'m>,
    kept: Mutex<Kept>,
}

impl Steps<'_> {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What somebody who looks at the program's history sees of a step, or at its accesses if it has no transactions.
    fn labels(&self, step: &Successor) -> Vec<Label> {
        let told = step.told.iter().zip(&step.accesses);
        if !self.m.program.transactional.is_empty() {
            let event = |action| Label::Event(Event { thread: step.thread as u8, action });
            return told.filter_map(|(told, _)| told.action.map(event)).collect();
        }
        let access = told.filter_map(|(told, values)| {
            let (kind, loc) = told.access?;
            let thread = ThreadId::new(step.thread);
            Some(Label::Access { thread, kind, loc: LocId(loc), read: values.read, written: values.written })
        });
        access.collect()
    }
}

impl<'m> Observer<'m> for &Steps<'m> {
    fn begin(&mut self, _: &mut Stepper<'m>, initial: &mut Successors) {
        self.kept().initial = initial.iter_mut().filter(|state| state.event.is_none()).count();
    }

    fn see(&mut self, stepper: &mut Stepper<'m>, _: &State, successors: &mut Successors) {
        let kept = &mut *self.kept();
        let from = kept.expanded;
        kept.expanded += 1;
        for step in successors.iter_mut().filter(|step| !step.dropped) {
            let labels = self.labels(step).into_iter().map(|label| kept.number(label)).collect();
            if step.event.is_none() { kept.steps.push((from, labels)) } else { kept.wrong.push((from, labels)) }
        }
        // What is not known completely is of no use, so the search ends where that shows.
        stepper.notes.too_large |= kept.records.len() >= MOST_STATES || stepper.notes.bounded;
    }

    fn stored(&mut self, record: Address) {
        let kept = &mut *self.kept();
        if kept.records.last().is_none_or(|last| *last < record) {
            kept.records.push(record);
        }
        let state = kept.state(record);
        if kept.stored < kept.initial {
            kept.initial_states.push(state)
        } else {
            kept.ends.push(state)
        }
        kept.stored += 1;
    }

    fn bytes(&self) -> u64 {
        self.kept().size()
    }
}
