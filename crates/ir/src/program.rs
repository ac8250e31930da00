//! Programs: locations, threads, registers, instructions.

use crate::cond::{Check, Observable};
use crate::expr::{EvalError, Expr, WORD};
use crate::fence::{AccessKind, FenceSet};
use crate::ids::{ArrayId, InstrId, LocId, RegId, Span, ThreadId};
use crate::serial::SerialOrder;

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// A name for messages, usually the file's stem.
    pub name: String,
    /// Shared locations. Array elements are consecutive and also listed here, one by one.
    pub locations: Vec<Location>,
    /// Shared arrays that are indexed by expressions.
    pub arrays: Vec<SharedArray>,
    /// The threads; all start at instruction 0.
    pub threads: Vec<Thread>,
    /// A thread that runs to its end, with all of its accesses performed, before any other thread starts.
    pub setup: Option<ThreadId>,
    /// What `observe` names, in that order: the columns of an outcome.
    pub observed: Vec<Observable>,
    /// What the file itself asks to be checked.
    pub checks: Vec<Check>,
    /// The transactional variables, if this is a software transactional memory under its most general client.
    pub transactional: Vec<LocId>,
    /// Orders between accesses that the program itself asks for, one for each model that follows it; see [`OwnOrder`].
    pub orders: Vec<OwnOrder>,
    /// Whether it is made of base objects, for which there are no other models than those that keep all accesses in order, and [`Self::orders`].
    pub in_order: bool,
    /// What the clients of a transactional memory may exchange without changing anything.
    pub interchangeable: Interchangeable,
    /// The orders in which its transactions seem to run, as it says itself.
    pub serial_orders: Vec<SerialOrder>,
    /// The constants of the instance (`threads`, `N`, …) with the values they had, for reports.
    pub constants: Vec<(String, i128)>,
    /// Assertions of the source that are not in the code, because they hold by what is known at lowering or nothing leads to them.
    pub settled: Vec<Span>,
    /// The commands, procedures and methods of the source.
    pub routines: Vec<Routine>,
}

/// A named piece of the source that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// From its name to its end.
    pub span: Span,
}

/// What may be renamed in all clients of a size: the program with its names exchanged is the same program, because it only copies, compares for
/// equality and indexes by them. Only programs that call a transactional memory have any.
/// Where clients run transactions again until they commit ([`Program::restarts`]), threads and locations may be exchanged in a circle only.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interchangeable {
    /// The threads, with their transactions, and where every write has its own value, their values.
    pub threads: bool,
    /// The locations of the transactional memory.
    pub locations: bool,
    /// These values, ascending; the initial value is not among them.
    pub values: Vec<i128>,
}

/// For the model of this name, which instructions of a thread follow which, if both are executed.
///
/// An order between accesses follows from it together with what an execution does (axiom 9 of `cyrano_memory`): it passes through
/// executed instructions, and values flow through registers. A pair is listed only if it holds whatever the values are. Only
/// programs whose threads have no jump back can have an order, so that an instruction is executed at most once. Calls and
/// responses are not mentioned: they are ordered with every access of their thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnOrder {
    /// The model's name.
    pub model: String,
    /// For each thread and each instruction the earlier instructions that it follows, ascending.
    pub before: Vec<Vec<Vec<InstrId>>>,
}

impl OwnOrder {
    /// The instructions that an instruction of a thread follows if they are executed.
    #[inline]
    pub fn of(&self, thread: ThreadId, instr: InstrId) -> &[InstrId] {
        self.before.get(thread.index()).and_then(|t| t.get(instr.index())).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether an instruction of a thread is listed as preceding another one.
    #[inline]
    pub fn precedes(&self, thread: ThreadId, first: InstrId, second: InstrId) -> bool {
        let of_thread = self.before.get(thread.index());
        of_thread.and_then(|t| t.get(second.index())).is_some_and(|before| before.binary_search(&first).is_ok())
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

/// One word of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name as the user writes it: `x`, `flag[1]`.
    pub name: String,
    /// Its initial value.
    pub init: i128,
    /// What it holds.
    pub ty: Ty,
    /// Where it was declared.
    pub span: Span,
}

/// What a register or location holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ty {
    /// An integer (or a truth value).
    #[default]
    Int,
    /// A value that is only compared, copied and incremented, so that engines may renumber it.
    Timestamp,
    /// An integer that is an address in the program's memory, or null; engines treat it as an integer, people like to see what it
    /// points to.
    Pointer,
    /// Nothing: a word of memory that belongs to no object. An access to it is an error ([`crate::EvalError::BadPointer`]).
    Gap,
    /// Whether the object that begins behind it is freed: [`crate::guards::ALIVE`] or [`crate::guards::FREED`]. Only a
    /// [list of headers](SharedArray::headers) reaches it; see [`crate::guards`].
    Header,
}

/// A run of consecutive locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedArray {
    /// Its name.
    pub name: String,
    /// The location of element 0.
    pub base: LocId,
    /// The number of elements.
    pub len: u32,
    /// Whether its elements are the headers of objects: any other word is no allocated object
    /// ([`EvalError::NotAllocated`]). In other arrays a header is a word of nothing.
    pub headers: bool,
}

/// One thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// Its name as the user writes it: `p0`, `worker[2]`.
    pub name: String,
    /// Its registers. Elements of local arrays are consecutive.
    pub registers: Vec<Register>,
    /// Its code.
    pub code: Vec<Instr>,
}

/// A register, private to one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// Its name; temporaries made by a front end start with `%`.
    pub name: String,
    /// Its initial value.
    pub init: i128,
    /// What it holds.
    pub ty: Ty,
}

/// An instruction and where it came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    /// What it does.
    pub op: Op,
    /// The source text it stands for.
    pub span: Span,
}

/// An expression over one thread's registers.
pub type LocalExpr = Expr<Place>;

/// A register, or an element of a local array chosen by an expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A register.
    Reg(RegId),
    /// Element `index` of the `len` registers that start at `base`.
    Elem {
        /// Element 0.
        base: RegId,
        /// The number of elements.
        len: u32,
        /// Which element.
        index: Box<LocalExpr>,
    },
}

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

impl Program {
    /// The location's declaration.
    pub fn location(&self, loc: LocId) -> &Location {
        &self.locations[loc.index()]
    }

    /// The thread.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// All thread ids in order.
    pub fn thread_ids(&self) -> impl ExactSizeIterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::new)
    }

    /// The instruction at `pc` of `thread`.
    pub fn instr(&self, thread: ThreadId, pc: InstrId) -> &Instr {
        &self.thread(thread).code[pc.index()]
    }

    /// Element `index` of an array: an error if it has none, or if that word belongs to no object.
    #[inline]
    pub fn element(&self, array: ArrayId, index: i128) -> Result<LocId, EvalError> {
        let array = &self.arrays[array.index()];
        let inside = u32::try_from(index).ok().filter(|inside| *inside < array.len);
        if array.headers {
            let loc = inside.map(|inside| LocId(array.base.0 + inside));
            return loc.filter(|loc| self.location(*loc).ty == Ty::Header).ok_or(EvalError::NotAllocated);
        }
        let inside = inside.ok_or(EvalError::OutOfBounds { index, len: array.len })?;
        let loc = LocId(array.base.0 + inside);
        match self.location(loc).ty {
            Ty::Gap | Ty::Header => Err(EvalError::BadPointer { address: index.saturating_mul(WORD) }),
            Ty::Int | Ty::Pointer | Ty::Timestamp => Ok(loc),
        }
    }

    /// Initial memory, one value per location.
    pub fn initial_memory(&self) -> Vec<i128> {
        self.locations.iter().map(|l| l.init).collect()
    }

    /// Whether its threads call a transactional memory, so that histories have values.
    pub fn has_calls(&self) -> bool {
        self.threads.iter().any(|t| t.code.iter().any(|instr| matches!(instr.op, Op::Invoke { .. })))
    }

    /// The same program with full fences in the place of calls and responses: what is left of them for a question that is not
    /// about histories. Instructions keep their numbers.
    pub fn without_calls(&self) -> Self {
        let mut program = self.clone();
        for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
            if matches!(instr.op, Op::Invoke { .. } | Op::Respond(_)) {
                instr.op = Op::Fence(FenceSet::FULL);
            }
        }
        program
    }

    /// Whether its threads have atomic blocks.
    pub fn has_blocks(&self) -> bool {
        self.threads.iter().any(|t| t.code.iter().any(|instr| matches!(instr.op, Op::BlockBegin(_))))
    }

    /// Whether it is a transactional memory with values, whose clients run each transaction until it commits.
    pub fn restarts(&self) -> bool {
        !self.transactional.is_empty() && self.has_calls()
    }

    /// The order of this name in which its transactions seem to run.
    pub fn serial_order(&self, name: &str) -> Option<&SerialOrder> {
        self.serial_orders.iter().find(|order| order.name == name)
    }

    /// The order that the program asks for under a model.
    pub fn own_order(&self, model: &str) -> Option<&OwnOrder> {
        self.orders.iter().find(|order| order.model == model)
    }

    /// Whether any register or location is a timestamp.
    pub fn has_timestamps(&self) -> bool {
        self.locations.iter().any(|l| l.ty == Ty::Timestamp)
            || self.threads.iter().any(|t| t.registers.iter().any(|r| r.ty == Ty::Timestamp))
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
