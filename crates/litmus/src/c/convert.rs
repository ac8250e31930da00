//! C's arithmetic on values that are kept as numbers in the range of their type.
//!
//! The types are those of `cfront`. The values are not: signed arithmetic wraps, as the kernel has it compiled.

use cyrano_cfront::integers::{common, fits, promoted};
use cyrano_ir::{BinOp, Expr, LocalExpr};

use super::lower::Value;
use super::types::{BOOL, Type};
use crate::code::{binary, signed, wrap};
use crate::pointers;

/// A constant of type `int`.
pub(crate) fn int(value: i32) -> Value {
    Value { expr: Expr::Const(value.into()), ty: Type::INT }
}

/// A value as one of another type. Addresses stay what they are, whatever holds them.
pub(crate) fn convert(value: &Value, ty: Type) -> LocalExpr {
    let (from, to) = (value.ty, ty);
    let expr = value.expr.clone();
    if from.pointers > 0 || to.pointers > 0 {
        return expr;
    }
    match to.int {
        int if fits(from.int, int) => expr,
        // Whatever is not 0 is true.
        BOOL => binary(BinOp::Ne, expr, Expr::Const(0)),
        int => wrap(int, expr),
    }
}

/// A binary operation.
pub(crate) fn arithmetic(op: BinOp, left: Value, right: Value) -> Result<Value, String> {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne, Rem, Shl, Shr};
    let compares = matches!(op, Eq | Ne | Lt | Le | Gt | Ge);
    if left.ty.pointers > 0 || right.ty.pointers > 0 {
        return match op {
            Eq | Ne => Ok(Value { expr: binary(op, left.expr, right.expr), ty: Type::INT }),
            // Locations are apart from each other: only 0 can be added.
            BinOp::Add if right.ty.pointers == 0 => {
                Ok(Value { expr: pointers::moved_away(left.expr, right.expr), ty: left.ty })
            }
            BinOp::Add if left.ty.pointers == 0 => {
                Ok(Value { expr: pointers::moved_away(right.expr, left.expr), ty: right.ty })
            }
            _ => Err("arithmetic with pointers is not supported".to_owned()),
        };
    }
    let shifts = matches!(op, Shl | Shr);
    let (a, b) = (promoted(left.ty.int), promoted(right.ty.int));
    let int = if shifts { a } else { common(a, b) };
    let ty = Type { int, ..Type::INT };
    // Products are the same modulo 2 to the power of 64 with signed factors, and stay within the integers of the IR.
    let ty = if op == BinOp::Mul { Type { int: signed(int.bits), ..ty } } else { ty };
    let a = convert(&left, ty);
    let b = if shifts { right.expr } else { convert(&right, ty) };
    let result = binary(op, a, b);
    if compares {
        return Ok(Value { expr: result, ty: Type::INT });
    }
    let stays = matches!(op, BinOp::BitAnd | BinOp::BitOr | Rem | Shr) || op == BinOp::BitXor;
    Ok(Value { expr: if stays { result } else { wrap(int, result) }, ty: Type { int, ..ty } })
}
