//! C's arithmetic on values that are kept as numbers in the range of their type.
//!
//! The types are those of `cfront`. The values are not: signed arithmetic wraps, as the kernel has it compiled.

use cyrano_cfront::integers::{common, fits, promoted};
use cyrano_ir::{BinOp, Expr, LocalExpr};

use super::lower::Value;
use super::types::{BOOL, Type};
use crate::code::{binary, signed, wrap};

/// A constant of type `int`.
pub(crate) fn int(value: i32) -> Value {
    Value { expr: Expr::Const(value.into()), ty: Type::INT }
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
    let value = value.expr.clone();
    Ok(match to.int {
        int if fits(from.int, int) => value,
        // Whatever is not 0 is true.
        BOOL => binary(BinOp::Ne, value, Expr::Const(0)),
        int => wrap(int, value),
    })
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
    let (a, b) = (promoted(left.ty.int), promoted(right.ty.int));
    let int = if shifts { a } else { common(a, b) };
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
