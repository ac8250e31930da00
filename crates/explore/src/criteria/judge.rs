//! What a worker finds out beside states: hits, outcomes, notes.

use std::collections::BTreeSet;

use cyrano_engine::values::Calls;
use cyrano_engine::{Blocked, Violation};
use cyrano_ir::{InstrId, Op, Program, Property, Quantifier, ThreadId};

use crate::criteria::values::Heard;
use crate::search::deadlocks::Deadlocks;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Notes, Stepper, Successor, Successors};
use crate::store::Address;

/// The end of a path worth showing.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    /// The last record of the path.
    pub record: Address,
    /// What goes wrong; `None` for the witness of an `exists`.
    pub violation: Option<Violation>,
    /// Whether it goes wrong in a step from the last state of the path, or in that state.
    pub in_step: bool,
}

/// What one worker found out.
pub(crate) struct Judge<'m, 'a> {
    m: &'m Machine<'m>,
    property: Option<&'a Property>,
    pub hit: Option<Hit>,
    /// Whether some execution runs to its end.
    pub ended: bool,
    pub outcomes: BTreeSet<Vec<i128>>,
    /// The calls of clients that went wrong, if they are told apart.
    pub clients: BTreeSet<Calls>,
    /// The smallest client that went wrong so far, where clients are told apart.
    smallest: Option<Calls>,
    pub transitions: u64,
}

impl<'m, 'a> Judge<'m, 'a> {
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>) -> Self {
        Self {
            m,
            property,
            hit: None,
            ended: false,
            outcomes: BTreeSet::new(),
            clients: BTreeSet::new(),
            smallest: None,
            transitions: 0,
        }
    }

    /// Whether the search is over: there is a hit, and nothing else to look for.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.hit.is_some() && !(self.m.config.client_programs && self.m.values.is_some())
    }

    /// Whether a search for transactions that do something has found them; see `exercise`.
    #[inline]
    pub fn is_content(&self, notes: Notes) -> bool {
        self.m.pursuit.is_some_and(|pursuit| pursuit.is_over(notes))
    }

    /// Takes what another one found out.
    pub fn absorb(&mut self, other: Self) {
        let size = |calls: &Option<Calls>| calls.as_ref().map(|calls| (client_size(calls), calls.clone()));
        let mine = self.hit.as_ref().map(|hit| (size(&self.smallest), hit.in_step, hit.record));
        let theirs = other.hit.as_ref().map(|hit| (size(&other.smallest), hit.in_step, hit.record));
        if theirs.is_some() && mine.is_none_or(|mine| theirs.is_some_and(|theirs| theirs < mine)) {
            self.hit = other.hit;
            self.smallest = other.smallest;
        }
        self.ended |= other.ended;
        self.outcomes.extend(other.outcomes);
        self.clients.extend(other.clients);
        self.transitions += other.transitions;
    }

    /// Something goes wrong in a step: a hit or, if nobody asked, the end of its path.
    pub fn wrong_step(&mut self, record: Address, violation: &Violation, state: Option<&State>) {
        // Assertions and deadlocks are for others to judge here, but nothing goes on behind an error.
        let error = matches!(violation, Violation::Error { .. } | Violation::AtomicDiverges { .. });
        let everywhere = self.m.named.is_some() || self.m.races;
        if !(self.m.judge_assertions || everywhere && error) {
            return;
        }
        state.into_iter().for_each(|state| self.blame(state));
        self.found(record, Some(violation.clone()), true);
    }

    /// Notes which client something went wrong with, whatever it was, if clients are told apart.
    fn blame(&mut self, state: &State) {
        let heard = state.heard.as_ref().filter(|_| self.m.config.client_programs);
        let Some(calls) = heard.map(Heard::calls) else { return };
        let better = |best: &Calls| (client_size(&calls), &calls) < (client_size(best), best);
        if self.smallest.as_ref().is_none_or(better) {
            self.hit = None;
            self.smallest = Some(calls.clone());
        }
        self.clients.insert(calls);
    }

    fn found(&mut self, record: Address, violation: Option<Violation>, in_step: bool) {
        self.hit.get_or_insert(Hit { record, violation, in_step });
    }

    /// Whether every state is judged by itself: [`Judge::moment`] has to see it.
    #[inline]
    pub fn judges_moments(&self) -> bool {
        self.m.named.is_some() || self.m.races
    }

    /// Whether a state with all threads done may be wrong, or says something that others do not.
    pub fn looks_at_ends(&self) -> bool {
        match self.property {
            None | Some(Property::Observations(_) | Property::Final { .. }) => true,
            Some(Property::Transactions(_)) => self.m.values.is_some(),
            Some(
                Property::Assertions
                | Property::Progress(_)
                | Property::Live(_)
                | Property::Structure(_)
                | Property::CommitAtomicity
                | Property::Invariant(_)
                | Property::Races,
            ) => false,
        }
    }

    /// A state, as a moment of an execution.
    pub fn moment(&mut self, record: Address, state: &State, stepper: &mut Stepper<'m>) {
        let (broken, stood) = self.m.moment(state);
        stepper.notes.stood |= stood;
        let wrong = broken.or_else(|| stepper.race(state).map(|race| race.violation(0)));
        if wrong.is_some() {
            self.found(record, wrong, false);
        }
    }

    /// A state that may be an end: all threads are done, or none can go on.
    pub fn look(&mut self, record: Address, state: &State, successors: usize, stepper: &mut Stepper<'m>) {
        if (0..self.m.threads.len()).all(|t| self.m.done(state, t)) {
            self.final_state(record, state);
        } else if successors == 0 {
            self.stuck(record, state, stepper);
        }
    }

    fn final_state(&mut self, record: Address, state: &State) {
        self.ended = true;
        let observed = &self.m.program.observed;
        let outcome = || -> Vec<i128> { observed.iter().map(|o| self.m.final_value(state, o.var)).collect() };
        match self.property {
            None => {
                let outcome = outcome();
                self.outcomes.insert(outcome);
            }
            Some(Property::Transactions(_)) => {
                if self.m.values.as_ref().is_some_and(|values| !values.finishes(self.m, state)) {
                    self.blame(state);
                    self.found(record, Some(Violation::Transactions), false);
                }
            }
            Some(
                Property::Assertions
                | Property::Progress(_)
                | Property::Live(_)
                | Property::Structure(_)
                | Property::CommitAtomicity
                | Property::Invariant(_)
                | Property::Races,
            ) => {}
            Some(Property::Observations(allowed)) => {
                let outcome = outcome();
                if !allowed.contains(&outcome) {
                    self.found(record, Some(Violation::Observation { outcome }), false);
                }
            }
            Some(Property::Final { quantifier, cond, .. }) => {
                // A condition that has no value, by a division by zero say, is no witness and saves no claim.
                let holds = cond.eval(&mut |var| Ok(self.m.final_value(state, *var))).map(|value| value != 0);
                let (hit, violation) = match quantifier {
                    Quantifier::Exists => (holds == Ok(true), None),
                    Quantifier::Never => (holds != Ok(false), Some(Violation::FinalState)),
                    Quantifier::Always => (holds != Ok(true), Some(Violation::FinalState)),
                };
                if hit {
                    self.found(record, violation, false);
                }
            }
        }
    }

    /// No thread can go on: a deadlock if all of those that are not done wait at an atomic section.
    fn stuck(&mut self, record: Address, state: &State, stepper: &mut Stepper<'m>) {
        let out_of_order = self.m.own_order.is_some() && !matches!(self.property, Some(Property::Assertions));
        let collects = self.property.is_none() && matches!(self.m.config.deadlocks, Deadlocks::Collected);
        let judges = self.m.judge_assertions || collects;
        // Whether somebody waits for ever is a question of progress in another sense.
        let elsewhere = self.m.shadows.is_some() || self.m.names.is_some();
        if elsewhere || !judges || out_of_order || self.is_over() {
            return;
        }
        let Some(blocked) = stepper.deadlock(state) else { return };
        match &self.m.config.deadlocks {
            Deadlocks::Collected if collects => {
                self.outcomes.insert(self.m.as_deadlock(state));
            }
            Deadlocks::Allowed(allowed) if allowed.contains(&self.m.as_deadlock(state)) => {}
            _ => {
                self.blame(state);
                self.found(record, Some(Violation::Deadlock { blocked }), false);
            }
        }
    }
}

/// How many calls a client makes.
fn client_size(calls: &Calls) -> usize {
    calls.iter().flatten().map(Vec::len).sum()
}

impl Stepper<'_> {
    /// Who waits where in a state in which no thread can go on, if that is a deadlock: all of those that are not done wait at an atomic
    /// section.
    pub(crate) fn deadlock(&mut self, state: &State) -> Option<Vec<Blocked>> {
        let mut blocked = Vec::new();
        // Threads that have not started wait for the setup thread, which is the one that is blocked.
        let setup = self.m.unfinished_setup(state);
        let started = |t: &usize| setup.is_none_or(|setup| setup == *t);
        for thread in (0..self.m.threads.len()).filter(started).filter(|t| !self.m.done(state, *t)) {
            if self.m.own_order.is_some() {
                let instr = self.m.own_blocked(state, thread)?;
                blocked.push(Blocked { thread: ThreadId::new(thread), instr });
                continue;
            }
            if !self.waits(state, thread) {
                return None;
            }
            let pc = state.threads[thread].pc;
            blocked.push(Blocked { thread: ThreadId::new(thread), instr: InstrId(pc) });
        }
        Some(blocked)
    }

    /// Whether a thread waits at an atomic section that is shut, and can do nothing else.
    pub(crate) fn waits(&mut self, state: &State, thread: usize) -> bool {
        let at_section = matches!(self.m.op(thread, state.threads[thread].pc), Op::AtomicBegin);
        at_section && state.threads[thread].queue.is_empty() && !self.opens(state, thread)
    }

    /// Whether a section would open if only its thread were allowed to step, which a serial model may forbid, or is shut by
    /// nothing but a `limit`.
    pub(crate) fn opens(&mut self, state: &State, thread: usize) -> bool {
        let mut out = Successors::default();
        let noted = self.notes.limited.take();
        self.section_now(state, thread, &mut out);
        let limited = self.notes.limited.is_some();
        self.notes.limited = noted.or(self.notes.limited);
        limited || out.len() > 0
    }
}

/// Counts a successor, and says whether it is a state to go on from.
pub(crate) fn goes_on(judge: &mut Judge<'_, '_>, record: Address, successor: &Successor) -> bool {
    judge.transitions += 1;
    if let Some(violation) = &successor.event {
        judge.wrong_step(record, violation, Some(&successor.state));
    }
    successor.event.is_none()
}

/// Whether a program can have a deadlock at all: only an `assume` in an atomic section waits.
pub fn can_wait(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|instr| {
            match instr.op {
                Op::AtomicBegin => inside = true,
                Op::AtomicEnd => inside = false,
                _ => {}
            }
            inside && matches!(instr.op, Op::Assume(_))
        })
    })
}
