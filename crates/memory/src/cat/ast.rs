//! What a cat text says, before names mean anything.
//!
//! Chains of one operator are lists, so that an expression is only as deep as its parentheses are, which the parser limits.

use cyrano_ir::Span;

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Stmt {
    /// Definitions; those of a `let rec` see one another.
    Let {
        recursive: bool,
        bindings: Vec<Binding>,
    },
    Axiom(Axiom),
    Include {
        file: String,
        span: Span,
    },
}

/// One definition.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) span: Span,
    /// Of a function, its parameters.
    pub(super) params: Option<Vec<String>>,
    pub(super) body: Expr,
}

/// A condition on executions.
#[derive(Clone, Debug)]
pub(super) struct Axiom {
    /// It forbids nothing and is only told.
    pub(super) flag: bool,
    pub(super) negated: bool,
    pub(super) test: super::plan::Test,
    pub(super) of: Expr,
    pub(super) name: Option<String>,
    pub(super) span: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Name(String),
    /// `0` or `{}`: no event, or no pair.
    Nothing,
    /// `_`: all events.
    Everything,
    /// Operands of one operator, two or more.
    Chain(Infix, Vec<Expr>),
    Complement(Box<Expr>),
    Postfix(Box<Expr>, Vec<(Postfix, Span)>),
    /// `[S]`.
    Diagonal(Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    /// Of two expressions the first if the condition on variants holds, of which none is chosen.
    If {
        holds: bool,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// The first if all of its names are known, else the second.
    Try(Box<Expr>, Box<Expr>),
    Let(Vec<Binding>, Box<Expr>),
    Function(Vec<String>, Box<Expr>),
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Infix {
    Union,
    Seq,
    Diff,
    Inter,
    Product,
}

/// An operator behind its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Postfix {
    Plus,
    Star,
    Optional,
    Inverse,
}

impl Expr {
    /// All names in it.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut todo = vec![self];
        while let Some(expr) = todo.pop() {
            match &expr.kind {
                ExprKind::Name(name) => names.push(name.clone()),
                ExprKind::Nothing | ExprKind::Everything => {}
                ExprKind::Chain(_, operands) => todo.extend(operands),
                ExprKind::Complement(inner)
                | ExprKind::Postfix(inner, _)
                | ExprKind::Diagonal(inner)
                | ExprKind::Function(_, inner) => todo.push(inner),
                ExprKind::Call(callee, args) => {
                    todo.push(callee);
                    todo.extend(args);
                }
                ExprKind::If { then, otherwise, .. } => todo.extend([&**then, &**otherwise]),
                ExprKind::Try(first, second) => todo.extend([&**first, &**second]),
                ExprKind::Let(bindings, inner) => {
                    todo.extend(bindings.iter().map(|binding| &binding.body));
                    todo.push(inner);
                }
            }
        }
        names.sort();
        names.dedup();
        names
    }
}
