//! What the serial run of atomic blocks shows about an execution (Flanagan, section 4).

use cyrano_ir::{InstrId, LocId, RegId, ThreadId};

/// The blocks of an execution, run again one at a time in the order of their commits, and where that run and the execution part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerialRun {
    /// The blocks that committed, and the accesses outside of blocks, in the order of the serial run.
    pub units: Vec<SerialUnit>,
    /// Where the two part.
    pub difference: Difference,
}

/// A block, or an access outside of blocks (or an atomic section of them), which is a block by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerialUnit {
    /// Whose.
    pub thread: ThreadId,
    /// The block's name; none outside of blocks.
    pub name: Option<String>,
    /// Where it begins.
    pub instr: InstrId,
    /// The step with which it commits.
    pub step: usize,
}

/// Where an execution and its serial run part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Nobody is in a block, and memory differs.
    Memory {
        /// The locations, each with the value in the execution and the one in the serial run.
        values: Vec<(LocId, i128, i128)>,
    },
    /// A block or an access hands on other values.
    HandedOn {
        /// Whose.
        thread: ThreadId,
        /// The block's beginning, or the access.
        instr: InstrId,
        /// The registers, each with the value in the execution and the one in the serial run.
        values: Vec<(RegId, i128, i128)>,
    },
    /// A block that went through in the execution does not end when it runs alone.
    Stuck {
        /// Whose.
        thread: ThreadId,
        /// The block's beginning.
        instr: InstrId,
        /// Where it was last seen.
        at: InstrId,
        /// What keeps it from ending.
        why: Obstacle,
    },
}

/// Why a serial run of a block does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It comes back to where it was, with the same values.
    Loops,
    /// An `assume` does not hold.
    Waits,
    /// A computation goes wrong.
    Fails,
}
