//! Ends of a run that are not verdicts.

use std::fmt::Display;

/// The exit code for bad input and bad usage.
pub const BAD_INPUT: u8 = 2;

/// The exit code for a fault of Cyrano itself.
pub const INTERNAL: u8 = 70;

/// Why a run ends without a verdict.
#[derive(Debug)]
pub enum Failure {
    /// The user's input or usage is at fault; the message is complete.
    Input(String),
    /// Cyrano is at fault.
    Internal(String),
}

impl Failure {
    /// A one-line complaint about input.
    pub fn input(message: impl Display) -> Self {
        Self::Input(format!("error: {message}"))
    }

    /// What to print on standard error.
    pub fn message(&self) -> &str {
        match self {
            Self::Input(message) | Self::Internal(message) => message,
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => BAD_INPUT,
            Self::Internal(_) => INTERNAL,
        }
    }
}

/// The message for a fault of Cyrano itself.
pub fn bug(what: &str) -> String {
    format!(
        "internal error: {what}\n\
         This is a fault of Cyrano, not of your program, and no verdict is given.\n\
         Please report it together with the input file and the command line."
    )
}
