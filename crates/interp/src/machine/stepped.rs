//! What a step of a thread leads to, and the marks of atomic blocks that it passes.

use cyrano_ir::{AccessKind, EvalError, InstrId, LocId, RegId};

use crate::set::EventSet;

/// What happened in one step.
#[derive(Clone, Debug)]
pub(crate) enum Step<'p> {
    /// Something local; the machine has moved on.
    Local,
    /// A jump back, taken at this instruction.
    Back(InstrId),
    /// A store was issued.
    Stored,
    /// A value is to be read: call [`Machine::read`].
    Read(Request),
    /// A choice is to be made: call [`Machine::choose`].
    Choose(&'p [i128]),
    /// An `assume` does not hold; the machine stands at it.
    Refused,
    /// A `limit` does not hold; the machine stands at it.
    Limited,
    /// The way on depends on a missing value.
    Missing,
    /// The way on, an address or an index cannot be computed.
    Failed(EvalError),
    /// The thread is done.
    Halted,
}

/// A read that waits for its value.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) loc: LocId,
    pub(crate) kind: AccessKind,
    pub(crate) dst: Option<RegId>,
    pub(crate) index: EventSet,
    pub(crate) address: EventSet,
}

/// What a mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MarkKind {
    /// A block begins.
    Begin,
    /// Its commit point.
    Commit,
    /// Its end.
    End,
    /// An access outside of blocks, or an atomic section of them, was just issued.
    After,
}

impl MarkKind {
    /// Whether it ends a unit; see `blocks`.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::End | Self::After)
    }
}

/// A mark of an atomic block, and how things stood there.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) pc: InstrId,
    /// How many accesses were issued before.
    pub(crate) events: usize,
    /// What decided that it was reached.
    pub(crate) control: EventSet,
    pub(crate) registers: Vec<Option<i128>>,
}
