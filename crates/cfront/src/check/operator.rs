//! Operators, assignments, conditional expressions.

use cyrano_ir::BinOp;

use super::{Checker, Fallible};
use crate::ast::{self, Unary};
use crate::source::{Loc, Problem};
use crate::tree::{Calc, Expr, ExprKind, Lvalue, LvalueKind};
use crate::types::Type;
use crate::types::integers::{INT, common};

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: Unary, arg: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        if op == Unary::Not {
            let arg = self.condition(arg)?;
            return Ok(Expr::new(ExprKind::Unary(op, Box::new(arg)), Type::Int(INT), loc));
        }
        let arg = self.integer(arg)?;
        let ty = Type::Int(arg.ty.promoted().unwrap_or(INT));
        let arg = self.coerce(arg, &ty)?;
        Ok(Expr::new(ExprKind::Unary(op, Box::new(arg)), ty, loc))
    }

    pub(super) fn binary(&mut self, op: BinOp, left: &ast::Expr, right: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        if matches!(op, BinOp::And | BinOp::Or) {
            let (left, right) = (self.condition(left), self.condition(right));
            return Ok(Expr::new(ExprKind::Binary(op, Box::new(left?), Box::new(right?)), Type::Int(INT), loc));
        }
        let (left, right) = (self.expr(left), self.expr(right));
        self.combine(op, left?, right?, loc)
    }

    fn combine(&mut self, op: BinOp, left: Expr, right: Expr, loc: Loc) -> Fallible<Expr> {
        let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        match (left.ty.promoted(), right.ty.promoted()) {
            (Some(a), Some(b)) => {
                let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
                let ty = if shifts { a } else { common(a, b) };
                let left = self.coerce(left, &Type::Int(ty))?;
                let right = self.coerce(right, &Type::Int(if shifts { b } else { ty }))?;
                let result = if compares { INT } else { ty };
                Ok(Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::Int(result), loc))
            }
            _ if compares => self.compare(op, left, right, loc),
            _ => self.pointer_arithmetic(op, left, right, loc),
        }
    }

    fn compare(&mut self, op: BinOp, left: Expr, right: Expr, loc: Loc) -> Fallible<Expr> {
        let words = matches!((&left.ty, &right.ty), (Type::Struct(a), Type::Struct(b)) if a == b)
            && self.out.types.is_scalar(&left.ty)
            && matches!(op, BinOp::Eq | BinOp::Ne);
        let pointers = left.ty.is_pointer() || right.ty.is_pointer();
        if !words && !pointers {
            return Err(self.mismatch(op, &left, &right, loc));
        }
        let to = if left.ty.is_pointer() { left.ty.clone() } else { right.ty.clone() };
        let left = self.coerce(left, &to)?;
        let right = self.coerce(right, &to)?;
        Ok(Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::Int(INT), loc))
    }

    fn mismatch(&mut self, op: BinOp, left: &Expr, right: &Expr, loc: Loc) -> super::Reported {
        let (left, right) = (self.show(&left.ty), self.show(&right.ty));
        self.error(loc, format!("`{}` is not defined for `{left}` and `{right}`", op.symbol()), "this operation")
    }

    fn pointer_arithmetic(&mut self, op: BinOp, left: Expr, right: Expr, loc: Loc) -> Fallible<Expr> {
        if op == BinOp::Sub && left.ty.is_pointer() && left.ty == right.ty {
            let to = self.pointee(&left)?;
            self.complete(&to, loc)?;
            let ty = Type::Int(cyrano_ir::IntType { bits: 64, signed: true });
            return Ok(Expr::new(ExprKind::PtrDiff(Box::new(left), Box::new(right)), ty, loc));
        }
        let (ptr, index) = match (op, left.ty.is_pointer(), right.ty.is_pointer()) {
            (BinOp::Add | BinOp::Sub, true, false) => (left, right),
            (BinOp::Add, false, true) => (right, left),
            _ => return Err(self.mismatch(op, &left, &right, loc)),
        };
        if !index.ty.is_integer() {
            return Err(self.mismatch(op, &ptr, &index, loc));
        }
        let to = self.pointee(&ptr)?;
        self.complete(&to, loc)?;
        self.not_recast(&ptr)?;
        let ty = ptr.ty.clone();
        let kind = ExprKind::PtrAdd { ptr: Box::new(ptr), index: Box::new(index), minus: op == BinOp::Sub };
        Ok(Expr::new(kind, ty, loc))
    }

    /// A pointer that was just cast to one to something else would be moved by words where C moves it by bytes.
    pub(super) fn not_recast(&mut self, ptr: &Expr) -> Fallible<()> {
        let ExprKind::Convert(from) = &ptr.kind else { return Ok(()) };
        match &from.ty {
            Type::Pointer(to) if **to != Type::Void => {
                let (from, to) = (self.show(&from.ty), self.show(&ptr.ty));
                let message = format!("arithmetic on a `{from}` as a `{to}`");
                let problem = Problem::new(ptr.loc, message, "cast to another type of pointer");
                Err(self.report(problem.with_help("memory has words and no bytes: use `&p->field` or `&array[index]`")))
            }
            _ => Ok(()),
        }
    }

    /// Whether the place can be assigned.
    fn target(&mut self, target: &ast::Expr) -> Fallible<Lvalue> {
        let lvalue = self.lvalue(target)?;
        match (&lvalue.kind, &lvalue.ty) {
            (LvalueKind::Value(_), _) => Err(self.error(target.loc, "this cannot be assigned", "a value, not a place")),
            (_, Type::Array(..)) => Err(self.error(target.loc, "arrays cannot be assigned", "an array")),
            _ if is_value(&lvalue) => {
                Err(self.error(target.loc, "this cannot be assigned", "part of a value, not a place"))
            }
            (LvalueKind::Field(base, _), _) => {
                self.assign_part(&base.clone());
                Ok(lvalue)
            }
            _ => Ok(lvalue),
        }
    }

    /// Notes that a part of a word is assigned, if that is what it is.
    fn assign_part(&mut self, whole: &Lvalue) {
        if let Type::Struct(id) = whole.ty
            && self.out.types.is_scalar(&whole.ty)
        {
            self.out.types.structs[id.0].in_parts = true;
        }
        if let LvalueKind::Field(base, _) = &whole.kind {
            self.assign_part(base);
        }
    }

    pub(super) fn assign(&mut self, target: &ast::Expr, value: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        let target = self.target(target);
        let value = self.expr(value);
        let (target, value) = (target?, value?);
        let ty = target.ty.plain().clone();
        let value = self.coerce(value, &ty)?;
        Ok(Expr::new(ExprKind::Assign(target, Box::new(value)), ty, loc))
    }

    pub(super) fn update(
        &mut self,
        op: BinOp,
        target: &ast::Expr,
        value: Expr,
        gives_old: bool,
        loc: Loc,
    ) -> Fallible<Expr> {
        let target = self.target(target)?;
        let ty = target.ty.plain().clone();
        let promoted = self.narrow_field(&target).or(ty.promoted());
        let calc = match (promoted, value.ty.promoted()) {
            (Some(a), Some(b)) if matches!(op, BinOp::Shl | BinOp::Shr) => {
                Calc::Arith(op, a, Box::new(self.coerce(value, &Type::Int(b))?))
            }
            (Some(a), Some(b)) => {
                let common = common(a, b);
                Calc::Arith(op, common, Box::new(self.coerce(value, &Type::Int(common))?))
            }
            (None, Some(_)) if ty.is_pointer() && matches!(op, BinOp::Add | BinOp::Sub) => {
                let Type::Pointer(to) = &ty else { return Err(super::Reported) };
                self.complete(to, loc)?;
                Calc::Pointer { index: Box::new(value), minus: op == BinOp::Sub }
            }
            _ => {
                let (left, right) = (self.show(&ty), self.show(&value.ty));
                let message = format!("`{}=` is not defined for `{left}` and `{right}`", op.symbol());
                return Err(self.error(loc, message, "this assignment"));
            }
        };
        Ok(Expr::new(ExprKind::Update { target, calc, gives_old }, ty, loc))
    }

    pub(super) fn conditional(&mut self, cond: &ast::Expr, a: &ast::Expr, b: &ast::Expr, loc: Loc) -> Fallible<Expr> {
        let (cond, a, b) = (self.condition(cond), self.expr(a), self.expr(b));
        let (cond, a, b) = (cond?, a?, b?);
        let ty = match (a.ty.promoted(), b.ty.promoted()) {
            (Some(x), Some(y)) => Type::Int(common(x, y)),
            (Some(_), None) => b.ty.clone(),
            (None, None) if a.ty == Type::Void.pointer() => b.ty.clone(),
            _ => a.ty.clone(),
        };
        let (a, b) = (self.coerce(a, &ty)?, self.coerce(b, &ty)?);
        Ok(Expr::new(ExprKind::Cond(Box::new(cond), Box::new(a), Box::new(b)), ty, loc))
    }
}

/// Whether something is a part of a value that is nowhere.
fn is_value(lvalue: &Lvalue) -> bool {
    match &lvalue.kind {
        LvalueKind::Value(_) => true,
        LvalueKind::Field(base, _) | LvalueKind::Index(base, _) => is_value(base),
        _ => false,
    }
}
