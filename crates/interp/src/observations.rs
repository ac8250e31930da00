//! The goal behind the criterion `observations` (CheckFence, section 2.2): a final state shows an outcome that is not allowed,
//! or something goes wrong on the way to one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::Violation;
use cyrano_ir::{FinalVar, Observable};

use crate::combine::{Found, Goal, Want};
use crate::goals::{Assertions, final_value, is_final};
use crate::trace::Trace;

/// An outcome that is not allowed, or what [`Assertions`] looks for.
pub(crate) struct Observations<'p> {
    observed: &'p [Observable],
    allowed: &'p BTreeSet<Vec<i128>>,
    pub(crate) assertions: Assertions,
    /// Whether any final state was found.
    pub(crate) reached: bool,
}

impl<'p> Observations<'p> {
    /// Nothing is known yet.
    pub(crate) fn new(observed: &'p [Observable], allowed: &'p BTreeSet<Vec<i128>>) -> Self {
        Self { observed, allowed, assertions: Assertions::default(), reached: false }
    }

    fn outcome(&self, combination: &[&Trace<'_>], memory: &[i128]) -> Vec<i128> {
        self.observed.iter().map(|observable| final_value(combination, memory, &observable.var)).collect()
    }

    /// What the final states of a combination are looked at for.
    fn wants_final(&self, combination: &[&Trace<'_>]) -> Want {
        if self.observed.iter().any(|observable| matches!(observable.var, FinalVar::Loc(_))) {
            return Want::AllMemories;
        }
        let matters = !self.reached || !self.allowed.contains(&self.outcome(combination, &[]));
        if matters { Want::AnyOrder } else { Want::Nothing }
    }
}

impl Goal for Observations<'_> {
    fn admits(&self, trace: &Trace<'_>) -> bool {
        self.assertions.admits(trace)
    }

    fn wants(&self, combination: &[&Trace<'_>]) -> Want {
        let wants = self.assertions.wants(combination);
        if is_final(combination) { wants.max(self.wants_final(combination)) } else { wants }
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        self.assertions.found(found)?;
        if !is_final(found.combination) {
            return ControlFlow::Continue(());
        }
        self.reached = true;
        let outcome = self.outcome(found.combination, &found.memory);
        if self.allowed.contains(&outcome) {
            return ControlFlow::Continue(());
        }
        self.assertions.violation = Some((Violation::Observation { outcome }, found.execution(None)));
        ControlFlow::Break(())
    }
}
