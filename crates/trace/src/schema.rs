//! The schema `cyrano.trace/2`.
//!
//! Fields are added freely; a change of meaning needs a new schema number.
//! Step numbers, lines and columns count from 1, as they are shown; `po`, an access's number within its thread, counts from 0.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod explanation;
mod shape;
mod violation;

pub use crate::relations::Relations;
pub use explanation::*;
pub use shape::*;
pub use violation::*;

/// The name of this schema.
pub const SCHEMA: &str = "cyrano.trace/2";

/// The names of older ones that are still read. The first had no [`Relations`].
pub const SCHEMAS: [&str; 2] = [SCHEMA, "cyrano.trace/1"];

/// One execution with everything needed to replay and to explain it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// [`SCHEMA`].
    pub schema: String,
    /// Whether the reference interpreter has replayed it. A file cannot claim that: whatever was read is not confirmed until it is replayed.
    #[serde(skip_deserializing)]
    pub confirmed: bool,
    /// Why it is not confirmed, once that was tried.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<String>,
    /// What wrote it.
    pub tool: Tool,
    /// The memory model.
    pub model: ModelInfo,
    /// The program.
    pub program: ProgramInfo,
    /// What was asked.
    pub property: PropertyInfo,
    /// What went wrong; null for the witness of an `exists`.
    pub violation: Option<ViolationInfo>,
    /// The performed accesses in memory order.
    pub steps: Vec<Step>,
    /// How they relate; they follow from the steps.
    #[serde(default)]
    pub relations: Relations,
    /// The threads, in the program's order.
    pub threads: Vec<ThreadInfo>,
    /// The transactions in the order of their first events; empty if the program has none.
    #[serde(default)]
    pub transactions: Vec<TransactionInfo>,
    /// Of a transactional memory judged by conflicts: the events that the criterion is about and nothing else, as the lines of a file for
    /// `cyrano history`. Empty if there is no such history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<String>,
    /// The operations of the client-visible interface and the atomic blocks of which some access was performed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationInfo>,
    /// Memory before the first step; empty in a trace of an older version.
    #[serde(default)]
    pub initial: Vec<NamedValue>,
    /// How registers change, in the order of the steps; empty in a trace of an older version.
    #[serde(default)]
    pub changes: Vec<RegisterChange>,
    /// The same for what methods and transactions of an algorithm keep for themselves: locals (`read.rver`), sets and maps (`rset`, which are shown only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<RegisterChange>,
    /// The locations of `initial` and `memory` that stand for nothing in the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
    /// The executions that this one stands for; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Final memory.
    pub memory: Vec<NamedValue>,
    /// Why this execution matters, in words.
    pub explanation: Explanation,
}

impl Trace {
    /// What a reader has to be told before anything else, if nobody has replayed this execution, or in vain.
    pub fn doubt(&self) -> Option<String> {
        if self.confirmed {
            return None;
        }
        let why = self.unconfirmed.as_deref().unwrap_or("it comes from a file, and nobody has replayed it");
        Some(format!("NOT CONFIRMED: {why}"))
    }

    /// The same trace, not confirmed for this reason.
    #[must_use]
    pub fn doubted(self, why: impl Into<String>) -> Self {
        Self { confirmed: false, unconfirmed: Some(why.into()), ..self }
    }
}

/// A program and its version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A memory model with all its parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// What it is.
    pub summary: String,
    /// Kept pairs of accesses to different addresses, by name (`load-store`, …).
    pub different: Vec<String>,
    /// Kept pairs of accesses to the same address.
    pub same: Vec<String>,
    /// Kept pairs of a read-modify-write and another access to different addresses (`cas-load`, …); absent where its load and its store decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cas: Option<Vec<String>>,
    /// Whether loads see their own thread's stores before they are performed.
    pub forwarding: bool,
    /// Which dependencies are kept.
    pub dependencies: DependencyInfo,
    /// Whether whole operations are consecutive.
    pub serial: bool,
    /// Whether the program's own order takes the place of all pairs and dependencies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_order: bool,
    /// Of a model about relations, its text in cat; all else says nothing then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cat: Option<String>,
}

/// Which dependencies a model keeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DependencyInfo {
    /// Data dependencies.
    pub data: bool,
    /// Address dependencies.
    pub address: bool,
    /// Control dependencies: `none`, `stores` or `all`.
    pub control: String,
}

/// The checked program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramInfo {
    /// The file's name when it was checked.
    pub file: String,
    /// The whole source text.
    pub source: String,
    /// The constants that were given another value.
    pub set: BTreeMap<String, i128>,
    /// For a C file: the test that was run; absent for other languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestInfo>,
}

/// A test of a C file, with what else is needed to compile it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TestInfo {
    /// The test's name.
    pub name: String,
    /// The text of the tests file, this test included.
    pub tests: String,
    /// The files beside the C file that it includes, by the names it uses.
    pub includes: BTreeMap<String, String>,
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PropertyInfo {
    /// `assertions`, `observations`, `commit-atomicity`, `atomicity`, `exists`, `never`, `always`, `opacity`, `strict-serializability`, `spec:NAME`,
    /// `solo-progress`, `crash-free-solo-progress`, `local-progress`.
    pub criterion: String,
    /// The condition, where there is one.
    pub condition: Option<String>,
    /// For `observations` and `atomicity`: the outcomes that serial executions have, one value per observed variable.
    #[serde(with = "crate::number", default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<BTreeSet<Vec<i128>>>,
    /// For `spec:NAME`: the text of the specification, unless it is a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
}

/// One performed access, or an event of a transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Its number in memory order, from 1.
    pub n: usize,
    /// The thread's name.
    pub thread: String,
    /// Its number among the thread's accesses in program order, from 0.
    pub po: u32,
    /// `load`, `store`, `read-modify-write`, or `event` for what happens to a transaction.
    pub kind: String,
    /// The location's name; null for an event.
    pub location: Option<String>,
    /// `rfin`, `commit` or `abort`; null for an access.
    #[serde(default)]
    pub event: Option<String>,
    /// Whether it is a store that undoes its transaction's stores.
    #[serde(default)]
    pub rollback: bool,
    /// The name of its transaction; null if it belongs to none.
    #[serde(default)]
    pub transaction: Option<String>,
    /// What it read.
    #[serde(with = "crate::number", default)]
    pub read: Option<i128>,
    /// What it wrote.
    #[serde(with = "crate::number", default)]
    pub written: Option<i128>,
    /// How a person would write what it read, where that is not the number: `&node#1`, `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_shown: Option<String>,
    /// The same for what it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_shown: Option<String>,
    /// Where the value that it read came from.
    pub source: Option<ReadFrom>,
    /// The line in the source.
    pub line: usize,
    /// The file that this line comes from and its number there, if that is one that the program uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsedPlace>,
    /// The column in the source.
    pub column: usize,
    /// The source text of the statement, on one line.
    pub text: String,
    /// The labels of the statement, those of the calls that it is inlined in first: `R10.V03`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The call of a base object that begins, or goes on, with this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<BaseCall>,
    /// The step with that call, for the other steps that it consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<usize>,
    /// Which program-earlier accesses of its thread it was performed before.
    pub overtook: Vec<Overtaken>,
    /// A sentence for each of them.
    pub words: Vec<String>,
}

/// A line of a file that the program uses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UsedPlace {
    /// The file.
    pub file: String,
    /// The line there.
    pub line: usize,
}

/// A call of a base object, whose accesses are no steps of their own to a reader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BaseCall {
    /// `rver := ver[1].read()`; `r[1].write(1) begins` if other steps come between its accesses.
    pub text: String,
    /// What it returned.
    pub result: Option<String>,
    /// The step of the call that wrote what it read; null for the initial value.
    pub from: Option<usize>,
    /// The last of the steps that it consists of here.
    pub last: usize,
    /// What has to be explained: that it returned any value, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum ReadFrom {
    /// The initial value.
    Initial,
    /// An earlier step.
    Step {
        /// Its number.
        n: usize,
    },
    /// The thread's own store, not yet performed.
    Forwarded {
        /// The store's number in its thread.
        po: u32,
        /// The store's line.
        line: usize,
        /// The file that this line comes from, if that is one that the program uses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<UsedPlace>,
    },
}

/// An access that was overtaken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Overtaken {
    /// Its number in its thread.
    pub po: u32,
    /// Its line.
    pub line: usize,
    /// The file that this line comes from, if that is one that the program uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsedPlace>,
    /// Its kind.
    pub kind: String,
    /// Its location, if the address was known by then.
    pub location: Option<String>,
    /// Its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// One thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its name.
    pub name: String,
    /// The values of its choices, in program order.
    #[serde(with = "crate::number")]
    pub choices: Vec<i128>,
    /// The commands of a transactional memory that its client chose: `read(0)`, `write(1)`, `end`.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Where it ended.
    pub end: End,
    /// Its registers at the end; temporaries are left out. Null: a deferred load has yet to provide the value.
    pub registers: Vec<NamedValue>,
}

/// One transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransactionInfo {
    /// Its name: `T1`, `T2`, … in the order of their first events, as in the explanation.
    pub name: String,
    /// The thread's name.
    pub thread: String,
    /// Its first step.
    pub first: usize,
    /// Its last step.
    pub last: usize,
    /// `committed`, `aborted` or `unfinished`.
    pub status: String,
    /// The aborted transaction that it runs again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// One operation of a data type, one call of an algorithm, or one atomic block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OperationInfo {
    /// Its name, with its arguments if they are known: `enqueue(v)`.
    pub name: String,
    /// The thread's name.
    pub thread: String,
    /// Its first step in memory order.
    pub first: usize,
    /// Its last step in memory order.
    pub last: usize,
    /// Its first and its last access, by their numbers in the thread; (1, 0) if it has none, and then `first` and `last` are the step before it.
    pub po: (u32, u32),
    /// `finished` if all its accesses were performed, else `unfinished`.
    pub status: String,
    /// What it returned, where that is known: a value, `ok`, `A` (aborted) or `C` (committed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Its transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
}

/// A register has another value from a step on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegisterChange {
    /// The step, 0 for what held before the first one.
    pub n: usize,
    /// The thread's name.
    pub thread: String,
    /// The register and its value; null: a deferred load has yet to provide it.
    #[serde(flatten)]
    pub value: NamedValue,
}

/// Where a thread ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum End {
    /// It ran to its end.
    Done,
    /// It is about to execute this statement, or has accesses deferred.
    At {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The source text, on one line.
        text: String,
        /// The label of the statement.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// It waits at an atomic section.
    Waiting {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The source text, on one line.
        text: String,
        /// The label of the statement.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
}

/// A name with its value; null if it is not known yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    #[serde(with = "crate::number", default)]
    pub value: Option<i128>,
    /// How a person would write it, where that is not the number: `&node#1`, `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}
