//! What instructions do: accesses to memory, fences, control, sections, blocks and the events of transactions.

use crate::fence::{AccessKind, FenceSet};
use crate::ids::{ArrayId, InstrId, LocId};
use crate::program::{LocalExpr, Place};

/// A shared address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Addr {
    /// A fixed location.
    Fixed(LocId),
    /// An element of a shared array.
    Indexed {
        /// The array.
        array: ArrayId,
        /// Which element.
        index: LocalExpr,
    },
}

/// What an instruction does. Unless stated otherwise control goes on with the next instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// `dst := value`, registers only.
    Assign {
        /// Where the value goes.
        dst: Place,
        /// The value.
        value: LocalExpr,
    },
    /// `dst := shared`.
    Load {
        /// Where the value goes.
        dst: Place,
        /// What is read.
        addr: Addr,
    },
    /// `shared := value`.
    Store {
        /// What is written.
        addr: Addr,
        /// The value.
        value: LocalExpr,
        /// Whether it undoes earlier stores of its transaction. To memory it is a store like any other.
        rollback: bool,
    },
    /// An atomic read-modify-write; `dst` receives the **old** value.
    Rmw {
        /// Where the old value goes, if anywhere.
        dst: Option<Place>,
        /// What is read and written.
        addr: Addr,
        /// The modification.
        op: RmwOp,
    },
    /// Orders accesses before it with accesses after it.
    Fence(FenceSet),
    /// Starts an atomic section: the accesses up to the matching end are consecutive in the memory order.
    AtomicBegin,
    /// Ends an atomic section.
    AtomicEnd,
    /// Starts an operation of the client-visible interface (a unit for the model `serial`).
    OperationBegin(String),
    /// Ends an operation.
    OperationEnd,
    /// An atomic block of this name begins ([`crate::blocks`]); like the other two marks of blocks it is nothing to memory.
    BlockBegin(String),
    /// The block commits, with the last access before.
    BlockCommit,
    /// The block ends and hands on these results.
    BlockEnd(Vec<LocalExpr>),
    /// `dst :=` any one of these values.
    Choose {
        /// Where the choice goes.
        dst: Place,
        /// The values, at least one.
        from: Vec<i128>,
    },
    /// Goes on only if the condition holds. Inside an atomic section the section waits; outside, the execution is dropped.
    Assume(LocalExpr),
    /// The condition must hold.
    Assert {
        /// The condition.
        cond: LocalExpr,
        /// A message of the user's.
        message: Option<String>,
    },
    /// An execution in which the condition does not hold is left out, and nothing is claimed about it: a verdict that would be
    /// `verified` is `bounded`.
    Limit {
        /// The condition.
        cond: LocalExpr,
        /// What is limited, for the verdict's reason: `objects allocated at line 12`.
        what: String,
    },
    /// Goes to `then_to` if the condition holds, else to `else_to`.
    Branch {
        /// The condition.
        cond: LocalExpr,
        /// Target if true.
        then_to: InstrId,
        /// Target if false.
        else_to: InstrId,
    },
    /// Goes to the target.
    Jump(InstrId),
    /// Something happens to the thread's transaction; a point in the memory order without an effect on memory.
    Transaction(TxEvent),
    /// A call of a transactional memory begins; a point in the memory order, ordered with every access of its thread. The first
    /// one after a response `aborted` or `committed` begins the thread's next transaction.
    Invoke {
        /// What is called.
        method: Method,
        /// With what.
        args: Vec<LocalExpr>,
    },
    /// The call that was begun last returns a value of at least 0 or a code of [`reply`]; ordered like its beginning.
    Respond(LocalExpr),
    /// The thread is done.
    Halt,
}

/// What happens to a transaction (FOIL, section 2.4.1). Each is a fence as well (section 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TxEvent {
    /// A read command has finished; ordered after every earlier access that reads and before every later access.
    ReadFinish,
    /// The transaction commits; ordered after every earlier access that writes or is to a transactional variable, and before
    /// every later access. (The paper lets it wait for stores only; a load that is still deferred would then happen in the
    /// thread's next transaction.)
    Commit,
    /// The transaction aborts; ordered like a commit.
    Abort,
}

impl TxEvent {
    /// All of them with their keywords.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::ReadFinish, "rfin"), (Self::Commit, "commit"), (Self::Abort, "abort")];

    /// The keyword.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether it has to wait for an earlier access of this kind; `data` says whether to a transactional variable.
    #[inline]
    pub fn follows(self, earlier: AccessKind, data: bool) -> bool {
        match self {
            Self::ReadFinish => earlier.reads(),
            Self::Commit | Self::Abort => earlier.writes() || data,
        }
    }
}

/// The modification of a read-modify-write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RmwOp {
    /// Writes `new` if the old value equals `expected`, else nothing.
    Cas {
        /// What the location must hold.
        expected: LocalExpr,
        /// What is written then.
        new: LocalExpr,
    },
    /// Writes the value.
    Exchange(LocalExpr),
    /// Adds the value.
    FetchAdd(LocalExpr),
}

impl Op {
    /// The kind of memory access, if it is one. A transaction's event, a call or a response counts as one that neither reads nor
    /// writes.
    pub fn event_kind(&self) -> Option<AccessKind> {
        match self {
            Self::Transaction(_) | Self::Invoke { .. } | Self::Respond(_) => Some(AccessKind::Mark),
            _ => self.access_kind(),
        }
    }

    /// The kind of memory access, if it is one.
    pub fn access_kind(&self) -> Option<AccessKind> {
        match self {
            Self::Load { .. } => Some(AccessKind::Load),
            Self::Store { .. } => Some(AccessKind::Store),
            Self::Rmw { .. } => Some(AccessKind::Rmw),
            _ => None,
        }
    }

    /// The shared address, if it is a memory access.
    pub fn addr(&self) -> Option<&Addr> {
        match self {
            Self::Load { addr, .. } | Self::Store { addr, .. } | Self::Rmw { addr, .. } => Some(addr),
            _ => None,
        }
    }

    /// Where a register result goes, if anywhere.
    pub fn dst(&self) -> Option<&Place> {
        match self {
            Self::Assign { dst, .. } | Self::Load { dst, .. } | Self::Choose { dst, .. } => Some(dst),
            Self::Rmw { dst, .. } => dst.as_ref(),
            _ => None,
        }
    }

    /// The expressions it evaluates besides address and destination index.
    pub fn operands(&self) -> Vec<&LocalExpr> {
        match self {
            Self::Assign { value, .. } | Self::Store { value, .. } | Self::Respond(value) => vec![value],
            Self::Invoke { args, .. } | Self::BlockEnd(args) => args.iter().collect(),
            Self::Rmw { op, .. } => op.operands(),
            Self::Assume(cond) | Self::Assert { cond, .. } | Self::Limit { cond, .. } | Self::Branch { cond, .. } => {
                vec![cond]
            }
            _ => vec![],
        }
    }
}

impl RmwOp {
    /// The expressions it evaluates.
    pub fn operands(&self) -> Vec<&LocalExpr> {
        match self {
            Self::Cas { expected, new } => vec![expected, new],
            Self::Exchange(value) | Self::FetchAdd(value) => vec![value],
        }
    }
}

/// What a call of a transactional memory returned instead of a value.
pub mod reply {
    /// The transaction was aborted.
    pub const ABORTED: i128 = -1;
    /// The transaction committed.
    pub const COMMITTED: i128 = -2;
    /// The write is done.
    pub const OK: i128 = -3;
    /// There was no call.
    pub const NOTHING: i128 = -4;

    /// The word for a code; none for a value.
    pub fn word(code: i128) -> Option<&'static str> {
        Some(match code {
            ABORTED => "aborted",
            COMMITTED => "committed",
            OK => "ok",
            NOTHING => "nothing",
            _ => return None,
        })
    }
}

/// The methods of a transactional memory (Guerraoui and Kapalka).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// Reads a location: one argument.
    Read,
    /// Writes a value to a location: two arguments.
    Write,
    /// Tries to commit: no argument.
    Commit,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Commit];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Commit => "commit",
        }
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Self::Read => 1,
            Self::Write => 2,
            Self::Commit => 0,
        }
    }
}
