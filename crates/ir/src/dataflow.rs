//! Facts about registers that engines share: reads, writes, liveness, dependence on loaded values.
//!
//! Everything here is per thread, because registers are private, and expects a program that passed
//! [`verify`](mod@crate::verify): ids are used as table positions without further checks.
//!
//! **Invariant:** the facts over-approximate. [`reads`] may name a register that an execution does not
//! look at (the right side of `&&`, the other elements of a local array), and a [`Write`] is
//! [`definite`](Write::is_definite) only when the register is surely overwritten.

mod clocks;
mod joins;
mod liveness;
mod names;
mod regset;
mod taint;

pub use clocks::{Class, Clocks};
pub use joins::joins;
pub use liveness::{Liveness, exit_registers};
pub use names::{FRESH, Held, Live, Names};
pub use regset::RegSet;
pub use taint::{address_depends_on_load, loaded_registers, local_index_depends_on_load, tainted_before};

use crate::access::Addr;
use crate::expr::Expr;
use crate::ids::{InstrId, RegId};
use crate::op::Op;
use crate::program::{Instr, LocalExpr, Place};

/// The registers that an instruction may write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Write {
    /// Exactly this one.
    One(RegId),
    /// One of the `len` registers that start at `base`; which one is known only when it runs.
    OneOf {
        /// Element 0.
        base: RegId,
        /// The number of elements.
        len: u32,
    },
}

impl Write {
    /// Whether every register in [`Write::registers`] is overwritten.
    pub fn is_definite(self) -> bool {
        matches!(self, Self::One(_))
    }

    /// The registers that may be overwritten.
    pub fn registers(self) -> impl Iterator<Item = RegId> {
        match self {
            Self::One(reg) => run(reg, 1),
            Self::OneOf { base, len } => run(base, len),
        }
    }
}

/// The registers an instruction may write, if it writes any.
///
/// A fixed index outside its array is no write: it is an error of the checked program, and nothing follows it.
pub fn writes(op: &Op) -> Option<Write> {
    match op.dst()? {
        Place::Reg(reg) => Some(Write::One(*reg)),
        Place::Elem { base, len, index } => match **index {
            Expr::Const(index) => element(*base, *len, index).map(Write::One),
            _ => Some(Write::OneOf { base: *base, len: *len }),
        },
    }
}

/// Calls `visit` on every register that an instruction may read: its operands, its address, and the
/// indices of the local-array elements it uses, the destination's included.
pub fn reads(op: &Op, visit: &mut impl FnMut(RegId)) {
    for operand in op.operands() {
        expr_reads(operand, visit);
    }
    if let Some(Addr::Indexed { index, .. }) = op.addr() {
        expr_reads(index, visit);
    }
    if let Some(Place::Elem { index, .. }) = op.dst() {
        expr_reads(index, visit);
    }
}

/// Calls `visit` on every register that an expression may read, those of nested indices included.
pub fn expr_reads(expr: &LocalExpr, visit: &mut impl FnMut(RegId)) {
    expr.for_each_var(&mut |place| place_reads(place, visit));
}

/// `visit` is a trait object from here on, because the recursion through indices would otherwise need
/// an endless chain of closure types.
fn place_reads(place: &Place, visit: &mut dyn FnMut(RegId)) {
    match place {
        Place::Reg(reg) => visit(*reg),
        Place::Elem { base, len, index } => match **index {
            Expr::Const(index) => element(*base, *len, index).into_iter().for_each(visit),
            _ => {
                run(*base, *len).for_each(&mut *visit);
                index.for_each_var(&mut |place| place_reads(place, visit));
            }
        },
    }
}

/// Where control goes on: with the first instruction from here that is not a jump.
pub fn past_jumps(code: &[Instr], mut at: usize) -> usize {
    for _ in 0..code.len() {
        match code[at].op {
            Op::Jump(target) => at = target.index(),
            _ => break,
        }
    }
    at
}

/// The instructions that may run after the one at `pc`; none after [`Op::Halt`].
pub fn successors(op: &Op, pc: InstrId) -> impl Iterator<Item = InstrId> + use<> {
    let (first, second) = match op {
        Op::Halt => (None, None),
        Op::Jump(target) => (Some(*target), None),
        Op::Branch { then_to, else_to, .. } => (Some(*then_to), Some(*else_to)),
        _ => (Some(InstrId::new(pc.index() + 1)), None),
    };
    first.into_iter().chain(second)
}

/// Element `index` of a local array, if it has one.
fn element(base: RegId, len: u32, index: i128) -> Option<RegId> {
    let index = u32::try_from(index).ok().filter(|index| *index < len)?;
    Some(RegId(base.0 + index))
}

fn run(base: RegId, len: u32) -> impl Iterator<Item = RegId> {
    (base.0..base.0 + len).map(RegId)
}
