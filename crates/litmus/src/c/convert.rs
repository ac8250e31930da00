//! C's arithmetic on values that are kept as numbers in the range of their type.
//!
//! Signed arithmetic wraps, as the kernel has it compiled.

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr};

use super::lower::Value;
use super::types::Type;
use crate::code::{binary, signed, wrap};

/// A constant: `int` if it fits, else `long`.
pub(crate) fn literal(value: i128) -> Value {
    let bits = if i32::try_from(value).is_ok() { 32 } else { 64 };
    Value { expr: Expr::Const(value), ty: Type { int: IntType { bits, signed: true }, ..Type::INT } }
}

/// A value as one of another type.
pub(crate) fn convert(value: &Value, ty: Type) -> Result<LocalExpr, String> {
    let (from, to) = (value.ty, ty);
    let null = value.expr == Expr::Const(0);
    if (from.pointers > 0) != (to.pointers > 0) && !null {
        return Err("a pointer and a number are not the same".to_owned());
    }
    if to.pointers > 0 {
        return Ok(value.expr.clone());
    }
    Ok(if fits(from.int, to.int) { value.expr.clone() } else { wrap(to.int, value.expr.clone()) })
}

/// Whether every value of one type is one of the other, in the same form.
fn fits(from: IntType, to: IntType) -> bool {
    match (from.signed, to.signed) {
        (true, true) | (false, false) => from.bits <= to.bits,
        (false, true) => from.bits < to.bits,
        (true, false) => false,
    }
}

/// The type in which two numbers are computed with.
fn common(a: IntType, b: IntType) -> IntType {
    let promoted = |ty: IntType| if ty.bits < 32 { IntType { bits: 32, signed: true } } else { ty };
    let (a, b) = (promoted(a), promoted(b));
    match a.bits.cmp(&b.bits) {
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal => IntType { bits: a.bits, signed: a.signed && b.signed },
    }
}

/// A binary operation.
pub(crate) fn arithmetic(op: BinOp, left: Value, right: Value) -> Result<Value, String> {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne, Rem, Shl, Shr};
    let compares = matches!(op, Eq | Ne | Lt | Le | Gt | Ge);
    if left.ty.pointers > 0 || right.ty.pointers > 0 {
        return match op {
            Eq | Ne => Ok(Value { expr: binary(op, left.expr, right.expr), ty: Type::INT }),
            _ => Err("arithmetic with pointers is not supported".to_owned()),
        };
    }
    let shifts = matches!(op, Shl | Shr);
    let int = if shifts { common(left.ty.int, left.ty.int) } else { common(left.ty.int, right.ty.int) };
    let ty = Type { int, ..Type::INT };
    // Products are the same modulo 2 to the power of 64 with signed factors, and stay within the integers of the IR.
    let ty = if op == BinOp::Mul { Type { int: signed(int.bits), ..ty } } else { ty };
    let a = convert(&left, ty)?;
    let b = if shifts { right.expr } else { convert(&right, ty)? };
    let result = binary(op, a, b);
    if compares {
        return Ok(Value { expr: result, ty: Type::INT });
    }
    let stays = matches!(op, BinOp::BitAnd | BinOp::BitOr | Rem | Shr) || op == BinOp::BitXor;
    Ok(Value { expr: if stays { result } else { wrap(int, result) }, ty: Type { int, ..ty } })
}
