//! Races: conflicting accesses of two threads, not both synchronising, with nothing between them that orders them.
//!
//! The definition, by happens-before, is in `cyrano_interp`'s `happens`, which decides it by vector clocks. Here a race is a reachable state
//! from which two threads can take steps one directly after the other, with conflicting accesses that are not both in synchronising units. Both are about programs, and
//! where nothing is deferred (`sc`) they say the same:
//!
//! **Argument** (adjacent, so unordered). Two units that follow one another directly are ordered by happens-before only if program order or
//! synchronisation orders them by itself, for whatever lies between lies between them in the memory order. They are of two threads and not both
//! synchronising, so neither does.
//!
//! **Argument** (unordered, so adjacent somewhere). Take an execution with a race, and in it the first unit `b` that races with an earlier one. Up to `b` all
//! conflicting units are ordered. Let `R` be the earlier units that race with `b`, and `a` the last of them. Keep `R`, and all that happens before `b` or
//! before one of `R`, in the order of the execution, and move `a` to the end, before `b`.
//!
//! - *What is kept is an execution.* It has with each unit all that comes before it in its thread. A write that conflicts with a kept unit and comes before it happens
//!   before it, for nothing races up to `b`; so it is kept, in the same order. Every kept unit reads what it read.
//! - *`a` can be moved.* A kept unit behind `a` that conflicts with `a` happens after `a`. If it happened before `b`, so would `a`; if it were in `R`, or
//!   happened before one of `R`, that one would be behind `a`. Neither can be.
//! - *`b` does what it did.* The earlier units that conflict with `b` happen before it or race with it. All are kept, and their order among each other is the
//!   same, since no two of them that conflict were exchanged. So a section `b` finds what it found, and is open.
//!
//! The setup thread happens before all others, and takes part in no race. This is the equivalence of the two kinds of data races of Adve and Hill for DRF0, with sections as units.
//! Ordering a synchronising read before a later write as well, which C does not, changes no verdict: it can only order more, and two adjacent
//! accesses stay unordered.
//!
//! **Argument** (ample sets). The steps of an ample set touch nothing that others can still touch, unless both read. If from some state two steps race, and an ample
//! set is taken before, its thread is either none of the two, and the two still race behind it; or it comes along on the way to that state anyhow, and can come
//! first; it is not the next step of one of the two, for that one touches what the other touches.
//!
//! **Argument** (thread-symmetry). Exchanging threads that are alike exchanges their steps.

use cyrano_engine::{Racing, Violation};
use cyrano_ir::{AccessKind, InstrId, Op, Tags, ThreadId};

use crate::faults::Fault;
use crate::reductions::ample::{Crowd, Footprint};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

/// Two steps that follow one another, and which of their accesses race.
pub(crate) struct Race {
    pub first: (Successor, usize),
    pub second: (Successor, usize),
}

impl Race {
    /// The violation, at the end of an execution that had so many accesses before.
    pub fn violation(&self, before: usize) -> Violation {
        let racing = |(step, access): &(Successor, usize), before: usize| Racing {
            thread: ThreadId::new(step.thread),
            instr: InstrId(step.told[*access].instr),
            step: before + access,
        };
        let second = before + self.first.0.accesses.len();
        Violation::Race { first: racing(&self.first, before), second: racing(&self.second, second) }
    }
}

impl Machine<'_> {
    /// What the next step of a thread touches by plain accesses.
    pub(crate) fn plain_footprint(&self, state: &State, thread: usize) -> Footprint {
        let pc = state.threads[thread].pc;
        let plain = matches!(self.op(thread, pc), Op::Access(_)) && !self.synchronises(thread, pc);
        if plain { self.next_footprint(state, thread) } else { Footprint::default() }
    }

    /// Whether an access synchronises by itself.
    fn synchronises(&self, thread: usize, pc: u32) -> bool {
        let op = self.op(thread, pc);
        let synchronises =
            op.has_tag(Tags::SYNC) || op.has_tag(Tags::ATOMIC) || op.access_kind() == Some(AccessKind::Rmw);
        synchronises && !self.config.has_fault(Fault::RaceAnyway)
    }

    /// Whether two next steps might race, by what they touch. Locations may share bits.
    pub(crate) fn may_race(&self, state: &State) -> bool {
        let next = (0..self.threads.len()).map(|thread| self.next_footprint(state, thread));
        let plain = (0..self.threads.len()).map(|thread| self.plain_footprint(state, thread));
        may_race(next.zip(plain))
    }
}

/// The same, by what the next steps of each thread touch, and touch by plain accesses.
#[inline]
pub(crate) fn may_race(threads: impl Iterator<Item = (Footprint, Footprint)> + Clone) -> bool {
    let mut crowd = Crowd::default();
    threads.clone().for_each(|(next, _)| crowd.add(next));
    threads.into_iter().any(|(next, plain)| plain.meets(crowd.without(next)))
}

impl Stepper<'_> {
    /// Two steps from a state that race.
    pub(crate) fn race(&mut self, state: &State) -> Option<Race> {
        if !self.m.races || self.m.unfinished_setup(state).is_some() || !self.m.may_race(state) {
            return None;
        }
        let threads: Vec<usize> = (0..self.m.threads.len()).filter(|thread| self.has_access(state, *thread)).collect();
        let (mut one, mut other) = (Successors::default(), Successors::default());
        for thread in &threads {
            one.clear();
            self.steps_of(state, *thread, &mut one);
            for first in one.iter_mut().filter(|step| step.event.is_none()) {
                for second in threads.iter().filter(|second| *second != thread) {
                    other.clear();
                    self.steps_of(&first.state, *second, &mut other);
                    let found =
                        other.iter_mut().find_map(|second| self.conflict(state, first, second).map(|at| (at, second)));
                    if let Some(((a, b), second)) = found {
                        return Some(Race { first: (first.clone(), a), second: (second.clone(), b) });
                    }
                }
            }
        }
        None
    }

    /// Whether the next step of a thread is an access or a section, and the thread is not the setup.
    fn has_access(&self, state: &State, thread: usize) -> bool {
        let setup = self.m.program.setup.is_some_and(|setup| setup.index() == thread);
        !setup && matches!(self.m.op(thread, state.threads[thread].pc), Op::Access(_) | Op::AtomicBegin)
    }

    /// The accesses of two steps that conflict, if they are not both synchronising.
    fn conflict(&self, state: &State, first: &Successor, second: &Successor) -> Option<(usize, usize)> {
        let synchronises = |step: &Successor| {
            let pc = state.threads[step.thread].pc;
            matches!(self.m.op(step.thread, pc), Op::AtomicBegin) || self.m.synchronises(step.thread, pc)
        };
        if synchronises(first) && synchronises(second) {
            return None;
        }
        first.told.iter().enumerate().find_map(|(a, one)| {
            let ((kind, loc), conflicts) =
                (one.access?, |kind: AccessKind, other: AccessKind| kind.writes() || other.writes());
            let meets = |other: &crate::semantics::successors::Told| {
                other.access.is_some_and(|(also, there)| loc == there && conflicts(kind, also))
            };
            second.told.iter().position(meets).map(|b| (a, b))
        })
    }
}
