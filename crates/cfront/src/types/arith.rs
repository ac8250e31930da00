//! C's arithmetic as expressions of the IR, folded where everything is constant.
//!
//! Unsigned results wrap, signed ones must fit. Operands that may be undefined are checked ([`used`]); a later pass drops the checks that
//! cannot fail. A value is the mathematical number, whatever its type: results are computed in the IR's 128 bits, which hold every sum, shift
//! and product of two such values (of unsigned factors of 64 bits: of the signed numbers with the same bits), and then brought into the type.

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr, UnOp, WORD};

use crate::ast::Unary;
use crate::types::integers::fits;
use crate::types::{Bits, SIZE, Type};

/// 64 bits, signed.
pub(crate) const LONG: IntType = IntType { bits: 64, signed: true };

/// A unary operation, folded.
pub(crate) fn unary(op: UnOp, arg: LocalExpr) -> LocalExpr {
    if let Expr::Const(value) = arg
        && let Ok(value) = op.apply(value)
    {
        return Expr::Const(value);
    }
    Expr::unary(op, arg)
}

/// A binary operation, folded.
pub(crate) fn binary(op: BinOp, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    if let (Expr::Const(a), Expr::Const(b)) = (&left, &right)
        && let Ok(value) = op.apply(*a, *b)
    {
        return Expr::Const(value);
    }
    match (op, &left, &right) {
        // `a && b` with a constant on the left is the other side as a truth value.
        (BinOp::And, Expr::Const(0), _) => Expr::Const(0),
        (BinOp::Or, Expr::Const(a), _) if *a != 0 => Expr::Const(1),
        (BinOp::Add | BinOp::Sub, _, Expr::Const(0)) => left,
        _ => Expr::binary(op, left, right),
    }
}

/// A value that is used and not only copied.
pub(crate) fn used(value: LocalExpr) -> LocalExpr {
    match value {
        Expr::Var(_) => Expr::unary(UnOp::Defined, value),
        other => other,
    }
}

/// The value in the range of the type, by its lowest bits.
fn wrap(ty: IntType, value: LocalExpr) -> LocalExpr {
    unary(UnOp::Wrap(ty), value)
}

/// The value after arithmetic in the type.
fn settle(ty: IntType, value: LocalExpr) -> LocalExpr {
    if ty.signed { unary(UnOp::Fit(ty), value) } else { wrap(ty, value) }
}

/// An integer operation on operands of the type.
pub(crate) fn integer(op: BinOp, ty: IntType, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    let (left, right) = (used(left), used(right));
    match op {
        BinOp::Mul if ty.bits == 64 && !ty.signed => {
            let signed = |value| wrap(LONG, value);
            wrap(ty, binary(op, signed(left), signed(right)))
        }
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::And | BinOp::Or => {
            binary(op, left, right)
        }
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => binary(op, left, right),
        BinOp::Shl | BinOp::Shr => shift(op, ty, left, right),
        BinOp::Rem => remainder(ty, left, right),
        _ => settle(ty, binary(op, left, right)),
    }
}

/// A remainder is not defined where the quotient is not (C11, 6.5.5): the least number by -1.
fn remainder(ty: IntType, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    let plain = binary(BinOp::Rem, left.clone(), right.clone());
    if !ty.signed {
        return plain;
    }
    let least = Expr::Const(-1 << (ty.bits - 1));
    let overflows = match binary(BinOp::Eq, right, Expr::Const(-1)) {
        Expr::Const(1) => binary(BinOp::Eq, left, least),
        by => binary(BinOp::And, by, binary(BinOp::Eq, left, least)),
    };
    unless(plain, overflows)
}

/// The value, computed first, unless the condition, 0 or 1, holds, which is an overflow.
fn unless(value: LocalExpr, overflows: LocalExpr) -> LocalExpr {
    // 1 does not fit a single signed bit; 0 is added.
    binary(BinOp::Add, value, unary(UnOp::Fit(IntType { bits: 1, signed: true }), overflows))
}

/// The amount of a shift must be less than the width; a negative number cannot be shifted to the left (C11, 6.5.7).
fn shift(op: BinOp, ty: IntType, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    let bits = if ty.bits == 64 { 6 } else { 5 };
    let amount = unary(UnOp::Fit(IntType { bits, signed: false }), right);
    let shifted = binary(op, left.clone(), amount);
    match (op, ty.signed) {
        // Both operands are computed before the shift goes wrong.
        (BinOp::Shl, true) => unless(settle(ty, shifted), binary(BinOp::Lt, left, Expr::Const(0))),
        (BinOp::Shl, false) => settle(ty, shifted),
        _ => shifted,
    }
}

/// A unary operation on an operand of the type.
pub(crate) fn negate(op: Unary, ty: IntType, arg: LocalExpr) -> LocalExpr {
    let arg = used(arg);
    match op {
        Unary::Plus => arg,
        Unary::Minus => settle(ty, unary(UnOp::Neg, arg)),
        Unary::Complement => {
            let flipped = binary(BinOp::BitXor, arg, Expr::Const(-1));
            if ty.signed { flipped } else { wrap(ty, flipped) }
        }
        Unary::Not => unary(UnOp::Not, arg),
    }
}

/// A scalar as a truth value, 0 or 1.
pub(crate) fn truth(value: LocalExpr) -> LocalExpr {
    if is_truth(&value) { value } else { binary(BinOp::Ne, used(value), Expr::Const(0)) }
}

/// Whether the value is surely 0 or 1.
fn is_truth(value: &LocalExpr) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match value {
        Expr::Const(value) => (0..=1).contains(value),
        Expr::Unary(UnOp::Not, _) | Expr::Binary(Eq | Ne | Lt | Le | Gt | Ge | And | Or, ..) => true,
        _ => false,
    }
}

/// A scalar of one type as one of another.
pub(crate) fn convert(value: LocalExpr, from: &Type, to: &Type) -> LocalExpr {
    let range = |ty: &Type| match ty {
        Type::Bool => Some(IntType { bits: 1, signed: false }),
        Type::Int(ty) => Some(*ty),
        Type::Pointer(_) => Some(SIZE),
        _ => None,
    };
    if from == to {
        return value;
    }
    if *to == Type::Bool {
        return truth(value);
    }
    let (Some(from), Some(to)) = (range(from), range(to)) else { return value };
    if fits(from, to) { value } else { wrap(to, used(value)) }
}

/// A pointer moved by a number of elements of so many words.
pub(crate) fn move_pointer(pointer: LocalExpr, index: LocalExpr, words: u32, minus: bool) -> LocalExpr {
    let by = binary(BinOp::Mul, used(index), Expr::Const(i128::from(words) * WORD));
    let op = if minus { BinOp::Sub } else { BinOp::Add };
    match by {
        Expr::Const(0) => pointer,
        _ => binary(op, used(pointer), by),
    }
}

/// A field of a word.
pub(crate) fn extract(word: LocalExpr, bits: Bits) -> LocalExpr {
    let shifted = binary(BinOp::Shr, used(word), Expr::Const(i128::from(bits.shift)));
    narrowed(if bits.shift == 0 { strip_shift(shifted) } else { shifted }, bits)
}

/// What a field holds after a value was assigned to it.
pub(crate) fn narrowed(value: LocalExpr, bits: Bits) -> LocalExpr {
    wrap(IntType { bits: bits.width, signed: bits.signed }, used(value))
}

/// A shift by nothing is nothing.
fn strip_shift(shifted: LocalExpr) -> LocalExpr {
    match shifted {
        Expr::Binary(BinOp::Shr, value, by) if *by == Expr::Const(0) => *value,
        other => other,
    }
}

/// A field's bits at their place in the word.
pub(crate) fn place(value: LocalExpr, bits: Bits) -> LocalExpr {
    let lowest = unary(UnOp::Wrap(IntType { bits: bits.width, signed: false }), used(value));
    match bits.shift {
        0 => lowest,
        shift => binary(BinOp::Shl, lowest, Expr::Const(i128::from(shift))),
    }
}

/// A word with one field replaced.
pub(crate) fn insert(word: LocalExpr, value: LocalExpr, bits: Bits) -> LocalExpr {
    let mask = ((1i128 << bits.width) - 1) << bits.shift;
    let rest = binary(BinOp::BitAnd, used(word), Expr::Const(!mask));
    binary(BinOp::BitOr, rest, place(value, bits))
}
