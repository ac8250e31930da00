//! Ends of a run that are not verdicts.

use std::fmt::{self, Display};

use cyrano_ir::Diagnostic;

use crate::source::Source;

/// Why a run ends without a verdict.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The user's input or usage is at fault; the message is complete.
    Input(String),
    /// A source is wrong, in these places.
    Source(Box<Source>, Vec<Diagnostic>),
    /// All of these.
    Several(Vec<Failure>),
    /// Cyrano is at fault.
    Internal(String),
}

impl Failure {
    /// A one-line complaint about input.
    pub fn input(message: impl Display) -> Self {
        Self::Input(format!("error: {message}"))
    }

    /// A complaint about these places of a source.
    pub fn source(source: &Source, errors: Vec<Diagnostic>) -> Self {
        Self::Source(Box::new(source.clone()), errors)
    }

    /// What went well, unless something went wrong: then all of that, each thing once.
    pub fn all<T>(results: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let (mut fine, mut wrong) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(result) => fine.push(result),
                Err(failure) => wrong.push(failure),
            }
        }
        wrong.dedup();
        if wrong.is_empty() { Ok(fine) } else { Err(Self::Several(wrong)) }
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

/// Plain text, without the source around each place.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::Internal(message) => f.write_str(message),
            Self::Source(source, errors) => {
                let told = |error: &Diagnostic| {
                    let (file, line) = source.place(error.span);
                    format!("{file}:{line}: error: {}", error.message)
                };
                f.write_str(&errors.iter().map(told).collect::<Vec<_>>().join("\n"))
            }
            Self::Several(all) => f.write_str(&all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        }
    }
}

/// What `fn main() -> Result<(), Failure>` prints.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
