//! What a value was computed from.
//!
//! Two sets are kept apart: all reads that a value depends on, and those on which it depends *directly*. A condition that only selects one of two values is
//! written by front ends as a number of one bit (`UnOp::Wrap`) that multiplies each of them; what goes into it does not go into the value directly, and what is
//! not selected does not go into the value at all. What a compare-and-swap found may go in directly or not, if it succeeded ([`super::thread::Reading`]).
//! Only models that speak of `direct-addr` and `direct-data` see the difference.

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr, Place, RegId, UnOp};

use crate::set::EventSet;

/// What a value depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sources {
    pub(super) all: EventSet,
    pub(super) direct: EventSet,
}

/// How a selecting condition is written.
const CONDITION: IntType = IntType { bits: 1, signed: false };

fn is_condition(expr: &LocalExpr) -> bool {
    matches!(expr, Expr::Unary(UnOp::Wrap(CONDITION), _))
}

impl Sources {
    /// An event that was read.
    pub(super) fn insert(&mut self, event: usize) {
        self.all.insert(event);
        self.direct.insert(event);
    }

    pub(super) fn remove(&mut self, event: usize) {
        self.all.remove(event);
        self.direct.remove(event);
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.all.absorb(&other.all);
        self.direct.absorb(&other.direct);
    }

    /// What an expression depends on, given what registers do.
    pub(super) fn of(expr: &LocalExpr, registers: &[i128], taints: &[Self]) -> Self {
        let mut sources = Self::default();
        sources.add(expr, registers, taints);
        sources
    }

    fn add(&mut self, expr: &LocalExpr, registers: &[i128], taints: &[Self]) {
        match expr {
            Expr::Const(_) => {}
            Expr::Var(place) => {
                if let Place::Elem { index, .. } = place {
                    self.add(index, registers, taints);
                }
                if let Ok(RegId(register)) = place.register(registers) {
                    self.absorb(&taints[register as usize]);
                }
            }
            Expr::Unary(UnOp::Wrap(CONDITION), inner) => self.all.absorb(&Self::of(inner, registers, taints).all),
            Expr::Unary(_, inner) => self.add(inner, registers, taints),
            Expr::Binary(BinOp::Mul, select, other) if is_condition(select) => {
                self.add(select, registers, taints);
                if !matches!(select.value(registers), Ok(0)) {
                    self.add(other, registers, taints);
                }
            }
            Expr::Binary(_, left, right) => {
                self.add(left, registers, taints);
                self.add(right, registers, taints);
            }
        }
    }
}
