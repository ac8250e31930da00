//! What goes wrong in an execution, in the words of the schema.

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
        error: ErrorInfo,
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
}

/// An execution that goes on for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LassoInfo {
    /// The name of the thread that never commits again.
    pub thread: String,
    /// What happens to it instead: `aborts`, `waits` (takes steps within one command), `blocked` (waits at an atomic section).
    pub fate: String,
    /// What comes before the first round.
    pub stem: ExtentInfo,
    /// One round.
    pub round: ExtentInfo,
    /// How many rounds the trace has.
    pub rounds: usize,
}

/// The size of a part of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExtentInfo {
    /// The number of steps.
    pub steps: usize,
    /// For each thread the number of choices.
    pub choices: Vec<usize>,
}

/// An error of the checked program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ErrorInfo {
    /// Division by zero.
    DivisionByZero,
    /// Integer overflow.
    Overflow,
    /// An index out of range.
    OutOfBounds {
        /// The index.
        #[serde(with = "crate::number")]
        index: i128,
        /// The number of elements.
        len: u32,
    },
    /// Use of a value that nobody has written.
    Undefined,
    /// An access through the null pointer.
    NullPointer,
    /// An access through a pointer to nothing.
    BadPointer {
        /// The address.
        #[serde(with = "crate::number")]
        address: i128,
    },
    /// An access to freed memory.
    Freed,
    /// Freeing twice.
    DoubleFree,
    /// Freeing what was not allocated.
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
