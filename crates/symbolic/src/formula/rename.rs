//! Renaming of constants and locations in code: what a [symmetry](crate::formula::symmetry) does to the text of a thread.

use cyrano_ir::{Addr, Expr, LocId, LocalExpr, Op, Place, RmwOp};

/// What becomes of the leaves of an instruction.
pub(crate) trait Rename {
    /// A constant of an expression or a choice.
    fn constant(&mut self, value: i128) -> i128;
    /// A location that is named.
    fn location(&mut self, loc: LocId) -> LocId;
}

/// The instruction with all of its leaves renamed; none for kinds of instructions that symmetries do not deal with.
pub(crate) fn op(op: &Op, to: &mut impl Rename) -> Option<Op> {
    Some(match op {
        Op::Assign { dst, value } => Op::Assign { dst: place(dst, to), value: expr(value, to) },
        Op::Load { dst, addr } => Op::Load { dst: place(dst, to), addr: address(addr, to) },
        Op::Store { addr, value, rollback } => {
            Op::Store { addr: address(addr, to), value: expr(value, to), rollback: *rollback }
        }
        Op::Rmw { dst, addr, op } => Op::Rmw {
            dst: dst.as_ref().map(|dst| place(dst, to)),
            addr: address(addr, to),
            op: match op {
                RmwOp::Cas { expected, new } => RmwOp::Cas { expected: expr(expected, to), new: expr(new, to) },
                RmwOp::Exchange(value) => RmwOp::Exchange(expr(value, to)),
                RmwOp::FetchAdd(value) => RmwOp::FetchAdd(expr(value, to)),
            },
        },
        Op::Choose { dst, from } => {
            Op::Choose { dst: place(dst, to), from: from.iter().map(|value| to.constant(*value)).collect() }
        }
        Op::Assume(cond) => Op::Assume(expr(cond, to)),
        Op::Assert { cond, message } => Op::Assert { cond: expr(cond, to), message: message.clone() },
        Op::Limit { cond, what } => Op::Limit { cond: expr(cond, to), what: what.clone() },
        Op::Branch { cond, then_to, else_to } => {
            Op::Branch { cond: expr(cond, to), then_to: *then_to, else_to: *else_to }
        }
        Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd | Op::OperationBegin(_) | Op::OperationEnd => op.clone(),
        Op::Jump(_) | Op::Halt => op.clone(),
        Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => return None,
        Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => return None,
    })
}

fn expr(value: &LocalExpr, to: &mut impl Rename) -> LocalExpr {
    match value {
        Expr::Const(value) => Expr::Const(to.constant(*value)),
        Expr::Var(var) => Expr::Var(place(var, to)),
        Expr::Unary(op, arg) => Expr::Unary(*op, Box::new(expr(arg, to))),
        Expr::Binary(op, left, right) => Expr::Binary(*op, Box::new(expr(left, to)), Box::new(expr(right, to))),
    }
}

fn place(dst: &Place, to: &mut impl Rename) -> Place {
    match dst {
        Place::Reg(register) => Place::Reg(*register),
        Place::Elem { base, len, index } => Place::Elem { base: *base, len: *len, index: Box::new(expr(index, to)) },
    }
}

fn address(addr: &Addr, to: &mut impl Rename) -> Addr {
    match addr {
        Addr::Fixed(loc) => Addr::Fixed(to.location(*loc)),
        Addr::Indexed { array, index } => Addr::Indexed { array: *array, index: expr(index, to) },
    }
}

/// Notes all leaves and leaves them as they are.
#[derive(Default)]
pub(crate) struct Leaves {
    pub(crate) constants: Vec<i128>,
    pub(crate) locations: Vec<LocId>,
}

impl Rename for Leaves {
    fn constant(&mut self, value: i128) -> i128 {
        self.constants.push(value);
        value
    }

    fn location(&mut self, loc: LocId) -> LocId {
        self.locations.push(loc);
        loc
    }
}
