//! Conditions: short circuits through branches where an operand needs instructions, as one tree where none does.

use cyrano_ir::{BinOp, Expr as Ir, LocalExpr, Op, Place};

use super::Lowerer;
use crate::ast::Unary;
use crate::tree::{Expr, ExprKind};
use crate::types::Type;
use crate::types::arith;

impl Lowerer<'_, '_> {
    /// A condition as a value that counts as true or false.
    pub(super) fn truth(&mut self, expr: &Expr) -> LocalExpr {
        let value = self.value(expr);
        arith::used(value)
    }

    /// Goes to one of two labels.
    pub(super) fn condition(&mut self, expr: &Expr, then: usize, other: usize) {
        match &expr.kind {
            ExprKind::Convert(inner) if expr.ty == Type::Bool => self.condition(inner, then, other),
            ExprKind::Unary(Unary::Not, inner) => self.condition(inner, other, then),
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) if !(self.is_pure(a) && self.is_pure(b)) => {
                let middle = self.new_label();
                match op {
                    BinOp::And => self.condition(a, middle, other),
                    _ => self.condition(a, then, middle),
                }
                self.bind(middle);
                self.condition(b, then, other);
            }
            _ => {
                let cond = self.truth(expr);
                self.branch(cond, then, other);
            }
        }
    }

    /// `&&`, `||` and `?:` as values.
    pub(super) fn branching(&mut self, expr: &Expr) -> Vec<LocalExpr> {
        match &expr.kind {
            ExprKind::Binary(op, a, b) if self.is_pure(a) && self.is_pure(b) => {
                let (left, right) = (self.truth(a), self.truth(b));
                vec![arith::binary(*op, left, right)]
            }
            ExprKind::Binary(..) => {
                let (yes, no) = (self.new_label(), self.new_label());
                self.condition(expr, yes, no);
                self.choose(yes, no, 1, |_| vec![Ir::Const(1)], |_| vec![Ir::Const(0)])
            }
            ExprKind::Cond(cond, a, b) => {
                let (yes, no) = (self.new_label(), self.new_label());
                self.condition(cond, yes, no);
                let words = if expr.ty == Type::Void { 0 } else { self.shared.checked.types.words(&expr.ty) };
                self.choose(yes, no, words, |lowerer| lowerer.values(a), |lowerer| lowerer.values(b))
            }
            _ => Vec::new(),
        }
    }

    /// The words of one of two values, in new registers.
    fn choose(
        &mut self,
        yes: usize,
        no: usize,
        words: u32,
        first: impl Fn(&mut Self) -> Vec<LocalExpr>,
        second: impl Fn(&mut Self) -> Vec<LocalExpr>,
    ) -> Vec<LocalExpr> {
        let temps: Vec<_> = (0..words).map(|_| self.temp()).collect();
        let end = self.new_label();
        self.bind(yes);
        let values = first(self);
        self.put(&temps, values);
        self.jump(end);
        self.bind(no);
        let values = second(self);
        self.put(&temps, values);
        self.bind(end);
        temps.into_iter().map(Self::var).collect()
    }

    pub(super) fn put(&mut self, temps: &[cyrano_ir::RegId], values: Vec<LocalExpr>) {
        for (temp, value) in temps.iter().zip(values) {
            self.emit(Op::Assign { dst: Place::Reg(*temp), value });
        }
    }
}
