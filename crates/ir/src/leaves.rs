//! The leaves of an instruction: the constants, locations, registers and targets that it names, to be read or renamed.
//!
//! **Invariant:** the order of the visits is the same for instructions of the same shape: destination, address, operands, and the values of a
//! choice or the targets of a jump last. Arrays are no leaves; of an element of a local array the register of element 0 is one.

use crate::access::Addr;
use crate::expr::Expr;
use crate::ids::{InstrId, LocId, RegId};
use crate::op::Op;
use crate::program::{LocalExpr, Place};

/// A leaf, which may be changed.
#[derive(PartialEq, Eq, Debug)]
pub enum Leaf<'a> {
    /// A constant of an expression or a choice.
    Constant(&'a mut i128),
    /// A location that is named.
    Location(&'a mut LocId),
    /// A register, or the first of a local array.
    Register(&'a mut RegId),
    /// Where a jump goes.
    Target(&'a mut InstrId),
}

impl Op {
    /// Calls `visit` on every leaf.
    pub fn for_each_leaf(&mut self, visit: &mut impl FnMut(Leaf<'_>)) {
        if let Some(dst) = self.dst_mut() {
            dst.for_each_leaf(visit);
        }
        match self.access_mut().map(|access| &mut access.addr) {
            Some(Addr::Fixed(loc)) => visit(Leaf::Location(loc)),
            Some(Addr::Indexed { index, .. }) => index.for_each_leaf(visit),
            None => {}
        }
        self.operands_mut().into_iter().for_each(|operand| operand.for_each_leaf(visit));
        match self {
            Self::Choose { from, .. } => from.iter_mut().for_each(|value| visit(Leaf::Constant(value))),
            Self::Branch { then_to, else_to, .. } => {
                [then_to, else_to].into_iter().for_each(|to| visit(Leaf::Target(to)))
            }
            Self::Jump(to) => visit(Leaf::Target(to)),
            _ => {}
        }
    }
}

impl LocalExpr {
    /// Calls `visit` on every leaf.
    pub fn for_each_leaf(&mut self, visit: &mut impl FnMut(Leaf<'_>)) {
        match self {
            Expr::Const(value) => visit(Leaf::Constant(value)),
            Expr::Var(place) => place.for_each_leaf(visit),
            Expr::Unary(_, arg) => arg.for_each_leaf(visit),
            Expr::Binary(_, left, right) => {
                left.for_each_leaf(visit);
                right.for_each_leaf(visit);
            }
        }
    }
}

impl Place {
    /// Calls `visit` on every leaf.
    pub fn for_each_leaf(&mut self, visit: &mut impl FnMut(Leaf<'_>)) {
        match self {
            Self::Reg(register) => visit(Leaf::Register(register)),
            Self::Elem { base, index, .. } => {
                visit(Leaf::Register(base));
                index.for_each_leaf(visit);
            }
        }
    }
}
