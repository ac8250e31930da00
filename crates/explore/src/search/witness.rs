//! From a path of stored states back to an execution.
//!
//! Stored states have no history and their timestamps are renumbered. So the path is walked again from the initial state, with full
//! states: of the successors of each, the one whose stored form is the next state on the path is taken.

use cyrano_engine::{Execution, Violation};

use crate::criteria::judge::Hit;
use crate::semantics::declared;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

/// The execution that leads to a hit, and what goes wrong in it.
pub(crate) fn execution(m: &Machine<'_>, hit: &Hit, path: &[Vec<u8>]) -> (Execution, Option<Violation>) {
    let mut walk = PathReplay::new(m);
    let mut state = None;
    for bytes in path {
        state = Some(walk.follow(state.as_ref(), |walk, successor| walk.leads_to(successor, bytes)));
    }
    if hit.in_step {
        let wanted = |_: &mut PathReplay<'_>, successor: &Successor| same(&successor.event, &hit.violation);
        state = Some(walk.follow(state.as_ref(), wanted));
    }
    let last = state.clone();
    match (&hit.violation, &last) {
        (Some(Violation::Invariant { .. }), Some(state)) => walk.violation = Some(m.standing(state)),
        (Some(Violation::Race { .. }), Some(state)) => {
            let race = walk.stepper.race(state).expect("a state that was found to race does");
            walk.violation = Some(race.violation(walk.execution.order.len()));
            race.first.0.add_to(&mut walk.execution);
            race.second.0.add_to(&mut walk.execution);
        }
        _ => {}
    }
    if let (Some(order), Some(state)) = (m.own_order, state) {
        let violation = walk.violation.take();
        for mut step in declared::complete(&mut walk.stepper, order, state) {
            walk.take(&mut step);
        }
        walk.violation = violation;
        declared::renumber(m, &mut walk.execution, &mut walk.own_choices);
    }
    if let (Some(wrong), Some(state), true) = (&hit.violation, &last, m.exchanges_threads()) {
        // The stored state may have its threads in other places.
        match wrong {
            Violation::Deadlock { .. } => {
                walk.violation = walk.stepper.deadlock(state).map(|blocked| Violation::Deadlock { blocked });
            }
            Violation::Observation { .. } => {
                let observed = m.program.observed.iter().map(|observable| m.final_value(state, observable.var));
                walk.violation = Some(Violation::Observation { outcome: observed.collect() });
            }
            _ => {}
        }
    }
    let violation = walk.violation.take().or_else(|| hit.violation.clone());
    (walk.execution, violation)
}

/// The same kind of violation: with renamed threads it may be another one's.
fn same(event: &Option<Violation>, wanted: &Option<Violation>) -> bool {
    let kind = |violation: &Option<Violation>| violation.as_ref().map(std::mem::discriminant);
    event.is_some() && kind(event) == kind(wanted)
}

/// An execution on the way.
pub(crate) struct PathReplay<'m> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    successors: Successors,
    pub execution: Execution,
    /// Choices out of order.
    own_choices: Vec<(usize, u32, i128)>,
    /// How many regions each thread has left behind.
    regions: Vec<u32>,
    /// What goes wrong in the last step.
    violation: Option<Violation>,
}

impl<'m> PathReplay<'m> {
    pub fn new(m: &'m Machine<'m>) -> Self {
        Self {
            m,
            stepper: Stepper::new(m),
            successors: Successors::default(),
            execution: Execution { order: Vec::new(), choices: vec![Vec::new(); m.threads.len()], relations: None },
            own_choices: Vec::new(),
            regions: vec![0; m.threads.len()],
            violation: None,
        }
    }

    /// Takes the successor that is `wanted`; from nowhere, an initial state.
    pub fn follow(&mut self, from: Option<&State>, mut wanted: impl FnMut(&mut Self, &Successor) -> bool) -> State {
        let mut successors = std::mem::take(&mut self.successors);
        match from {
            Some(state) => self.stepper.successors(state, &mut successors),
            None => self.stepper.initial(&mut successors),
        }
        let found = successors.iter_mut().find(|successor| !successor.dropped && wanted(self, successor));
        let successor = found.expect("every stored state was found from the one before it");
        self.take(successor);
        let state = std::mem::take(&mut successor.state);
        self.successors = successors;
        state
    }

    /// Adds a step to the execution.
    fn take(&mut self, successor: &mut Successor) {
        self.violation = successor.event.take();
        if self.m.own_order.is_some() && self.m.names.is_some() {
            self.place_in_regions(successor);
        }
        successor.add_to(&mut self.execution);
        self.own_choices.append(&mut successor.own_choices);
    }

    /// Where code is run again and again, what a step does gets numbers that grow from region to region, and within a region with the instructions.
    fn place_in_regions(&mut self, step: &mut Successor) {
        let length = self.m.program.threads[step.thread].code.len() as u32;
        let before = self.regions[step.thread];
        let region = |at: usize, of: fn(&(usize, usize)) -> usize| {
            before + step.leaves.iter().filter(|left| of(left) <= at).count() as u32
        };
        for (at, access) in step.accesses.iter_mut().enumerate() {
            access.index += length * region(at, |left| left.0);
        }
        for (at, choice) in step.own_choices.iter_mut().enumerate() {
            choice.1 += length * region(at, |left| left.1);
        }
        self.regions[step.thread] += step.leaves.len() as u32;
    }

    /// How many choices each thread has made, out of order or not.
    pub fn choices_made(&self) -> Vec<usize> {
        let own = |thread: usize| self.own_choices.iter().filter(|choice| choice.0 == thread).count();
        self.execution.choices.iter().enumerate().map(|(thread, all)| all.len() + own(thread)).collect()
    }

    /// Out of order, completes what is under way and numbers all accesses.
    pub fn finish(mut self, state: State) -> Execution {
        if let Some(order) = self.m.own_order {
            for mut step in declared::complete(&mut self.stepper, order, state) {
                self.take(&mut step);
            }
            declared::renumber(self.m, &mut self.execution, &mut self.own_choices);
        }
        self.execution
    }

    /// Whether this is the stored form of a step's state.
    pub fn leads_to(&self, successor: &Successor, stored: &[u8]) -> bool {
        let mut copy = successor.state.clone();
        self.m.rank(&mut copy, &mut Vec::new());
        let mut bytes = Vec::new();
        self.m.encode_canonical(&copy, &mut bytes);
        bytes == stored
    }
}
