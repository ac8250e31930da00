//! Calls of atomic functions: what `atomics` says that they do, with types.

use cyrano_ir::{BinOp, Fence, Tags};

use super::{Checker, Fallible, Reported, fold};
use crate::ast;
use crate::atomics::{self, Barrier, Called, Change, Complaint, Family, Order, Orders, Result, Use};
use crate::source::{Loc, Problem};
use crate::tree::{Atomic, AtomicOp, Expr, ExprKind, Intrinsic, Said};
use crate::types::Type;
use crate::types::integers::INT;

/// An operation in the making: its location's type, and its arguments so far.
struct Made {
    family: Family,
    loc: Loc,
    args: Vec<Expr>,
}

impl Checker<'_> {
    pub(super) fn complain(&mut self, Complaint { loc, message, label, help }: Complaint) -> Reported {
        self.report(Problem { help, ..Problem::new(loc, message, label) })
    }

    /// An atomic operation.
    pub(super) fn atomic(&mut self, family: Family, called: Called, loc: Loc) -> Fallible<Expr> {
        let mut made = Made { family, loc, args: Vec::new() };
        let made = &mut made;
        match called {
            Called::Value(value) | Called::Rewritten(value) => self.expr(&value),
            Called::Nothing => Err(Reported),
            Called::Fence(barrier) => self.barrier(barrier, made),
            Called::Load { at, order } => {
                let ty = self.location(made, &at)?;
                self.finish(made, AtomicOp::Load, &ty, (order, None))
            }
            Called::Store { at, value, order, fence } => {
                let ty = self.location(made, &at)?;
                self.operand(made, &value, &ty)?;
                self.finish(made, AtomicOp::Store(fence), &ty, (order, None))
            }
            Called::Exchange { at, value, order } => {
                let ty = self.location(made, &at)?;
                self.operand(made, &value, &ty)?;
                self.finish(made, AtomicOp::Exchange, &ty, (order, None))
            }
            Called::Cas { at, expected, new, orders: Orders { success, failure } } => {
                let ty = self.location(made, &at)?;
                self.operand(made, &expected, &ty)?;
                self.operand(made, &new, &ty)?;
                self.finish(made, AtomicOp::Cas, &ty, (success, Some(failure)))
            }
            Called::CompareExchange { at, expected, new, orders: Orders { success, failure }, weak } => {
                let ty = self.location(made, &at)?;
                self.expected(made, &expected, &ty)?;
                self.operand(made, &new, &ty)?;
                self.finish(made, AtomicOp::CompareExchange { weak }, &ty, (success, Some(failure)))
            }
            Called::Fetch { at, change, value, order, result } => self.fetch(made, (at, value), change, order, result),
            Called::AddUnless { at, value, unless, orders: Orders { success, failure } } => {
                let ty = self.location(made, &at)?;
                self.operand(made, &value, &ty)?;
                self.operand(made, &unless, &ty)?;
                self.finish(made, AtomicOp::AddUnless, &ty, (success, Some(failure)))
            }
            Called::Lock { at, wait } => self.of_lock(made, &at, AtomicOp::Lock { wait }, Tags::default()),
            Called::Unlock(at) => self.of_lock(made, &at, AtomicOp::Unlock, Tags::ATOMIC | Tags::RELEASE | Tags::LOCK),
            Called::IsLocked(at) => self.of_lock(made, &at, AtomicOp::IsLocked, Tags::ATOMIC),
            Called::Synchronize(at) => self.of_lock(made, &at, AtomicOp::Synchronize, Tags::default()),
        }
    }

    fn of_lock(&mut self, made: &mut Made, at: &ast::Expr, op: AtomicOp, tags: Tags) -> Fallible<Expr> {
        let ty = self.location(made, at)?;
        self.finish(made, op, &ty, (Order::Tags(tags), None))
    }

    /// `atomic_fetch_add` is the kernel's if what should be the location is none; there the location comes last.
    fn fetch(
        &mut self,
        made: &mut Made,
        (at, value): (ast::Expr, ast::Expr),
        change: Change,
        order: Order,
        result: Result,
    ) -> Fallible<Expr> {
        let kernels = made.family == Family::C11 && !self.type_of(&at)?.plain().is_pointer_like();
        let (at, value) = if kernels { (value, at) } else { (at, value) };
        let order = match order {
            Order::Tags(_) if kernels => Order::Tags(Tags::ATOMIC | Tags::FULL),
            order => order,
        };
        made.family = if kernels { Family::Kernel } else { made.family };
        let ty = self.location(made, &at)?;
        let fits = match (&ty, change) {
            (Type::Int(_), _) => true,
            // A pointer moves by elements (C11, 7.17.7.5); for compilers it moves by bytes, which memory does not have.
            (Type::Pointer(_), Change::Operator(BinOp::Add | BinOp::Sub)) => made.family == Family::C11,
            (Type::Bool, _) => made.family != Family::C11,
            _ => false,
        };
        if !fits {
            let message = format!("this operation is not defined for a `{}`", self.show(&ty));
            return Err(self.error(at.loc, message, "expected a pointer to an integer"));
        }
        match &ty {
            Type::Pointer(to) => {
                self.complete(to, at.loc)?;
                let by = self.integer(&value)?;
                made.args.push(by);
            }
            ty => self.operand(made, &value, ty)?,
        }
        self.finish(made, AtomicOp::Fetch(change, result), &ty, (order, None))
    }

    /// A pointer to an object of one word; gives the type of its values.
    fn location(&mut self, made: &mut Made, at: &ast::Expr) -> Fallible<Type> {
        let pointer = self.expr(at)?;
        let ty = self.word_pointee(&pointer)?;
        if made.family == Family::C11 && !ty.is_atomic() {
            let message = format!("`{}` is not atomic", self.show(&ty));
            let problem = Problem::new(at.loc, message, "expected a pointer to an atomic object");
            return Err(self.report(problem.with_help("declare the object with `_Atomic`")));
        }
        made.args.push(pointer);
        Ok(ty.plain().clone())
    }

    /// A pointer to what is expected, whose values are of this type.
    fn expected(&mut self, made: &mut Made, at: &ast::Expr, ty: &Type) -> Fallible<()> {
        // `__sync_bool_compare_and_swap` has a value instead.
        if let ast::ExprKind::AddrOf(inner) = &at.kind
            && made.family == Family::Builtin
            && !is_place(inner)
        {
            let value = self.expr(inner)?;
            let value = self.coerce_word(value, ty)?;
            let place = crate::tree::Lvalue {
                kind: crate::tree::LvalueKind::Value(Box::new(value)),
                ty: ty.clone(),
                loc: inner.loc,
            };
            made.args.push(Expr::new(ExprKind::AddrOf(place), ty.clone().pointer(), at.loc));
            return Ok(());
        }
        let pointer = self.expr(at)?;
        let found = self.word_pointee(&pointer)?;
        let fits = found == *ty || matches!((&found, ty), (Type::Int(a), Type::Int(b)) if a.bits == b.bits);
        let fits = fits || matches!((&found, ty), (Type::Pointer(_), Type::Pointer(_)));
        if !fits {
            let (expected, found) = (self.show(ty), self.show(&found));
            let message = format!("what is expected is a `{found}`, and the location has a `{expected}`");
            return Err(self.error(at.loc, message, "of another type"));
        }
        made.args.push(pointer);
        Ok(())
    }

    fn operand(&mut self, made: &mut Made, value: &ast::Expr, ty: &Type) -> Fallible<()> {
        let value = self.expr(value)?;
        made.args.push(self.coerce_word(value, ty)?);
        Ok(())
    }

    /// What is said about an access. An order that is known is looked at now.
    fn said(&mut self, made: &mut Made, order: Order) -> Fallible<Said> {
        let (expr, of) = match order {
            Order::Tags(tags) => return Ok(Said::Tags(tags)),
            Order::Given(expr, of) => (expr, of),
        };
        let order = self.integer(&expr)?;
        match fold(&order, &self.out.types, &|_| None).map(|number| of.tags(number)) {
            Some(Ok(tags)) => Ok(Said::Tags(tags)),
            Some(Err(why)) => {
                let known = atomics::ORDER_NAMES.join(", ");
                let problem = Problem::new(expr.loc, why, "not for this access");
                Err(self.report(problem.with_help(format!("the orders are {known}"))))
            }
            None => {
                made.args.push(order);
                Ok(Said::Argument(made.args.len() - 1, of))
            }
        }
    }

    fn finish(
        &mut self,
        made: &mut Made,
        op: AtomicOp,
        ty: &Type,
        (order, failure): (Order, Option<Order>),
    ) -> Fallible<Expr> {
        let order = self.said(made, order)?;
        let failure = failure.map_or(Ok(order), |failure| self.said(made, failure))?;
        let returns = match op {
            AtomicOp::Load | AtomicOp::Exchange | AtomicOp::Cas => ty.clone(),
            AtomicOp::Fetch(_, Result::Old | Result::New) => ty.clone(),
            AtomicOp::Fetch(_, Result::Nothing) => Type::Void,
            AtomicOp::CompareExchange { .. } | AtomicOp::Fetch(..) | AtomicOp::AddUnless => Type::Bool,
            AtomicOp::Lock { wait: false } | AtomicOp::IsLocked => Type::Bool,
            _ => Type::Void,
        };
        Ok(self.made(made, Atomic { op, order, failure, ty: ty.clone() }, returns))
    }

    fn made(&mut self, made: &mut Made, atomic: Atomic, returns: Type) -> Expr {
        let (position, args) = (self.position(), std::mem::take(&mut made.args));
        let what = Box::new(Intrinsic::Atomic(Box::new(atomic)));
        Expr::new(ExprKind::Intrinsic { what, args, position }, returns, made.loc)
    }

    fn barrier(&mut self, barrier: Barrier, made: &mut Made) -> Fallible<Expr> {
        let order = match &barrier {
            Barrier::Named(name) => {
                let fence = Fence::named(name).expect("it is a fence of the IR's");
                return self.named_fence(fence, made.loc);
            }
            Barrier::Given(order) | Barrier::Signal(order) => order,
        };
        let checked = self.integer(order)?;
        let known = fold(&checked, &self.out.types, &|_| None).map(atomics::fence);
        if let Some(Err(why)) = known {
            return Err(self.error(order.loc, why, "not an order"));
        }
        let op = match barrier {
            Barrier::Signal(_) => AtomicOp::SignalFence,
            _ => AtomicOp::Fence,
        };
        if let (AtomicOp::Fence, Some(Ok(Some(name)))) = (op, &known) {
            let fence = Fence::named(name).expect("it is a fence of the IR's");
            return self.named_fence(fence, made.loc);
        }
        made.args.push(checked);
        let (order, failure) = (Said::Argument(0, Use::Rmw), Said::Tags(Tags::default()));
        Ok(self.made(made, Atomic { op, order, failure, ty: Type::Int(INT) }, Type::Void))
    }

    fn named_fence(&mut self, fence: Fence, loc: Loc) -> Fallible<Expr> {
        if !self.current().atomic.is_empty() {
            return Err(self.error(loc, "a fence within an atomic block", "its accesses are in order already"));
        }
        let position = self.position();
        let what = Box::new(Intrinsic::Fence(fence));
        Ok(Expr::new(ExprKind::Intrinsic { what, args: Vec::new(), position }, Type::Void, loc))
    }
}

/// Whether an expression stands for a place.
fn is_place(expr: &ast::Expr) -> bool {
    use ast::ExprKind::{Deref, Index, Member, Name};
    matches!(expr.kind, Name(_) | Deref(_) | Index(..) | Member { .. })
}
