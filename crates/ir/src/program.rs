//! Programs: locations, threads, registers, instructions.

use crate::access::{Access, Addr};
use crate::cond::{Check, Observable, Point};
use crate::expr::{EvalError, Expr, WORD};
use crate::fence::{Fence, FenceSet};
use crate::ids::{ArrayId, InstrId, LocId, PointId, RegId, Span, ThreadId};
use crate::op::Op;
use crate::serial::SerialOrder;
use crate::told::Told;

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
    /// The threads that stand for any number of threads like them. A program that has some is no instance: nobody can run it as it is.
    pub families: Vec<Family>,
    /// What `observe` names, in that order: the columns of an outcome.
    pub observed: Vec<Observable>,
    /// The statements that invariants name.
    pub points: Vec<Point>,
    /// What the file itself asks to be checked.
    pub checks: Vec<Check>,
    /// The transactional variables, if this is a software transactional memory under its most general client.
    pub transactional: Vec<LocId>,
    /// What the locations of a transactional memory over base objects hold before the first transaction; 0 each if it is empty.
    pub initial: Vec<i128>,
    /// Orders between accesses that the program itself asks for, one for each model that follows it; see [`OwnOrder`].
    pub orders: Vec<OwnOrder>,
    /// Whether it is made of base objects, for which there are no other models than those that keep all accesses in order, and [`Self::orders`].
    pub in_order: bool,
    /// Whether a branch decides only what stands before the point where its ways meet, as in a language with blocks; otherwise it decides
    /// everything after it, as on a machine. Models with control dependencies between relations ask.
    pub scoped: bool,
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
    /// What a reader of its executions is told.
    pub told: std::sync::Arc<Told>,
}

/// A thread that stands for any number of threads with its code (`thread w[*]`), which nothing tells apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The name of the family.
    pub name: String,
    /// The thread that stands for all members.
    pub thread: ThreadId,
    /// The constant of the source that says how many members an instance has; often the family's name.
    pub size: String,
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
    /// A flag that tells of the order in which accesses are performed, and decides nothing. It counts as another address for each
    /// access of a thread, so that no order comes from looking at it.
    Witness,
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

impl Thread {
    /// Whether it has a jump back.
    pub fn has_loop(&self) -> bool {
        self.code.iter().enumerate().any(|(at, instr)| match &instr.op {
            Op::Jump(to) => to.index() <= at,
            Op::Branch { then_to, else_to, .. } => then_to.index() <= at || else_to.index() <= at,
            _ => false,
        })
    }

    /// The marks that it may pass: those of a label, or those without one.
    pub fn marks(&self, label: Option<&str>) -> impl Iterator<Item = InstrId> {
        let is_mark = move |op: &Op| matches!(op, Op::Progress(of) if of.as_deref() == label);
        let found = self.code.iter().enumerate().filter(move |(_, instr)| is_mark(&instr.op));
        found.map(|(at, _)| InstrId::new(at))
    }
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

    /// The point.
    pub fn point(&self, point: PointId) -> &Point {
        &self.points[point.index()]
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
            Ty::Int | Ty::Pointer | Ty::Timestamp | Ty::Witness => Ok(loc),
        }
    }

    /// Whether accesses of one thread to this location are in no order because of it.
    #[inline]
    pub fn is_witness(&self, loc: LocId) -> bool {
        self.location(loc).ty == Ty::Witness
    }

    /// All accesses, thread by thread.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.threads.iter().flat_map(|thread| &thread.code).filter_map(|instr| instr.op.access())
    }

    /// All fences, thread by thread.
    pub fn fences(&self) -> impl Iterator<Item = Fence> {
        let instrs = self.threads.iter().flat_map(|thread| &thread.code);
        instrs.filter_map(|instr| if let Op::Fence(fence) = instr.op { Some(fence) } else { None })
    }

    /// Initial memory, one value per location.
    pub fn initial_memory(&self) -> Vec<i128> {
        self.locations.iter().map(|l| l.init).collect()
    }

    /// The locations that an address may denote.
    pub fn cells(&self, addr: &Addr) -> std::ops::Range<usize> {
        match addr {
            Addr::Fixed(loc) => loc.index()..loc.index() + 1,
            Addr::Indexed { array, .. } => {
                let array = &self.arrays[array.index()];
                array.base.index()..array.base.index() + array.len as usize
            }
        }
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
                instr.op = Op::fence(FenceSet::FULL);
            }
        }
        program
    }

    /// The same program without calls and responses, and nothing in their place: a machine knows no calls. Instructions keep their numbers.
    pub fn with_free_calls(&self) -> Self {
        let mut program = self.clone();
        for thread in &mut program.threads {
            for (at, instr) in thread.code.iter_mut().enumerate() {
                if matches!(instr.op, Op::Invoke { .. } | Op::Respond(_)) {
                    instr.op = Op::Jump(InstrId::new(at + 1));
                }
            }
        }
        program
    }

    /// The same program without what its readers are told, which the text form leaves out.
    #[must_use]
    pub fn untold(self) -> Self {
        Self { told: Default::default(), ..self }
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
