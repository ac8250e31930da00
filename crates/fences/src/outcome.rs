//! What a synthesis found out.

use crate::fence::Fence;
use crate::suite::Wrong;

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// There are fences that make the program correct.
    Repaired,
    /// It needs none.
    AlreadyCorrect,
    /// No fences make it correct.
    Irreparable,
    /// A limit was reached, or the judge did not know.
    Unknown,
}

impl Verdict {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::AlreadyCorrect => "already-correct",
            Self::Irreparable => "irreparable",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a search is over. The verdict is the one that holds if no set was found.
pub(crate) struct End {
    pub(crate) verdict: Verdict,
    pub(crate) reason: Option<String>,
    pub(crate) complete: bool,
}

impl End {
    pub(crate) fn new(verdict: Verdict) -> Self {
        Self { verdict, reason: None, complete: verdict != Verdict::Unknown }
    }

    pub(crate) fn because(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(verdict) }
    }
}

/// The result of a synthesis.
#[derive(Clone, Debug)]
pub struct Outcome<E> {
    /// How it ended.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    /// The sets that repair the program, cheapest first; each is minimal by inclusion, the first one is of least cost. If that is not known, the reason
    /// says so.
    pub sets: Vec<Repair>,
    /// If nothing is known to repair the program: the best guess.
    pub undecided: Option<Undecided>,
    /// Whether `sets` are all that are minimal by inclusion.
    pub complete: bool,
    /// Whether each fence of each set was shown to be needed by a recorded counterexample.
    pub minimal: bool,
    /// How many sets were put to the judge.
    pub rounds: usize,
    /// How many questions the judge was asked in all.
    pub questions: usize,
    /// The counterexamples that were found on the way, or the one that no fence prevents.
    pub counterexamples: Vec<Counterexample<E>>,
}

/// A set of fences that makes the program correct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The fences, each of a single kind, sorted by position. See [`crate::merge`].
    pub fences: Vec<Fence>,
    /// For each fence the number of a counterexample that it alone of the set prevents, if there is one.
    pub prevents: Vec<Option<usize>>,
    /// What the set costs.
    pub cost: u64,
}

/// A set that prevents every counterexample that was found, and about which nobody knows whether it is enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The set.
    pub repair: Repair,
    /// Why nobody knows.
    pub reason: String,
}

/// A counterexample, and what it takes to prevent it.
#[derive(Clone, Debug)]
pub struct Counterexample<E> {
    /// The execution.
    pub wrong: Wrong<E>,
    /// The fences that forbid it, each on its own; empty if none does.
    pub clause: Vec<Fence>,
}
