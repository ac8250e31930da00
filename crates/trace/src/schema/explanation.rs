//! Why an execution matters, in the words of the schema.

use serde::{Deserialize, Serialize};

use super::NamedValue;

/// Why an execution matters, or why there is none to show.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// `assertion`, `error`, `undefined`, `divergence`, `deadlock`, `observation`, `final-state`, `witness`, `no-witness`,
    /// `cycle`, `ill-formed`, `lasso`, `atomicity`, `structure`, `invariant`, `race`.
    pub kind: String,
    /// One full sentence.
    pub sentence: String,
    /// The thread it happens in, if it happens in one.
    pub thread: Option<String>,
    /// The line it happens at, if it happens at one.
    pub line: Option<usize>,
    /// The condition in question, as written.
    pub condition: Option<String>,
    /// The user's message, for an assertion that has one.
    pub message: Option<String>,
    /// The variables of the condition with their values at that point.
    pub values: Vec<NamedValue>,
    /// For `cycle`: each transaction must come before the next, and the last before the first.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    /// For `observation`: the serial observations that differ in the fewest columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Vec<NamedValue>>,
    /// For `atomicity`: the blocks that committed, and the accesses outside of blocks, in the order of the serial run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serial_order: Vec<SerialUnitInfo>,
    /// For `atomicity`: the locations in which memory differs from that of the serial run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<PartedLocation>,
    /// For `atomicity`: the registers in which what a block hands on differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed_on: Vec<PartedRegister>,
    /// For `deadlock`: what each waiting thread finds in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// For `lasso`, of threads that never end: what each thread does in a round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<InRound>,
    /// For `invariant`: the threads that stand at statements which the condition names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingInfo>,
    /// For `race`: the two accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub racing: Vec<RacingInfo>,
}

/// What a thread does in a round of an execution that goes on for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InRound {
    /// The thread's name.
    pub thread: String,
    /// `spins`, `waits at a section`, `goes on`, `has ended`.
    pub does: String,
    /// The line where it does that; null if it has ended.
    pub line: Option<usize>,
}

/// A thread that stands at a named statement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StandingInfo {
    /// The thread's name.
    pub thread: String,
    /// The label of the statement.
    pub label: String,
    /// The line that it stands at.
    pub line: usize,
}

/// One of the accesses of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RacingInfo {
    /// The thread's name.
    pub thread: String,
    /// The line.
    pub line: usize,
    /// The number of the step, from 1.
    pub step: usize,
    /// What it is: `line 4's store to x`.
    pub access: String,
    /// Whether it is plain, that is, does not synchronise.
    pub plain: bool,
}

/// A block that committed, or an access outside of blocks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SerialUnitInfo {
    /// The thread's name.
    pub thread: String,
    /// The block's name; null outside of blocks.
    pub block: Option<String>,
    /// The line at which it begins.
    pub line: usize,
    /// The step with which it commits.
    pub step: usize,
}

/// A location in which an execution and its serial run differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartedLocation {
    /// The location's name.
    pub location: String,
    /// What it holds.
    #[serde(with = "crate::number")]
    pub real: i128,
    /// What it would hold.
    #[serde(with = "crate::number")]
    pub serial: i128,
}

/// A register in which an execution and its serial run differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartedRegister {
    /// The register's name.
    pub register: String,
    /// What it holds.
    #[serde(with = "crate::number")]
    pub real: i128,
    /// What it would hold.
    #[serde(with = "crate::number")]
    pub serial: i128,
}

/// What a thread that waits at an atomic section finds in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wait {
    /// The thread's name.
    pub thread: String,
    /// What the section reads up to the condition that does not hold.
    pub reads: Vec<Awaited>,
}

/// A location that a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Awaited {
    /// The location and what it holds.
    #[serde(flatten)]
    pub value: NamedValue,
    /// The step that wrote this value; null if it is the initial one.
    pub step: Option<usize>,
}

/// A transaction must come before another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conflict {
    /// The one that must come first.
    pub first: String,
    /// The one that must come later.
    pub second: String,
    /// `read-before-write`, `write-before-read`, `write-before-write` or `real-time`.
    pub reason: String,
    /// The variable in question; null for `real-time`.
    pub variable: Option<String>,
    /// The two events behind it: numbers of steps, or of a history's events.
    pub steps: (usize, usize),
}
