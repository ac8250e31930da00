//! Constant expressions: the checker's own evaluation, with the arithmetic that the lowering uses.

use cyrano_ir::LocalExpr;

use super::{Checker, Fallible};
use crate::ast;
use crate::tree::{Expr, ExprKind, Lvalue, LvalueKind};
use crate::types::arith;
use crate::types::{Type, Types};
use cyrano_ir::{BinOp, Expr as Ir, WORD};

impl Checker<'_> {
    /// The value of a constant integer expression.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Fallible<i128> {
        let checked = self.expr(expr)?;
        match fold(&checked, &self.out.types, &|_| None) {
            Some(value) => Ok(value),
            None => Err(self.error(expr.loc, "this is not a constant", "must be known before the program runs")),
        }
    }
}

/// The value of an expression without variables; `address` gives the address of a global.
pub(crate) fn fold(expr: &Expr, types: &Types, address: &dyn Fn(usize) -> Option<i128>) -> Option<i128> {
    fold_with(expr, types, address, &|_| None)
}

/// The same where the values of some variables are known.
pub(crate) fn fold_with(
    expr: &Expr,
    types: &Types,
    address: &dyn Fn(usize) -> Option<i128>,
    read: &dyn Fn(&Lvalue) -> Option<i128>,
) -> Option<i128> {
    match build(expr, types, address, read)? {
        Ir::Const(value) => Some(value),
        _ => None,
    }
}

fn build(
    expr: &Expr,
    types: &Types,
    address: &dyn Fn(usize) -> Option<i128>,
    read: &dyn Fn(&Lvalue) -> Option<i128>,
) -> Option<LocalExpr> {
    let sub = |expr: &Expr| build(expr, types, address, read);
    let made = match &expr.kind {
        ExprKind::Const(value) => Ir::Const(*value),
        ExprKind::Read(lvalue) => Ir::Const(read(lvalue)?),
        ExprKind::Convert(inner) => arith::convert(sub(inner)?, &inner.ty, &expr.ty),
        ExprKind::Unary(op, arg) => arith::negate(*op, arg.ty.promoted().unwrap_or(crate::types::SIZE), sub(arg)?),
        ExprKind::Binary(BinOp::And, a, b) => match sub(a)? {
            Ir::Const(0) => Ir::Const(0),
            _ => arith::truth(sub(b)?),
        },
        ExprKind::Binary(BinOp::Or, a, b) => match sub(a)? {
            Ir::Const(0) => arith::truth(sub(b)?),
            _ => Ir::Const(1),
        },
        ExprKind::Binary(op, a, b) => {
            let ty = a.ty.promoted().unwrap_or(crate::types::SIZE);
            arith::integer(*op, ty, sub(a)?, sub(b)?)
        }
        ExprKind::Cond(cond, a, b) => match sub(cond)? {
            Ir::Const(0) => sub(b)?,
            Ir::Const(_) => sub(a)?,
            _ => return None,
        },
        ExprKind::PtrAdd { ptr, index, minus } => {
            let Type::Pointer(to) = &ptr.ty else { return None };
            arith::move_pointer(sub(ptr)?, sub(index)?, types.words(to), *minus)
        }
        ExprKind::AddrOf(lvalue) => Ir::Const(address_of(lvalue, types, address)?),
        ExprKind::Word(fields) => {
            let Type::Struct(id) = expr.ty else { return None };
            let mut word = Ir::Const(0);
            for (field, value) in types.fields(id).iter().zip(fields) {
                word = arith::binary(BinOp::BitOr, word, arith::place(sub(value)?, field.bits));
            }
            word
        }
        _ => return None,
    };
    Some(made)
}

fn address_of(lvalue: &Lvalue, types: &Types, address: &dyn Fn(usize) -> Option<i128>) -> Option<i128> {
    match &lvalue.kind {
        LvalueKind::Global(id) => address(id.0),
        LvalueKind::Field(base, field) => {
            let Type::Struct(id) = base.ty else { return None };
            Some(address_of(base, types, address)? + i128::from(types.offset(id, *field)) * WORD)
        }
        LvalueKind::Index(base, index) => {
            let index = fold(index, types, address)?;
            Some(address_of(base, types, address)? + index.checked_mul(types.stride(&lvalue.ty))?)
        }
        LvalueKind::Deref(pointer) => fold(pointer, types, address),
        LvalueKind::Local(_) | LvalueKind::Value(_) => None,
    }
}
