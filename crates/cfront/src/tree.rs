//! The checked program: names resolved, every expression typed, every conversion explicit.

use cyrano_ir::{BinOp, Fence, IntType, Tags};

use crate::ast::Unary;
use crate::atomics::{Change, Result, Use};
use crate::source::Loc;
use crate::types::Type;

/// A global variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct GlobalId(pub(crate) usize);

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FuncId(pub(crate) usize);

/// A local variable or parameter of one function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LocalId(pub(crate) usize);

/// A label of one function, cases included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LabelId(pub(crate) usize);

/// A global.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Words that do not start as 0, with constant expressions.
    pub(crate) init: Vec<(u32, Expr)>,
    pub(crate) room: Room,
    pub(crate) loc: Loc,
}

/// When a global gets its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// Before anything else.
    Start,
    /// When a thread mentions it first: headers that come with Cyrano have more than a program uses.
    Mention,
    /// Each thread has its own, when it mentions it first.
    Thread,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) returns: Type,
    pub(crate) params: Vec<Type>,
    pub(crate) param_names: Vec<String>,
    /// Parameters first.
    pub(crate) locals: Vec<Local>,
    pub(crate) body: Option<Stmt>,
    pub(crate) labels: Vec<Label>,
    /// The global that stands for its address, if that is taken.
    pub(crate) address: Option<GlobalId>,
    /// Calls of other functions.
    pub(crate) calls: Vec<(FuncId, Loc)>,
    /// From a label to a jump back to it, as ranges of positions (see [`ExprKind::Call`]).
    pub(crate) back_ranges: Vec<(u32, u32)>,
    pub(crate) loc: Loc,
}

/// A local variable.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

/// A label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    /// The atomic blocks around it.
    pub(crate) atomic: Vec<u32>,
    pub(crate) position: u32,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) ty: Type,
    pub(crate) loc: Loc,
}

/// Kinds of expressions. Operands of arithmetic have been converted to the type it is done in.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Const(i128),
    Read(Lvalue),
    AddrOf(Lvalue),
    Unary(Unary, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// Pointer plus or minus a number of elements.
    PtrAdd {
        ptr: Box<Expr>,
        index: Box<Expr>,
        minus: bool,
    },
    PtrDiff(Box<Expr>, Box<Expr>),
    /// To the type of this expression.
    Convert(Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Vec<Expr>),
    Assign(Lvalue, Box<Expr>),
    /// `target := target op value`; the result is the new value, or the old one.
    Update {
        target: Lvalue,
        calc: Calc,
        gives_old: bool,
    },
    /// Positions count calls, labels and jumps of a function in source order.
    Call {
        func: FuncId,
        args: Vec<Expr>,
        position: u32,
    },
    /// A call through a pointer.
    CallPointer {
        callee: Box<Expr>,
        args: Vec<Expr>,
        position: u32,
    },
    Intrinsic {
        what: Box<Intrinsic>,
        args: Vec<Expr>,
        position: u32,
    },
    /// Statements, and the value behind them.
    Statement(Vec<Stmt>, Option<Box<Expr>>),
    /// A struct or array; words that are not named are 0.
    Aggregate(Vec<(u32, Expr)>),
    /// A word struct from its fields.
    Word(Vec<Expr>),
}

/// What an update computes.
#[derive(Clone, Debug)]
pub(crate) enum Calc {
    /// In this type, then back to the target's.
    Arith(BinOp, IntType, Box<Expr>),
    /// Elements forward or backward.
    Pointer { index: Box<Expr>, minus: bool },
}

/// Functions that the checker knows.
#[derive(Clone, Debug)]
pub(crate) enum Intrinsic {
    Fence(Fence),
    Cas,
    Dcas,
    Exchange,
    FetchAdd,
    Assume,
    Assert(String),
    Choose(Vec<i128>),
    Malloc(Type),
    Calloc(Type),
    Realloc(Type),
    Free,
    /// The words behind a pointer get these values.
    Fill(Vec<i128>),
    /// The words behind a pointer get those behind another one, so many.
    Copy(u32),
    Mark(BlockMark),
    Progress,
    Thread(ThreadCall),
    Atomic(Box<Atomic>),
}

/// What a whole program does with its threads, and how it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ThreadCall {
    /// Where the thread's name goes, attributes, the function, its argument.
    Create,
    /// The thread's name, and where its result goes.
    Join,
    /// The name of the thread that asks.
    Own,
    /// The thread ends with this result.
    Exit,
    /// The program ends.
    Quit,
    /// The program gives up, which is an error.
    Abort(String),
    /// A load, atomic, with these tags besides.
    Load(Tags),
    /// A store, likewise.
    Store(Tags),
    /// Something that must hold, with what is said if it does not.
    Must(String),
    /// Evaluates its arguments and nothing else.
    Ignore,
    /// Any of these, and executions with another value are left out.
    Any(Vec<i128>),
    /// An atomic section begins or ends.
    Begin,
    End,
    /// The number of the thread that asks, from 0.
    Number,
    /// The number of any thread.
    AnyThread,
    /// Whether the program mentions this function.
    Mentions(String),
}

/// An atomic operation. Its arguments are the location, the operands, and the memory orders that are not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) op: AtomicOp,
    /// What is said about it.
    pub(crate) order: Said,
    /// What is said about a compare-and-swap that fails.
    pub(crate) failure: Said,
    /// The type of the location's values.
    pub(crate) ty: Type,
}

/// What an atomic operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtomicOp {
    Load,
    /// A value, and perhaps a fence behind it.
    Store(Option<&'static str>),
    /// A value.
    Exchange,
    /// What is expected, and a value; gives what was found.
    Cas,
    /// A pointer to what is expected, and a value; gives whether it was.
    CompareExchange {
        weak: bool,
    },
    /// An operand.
    Fetch(Change, Result),
    /// An operand, and what must not be found.
    AddUnless,
    Lock {
        wait: bool,
    },
    Unlock,
    IsLocked,
    /// The location is the domain of sleepable RCU.
    Synchronize,
    /// A fence of a computed order; there is no location.
    Fence,
    /// One for the compiler alone.
    SignalFence,
}

/// What is said about an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Tags(Tags),
    /// The memory order that this argument gives.
    Argument(usize, Use),
}

impl Atomic {
    /// The arguments that are pointers, of which only what they point to is used.
    pub(crate) fn locations(&self) -> usize {
        match self.op {
            AtomicOp::CompareExchange { .. } => 2,
            AtomicOp::Fence | AtomicOp::SignalFence => 0,
            _ => 1,
        }
    }

    /// Whether this argument is a memory order.
    pub(crate) fn is_order(&self, argument: usize) -> bool {
        [self.order, self.failure].iter().any(|said| matches!(said, Said::Argument(at, _) if *at == argument))
    }
}

/// The marks of an atomic block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockMark {
    Begin,
    Commit,
    End,
}

/// A place that has an address, or a part of a value.
#[derive(Clone, Debug)]
pub(crate) struct Lvalue {
    pub(crate) kind: LvalueKind,
    pub(crate) ty: Type,
    pub(crate) loc: Loc,
}

/// Kinds of places.
#[derive(Clone, Debug)]
pub(crate) enum LvalueKind {
    Global(GlobalId),
    Local(LocalId),
    Deref(Box<Expr>),
    Field(Box<Lvalue>, usize),
    /// An element of an array.
    Index(Box<Lvalue>, Box<Expr>),
    /// A value without an address: `f().field`.
    Value(Box<Expr>),
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) loc: Loc,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    /// A declaration of a local.
    Declare(LocalId, Option<Expr>),
    Expr(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Loop(Box<Loop>),
    Switch {
        value: Expr,
        cases: Vec<(i128, LabelId)>,
        default: Option<LabelId>,
        body: Box<Stmt>,
    },
    Label(LabelId, Box<Stmt>),
    Goto(LabelId, u32, Vec<u32>),
    Break,
    Continue,
    Return(Option<Expr>),
    Atomic(Box<Stmt>),
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// None stands for true.
    pub(crate) cond: Option<Expr>,
    /// Whether the condition is tested before the first iteration.
    pub(crate) tests_first: bool,
    pub(crate) step: Option<Expr>,
    pub(crate) body: Stmt,
}

impl Expr {
    pub(crate) fn new(kind: ExprKind, ty: Type, loc: Loc) -> Self {
        Self { kind, ty, loc }
    }
}

/// What stands directly within something. Passes that look at everything go through this, and say only what is special to them.
#[derive(Clone, Copy)]
pub(crate) enum Part<'t> {
    Expr(&'t Expr),
    Place(&'t Lvalue),
    Stmt(&'t Stmt),
}

impl Expr {
    /// Its parts, in the order in which they are evaluated.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        match &self.kind {
            ExprKind::Const(_) => Vec::new(),
            ExprKind::Read(place) | ExprKind::AddrOf(place) => vec![Part::Place(place)],
            ExprKind::Unary(_, arg) | ExprKind::Convert(arg) => vec![Part::Expr(arg)],
            ExprKind::Binary(_, a, b) | ExprKind::PtrDiff(a, b) | ExprKind::PtrAdd { ptr: a, index: b, .. } => {
                vec![Part::Expr(a), Part::Expr(b)]
            }
            ExprKind::Cond(a, b, c) => vec![Part::Expr(a), Part::Expr(b), Part::Expr(c)],
            ExprKind::Comma(list)
            | ExprKind::Word(list)
            | ExprKind::Call { args: list, .. }
            | ExprKind::Intrinsic { args: list, .. } => list.iter().map(Part::Expr).collect(),
            ExprKind::CallPointer { callee, args, .. } => {
                std::iter::once(Part::Expr(callee)).chain(args.iter().map(Part::Expr)).collect()
            }
            ExprKind::Statement(list, value) => {
                list.iter().map(Part::Stmt).chain(value.iter().map(|value| Part::Expr(value))).collect()
            }
            ExprKind::Aggregate(words) => words.iter().map(|(_, word)| Part::Expr(word)).collect(),
            ExprKind::Assign(target, value) => vec![Part::Place(target), Part::Expr(value)],
            ExprKind::Update { target, calc, .. } => vec![Part::Place(target), Part::Expr(calc.operand())],
        }
    }
}

impl Calc {
    /// What the target is combined with.
    pub(crate) fn operand(&self) -> &Expr {
        match self {
            Self::Arith(_, _, operand) => operand,
            Self::Pointer { index, .. } => index,
        }
    }
}

impl Lvalue {
    /// Its parts, in the order in which they are evaluated.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        match &self.kind {
            LvalueKind::Global(_) | LvalueKind::Local(_) => Vec::new(),
            LvalueKind::Deref(pointer) => vec![Part::Expr(pointer)],
            LvalueKind::Field(base, _) => vec![Part::Place(base)],
            LvalueKind::Index(base, index) => vec![Part::Place(base), Part::Expr(index)],
            LvalueKind::Value(value) => vec![Part::Expr(value)],
        }
    }
}

impl Stmt {
    /// Its parts: expressions, then statements.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        match &self.kind {
            StmtKind::Empty | StmtKind::Goto(..) | StmtKind::Break | StmtKind::Continue => Vec::new(),
            StmtKind::Block(list) => list.iter().map(Part::Stmt).collect(),
            StmtKind::Declare(_, value) | StmtKind::Return(value) => value.iter().map(Part::Expr).collect(),
            StmtKind::Expr(value) => vec![Part::Expr(value)],
            StmtKind::If(cond, then, other) => {
                let branches = [Some(then), other.as_ref()].into_iter().flatten();
                [Part::Expr(cond)].into_iter().chain(branches.map(|stmt| Part::Stmt(stmt))).collect()
            }
            StmtKind::Loop(inner) => {
                inner.cond.iter().chain(&inner.step).map(Part::Expr).chain([Part::Stmt(&inner.body)]).collect()
            }
            StmtKind::Switch { value, body, .. } => vec![Part::Expr(value), Part::Stmt(body)],
            StmtKind::Label(_, body) | StmtKind::Atomic(body) => vec![Part::Stmt(body)],
        }
    }
}
