//! The questions of the engine interface, over executions that a model about relations allows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::{Cause, Cut, Execution, Noted, Query, Violation};
use cyrano_ir::{EvalError, FinalExpr, FinalVar, Observable, Quantifier};
use cyrano_memory::cat::Judge;

use super::freed::{freed, may_be_freed};
use super::graph::Candidate;
use super::search::{Goal, Want};
use super::thread::Status;
use super::traces::Trace;
use super::waits::{deadlock, waiting};
use crate::goals::decides;

/// What every goal takes note of.
#[derive(Default)]
pub(super) struct Notes {
    /// Whether the model has flags, so that every execution matters.
    pub(super) has_flags: bool,
    /// Those that were raised.
    pub(super) flags: BTreeSet<String>,
    /// Why some execution was not followed to its end.
    pub(super) cut: Option<Cut>,
    /// Whether some execution has values out of thin air (`values`).
    pub(super) thin: bool,
    /// Whether some execution is allowed, be it one that never ends.
    pub(super) allowed: bool,
    /// Whether some execution ends.
    pub(super) ended: bool,
    /// Whether some execution evaluates an assertion.
    pub(super) asserted: bool,
}

impl Notes {
    /// What is said about them. `judges_waits` says whether a thread may always read what was written last (`waits`).
    pub(super) fn noted(self, query: &Query<'_>, judges_waits: bool) -> Noted {
        let model = || query.model().name.clone();
        let left_out = self.thin.then(|| Cause::ThinAir(model()));
        let deadlocks = (!judges_waits).then(|| Cause::NoDeadlocksUnder(model()));
        let Self { flags, cut, allowed, ended, asserted, .. } = self;
        Noted { flags, cut, left_out, allowed, ended, asserted, deadlocks }
    }

    /// What is wanted of a combination for the sake of these notes alone.
    pub(super) fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want {
        let done = is_done(combination);
        let news = cut(combination).is_some() && self.cut.is_none()
            || done && !self.ended
            || !self.thin && is_thin(combination)
            || !self.asserted && has_asserted(combination);
        match (done && self.has_flags && may_flag, news) {
            (true, _) => Want::All,
            (false, true) => Want::Any,
            (false, false) => Want::Nothing,
        }
    }

    pub(super) fn note(&mut self, combination: &[&Trace<'_>], judge: &Judge<'_>) {
        self.allowed = true;
        self.ended |= is_done(combination);
        self.asserted |= has_asserted(combination);
        self.cut = self.cut.or_else(|| cut(combination));
        self.thin |= is_thin(combination);
        if self.has_flags && is_done(combination) {
            self.flags.extend(judge.flags().map(str::to_owned));
        }
    }
}

fn is_thin(combination: &[&Trace<'_>]) -> bool {
    combination.iter().any(|trace| trace.thin)
}

fn has_asserted(combination: &[&Trace<'_>]) -> bool {
    combination.iter().any(|trace| trace.run.asserted)
}

pub(super) fn is_done(combination: &[&Trace<'_>]) -> bool {
    combination.iter().all(|trace| trace.is_done())
}

fn cut(combination: &[&Trace<'_>]) -> Option<Cut> {
    combination.iter().find_map(|trace| match trace.status {
        Status::Stopped => Some(Cut::Loops),
        Status::Limited(instr) => Some(Cut::Limit(trace.run.thread, instr)),
        _ => None,
    })
}

/// The more that is wanted.
fn more(first: Want, second: Want) -> Want {
    match (first, second) {
        (Want::All, _) | (_, Want::All) => Want::All,
        (Want::Any, _) | (_, Want::Any) => Want::Any,
        _ => Want::Nothing,
    }
}

/// The value of a variable in a final state.
pub(super) fn final_value(combination: &[&Trace<'_>], memory: &[i128], var: FinalVar) -> i128 {
    match var {
        FinalVar::Loc(loc) => memory[loc.index()],
        FinalVar::Reg(thread, register) => combination[thread.index()].run.registers[register.index()],
    }
}

/// The values of what is observed.
pub(super) fn outcome(observed: &[Observable], combination: &[&Trace<'_>], memory: &[i128]) -> Vec<i128> {
    observed.iter().map(|observable| final_value(combination, memory, observable.var)).collect()
}

pub(super) fn observes_memory(observed: &[Observable]) -> bool {
    observed.iter().any(|observable| matches!(observable.var, FinalVar::Loc(_)))
}

/// All outcomes.
pub(super) struct Outcomes<'p> {
    pub(super) observed: &'p [Observable],
    pub(super) outcomes: BTreeSet<Vec<i128>>,
    pub(super) notes: Notes,
}

impl Goal for Outcomes<'_> {
    fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want {
        let own = if !is_done(combination) {
            Want::Nothing
        } else if observes_memory(self.observed) || may_be_freed(combination) {
            Want::All
        } else if self.outcomes.contains(&outcome(self.observed, combination, &[])) {
            Want::Nothing
        } else {
            Want::Any
        };
        more(own, self.notes.wants(combination, may_flag))
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()> {
        self.notes.note(candidate.combination, judge);
        if is_done(candidate.combination) && freed(candidate, judge).next().is_none() {
            self.outcomes.insert(outcome(self.observed, candidate.combination, &candidate.memory()));
        }
        ControlFlow::Continue(())
    }
}

/// A final state that decides a quantified condition.
pub(super) struct Final<'p> {
    pub(super) quantifier: Quantifier,
    pub(super) cond: &'p FinalExpr,
    /// The execution, and why the condition has no value in it, if it has none.
    pub(super) decision: Option<(Execution, Option<EvalError>)>,
    pub(super) notes: Notes,
}

/// Whether a condition holds in a final state.
pub(super) fn truth(cond: &FinalExpr, combination: &[&Trace<'_>], memory: &[i128]) -> Result<bool, EvalError> {
    cond.eval(&mut |var| Ok(final_value(combination, memory, *var))).map(|value| value != 0)
}

impl Goal for Final<'_> {
    fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want {
        let mut reads_memory = false;
        self.cond.for_each_var(&mut |var| reads_memory |= matches!(var, FinalVar::Loc(_)));
        let own = if !is_done(combination) {
            Want::Nothing
        } else if reads_memory || may_be_freed(combination) {
            Want::All
        } else if decides(self.quantifier, truth(self.cond, combination, &[])) {
            Want::Any
        } else {
            Want::Nothing
        };
        more(own, self.notes.wants(combination, may_flag))
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()> {
        self.notes.note(candidate.combination, judge);
        if is_done(candidate.combination) && freed(candidate, judge).next().is_none() {
            let truth = truth(self.cond, candidate.combination, &candidate.memory());
            if decides(self.quantifier, truth) {
                self.decision = Some((candidate.execution(), truth.err()));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// What goes wrong in a trace.
pub(super) fn wrong(trace: &Trace<'_>) -> Option<Violation> {
    let thread = trace.run.thread;
    match (trace.run.failed, trace.status) {
        (Some(instr), _) => Some(Violation::Assertion { thread, instr }),
        (None, Status::Failed(instr, error)) => Some(Violation::Error { thread, instr, error }),
        (None, _) => None,
    }
}

/// A failed assertion, an error or a deadlock; or, where outcomes are given, an outcome that is none of them.
pub(super) struct Wrong<'p> {
    pub(super) observed: &'p [Observable],
    pub(super) allowed: Option<&'p BTreeSet<Vec<i128>>>,
    pub(super) violation: Option<(Violation, Execution)>,
    pub(super) notes: Notes,
}

impl Wrong<'_> {
    fn is_other(&self, outcome: &Vec<i128>) -> bool {
        self.allowed.is_some_and(|allowed| !allowed.contains(outcome))
    }
}

impl Goal for Wrong<'_> {
    fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want {
        let own = if may_be_freed(combination) {
            Want::All
        } else if combination.iter().any(|trace| wrong(trace).is_some()) {
            Want::Any
        } else if waiting(combination).is_some() {
            Want::All
        } else if self.allowed.is_none() || !is_done(combination) {
            Want::Nothing
        } else if observes_memory(self.observed) {
            Want::All
        } else if self.is_other(&outcome(self.observed, combination, &[])) {
            Want::Any
        } else {
            Want::Nothing
        };
        more(own, self.notes.wants(combination, may_flag))
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()> {
        self.notes.note(candidate.combination, judge);
        let other = || {
            let shown = outcome(self.observed, candidate.combination, &candidate.memory());
            let other = is_done(candidate.combination) && self.is_other(&shown);
            other.then_some(Violation::Observation { outcome: shown })
        };
        let wrong = candidate.combination.iter().find_map(|trace| wrong(trace));
        let freed = freed(candidate, judge).next();
        let violation = freed.or(wrong).or_else(|| deadlock(candidate)).or_else(other);
        let Some(violation) = violation else { return ControlFlow::Continue(()) };
        self.violation = Some((violation, candidate.execution()));
        ControlFlow::Break(())
    }
}

/// Two accesses that race.
pub(super) struct Races {
    pub(super) violation: Option<(Violation, Execution)>,
    pub(super) notes: Notes,
}

/// The race of an execution that was just judged.
pub(super) fn race(candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> Option<Violation> {
    racing(candidate, judge.race()?)
}

/// Whether an execution that was just judged has this race.
pub(super) fn has_race(candidate: &Candidate<'_, '_>, judge: &Judge<'_>, race: &Violation) -> bool {
    judge.races().any(|pair| racing(candidate, pair).as_ref() == Some(race))
}

fn racing(candidate: &Candidate<'_, '_>, (first, second): (usize, usize)) -> Option<Violation> {
    Some(Violation::Race { first: candidate.racing(first)?, second: candidate.racing(second)? })
}

impl Goal for Races {
    fn wants(&self, _: &[&Trace<'_>], _: bool) -> Want {
        Want::All
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()> {
        self.notes.note(candidate.combination, judge);
        let Some(violation) = race(candidate, judge) else { return ControlFlow::Continue(()) };
        self.violation = Some((violation, candidate.execution()));
        ControlFlow::Break(())
    }
}
