//! Ends of a run that are not verdicts: what is printed and the exit code.

use cyrano_session::Failure;

use crate::diagnostics;

/// The exit code for bad input and bad usage.
pub const BAD_INPUT: u8 = 2;

/// The exit code for a fault of Cyrano itself.
pub const INTERNAL: u8 = 70;

/// What to print on standard error.
pub fn message(failure: &Failure, color: bool) -> String {
    match failure {
        Failure::Source(source, errors) => diagnostics::render(source, errors, color),
        Failure::Several(all) => all.iter().map(|failure| message(failure, color)).collect::<Vec<_>>().join("\n"),
        plain => plain.to_string(),
    }
}

/// The process's exit code.
pub fn exit_code(failure: &Failure) -> u8 {
    match failure {
        Failure::Input(_) | Failure::Source(..) => BAD_INPUT,
        Failure::Several(all) => all.iter().map(exit_code).max().unwrap_or(BAD_INPUT),
        _ => INTERNAL,
    }
}
