//! Why a recorded execution is not one of the program under the model, or does not show what it claims.

use std::fmt;

/// What does not fit, in words. Steps are numbered from 0 in memory order; axioms as in the documentation of `cyrano_memory`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError(String);

impl ReplayError {
    /// About the execution as a whole, or the claim.
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// About one step.
    pub(crate) fn at(step: usize, what: impl fmt::Display) -> Self {
        Self(format!("step {step}: {what}"))
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReplayError {}
