//! The syntax tree of what only an `algorithm` file declares: base objects, records, methods, orders, and clients with names or of a size.

use cyrano_ir::Span;

use crate::syntax::ast::{Block, Const, Expr, Name};

/// The `algorithm` block.
#[derive(Debug)]
pub(crate) struct Algorithm {
    pub(crate) name: Name,
    pub(crate) params: Vec<Const>,
    pub(crate) consts: Vec<Const>,
    pub(crate) records: Vec<Record>,
    pub(crate) shared: Vec<Shared>,
    pub(crate) locals: Vec<TxLocal>,
    /// What locations hold before the first transaction, if not 0.
    pub(crate) initially: Option<Init>,
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

/// What a transaction, or a thread, keeps for itself.
#[derive(Debug)]
pub(crate) struct TxLocal {
    pub(crate) name: Name,
    /// Whether it is the thread that keeps it, from one transaction to the next.
    pub(crate) of_thread: bool,
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
    pub(crate) body: Block,
}

/// `foreach [order] (binders in set) { … }`.
#[derive(Debug)]
pub(crate) struct Each {
    pub(crate) order: LoopOrder,
    pub(crate) binders: Vec<Name>,
    /// Whether it was written as `k -> v`.
    pub(crate) arrow: bool,
    pub(crate) set: Name,
    /// Everything but the body.
    pub(crate) head: Span,
    pub(crate) body: Block,
}

/// In which order the elements come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LoopOrder {
    #[default]
    Any,
    Insertion,
    Index,
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
    pub(crate) body: Vec<ClientStmt>,
    pub(crate) span: Span,
}

/// What a thread of a client does.
#[derive(Debug)]
pub(crate) enum ClientStmt {
    Tx(Tx),
    Call(ClientCall),
    If { arms: Vec<(Expr, Vec<Self>)>, otherwise: Vec<Self> },
}

/// `tx retry n { … }`.
#[derive(Debug)]
pub(crate) struct Tx {
    pub(crate) retry: Option<Expr>,
    pub(crate) body: Vec<ClientStmt>,
    pub(crate) span: Span,
}

/// `r := read(1);`, perhaps with a label in front.
#[derive(Debug)]
pub(crate) struct ClientCall {
    pub(crate) label: Option<Name>,
    pub(crate) result: Option<Name>,
    pub(crate) method: Name,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
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

impl ClientStmt {
    /// Calls `visit` on each statement of a list and of what is inside, in the order of the text.
    pub(crate) fn walk<'a>(list: &'a [Self], visit: &mut impl FnMut(&'a Self)) {
        for stmt in list {
            visit(stmt);
            match stmt {
                Self::Tx(tx) => Self::walk(&tx.body, visit),
                Self::Call(_) => {}
                Self::If { arms, otherwise } => {
                    arms.iter().for_each(|(_, body)| Self::walk(body, visit));
                    Self::walk(otherwise, visit);
                }
            }
        }
    }

    /// All calls of a list, in the order of the text.
    pub(crate) fn calls(list: &[Self]) -> Vec<&ClientCall> {
        let mut calls = Vec::new();
        Self::walk(list, &mut |stmt| calls.extend(if let Self::Call(call) = stmt { Some(call) } else { None }));
        calls
    }
}

impl ClientThread {
    /// Its transactions, in the order of the text.
    pub(crate) fn txns(&self) -> Vec<&Tx> {
        let mut txns = Vec::new();
        ClientStmt::walk(&self.body, &mut |stmt| {
            txns.extend(if let ClientStmt::Tx(tx) = stmt { Some(tx) } else { None })
        });
        txns
    }
}

impl Client {
    /// All calls of its threads.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ClientCall> {
        self.threads.iter().flat_map(|thread| ClientStmt::calls(&thread.body))
    }
}

impl Algorithm {
    /// Whether it is a transactional memory; otherwise clients call its methods as they like.
    pub(crate) fn is_memory(&self) -> bool {
        self.method("commit").is_some()
    }
}
