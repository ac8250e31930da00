//! What goes wrong in an execution, in the words of the schema.

use cyrano_engine::Extent;
use cyrano_ir::EvalError;
use serde::{Deserialize, Serialize};

/// What went wrong, in a form that can be confirmed again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ViolationInfo {
    /// An assertion failed.
    Assertion {
        /// The thread's name.
        thread: String,
        /// The instruction's number in the thread.
        instr: u32,
    },
    /// A computation went wrong.
    Error {
        /// The thread's name.
        thread: String,
        /// The instruction's number in the thread.
        instr: u32,
        /// How.
        #[serde(with = "ErrorInfo")]
        error: EvalError,
    },
    /// An atomic section does not end.
    Divergence {
        /// The thread's name.
        thread: String,
        /// The instruction's number in the thread.
        instr: u32,
    },
    /// Nobody can go on.
    Deadlock {
        /// Who waits where.
        blocked: Vec<BlockedInfo>,
    },
    /// The history of transactions is not correct.
    Cycle,
    /// A thread never commits again, for ever: the steps have a stem and then the same round several times.
    Lasso(LassoInfo),
    /// The history asks for another one that the memory does not have, or sees what it should not.
    Structure {
        /// The events of the history that is missing.
        missing: Option<Vec<String>>,
    },
    /// Atomic blocks did not do what they would have done one at a time.
    Atomicity,
    /// The final state shows an outcome that no serial execution has.
    Observation {
        /// The outcome.
        #[serde(with = "crate::number")]
        outcome: Vec<i128>,
    },
    /// The final state is a forbidden one.
    FinalState,
    /// An invariant does not hold at the end.
    Invariant {
        /// Where each thread stands then.
        standing: Vec<PositionInfo>,
    },
    /// Nothing orders two conflicting accesses.
    Race {
        /// The one,
        first: RaceEnd,
        /// and the other.
        second: RaceEnd,
    },
}

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PositionInfo {
    /// The thread's name.
    pub thread: String,
    /// How many accesses it has executed, performed or not.
    pub issued: u32,
    /// Its next instruction.
    pub instr: u32,
}

/// An access that takes part in a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RaceEnd {
    /// The thread's name.
    pub thread: String,
    /// The instruction's number in the thread.
    pub instr: u32,
    /// The number of its step, from 1.
    pub step: usize,
}

/// An execution that goes on for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LassoInfo {
    /// The name of the thread that never gets done.
    pub thread: String,
    /// What happens to it instead: `aborts`, `waits` (takes steps within one command), `blocked` (waits at an atomic section),
    /// `spins` (takes steps and comes neither to its end nor to a mark).
    pub fate: String,
    /// What comes before the first round.
    #[serde(with = "ExtentInfo")]
    pub stem: Extent,
    /// One round.
    #[serde(with = "ExtentInfo")]
    pub round: Extent,
    /// How many rounds the trace has.
    pub rounds: usize,
}

/// How the size of a part of an execution is written: the number of steps, and for each thread the number of choices and of issued accesses.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Extent")]
struct ExtentInfo {
    steps: usize,
    choices: Vec<usize>,
    #[serde(default)]
    issued: Vec<usize>,
}

/// How an error of the checked program is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "EvalError", tag = "kind", rename_all = "kebab-case")]
enum ErrorInfo {
    DivisionByZero,
    Overflow,
    OutOfBounds {
        #[serde(with = "crate::number")]
        index: i128,
        len: u32,
    },
    Undefined,
    NullPointer,
    BadPointer {
        #[serde(with = "crate::number")]
        address: i128,
    },
    Freed,
    DoubleFree,
    NotAllocated,
}

/// A thread that waits at an atomic section.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockedInfo {
    /// The thread's name.
    pub thread: String,
    /// The section's first instruction.
    pub instr: u32,
}
