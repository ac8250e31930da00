//! Read-modify-writes, and locks.

use cyrano_cfront::ast::{self, ExprKind};
use cyrano_cfront::atomics::{Called, Change as Computed, Order as Said, Orders, Result};
use cyrano_ir::{BinOp, Change, Expr, LocalExpr, Op, Place, RegId, Tags};

use super::convert::{convert, int};
use super::lower::{Lower, Target, Value, plain};
use super::types::Type;
use crate::code::{binary, var};

impl Lower<'_> {
    /// What comes of a call that changes memory, or looks at a lock; nothing if something is wrong.
    pub(super) fn update(&mut self, called: &Called) -> Option<Value> {
        match called {
            Called::Exchange { at, value, order } => {
                self.sequenced(&[at, value]);
                let target = self.target(at)?;
                let value = self.converted(value, target.ty)?;
                let dst = self.rmw(target.addr.clone(), Change::Set(value), order.tags());
                Some(Value { expr: var(dst), ty: plain(target.ty) })
            }
            Called::Cas { at, expected, new, orders } => {
                self.sequenced(&[at, expected, new]);
                let target = self.target(at)?;
                let ty = plain(target.ty);
                let expected = self.converted(expected, ty)?;
                let new = self.converted(new, target.ty)?;
                Some(Value { expr: var(self.cas(&target, expected, new, orders)), ty })
            }
            Called::CompareExchange { at, expected, new, orders, weak } => {
                self.compare_exchange(at, expected, new, orders, *weak)
            }
            Called::Fetch { at, change, value, order, result } => {
                self.fetch((at, value), *change, order.tags(), *result)
            }
            Called::AddUnless { at, value, unless, orders } => self.add_unless(at, value, unless, orders),
            Called::Lock { at, wait } => self.lock(at, *wait),
            Called::IsLocked(at) => {
                let target = self.target(at)?;
                let dst = self.temporary();
                self.code.push(Op::load(Place::Reg(dst), target.addr).tagged(Tags::ATOMIC));
                Some(Value { expr: binary(BinOp::Ne, var(dst), Expr::Const(0)), ty: Type::INT })
            }
            _ => None,
        }
    }

    /// The value of an expression as one of another type.
    pub(super) fn converted(&mut self, value: &ast::Expr, ty: Type) -> Option<LocalExpr> {
        self.value(value, None).map(|value| convert(&value, ty))
    }

    fn rmw(&mut self, addr: cyrano_ir::Addr, change: Change, tags: Tags) -> RegId {
        let dst = self.temporary();
        self.code.push(Op::rmw(Some(Place::Reg(dst)), addr, change).tagged(tags));
        dst
    }

    fn cas(&mut self, at: &Target, expected: LocalExpr, new: LocalExpr, orders: &Orders) -> RegId {
        let dst = self.temporary();
        let change = Change::Cas { expected, new };
        let rmw = Op::rmw(Some(Place::Reg(dst)), at.addr.clone(), change).tagged(orders.success.tags());
        let (success, failure) = (orders.success.tags(), orders.failure.tags());
        self.code.push(if failure == success { rmw } else { rmw.failing(failure) });
        dst
    }

    /// What is expected is in a variable of the thread, or in memory, where it is read and written without any order.
    fn compare_exchange(
        &mut self,
        at: &ast::Expr,
        expected: &ast::Expr,
        new: &ast::Expr,
        orders: &Orders,
        weak: bool,
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
        let wanted = self.temporary();
        let holder = match local {
            Some(reg) => {
                self.code.assign(wanted, var(reg));
                None
            }
            None => {
                let holder = self.target(expected)?;
                self.code.push(Op::load(Place::Reg(wanted), holder.addr.clone()));
                Some(holder)
            }
        };
        let new = self.converted(new, target.ty)?;
        let (found, succeeded) = self.attempt(&target, wanted, new, orders, weak);
        if let Some(reg) = local {
            // Where it succeeded both are the same.
            self.code.assign(reg, var(found));
        } else if let Some(holder) = holder {
            let (failed, end) = (self.code.label(), self.code.label());
            self.code.branch(succeeded.clone(), end, failed);
            self.code.place(failed);
            self.code.push(Op::store(holder.addr, var(found)));
            self.code.place(end);
        }
        Some(Value { expr: succeeded, ty: Type::INT })
    }

    /// What is found, and whether it was exchanged. A weak exchange may be a mere load.
    fn attempt(
        &mut self,
        target: &Target,
        wanted: RegId,
        new: LocalExpr,
        orders: &Orders,
        weak: bool,
    ) -> (RegId, LocalExpr) {
        if !weak {
            let found = self.cas(target, var(wanted), new, orders);
            return (found, binary(BinOp::Eq, var(found), var(wanted)));
        }
        let (tries, succeeded) = (self.temporary(), self.temporary());
        let (yes, no, end) = (self.code.label(), self.code.label(), self.code.label());
        self.code.push(Op::Choose { dst: Place::Reg(tries), from: vec![0, 1] });
        self.code.branch(var(tries), yes, no);
        self.code.place(yes);
        let found = self.cas(target, var(wanted), new, orders);
        self.code.assign(succeeded, binary(BinOp::Eq, var(found), var(wanted)));
        self.code.jump(end);
        self.code.place(no);
        self.code.push(Op::load(Place::Reg(found), target.addr.clone()).tagged(orders.failure.tags()));
        self.code.assign(succeeded, Expr::Const(0));
        self.code.place(end);
        (found, var(succeeded))
    }

    /// Of the two operands the pointer is the location.
    fn fetch(
        &mut self,
        (first, second): (&ast::Expr, &ast::Expr),
        change: Computed,
        tags: Tags,
        result: Result,
    ) -> Option<Value> {
        self.sequenced(&[first, second]);
        let (at, value) =
            if self.is_pointer(first) || !self.is_pointer(second) { (first, second) } else { (second, first) };
        // `atomic_fetch_add(1, x)` is the kernel's, not C11's.
        let kernels = tags.contains(Tags::SEQ_CST) && !std::ptr::eq(at, first);
        let tags = if kernels { tags.without(Tags::SEQ_CST) | Tags::FULL } else { tags };
        let target = self.target(at)?;
        let ty = plain(target.ty);
        let Computed::Operator(op) = change else {
            self.refuse(at.loc.span, "this operation");
            return None;
        };
        let value = self.converted(value, ty)?;
        let old = self.temporary();
        let updated = self.computed(op, Value { expr: var(old), ty }, Value { expr: value, ty }, at.loc.span)?;
        let updated = convert(&updated, ty);
        self.code.update(old, target.addr, updated.clone(), tags);
        let compared = |op| Value { expr: binary(op, updated.clone(), Expr::Const(0)), ty: Type::INT };
        Some(match result {
            Result::Old | Result::Nothing => Value { expr: var(old), ty },
            Result::New => Value { expr: updated, ty },
            Result::IsZero => compared(BinOp::Eq),
            Result::IsNegative => compared(BinOp::Lt),
        })
    }

    fn add_unless(&mut self, at: &ast::Expr, value: &ast::Expr, unless: &ast::Expr, orders: &Orders) -> Option<Value> {
        self.sequenced(&[at, value, unless]);
        let target = self.target(at)?;
        let ty = plain(target.ty);
        let (value, unless) = (self.converted(value, ty)?, self.converted(unless, ty)?);
        let old = self.temporary();
        let updated =
            self.computed(BinOp::Add, Value { expr: var(old), ty }, Value { expr: value, ty }, at.loc.span)?;
        let updated = convert(&updated, ty);
        let (add, end) = (self.code.label(), self.code.label());
        self.code.push(Op::AtomicBegin);
        self.code
            .push(Op::load(Place::Reg(old), target.addr.clone()).tagged(orders.success.tags().without(Tags::RELEASE)));
        let differs = binary(BinOp::Ne, var(old), unless);
        self.code.branch(differs.clone(), add, end);
        self.code.place(add);
        self.code.push(Op::store(target.addr, updated).tagged(orders.success.tags().without(Tags::ACQUIRE)));
        self.code.place(end);
        self.code.push(Op::AtomicEnd);
        Some(Value { expr: differs, ty: Type::INT })
    }

    /// A lock holds 0 while nobody has it. An execution in which a thread goes on without it is none.
    fn lock(&mut self, at: &ast::Expr, wait: bool) -> Option<Value> {
        let target = self.target(at)?;
        let tags = Tags::ATOMIC | Tags::ACQUIRE | Tags::LOCK;
        let (free, taken) = (Expr::Const(0), Expr::Const(1));
        if wait {
            let old = self.rmw(target.addr, Change::Set(taken), tags);
            self.code.push(Op::Assume(binary(BinOp::Eq, var(old), free)));
            return Some(int(0));
        }
        let orders = Orders { success: Said::Tags(tags), failure: Said::Tags(Tags::ATOMIC) };
        let old = self.cas(&target, free.clone(), taken, &orders);
        Some(Value { expr: binary(BinOp::Eq, var(old), free), ty: Type::INT })
    }

    fn is_pointer(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.params.contains_key(name) || self.locals.get(name).is_some_and(|(_, ty)| ty.pointers > 0)
            }
            ExprKind::AddrOf(_) => true,
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
