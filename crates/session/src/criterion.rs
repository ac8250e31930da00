//! The criteria that a check can be chosen by, each defined once: its name and what it says.

use cyrano_criteria::atomicity::ATOMICITY;
use cyrano_ir::{OrderName, Progress};

/// All that have a name of their own, with what they say. Beside them there is `serializability-by-NAME` for the orders that a file declares.
pub const CRITERIA: [(&str, &str); 15] = [
    ("assertions", "No assertion fails, nothing deadlocks, no computation goes wrong"),
    (OBSERVATIONS, "Every final state shows an observation that some serial execution has"),
    (
        "commit-atomicity",
        "Whenever nobody is in an atomic block, everything is as if the blocks had run alone in the order of their commit points",
    ),
    (ATOMICITY, "Every final state is one that some serial order of the atomic blocks has; for threads that end"),
    ("exists", "Some final state satisfies the condition"),
    ("never", "No final state satisfies the condition"),
    ("always", "Every final state satisfies the condition"),
    ("opacity", "Every transaction, aborted ones too, fits into one serial order"),
    ("strict-serializability", "Every committed transaction fits into one serial order that keeps real time"),
    ("serializability", "Every committed transaction fits into one serial order"),
    (
        "snapshot-isolation",
        "Every committed transaction reads one snapshot, and of two that overlap and write one location only one commits",
    ),
    ("solo-progress", "A thread that runs alone commits, wherever the others stopped"),
    ("crash-free-solo-progress", "A thread that runs alone commits if the others stopped between transactions"),
    ("local-progress", "Every thread that keeps trying commits again and again"),
    (PROGRESS, "All three progress properties"),
];

/// Observations compared with serial ones.
pub(crate) const OBSERVATIONS: &str = "observations";

const PROGRESS: &str = "progress";

/// A kind of check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Criterion(&'static str);

impl Criterion {
    /// The criterion of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = CRITERIA.iter().map(|(known, _)| *known).find(|known| *known == name);
        known.or_else(|| OrderName::from_criterion(name).map(OrderName::criterion)).map(Self)
    }

    /// The name, as `cyrano_ir::Property::criterion` has it.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// What it stands for, each with its own verdict.
    pub(crate) fn parts(self) -> Vec<Self> {
        if self.0 == PROGRESS { Progress::ALL.map(|part| Self(part.name())).to_vec() } else { vec![self] }
    }
}
