//! Read-modify-writes.

use cyrano_cfront::ast::{self, ExprKind};
use cyrano_ir::{BinOp, Change, LocalExpr, RegId, Span};

use super::calls::Order;
use super::convert::int;
use super::lower::{Lower, Target, Value, plain};
use super::types::Type;
use crate::code::{binary, var};

impl Lower<'_> {
    pub(super) fn cas(
        &mut self,
        at: Target,
        expected: LocalExpr,
        new: &ast::Expr,
        order: Order,
        span: Span,
    ) -> Option<RegId> {
        let new = self.value(new, None)?;
        let new = self.converted(new, at.ty, span)?;
        let dst = self.temporary();
        let full = self.open(order, at.ty);
        self.code.rmw(dst, at.addr, Change::Cas { expected, new });
        self.close(full);
        Some(dst)
    }

    /// What is expected is in a variable of the thread, or in memory, where it is read and written without any order.
    pub(super) fn cas_strong(
        &mut self,
        at: &ast::Expr,
        expected: &ast::Expr,
        new: &ast::Expr,
        order: Order,
        span: Span,
    ) -> Option<Value> {
        self.sequenced(&[at, expected, new]);
        let target = self.target(at)?;
        let ty = plain(target.ty);
        let local = match address_of(expected) {
            Some(name) => match self.locals.get(name).copied() {
                Some((reg, own)) if own.word() == ty.word() => Some(reg),
                Some(_) => {
                    self.wrong(expected.loc.span, "what is expected has another type", "not the location's type");
                    return None;
                }
                None => return self.named(name, expected.loc.span).and(None),
            },
            None => None,
        };
        let (holder, wanted) = match local {
            Some(reg) => {
                let copy = self.temporary();
                self.code.assign(copy, var(reg));
                (None, copy)
            }
            None => {
                let holder = self.target(expected)?;
                let copy = self.temporary();
                self.code.load(copy, holder.addr.clone());
                (Some(holder), copy)
            }
        };
        let found = self.cas(target, var(wanted), new, order, span)?;
        let equal = binary(BinOp::Eq, var(found), var(wanted));
        if let Some(reg) = local {
            // Where it succeeded both are the same.
            self.code.assign(reg, var(found));
        } else if let Some(holder) = holder {
            let (failed, end) = (self.code.label(), self.code.label());
            self.code.branch(equal.clone(), end, failed);
            self.code.place(failed);
            self.code.store(holder.addr, var(found));
            self.code.place(end);
        }
        Some(Value { expr: equal, ty: Type::INT })
    }

    /// Of the two operands the pointer is the location; where there is no second one it is 1.
    pub(super) fn fetch(
        &mut self,
        first: &ast::Expr,
        op: BinOp,
        second: Option<&ast::Expr>,
        (order, new): (Order, bool),
        span: Span,
    ) -> Option<Value> {
        let (at, value) = match second {
            Some(second) => {
                self.sequenced(&[first, second]);
                if self.is_pointer(first) { (first, Some(second)) } else { (second, Some(first)) }
            }
            None => (first, None),
        };
        let target = self.target(at)?;
        let ty = plain(target.ty);
        let value = match value {
            Some(value) => self.value(value, None)?,
            None => int(1),
        };
        let value = self.converted(value, ty, span)?;
        let old = self.temporary();
        let updated = self.computed(op, Value { expr: var(old), ty }, Value { expr: value, ty }, span)?;
        let updated = self.converted(updated, ty, span)?;
        let full = self.open(order, target.ty);
        self.code.atomic_update(old, target.addr, updated.clone());
        self.close(full);
        Some(Value { expr: if new { updated } else { var(old) }, ty })
    }

    fn is_pointer(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.params.contains_key(name) || self.locals.get(name).is_some_and(|(_, ty)| ty.pointers > 0)
            }
            _ => false,
        }
    }
}

/// The variable whose address this is.
fn address_of(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::AddrOf(inner) => match &inner.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}
