//! Verdicts, violations, statistics.

use std::collections::BTreeSet;

use cyrano_criteria::history::History;
use cyrano_ir::{EvalError, InstrId, ThreadId};

use crate::cause::Cause;
use crate::execution::Execution;
use crate::lasso::Lasso;
use crate::values::Calls;

/// What is known at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Verdict {
    /// It holds; the search was complete for the stated instance.
    Verified,
    /// It does not hold.
    Violated,
    /// A limit was reached first.
    Unknown,
    /// Nothing wrong up to a bound that was not shown sufficient.
    Bounded,
    /// Nothing was exercised, so nothing was shown.
    #[default]
    Vacuous,
}

impl Verdict {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
            Self::Bounded => "bounded",
            Self::Vacuous => "vacuous",
        }
    }

    /// The process exit code for this verdict alone.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Verified => 0,
            Self::Violated => 1,
            Self::Unknown => 3,
            Self::Bounded => 4,
            Self::Vacuous => 5,
        }
    }

    /// Orders verdicts by how much they should worry: the last one decides a run of several checks.
    pub fn gravity(self) -> u8 {
        match self {
            Self::Verified => 0,
            Self::Vacuous => 1,
            Self::Bounded => 2,
            Self::Unknown => 3,
            Self::Violated => 4,
        }
    }
}

/// What went wrong in an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// An assertion failed.
    Assertion {
        /// In this thread,
        thread: ThreadId,
        /// at this instruction.
        instr: InstrId,
    },
    /// A computation went wrong.
    Error {
        /// In this thread,
        thread: ThreadId,
        /// at this instruction,
        instr: InstrId,
        /// like this.
        error: EvalError,
    },
    /// An atomic section ran for too long without reaching its end.
    AtomicDiverges {
        /// In this thread,
        thread: ThreadId,
        /// starting at this instruction.
        instr: InstrId,
    },
    /// The history of transactions up to and including the last step is not correct.
    Transactions,
    /// A thread never commits again, for ever.
    Lasso(Lasso),
    /// The history of the execution asks for another one, which the memory does not have; or, where nothing is missing, an access of it sees what it
    /// should not (FOIL, section 8).
    Structure {
        /// The history that is missing.
        missing: Option<History>,
    },
    /// Atomic blocks did not do what they would have done one at a time, in the order of their commits. The replay says what differs.
    Blocks,
    /// No thread can go on and some wait at an atomic section; under models about relations also: spin in a loop whose last round has read the latest stores.
    Deadlock {
        /// The waiting threads.
        blocked: Vec<Blocked>,
    },
    /// A final state shows an outcome that is not among the allowed ones.
    Observation {
        /// The values of the observed variables.
        outcome: Vec<i128>,
    },
    /// A final state satisfies a `never` condition or falsifies an `always` condition.
    FinalState,
    /// No final state satisfies an `exists` condition; there is no execution to show.
    NoWitness,
    /// At the end of the execution an invariant does not hold.
    Invariant {
        /// For each thread how many accesses it has executed then, performed or not, and its next instruction.
        standing: Vec<(u32, InstrId)>,
    },
    /// The last two units of the execution conflict, and nothing orders them.
    Race {
        /// The access of the one,
        first: Racing,
        /// and that of the other.
        second: Racing,
    },
}

/// An access that takes part in a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Racing {
    /// Whose.
    pub thread: ThreadId,
    /// At this instruction.
    pub instr: InstrId,
    /// Its number in the memory order.
    pub step: usize,
}

/// A thread that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The thread.
    pub thread: ThreadId,
    /// The start of the atomic section it waits at.
    pub instr: InstrId,
}

impl Violation {
    /// The `kind` of an explanation in reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Assertion { .. } => "assertion",
            Self::Error { error: EvalError::Undefined, .. } => "undefined",
            Self::Error { .. } => "error",
            Self::AtomicDiverges { .. } => "divergence",
            Self::Transactions => "cycle",
            Self::Lasso(_) => "lasso",
            Self::Structure { .. } => "structure",
            Self::Blocks => "atomicity",
            Self::Deadlock { .. } => "deadlock",
            Self::Observation { .. } => "observation",
            Self::FinalState => "final-state",
            Self::NoWitness => "no-witness",
            Self::Invariant { .. } => "invariant",
            Self::Race { .. } => "race",
        }
    }
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// States visited (explorer) or candidate executions judged (interpreter).
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the longest shortest path.
    pub depth: u64,
    /// Wall time.
    pub seconds: f64,
    /// Bytes used at most by the engine's data.
    pub peak_bytes: u64,
    /// Executions in which every thread came to its end, where these are enumerated (graphs).
    pub executions: Option<u64>,
    /// Executions in which some thread does not go on, where these are enumerated.
    pub blocked: Option<u64>,
}

impl Stats {
    /// How many bytes a state takes, to one decimal, if there are any.
    pub fn bytes_per_state(&self) -> Option<f64> {
        (self.states > 0).then(|| (self.peak_bytes as f64 / self.states as f64 * 10.0).round() / 10.0)
    }
}

/// How an atomic block was proven to be atomic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockProof {
    /// The block's name.
    pub name: String,
    /// Whether its steps before the commit are right movers and those behind it left movers (Lipton); else the serial run beside
    /// the execution was compared.
    pub by_movers: bool,
}

/// What an engine found out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict on a property; for outcomes, `Verified` when the set is complete.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it: the limit, the bound, what was not exercised.
    pub reason: Option<Cause>,
    /// The instructions that the reason is about: where the loops start that were cut off.
    pub places: Vec<(ThreadId, InstrId)>,
    /// What went wrong.
    pub violation: Option<Violation>,
    /// The execution that shows it; for a verified `exists`, the witness.
    pub execution: Option<Execution>,
    /// For outcomes: the valuations of the observed variables, in the order of `Program::observed`.
    pub outcomes: BTreeSet<Vec<i128>>,
    /// For histories with values, where clients are told apart: what the clients had called when it went wrong.
    pub clients: BTreeSet<Calls>,
    /// For commit-atomicity, how the blocks were proven to be atomic.
    pub blocks: Vec<BlockProof>,
    /// After a complete search, the instructions that no execution reaches; none if the engine does not say.
    pub unreached: Option<Vec<(ThreadId, InstrId)>>,
    /// The flags of a model about relations that some allowed execution raises.
    pub flags: BTreeSet<String>,
    /// The reductions that were used.
    pub reductions: Vec<&'static str>,
    /// What it cost.
    pub stats: Stats,
}

impl Answer {
    /// A verdict with nothing to show for it.
    pub fn new(verdict: Verdict, reason: Option<Cause>) -> Self {
        Self {
            verdict,
            reason,
            places: Vec::new(),
            violation: None,
            execution: None,
            outcomes: BTreeSet::new(),
            clients: BTreeSet::new(),
            blocks: Vec::new(),
            unreached: None,
            flags: BTreeSet::new(),
            reductions: Vec::new(),
            stats: Stats::default(),
        }
    }
}
