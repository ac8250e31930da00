//! Expressions.

use cyrano_ir::{BinOp, Span, UnOp};

use super::{Name, Range};

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// The height of the tree.
    pub(crate) depth: u32,
}

impl Expr {
    /// Whether a name in it stands for a value.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.for_each_name(&mut |known| found |= known.text == name);
        found
    }

    /// Whether it asks for the number of the thread.
    pub(crate) fn has_tid(&self) -> bool {
        match &self.kind {
            ExprKind::Tid => true,
            ExprKind::Tuple(parts) => parts.iter().any(Self::has_tid),
            ExprKind::In(arg, _) | ExprKind::Unary(_, arg) => arg.has_tid(),
            ExprKind::Binary(_, left, right) => left.has_tid() || right.has_tid(),
            _ => false,
        }
    }

    /// Calls `visit` on every place of a thread that is asked about.
    pub(crate) fn for_each_point<'a>(&'a self, visit: &mut impl FnMut(&'a At)) {
        match &self.kind {
            ExprKind::At(at) => visit(at),
            ExprKind::Tuple(parts) => parts.iter().for_each(|part| part.for_each_point(visit)),
            ExprKind::In(arg, _) | ExprKind::Unary(_, arg) => arg.for_each_point(visit),
            ExprKind::Binary(_, left, right) => {
                left.for_each_point(visit);
                right.for_each_point(visit);
            }
            ExprKind::Quantified { body, .. } => body.for_each_point(visit),
            _ => {}
        }
    }

    /// Calls `visit` on every name that stands for a value.
    pub(crate) fn for_each_name<'a>(&'a self, visit: &mut impl FnMut(&'a Name)) {
        match &self.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Tuple(parts) => parts.iter().for_each(|part| part.for_each_name(visit)),
            ExprKind::In(arg, _) | ExprKind::Unary(_, arg) => arg.for_each_name(visit),
            ExprKind::Binary(_, left, right) => {
                left.for_each_name(visit);
                right.for_each_name(visit);
            }
            _ => {}
        }
    }

    /// The components of an element of a set.
    pub(crate) fn parts(&self) -> &[Self] {
        match &self.kind {
            ExprKind::Tuple(parts) => parts,
            _ => std::slice::from_ref(self),
        }
    }
}

/// The kinds of expressions.
#[derive(Debug)]
pub(crate) enum ExprKind {
    Int(i128),
    Name(Name),
    Element(Name, Box<Expr>),
    Member(Box<Member>),
    SelfIndex,
    Tid,
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Quantified {
        all: bool,
        binder: Name,
        range: Range,
        body: Box<Expr>,
    },
    /// `(a, b)`, an element of a set.
    Tuple(Vec<Expr>),
    /// `x in set`.
    In(Box<Expr>, Name),
    /// `exec(L)` or `L1 < L2`.
    Executed(Box<Executed>),
    /// `w[0]@L` or `count(w@L)`.
    At(Box<At>),
}

/// Whether a thread stands at a statement, or how many of a family do.
#[derive(Debug)]
pub(crate) struct At {
    pub(crate) thread: Name,
    pub(crate) index: Option<Expr>,
    pub(crate) label: Name,
    pub(crate) counted: bool,
}

/// A statement that was executed, and one that it was executed before, if there is a second one (Samand, section 4).
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) first: LabelRef,
    pub(crate) second: Option<LabelRef>,
}

/// `R03`, or `A.R03` for the statement as the client's call `A` executes it: a run-time label.
#[derive(Clone, Debug)]
pub(crate) struct LabelRef {
    pub(crate) call: Option<Name>,
    pub(crate) label: Name,
}

/// A variable of a named thread: `p0.r1`, `w[1].a[2]`.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) thread: Name,
    pub(crate) thread_index: Option<Expr>,
    pub(crate) var: Name,
    pub(crate) index: Option<Expr>,
}
