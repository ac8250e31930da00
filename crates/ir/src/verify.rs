//! The verifier.
use crate::program::Program;
/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// What is wrong.
    pub message: String,
}
/// Checks every invariant; returns all violations.
pub fn verify(_program: &Program) -> Result<(), Vec<VerifyError>> {
    Ok(())
}
