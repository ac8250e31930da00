//! The criteria that a check can be chosen by: those of the [table](cyrano_criteria::table), and by orders that a file declares.

use cyrano_criteria::table::{self, Claim};

/// A kind of check, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Criterion(&'static str);

impl Criterion {
    /// The criterion of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        table::known_name(name).map(Self)
    }

    /// The name, as `cyrano_ir::Property::criterion` has it.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// What it stands for, each with its own verdict.
    pub(crate) fn parts(self) -> Vec<Self> {
        match table::Criterion::named(self.0).map(|criterion| criterion.claim) {
            Some(Claim::Progress(parts)) => parts.iter().map(|part| Self(part.name())).collect(),
            _ => vec![self],
        }
    }
}
