//! The kinds of expressions, and what may be done with timestamps.
//!
//! Engines renumber timestamps so that their order and the remainders that a program asks for stay, which is sound only if nothing else is ever
//! looked at; so a timestamp may be compared with a timestamp or a constant, copied, incremented by a non-negative constant, and divided
//! by a positive one for its remainder: version numbers have a parity.
//! (What the constant is is known, and checked, only when it is folded.)

use cyrano_ir::{BinOp, Span, Ty, UnOp};

use crate::report::Reports;

/// What a timestamp may be used for.
pub(crate) const TIMESTAMP_HELP: &str = "a timestamp may be compared with a timestamp or a constant, copied, incremented by a non-negative constant, and divided by a positive one (`t % 2`)";

/// The kind of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A constant, which goes with integers and timestamps.
    Const,
    Int,
    Timestamp,
    /// Something was wrong with it, which is reported.
    Wrong,
}

impl From<Ty> for Kind {
    fn from(ty: Ty) -> Self {
        match ty {
            // This language declares no gaps; its integers are what stands beside one.
            Ty::Int | Ty::Pointer | Ty::Gap | Ty::Header => Self::Int,
            Ty::Timestamp => Self::Timestamp,
        }
    }
}

impl Kind {
    /// Whether a value of this kind may go where the other one is wanted.
    pub(crate) fn fits(self, wanted: Self) -> bool {
        self == wanted || [self, wanted].iter().any(|kind| matches!(kind, Self::Const | Self::Wrong))
    }

    /// With its article, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Timestamp => "a timestamp",
            _ => "an integer",
        }
    }
}

/// The kind of something used as a truth value.
pub(crate) fn truth(kind: Kind, span: Span, reports: &mut Reports) -> Kind {
    if kind != Kind::Timestamp {
        return kind;
    }
    reports.complain(span, "a timestamp is not a truth value", "a timestamp", TIMESTAMP_HELP);
    Kind::Wrong
}

/// The kind of a unary operation.
pub(crate) fn unary(op: UnOp, kind: Kind, span: Span, reports: &mut Reports) -> Kind {
    match kind {
        Kind::Timestamp => not_for_timestamps(&op.word(), span, reports),
        kind => kind,
    }
}

/// The kind of a binary operation.
pub(crate) fn binary(op: BinOp, kinds: (Kind, Kind), span: Span, reports: &mut Reports) -> Kind {
    use BinOp::{Add, Eq, Ge, Gt, Le, Lt, Ne, Rem};
    use Kind::{Const, Int, Timestamp, Wrong};
    match (op, kinds) {
        (_, (Wrong, _) | (_, Wrong)) => Wrong,
        (_, (Const, Const)) => Const,
        (_, (Const | Int, Const | Int)) => Int,
        (Eq | Ne | Lt | Le | Gt | Ge, (Timestamp, Int) | (Int, Timestamp)) => {
            let message = "a timestamp cannot be compared with an integer";
            reports.complain(span, message, "a timestamp on one side only", TIMESTAMP_HELP);
            Wrong
        }
        (Eq | Ne | Lt | Le | Gt | Ge, _) => Int,
        (Add, (Timestamp, Const) | (Const, Timestamp)) => Timestamp,
        (Rem, (Timestamp, Const)) => Int,
        _ => not_for_timestamps(op.symbol(), span, reports),
    }
}

fn not_for_timestamps(symbol: &str, span: Span, reports: &mut Reports) -> Kind {
    let message = format!("`{symbol}` cannot be applied to a timestamp like this");
    reports.complain(span, message, "uses a timestamp", TIMESTAMP_HELP);
    Kind::Wrong
}
