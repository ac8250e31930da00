//! The questions of the engine interface as goals over combinations.
//!
//! A combination in which some thread is `Stopped` or `Limited` shows that a bound matters; each goal asks for one of
//! these and then no longer cares.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::{Blocked, Cut, Execution, Violation};
use cyrano_ir::guards::ALIVE;
use cyrano_ir::{EvalError, FinalExpr, FinalVar, Observable, Quantifier, ThreadId};

use crate::combine::{Found, Goal, Want};
use crate::machine::section::{self, Fate};
use crate::order::Written;
use crate::trace::{Status, Trace};

pub(crate) fn cut(combination: &[&Trace<'_>]) -> Option<Cut> {
    combination.iter().find_map(|trace| match trace.status {
        Status::Stopped => Some(Cut::Loops),
        Status::Limited { instr, .. } => Some(Cut::Limit(trace.machine.code.thread, instr)),
        _ => None,
    })
}

/// Whether the memory order decides if an access finds its object freed, so that one order does not speak for all.
pub(crate) fn may_be_freed(combination: &[&Trace<'_>]) -> bool {
    let events = || combination.iter().flat_map(|trace| &trace.events);
    let written = |header| events().any(|event| event.loc == header && event.written != Written::Nothing);
    events().any(|event| {
        let program = combination[0].machine.code.program;
        event.guard.is_some_and(|(header, _)| program.location(header).init != ALIVE || written(header))
    })
}

/// One order, if all orders are alike.
pub(crate) fn any_order(combination: &[&Trace<'_>]) -> Want {
    if may_be_freed(combination) { Want::AllMemories } else { Want::AnyOrder }
}

pub(crate) fn is_final(combination: &[&Trace<'_>]) -> bool {
    combination.iter().all(|trace| trace.is_final())
}

/// The value of a variable in a final state.
pub(crate) fn final_value(combination: &[&Trace<'_>], memory: &[i128], var: &FinalVar) -> i128 {
    match var {
        FinalVar::Loc(loc) => memory[loc.index()],
        FinalVar::Reg(thread, register) => {
            let value = combination[thread.index()].machine.registers[register.index()];
            value.expect("every value is given when traces are enumerated")
        }
    }
}

/// All outcomes.
pub(crate) struct Outcomes<'p> {
    observed: &'p [Observable],
    pub(crate) outcomes: BTreeSet<Vec<i128>>,
    pub(crate) cut: Option<Cut>,
    /// Whether some thread has a trace that a bound cut off.
    pub(crate) has_cuts: bool,
}

impl<'p> Outcomes<'p> {
    /// Nothing is known yet.
    pub(crate) fn new(observed: &'p [Observable]) -> Self {
        Self { observed, outcomes: BTreeSet::new(), cut: None, has_cuts: false }
    }

    fn valuation(&self, combination: &[&Trace<'_>], memory: &[i128]) -> Vec<i128> {
        self.observed.iter().map(|observable| final_value(combination, memory, &observable.var)).collect()
    }
}

impl Goal for Outcomes<'_> {
    fn admits(&self, trace: &Trace<'_>) -> bool {
        self.has_cuts || trace.is_final()
    }

    fn wants(&self, combination: &[&Trace<'_>]) -> Want {
        if !is_final(combination) {
            let matters = cut(combination).is_some() && self.cut.is_none();
            return if matters { any_order(combination) } else { Want::Nothing };
        }
        if self.observed.iter().any(|observable| matches!(observable.var, FinalVar::Loc(_))) {
            return Want::AllMemories;
        }
        let is_known = self.outcomes.contains(&self.valuation(combination, &[]));
        if is_known { Want::Nothing } else { any_order(combination) }
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        if !found.placing.freed.is_empty() {
            return ControlFlow::Continue(());
        }
        if is_final(found.combination) {
            let valuation = self.valuation(found.combination, &found.memory);
            self.outcomes.insert(valuation);
        } else {
            self.cut = cut(found.combination);
        }
        ControlFlow::Continue(())
    }
}

/// A final state that decides a quantified condition.
pub(crate) struct Final<'p> {
    quantifier: Quantifier,
    cond: &'p FinalExpr,
    pub(crate) has_cuts: bool,
    pub(crate) cut: Option<Cut>,
    /// Whether any final state was found.
    pub(crate) reached: bool,
    /// The deciding execution, and why the condition has no value in it, if it has none.
    pub(crate) decision: Option<(Execution, Option<EvalError>)>,
}

impl<'p> Final<'p> {
    /// Nothing is known yet.
    pub(crate) fn new(quantifier: Quantifier, cond: &'p FinalExpr) -> Self {
        Self { quantifier, cond, has_cuts: false, cut: None, reached: false, decision: None }
    }

    fn truth(&self, combination: &[&Trace<'_>], memory: &[i128]) -> Result<bool, EvalError> {
        let value = self.cond.eval(&mut |var| Ok(final_value(combination, memory, var)));
        value.map(|value| value != 0)
    }

    fn reads_memory(&self) -> bool {
        let mut reads = false;
        self.cond.for_each_var(&mut |var| reads |= matches!(var, FinalVar::Loc(_)));
        reads
    }
}

/// Whether one final state with this truth of the condition settles the question. A condition that
/// has no value is neither a witness nor fine.
pub(crate) fn decides(quantifier: Quantifier, truth: Result<bool, EvalError>) -> bool {
    match quantifier {
        Quantifier::Exists => truth == Ok(true),
        Quantifier::Never => truth != Ok(false),
        Quantifier::Always => truth != Ok(true),
    }
}

impl Goal for Final<'_> {
    fn admits(&self, trace: &Trace<'_>) -> bool {
        self.has_cuts || trace.is_final()
    }

    fn wants(&self, combination: &[&Trace<'_>]) -> Want {
        let matters = if !is_final(combination) {
            cut(combination).is_some() && self.cut.is_none()
        } else if self.reads_memory() {
            return Want::AllMemories;
        } else {
            !self.reached || decides(self.quantifier, self.truth(combination, &[]))
        };
        if matters { any_order(combination) } else { Want::Nothing }
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        if !found.placing.freed.is_empty() {
            return ControlFlow::Continue(());
        }
        if !is_final(found.combination) {
            self.cut = cut(found.combination);
            return ControlFlow::Continue(());
        }
        self.reached = true;
        let truth = self.truth(found.combination, &found.memory);
        if !decides(self.quantifier, truth) {
            return ControlFlow::Continue(());
        }
        self.decision = Some((found.execution(None), truth.err()));
        ControlFlow::Break(())
    }
}

/// A failed assertion, an error, an endless section or a deadlock.
#[derive(Default)]
pub(crate) struct Assertions {
    pub(crate) cut: Option<Cut>,
    /// Whether some execution evaluates an assertion.
    pub(crate) asserted: bool,
    /// Whether some execution ends.
    pub(crate) ended: bool,
    pub(crate) violation: Option<(Violation, Execution)>,
}

/// What goes wrong first in a trace by itself.
fn wrong(thread: ThreadId, trace: &Trace<'_>) -> Option<Violation> {
    let machine = &trace.machine;
    if let Some(instr) = machine.failed.first().filter(|_| machine.errors_before == 0) {
        return Some(Violation::Assertion { thread, instr: *instr });
    }
    if let Some((instr, error)) = machine.errors.first() {
        return Some(Violation::Error { thread, instr: *instr, error: *error });
    }
    match trace.status {
        Status::Failed(instr, error) => Some(Violation::Error { thread, instr, error }),
        Status::Diverges { instr, .. } => Some(Violation::AtomicDiverges { thread, instr }),
        _ => None,
    }
}

/// What goes wrong first by itself, apart from assertions and deadlocks.
pub(crate) fn error(found: &Found<'_, '_>) -> Option<Violation> {
    let threads = found.combination.iter().enumerate();
    let wrong = threads.filter_map(|(thread, trace)| {
        let (thread, error) = (ThreadId::new(thread), trace.machine.errors.first());
        match (error, trace.status) {
            (Some((instr, error)), _) => Some(Violation::Error { thread, instr: *instr, error: *error }),
            (None, Status::Failed(instr, error)) => Some(Violation::Error { thread, instr, error }),
            (None, Status::Diverges { instr, .. }) => Some(Violation::AtomicDiverges { thread, instr }),
            _ => None,
        }
    });
    let freed = |(thread, instr, error)| Violation::Error { thread, instr, error };
    wrong.into_iter().next().or_else(|| found.placing.errors().next().map(freed))
}

fn has_asserted(combination: &[&Trace<'_>]) -> bool {
    combination.iter().any(|trace| trace.machine.asserted)
}

/// The threads that wait, if all wait in vain or are done.
fn deadlock(found: &Found<'_, '_>) -> Option<Violation> {
    let mut blocked = Vec::new();
    for (thread, trace) in found.combination.iter().enumerate() {
        match trace.status {
            // A thread that has not started waits for the setup thread, which is the one that is blocked.
            Status::Done | Status::NotStarted => {}
            Status::Waiting(instr) => {
                let fate = section::fate(&trace.machine, &|loc| found.memory[loc.index()]);
                if !matches!(fate, Fate::Waits) {
                    return None;
                }
                blocked.push(Blocked { thread: ThreadId::new(thread), instr });
            }
            _ => return None,
        }
    }
    (!blocked.is_empty()).then_some(Violation::Deadlock { blocked })
}

impl Goal for Assertions {
    fn admits(&self, _: &Trace<'_>) -> bool {
        true
    }

    fn wants(&self, combination: &[&Trace<'_>]) -> Want {
        let waits = |trace: &&&Trace<'_>| matches!(trace.status, Status::Waiting(_));
        let waiting = combination.iter().filter(waits).count();
        let quiet = |trace: &&&Trace<'_>| matches!(trace.status, Status::Done | Status::NotStarted);
        let quiet = combination.iter().filter(quiet).count();
        let news = cut(combination).is_some() && self.cut.is_none()
            || has_asserted(combination) && !self.asserted
            || is_final(combination) && !self.asserted && !self.ended;
        if combination.iter().any(|trace| trace.is_wrong()) {
            Want::AnyOrder
        } else if may_be_freed(combination) || waiting > 0 && waiting + quiet == combination.len() {
            Want::AllMemories
        } else if news {
            Want::AnyOrder
        } else {
            Want::Nothing
        }
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        self.asserted |= has_asserted(found.combination);
        self.ended |= is_final(found.combination);
        let threads = found.combination.iter().enumerate();
        let wrong = threads.map(|(thread, trace)| wrong(ThreadId::new(thread), trace));
        let freed = |(thread, instr, error)| Violation::Error { thread, instr, error };
        let wrong = wrong.flatten().next().or_else(|| found.placing.errors().next().map(freed));
        let violation = wrong.or_else(|| deadlock(found));
        let Some(violation) = violation else {
            self.cut = self.cut.or_else(|| cut(found.combination));
            return ControlFlow::Continue(());
        };
        let endless = match &violation {
            Violation::AtomicDiverges { thread, .. } => Some(*thread),
            _ => None,
        };
        let execution = found.execution(endless);
        self.violation = Some((violation, execution));
        ControlFlow::Break(())
    }
}
