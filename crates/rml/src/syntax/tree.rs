//! The syntax tree of an `algorithm` file: what was written, with spans everywhere and no names resolved.

use cyrano_ir::{BinOp, Progress, Property, Quantifier, Span, UnOp};

use crate::syntax::ast::Name;

/// A whole file.
#[derive(Default, Debug)]
pub(crate) struct File {
    pub(crate) consts: Vec<(Name, Expr)>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) clients: Vec<Client>,
    pub(crate) checks: Vec<CheckDecl>,
}

/// The `algorithm` block.
#[derive(Debug)]
pub(crate) struct Algorithm {
    pub(crate) name: Name,
    pub(crate) params: Vec<(Name, Expr)>,
    pub(crate) consts: Vec<(Name, Expr)>,
    pub(crate) records: Vec<Record>,
    pub(crate) shared: Vec<Shared>,
    pub(crate) locals: Vec<TxLocal>,
    pub(crate) methods: Vec<Method>,
    pub(crate) orders: Vec<OrderDecl>,
    /// The brace that closes the block.
    pub(crate) close: Span,
}

/// The kinds of base objects (Samand, section 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectKind {
    AtomicRegister,
    AtomicCasRegister,
    Lock,
    TryLock,
    BasicRegister,
}

impl ObjectKind {
    pub(crate) const ALL: [(Self, &'static str); 5] = [
        (Self::AtomicRegister, "AtomicRegister"),
        (Self::AtomicCasRegister, "AtomicCASRegister"),
        (Self::Lock, "Lock"),
        (Self::TryLock, "TryLock"),
        (Self::BasicRegister, "BasicRegister"),
    ];

    /// Its methods with the number of their arguments.
    pub(crate) fn methods(self) -> &'static [(&'static str, usize)] {
        match self {
            Self::AtomicRegister | Self::BasicRegister => &[("read", 0), ("write", 1)],
            Self::AtomicCasRegister => &[("read", 0), ("write", 1), ("cas", 2)],
            Self::Lock => &[("lock", 0), ("unlock", 0), ("read", 0)],
            Self::TryLock => &[("tryLock", 0), ("lock", 0), ("unlock", 0), ("read", 0)],
        }
    }

    pub(crate) fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// What a basic register does when it is accessed concurrently.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Policy {
    /// A read that overlaps a write returns any value.
    #[default]
    Any,
    /// In addition, writes that overlap leave any value.
    Arbitrary,
    /// It behaves like an atomic register.
    Atomic,
}

/// The type of a base object.
#[derive(Debug)]
pub(crate) struct ObjectType {
    pub(crate) kind: ObjectKind,
    pub(crate) policy: Policy,
    /// The values of a basic register, first and last.
    pub(crate) domain: Option<(Expr, Expr)>,
    pub(crate) span: Span,
}

/// `record Name { field, field: Type }`.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) name: Name,
    pub(crate) fields: Vec<(Name, std::rc::Rc<ObjectType>)>,
}

/// One object, or array of objects, of a `shared` declaration.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: Name,
    pub(crate) ty: ObjectType,
    pub(crate) len: Option<Expr>,
    pub(crate) init: Option<Init>,
}

/// An initialiser.
#[derive(Debug)]
pub(crate) enum Init {
    Value(Expr),
    /// One value per element; with `..` at the end the last one fills the rest.
    List {
        values: Vec<Expr>,
        fill: bool,
        span: Span,
    },
    /// A record of its own for each element.
    New(Name, Vec<Expr>),
}

/// What a transaction keeps for itself.
#[derive(Debug)]
pub(crate) struct TxLocal {
    pub(crate) name: Name,
    pub(crate) kind: LocalKind,
    /// The number of keys; the locations unless stated.
    pub(crate) len: Option<Expr>,
    /// Of an integer.
    pub(crate) init: Option<Expr>,
}

/// The kinds of transaction-local variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LocalKind {
    Int,
    Map,
    Set,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: Name,
    pub(crate) params: Vec<Name>,
    pub(crate) body: Vec<Stmt>,
    /// The brace that closes it.
    pub(crate) close: Span,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) label: Option<Name>,
    pub(crate) kind: StmtKind,
    /// The statement; of one with a body its head only.
    pub(crate) span: Span,
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum StmtKind {
    Assign(Name, Rhs),
    Do(Rhs),
    If { arms: Vec<(Expr, Vec<Stmt>)>, otherwise: Option<Vec<Stmt>> },
    Foreach(Foreach),
    Return(Rhs),
    Skip,
}

/// `foreach [order] (binders in set) { … }`.
#[derive(Debug)]
pub(crate) struct Foreach {
    pub(crate) order: LoopOrder,
    pub(crate) binders: Vec<Name>,
    /// Whether it was written as `k -> v`.
    pub(crate) arrow: bool,
    pub(crate) set: Name,
    pub(crate) body: Vec<Stmt>,
}

/// In which order the elements come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LoopOrder {
    #[default]
    Any,
    Insertion,
    Index,
}

/// What is assigned, returned or just done.
#[derive(Debug)]
pub(crate) enum Rhs {
    Expr(Expr),
    /// A call of a method.
    Call(Name, Vec<Expr>),
    /// A call of an object's method, of a set or of a map.
    Access(Access),
    New(Name, Vec<Expr>),
}

/// `object[index].field.method(args)`.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) object: Name,
    pub(crate) index: Option<Expr>,
    pub(crate) field: Option<Name>,
    pub(crate) method: Name,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
}

/// `order A < B`.
#[derive(Clone, Debug)]
pub(crate) struct OrderDecl {
    pub(crate) first: Name,
    pub(crate) second: Name,
    pub(crate) each: bool,
    pub(crate) span: Span,
}

/// A client program.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: Name,
    pub(crate) threads: Vec<ClientThread>,
}

/// A thread of a client.
#[derive(Debug)]
pub(crate) struct ClientThread {
    pub(crate) txns: Vec<Tx>,
    pub(crate) span: Span,
}

/// `tx retry n { calls }`.
#[derive(Debug)]
pub(crate) struct Tx {
    pub(crate) retry: Option<Expr>,
    pub(crate) calls: Vec<ClientCall>,
    pub(crate) span: Span,
}

/// `r := read(1);`.
#[derive(Debug)]
pub(crate) struct ClientCall {
    pub(crate) result: Option<Name>,
    pub(crate) method: Name,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// The height of the tree.
    pub(crate) depth: u32,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum ExprKind {
    Int(i128),
    Name(Name),
    /// `(a, b)`, only as an element of a set.
    Tuple(Vec<Expr>),
    In(Box<Expr>, Name),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
}

/// A `check`.
#[derive(Debug)]
pub(crate) struct CheckDecl {
    pub(crate) claim: Claim,
    pub(crate) about: About,
    pub(crate) models: Vec<String>,
    pub(crate) span: Span,
}

/// What is claimed.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Something that needs no names.
    Plain(Property),
    Final(Quantifier, Expr, String),
    /// Of threads that go on for ever.
    Progress(Vec<Progress>),
}

/// What a check is about.
#[derive(Debug)]
pub(crate) enum About {
    /// The client before it, if there is one.
    Last(Option<usize>),
    Named(Vec<Name>),
    All(Box<SpaceDecl>, Span),
}

/// `clients threads 2, txns 1..2, …`.
#[derive(Debug, Default)]
pub(crate) struct SpaceDecl {
    pub(crate) threads: Option<Bound>,
    pub(crate) txns: Option<Bound>,
    pub(crate) ops: Option<Bound>,
    pub(crate) locs: Option<Bound>,
    pub(crate) retry: Option<Bound>,
    pub(crate) values: Option<Vec<Expr>>,
}

/// `n` or `n..m`.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) first: Expr,
    pub(crate) last: Option<Expr>,
    pub(crate) span: Span,
}
