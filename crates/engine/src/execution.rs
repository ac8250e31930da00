//! One execution: the memory order and the choices, which together determine everything else.

use crate::blocks::SerialRun;
use crate::relations::Relations;
use cyrano_ir::{AccessKind, InstrId, LocId, ThreadId};

/// An execution, or a prefix of one.
///
/// Running each thread from its start with its choices and with the values that its loads returned gives the accesses
/// in program order; `order` says in which memory order they were performed. Accesses that a thread issued and that are
/// not in `order` are still deferred when the execution stops.
///
/// Under a model about relations there is no such order. Then `order` only lists the accesses, thread by thread, and `relations` says who reads from whom and in
/// which order writes hit each location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// The performed accesses in memory order.
    pub order: Vec<Access>,
    /// For each thread the values of its `choose` instructions, in program order.
    pub choices: Vec<Vec<i128>>,
    /// Under a model about relations, those between the accesses, by their numbers in `order` from 1.
    pub relations: Option<Box<Relations>>,
}

/// One performed access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Whose.
    pub thread: ThreadId,
    /// Its number among the thread's accesses in program order, from 0.
    pub index: u32,
    /// What it read, if it reads.
    pub read: Option<i128>,
    /// What it wrote, if it wrote; a failed compare-and-swap writes nothing.
    pub written: Option<i128>,
}

/// What replaying an execution brought to light, step by step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replayed {
    /// The steps in memory order.
    pub steps: Vec<StepFacts>,
    /// Where each thread stands at the end.
    pub ends: Vec<ThreadEnd>,
    /// Final memory.
    pub memory: Vec<i128>,
    /// Registers of each thread at the end; `None` where a deferred load has yet to provide the value.
    pub registers: Vec<Vec<Option<i128>>>,
    /// For a claim about atomic blocks, where it parts from the serial run.
    pub serial: Option<SerialRun>,
    /// Under a model about relations, those between the steps, which then stand in no memory order.
    pub relations: Option<Box<Relations>>,
}

/// Facts about one performed access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepFacts {
    /// The access.
    pub access: Access,
    /// Its kind.
    pub kind: AccessKind,
    /// The instruction.
    pub instr: InstrId,
    /// The location.
    pub loc: LocId,
    /// Where the value that it read came from, if it reads.
    pub source: Option<Source>,
    /// Which earlier accesses of its own thread it was performed before.
    pub overtook: Vec<Overtaking>,
    /// What a call or a response names: arguments, or the reply.
    pub said: Vec<i128>,
}

/// Where a value came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The initial value.
    Initial,
    /// The step of this number, in memory order.
    Step(usize),
    /// A store of the same thread that has not been performed yet: number `index` in program order, at `instr`.
    Forwarded {
        /// Its number among the thread's accesses.
        index: u32,
        /// Its instruction.
        instr: InstrId,
    },
}

/// An access that was overtaken by a later one of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overtaking {
    /// The number of the overtaken access among the thread's accesses.
    pub index: u32,
    /// Its instruction.
    pub instr: InstrId,
    /// Its kind.
    pub kind: AccessKind,
    /// Its location, if known.
    pub loc: Option<LocId>,
}

/// Where a thread stands when an execution stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadEnd {
    /// It has run to its end and nothing is deferred.
    Done,
    /// It is about to execute this instruction, or has accesses deferred.
    At(InstrId),
}
