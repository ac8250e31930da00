//! What instructions do: accesses to memory, fences, control, sections, blocks and the events of transactions.

use crate::access::{Access, AccessKind, Addr, Change};
use crate::fence::Fence;
use crate::ids::InstrId;
use crate::program::{LocalExpr, Place};

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
    /// Reads or writes shared memory, or both.
    Access(Access),
    /// Orders accesses before it with accesses after it.
    Fence(Fence),
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
    /// A thread that passes it has got something done (`termination`); like the marks of blocks it is nothing to memory. With a label it is the
    /// mark of a statement, which counts only where that label is asked about.
    Progress(Option<String>),
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
    #[inline]
    pub fn access_kind(&self) -> Option<AccessKind> {
        self.access().map(|access| access.kind)
    }

    /// The shared address, if it is a memory access.
    #[inline]
    pub fn addr(&self) -> Option<&Addr> {
        self.access().map(|access| &access.addr)
    }

    /// Where a register result goes, if anywhere.
    #[inline]
    pub fn dst(&self) -> Option<&Place> {
        match self {
            Self::Assign { dst, .. } | Self::Choose { dst, .. } => Some(dst),
            Self::Access(access) => access.dst.as_ref(),
            _ => None,
        }
    }

    /// Where a register result goes, to be changed.
    pub fn dst_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Assign { dst, .. } | Self::Choose { dst, .. } => Some(dst),
            Self::Access(access) => access.dst.as_mut(),
            _ => None,
        }
    }

    /// The expressions it evaluates besides address and destination index.
    pub fn operands(&self) -> Vec<&LocalExpr> {
        match self {
            Self::Access(access) => access.operands(),
            Self::Invoke { args, .. } | Self::BlockEnd(args) => args.iter().collect(),
            Self::Assign { value, .. } | Self::Respond(value) => vec![value],
            Self::Assume(cond) | Self::Assert { cond, .. } | Self::Limit { cond, .. } | Self::Branch { cond, .. } => {
                vec![cond]
            }
            _ => vec![],
        }
    }

    /// The same expressions, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut LocalExpr> {
        match self {
            Self::Access(access) => access.change.as_mut().map(Change::operands_mut).unwrap_or_default(),
            Self::Invoke { args, .. } | Self::BlockEnd(args) => args.iter_mut().collect(),
            Self::Assign { value, .. } | Self::Respond(value) => vec![value],
            Self::Assume(cond) | Self::Assert { cond, .. } | Self::Limit { cond, .. } | Self::Branch { cond, .. } => {
                vec![cond]
            }
            _ => vec![],
        }
    }
}

/// What a call of a transactional memory returned instead of a value.
pub mod reply {
    /// The transaction was aborted. The codes differ in few bits from small numbers, so that they cost symbolic values little.
    pub const ABORTED: i128 = -4096;
    /// The transaction committed.
    pub const COMMITTED: i128 = ABORTED + 1;
    /// The write is done.
    pub const OK: i128 = ABORTED + 2;
    /// There was no call.
    pub const NOTHING: i128 = ABORTED + 3;
    /// The least value that a client may write: what is below stands for no value.
    pub const LEAST_VALUE: i128 = -4000;

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
