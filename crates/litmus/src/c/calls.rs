//! The functions that a test may call: C11's atomics (`c11`) and those of the Linux kernel (`kernel`). What they order is said by the
//! tags of their accesses and by the names of their fences; what these mean is the model's to say.

use cyrano_cfront::ast::{Expr, ExprKind, Name};
use cyrano_ir::{BinOp, Diagnostic, Span, Tags};

use super::{c11, kernel};

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// As the type says: sequentially consistent if it is atomic, else an ordinary access.
    Plain,
    /// As these tags say.
    Tags(Tags),
}

/// What is said about a compare-and-swap: if it writes, and if it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Orders {
    pub(crate) success: Tags,
    pub(crate) failure: Tags,
}

/// What comes of a read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Result {
    /// The old value.
    Old,
    /// The new value.
    New,
    /// Whether the new value is 0.
    IsZero,
    /// Whether the new value is less than 0.
    IsNegative,
    /// Nothing.
    Nothing,
}

/// What a call is.
#[derive(Clone, Copy)]
pub(crate) enum Called<'e> {
    Load {
        from: &'e Expr,
        tags: Tags,
    },
    Store {
        to: &'e Expr,
        value: &'e Expr,
        tags: Tags,
        /// A fence behind it.
        fence: Option<&'static str>,
    },
    Exchange {
        at: &'e Expr,
        value: &'e Expr,
        tags: Tags,
    },
    /// The old value.
    Cas {
        at: &'e Expr,
        expected: &'e Expr,
        new: &'e Expr,
        orders: Orders,
    },
    /// Whether it succeeded; what was found goes to where `expected` points. A weak one may fail without a reason.
    CompareExchange {
        at: &'e Expr,
        expected: &'e Expr,
        new: &'e Expr,
        orders: Orders,
        weak: bool,
    },
    /// A change of a location; without a `value` it is 1.
    Fetch {
        at: &'e Expr,
        op: BinOp,
        value: Option<&'e Expr>,
        tags: Tags,
        result: Result,
    },
    /// Adds a value unless the location holds another; whether it did.
    AddUnless {
        at: &'e Expr,
        value: &'e Expr,
        unless: &'e Expr,
        orders: Orders,
    },
    /// Takes a lock, waiting for it or not.
    Lock {
        at: &'e Expr,
        wait: bool,
    },
    /// Gives a lock back.
    Unlock(&'e Expr),
    /// Whether a lock is taken.
    IsLocked(&'e Expr),
    Fence(&'static str),
    /// Waits for the readers of a domain of sleepable RCU.
    Synchronize(&'e Expr),
    Nothing,
}

impl Called<'_> {
    /// Whether a call of it has a value.
    pub(crate) fn has_value(&self) -> bool {
        match self {
            Self::Store { .. } | Self::Unlock(_) | Self::Fence(_) | Self::Synchronize(_) | Self::Nothing => false,
            Self::Fetch { result, .. } => *result != Result::Nothing,
            Self::Lock { wait, .. } => !wait,
            _ => true,
        }
    }
}

/// Resolves a call, which stands at `span`.
pub(crate) fn resolve<'e>(
    callee: &'e Name,
    args: &'e [Expr],
    span: Span,
) -> std::result::Result<Called<'e>, Diagnostic> {
    let call = Args { name: &callee.text, args, span, at: callee.loc.span };
    if let Some(called) = c11::resolve(call)? {
        return Ok(called);
    }
    kernel::resolve(call)?.ok_or_else(|| {
        let message = format!("`{}` is not supported", call.name);
        Diagnostic::new(call.at, message, "not supported")
    })
}

/// A call as it stands in the source.
#[derive(Clone, Copy)]
pub(super) struct Args<'e> {
    pub(super) name: &'e str,
    pub(super) args: &'e [Expr],
    pub(super) span: Span,
    /// Where the name stands.
    pub(super) at: Span,
}

impl<'e> Args<'e> {
    pub(super) fn take<const N: usize>(self) -> std::result::Result<&'e [Expr; N], Diagnostic> {
        let message = format!("`{}` has {N} argument(s), not {}", self.name, self.args.len());
        self.args.try_into().map_err(|_| Diagnostic::new(self.span, message, "this call"))
    }
}

/// What `*p` as an argument of `READ_ONCE` points with.
pub(super) fn pointer(place: &Expr) -> std::result::Result<&Expr, Diagnostic> {
    match &place.kind {
        ExprKind::Deref(pointer) => Ok(pointer),
        _ => Err(Diagnostic::new(place.loc.span, "expected `*x`", "not a place in memory")),
    }
}

/// The operator of `atomic_fetch_add` and its kin.
pub(super) fn operator(name: &str) -> Option<BinOp> {
    Some(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::BitAnd,
        "or" => BinOp::BitOr,
        "xor" => BinOp::BitXor,
        _ => return None,
    })
}
