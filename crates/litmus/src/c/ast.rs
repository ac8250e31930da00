//! The C of litmus tests: what is left of it once calls of atomic functions are resolved.

use cyrano_ir::{BinOp, FenceSet, IntType, Span};

use crate::ast::Name;

/// One thread: a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its parameters: pointers to the locations of the same names.
    pub params: Vec<(Name, Type)>,
    /// Its body.
    pub body: Vec<Stmt>,
}

/// A type: an integer under some number of pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// The integer type at the bottom.
    pub int: IntType,
    /// Whether that is atomic.
    pub atomic: bool,
    /// How many pointers lead to it.
    pub pointers: usize,
}

impl Type {
    /// `int`.
    pub const INT: Self = Self { int: IntType { bits: 32, signed: true }, atomic: false, pointers: 0 };

    /// What it points to.
    pub fn target(self) -> Option<Self> {
        self.pointers.checked_sub(1).map(|pointers| Self { pointers, ..self })
    }

    /// A pointer to it.
    #[must_use]
    pub fn pointer(self) -> Self {
        Self { pointers: self.pointers + 1, ..self }
    }

    /// The type of the word that holds it.
    pub fn word(self) -> IntType {
        if self.pointers > 0 { IntType { bits: 64, signed: true } } else { self.int }
    }
}

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As the type says: sequentially consistent if it is atomic, else not at all.
    Plain,
    /// Not at all.
    Relaxed,
    /// Sequentially consistent: between two full fences.
    SeqCst,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Stmt {
    Declare { name: Name, ty: Type, value: Option<Expr> },
    Assign { name: Name, value: Expr },
    Store { to: Expr, value: Expr, order: Order, span: Span },
    Call(Expr),
    Fence(FenceSet, Span),
    If { cond: Expr, then: Vec<Stmt>, other: Vec<Stmt> },
    While { cond: Expr, body: Vec<Stmt>, first: bool },
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Int(i128),
    Name(String),
    Load {
        from: Box<Expr>,
        order: Order,
    },
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Flip(Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `&&` (true) or `||` (false).
    Lazy(bool, Box<Expr>, Box<Expr>),
    Exchange {
        at: Box<Expr>,
        value: Box<Expr>,
        order: Order,
    },
    /// The old value.
    Cas {
        at: Box<Expr>,
        expected: Box<Expr>,
        new: Box<Expr>,
        order: Order,
    },
    /// Whether it succeeded; what was found goes to where `expected` points.
    CasStrong {
        at: Box<Expr>,
        expected: Box<Expr>,
        new: Box<Expr>,
        order: Order,
    },
    /// The old value, or the new one.
    Fetch {
        at: Box<Expr>,
        op: BinOp,
        value: Box<Expr>,
        order: Order,
        new: bool,
    },
    /// The address of a local variable; only `CasStrong` takes it.
    AddressOf(String),
}

impl Expr {
    /// The same in a box.
    pub fn boxed(self) -> Box<Self> {
        Box::new(self)
    }

    /// Whether evaluating it accesses memory.
    pub fn accesses(&self) -> bool {
        match &self.kind {
            ExprKind::Int(_) | ExprKind::Name(_) | ExprKind::AddressOf(_) => false,
            ExprKind::Neg(inner) | ExprKind::Not(inner) | ExprKind::Flip(inner) => inner.accesses(),
            ExprKind::Binary(_, left, right) | ExprKind::Lazy(_, left, right) => left.accesses() || right.accesses(),
            ExprKind::Load { .. }
            | ExprKind::Exchange { .. }
            | ExprKind::Cas { .. }
            | ExprKind::CasStrong { .. }
            | ExprKind::Fetch { .. } => true,
        }
    }
}
