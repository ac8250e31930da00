//! Cleans up the code of one thread: constants and copies are propagated, checks that cannot fail are dropped, dead assignments and
//! unreachable instructions go.
//!
//! Nothing here changes what a memory model sees: loads, stores, read-modify-writes and fences all stay, in their order; a branch whose
//! condition depends on a load stays, as do data and address dependencies, because only constants that no load contributed to are folded.
//! An assignment that may report an error of the program stays even if nobody reads its result.

mod facts;
mod jumps;
mod registers;

use cyrano_ir::dataflow::{Liveness, expr_reads, reads};
use cyrano_ir::{Addr, BinOp, Expr as Ir, Instr, InstrId, LocalExpr, Op, Place, RegId, Thread, UnOp};

use crate::lower::memory::Memory;

pub(crate) use jumps::resolve;

/// Rounds until nothing changes, but no more than this.
const MAX_ROUNDS: usize = 12;

/// Larger expressions are not grown by substitution.
const MAX_SIZE: usize = 48;

/// Cleans up; gives the new number of every register in `observed`.
pub(crate) fn optimise(thread: &mut Thread, memory: &Memory, observed: &[RegId]) -> Vec<RegId> {
    for _ in 0..MAX_ROUNDS {
        let before = thread.code.clone();
        facts::propagate(thread);
        thread.code.iter_mut().enumerate().for_each(|(at, instr)| simplify(instr, at, memory));
        drop_dead(thread, observed);
        thread.code = jumps::compact(std::mem::take(&mut thread.code));
        merge(thread, observed);
        thread.code = jumps::compact(std::mem::take(&mut thread.code));
        if thread.code == before {
            break;
        }
    }
    registers::drop_unused(thread, observed)
}

/// Instructions that the constants in them decide.
fn simplify(instr: &mut Instr, at: usize, memory: &Memory) {
    let next = Op::Jump(InstrId::new(at + 1));
    match &mut instr.op {
        Op::Branch { cond: Ir::Const(value), then_to, else_to } => {
            instr.op = Op::Jump(if *value != 0 { *then_to } else { *else_to });
        }
        Op::Branch { cond, then_to, else_to } => {
            while let Ir::Unary(UnOp::Not, inner) = cond {
                *cond = (**inner).clone();
                std::mem::swap(then_to, else_to);
            }
            strip_truth(cond);
        }
        Op::Assert { cond: Ir::Const(value), .. }
        | Op::Assume(Ir::Const(value))
        | Op::Limit { cond: Ir::Const(value), .. }
            if *value != 0 =>
        {
            instr.op = next;
        }
        Op::Assert { cond, .. } | Op::Assume(cond) => strip_truth(cond),
        Op::Assign { dst, value } if *value == Ir::Var(dst.clone()) => instr.op = next,
        Op::Access(access) => {
            if let Addr::Indexed { array, index: Ir::Const(index) } = &access.addr
                && let Some(location) = memory.element(*array, *index)
            {
                access.addr = Addr::Fixed(location);
            }
        }
        _ => {}
    }
}

/// Where only truth matters, `x != 0` is `x`.
fn strip_truth(cond: &mut LocalExpr) {
    while let Ir::Binary(BinOp::Ne, inner, zero) = cond
        && **zero == Ir::Const(0)
    {
        *cond = (**inner).clone();
    }
}

/// Whether evaluating may report an error of the program.
fn may_fail(expr: &LocalExpr) -> bool {
    match expr {
        Ir::Const(_) => false,
        Ir::Var(place) => matches!(place, Place::Elem { .. }),
        Ir::Unary(UnOp::Not | UnOp::Wrap(_), arg) => may_fail(arg),
        Ir::Unary(..) | Ir::Binary(BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr, ..) => true,
        Ir::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => may_fail(a) || may_fail(b) || bits(expr) > 127,
        Ir::Binary(_, a, b) => may_fail(a) || may_fail(b),
    }
}

/// How many bits the value has at most, with its sign. What a variable holds is a C value, or a pointer that was moved too far.
fn bits(expr: &LocalExpr) -> u32 {
    match expr {
        Ir::Const(value) => 129 - value.unsigned_abs().leading_zeros(),
        Ir::Unary(UnOp::Wrap(ty) | UnOp::Fit(ty), _) => u32::from(ty.bits) + 1,
        Ir::Unary(UnOp::Not, _) => 2,
        Ir::Unary(UnOp::Neg, arg) => bits(arg) + 1,
        Ir::Binary(BinOp::Add | BinOp::Sub, a, b) => bits(a).max(bits(b)) + 1,
        Ir::Binary(BinOp::Mul, a, b) => bits(a) + bits(b),
        Ir::Binary(BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor, a, b) => bits(a).max(bits(b)),
        Ir::Binary(BinOp::Shl, ..) => 128,
        Ir::Binary(BinOp::Div | BinOp::Rem | BinOp::Shr, a, _) => bits(a) + 1,
        Ir::Binary(..) => 2,
        Ir::Var(_) | Ir::Unary(UnOp::Defined | UnOp::Target, _) => 72,
    }
}

/// Drops assignments and choices whose result nobody reads.
fn drop_dead(thread: &mut Thread, observed: &[RegId]) {
    let liveness = Liveness::new(thread, observed.iter().copied());
    for at in 0..thread.code.len().saturating_sub(1) {
        let live = |reg: RegId| liveness.is_live(InstrId::new(at + 1), reg);
        let dead = match &thread.code[at].op {
            Op::Assign { dst: Place::Reg(reg), value } => !live(*reg) && !may_fail(value),
            Op::Choose { dst: Place::Reg(reg), .. } => !live(*reg),
            _ => false,
        };
        if dead {
            thread.code[at].op = Op::Jump(InstrId::new(at + 1));
        }
    }
}

/// Moves the value of an assignment into the next instruction if that is its only reader.
fn merge(thread: &mut Thread, observed: &[RegId]) {
    let targets = jumps::targets(&thread.code);
    let liveness = Liveness::new(thread, observed.iter().copied());
    // From the end, so that the positions of what was computed before do not matter.
    for at in (0..thread.code.len().saturating_sub(1)).rev() {
        let Op::Assign { dst: Place::Reg(reg), value } = &thread.code[at].op else { continue };
        let (reg, value) = (*reg, value.clone());
        let next = &thread.code[at + 1];
        let mut count = 0;
        reads(&next.op, &mut |read| count += usize::from(read == reg));
        let redefined = matches!(next.op.dst(), Some(Place::Reg(dst)) if *dst == reg);
        if targets[at + 1] || count != 1 || size(&value) > MAX_SIZE || !may_move_into(&next.op) {
            continue;
        }
        if !redefined && leads_on(&next.op, at + 1).any(|after| liveness.is_live(after, reg)) {
            continue;
        }
        let mut op = next.op.clone();
        let fails = may_fail(&value);
        let one_place = thread.code[at].span == next.span;
        let copies = matches!(&next.op, Op::Assign { value, .. } if !may_fail(value) || is_checked_copy(value));
        // What goes wrong is told by the place of its instruction, so that it stays where the source has it.
        if (!fails || one_place || copies) && place_value(&mut op, reg, &value, fails) {
            if fails && copies {
                // What goes wrong is the value, not the copy.
                thread.code[at + 1].span = thread.code[at].span;
            }
            thread.code[at + 1].op = op;
            thread.code[at].op = Op::Jump(InstrId::new(at + 1));
        }
    }
}

fn is_checked_copy(value: &LocalExpr) -> bool {
    matches!(value, Ir::Unary(UnOp::Defined, inner) if matches!(**inner, Ir::Var(_)))
}

fn leads_on(op: &Op, at: usize) -> impl Iterator<Item = InstrId> {
    cyrano_ir::dataflow::successors(op, InstrId::new(at))
}

/// A value moves over nothing but the instruction itself.
fn may_move_into(op: &Op) -> bool {
    !matches!(op, Op::AtomicBegin | Op::AtomicEnd | Op::OperationBegin(_) | Op::OperationEnd | Op::Fence(_))
        && !matches!(op, Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_))
}

fn size(expr: &LocalExpr) -> usize {
    match expr {
        Ir::Const(_) | Ir::Var(_) => 1,
        Ir::Unary(_, arg) => 1 + size(arg),
        Ir::Binary(_, a, b) => 1 + size(a) + size(b),
    }
}

/// Replaces the register by the value in all operands; false if it stands where it may not be evaluated.
fn place_value(op: &mut Op, reg: RegId, value: &LocalExpr, fails: bool) -> bool {
    let mut placed = false;
    for_each_expr(op, &mut |expr| placed |= replace(expr, reg, value, fails, true));
    placed
}

/// Calls `visit` on every expression of an instruction.
fn for_each_expr(op: &mut Op, visit: &mut impl FnMut(&mut LocalExpr)) {
    op.operands_mut().into_iter().for_each(&mut *visit);
    if let Some(Addr::Indexed { index, .. }) = op.access_mut().map(|access| &mut access.addr) {
        visit(index);
    }
}

fn replace(expr: &mut LocalExpr, reg: RegId, value: &LocalExpr, fails: bool, surely: bool) -> bool {
    match expr {
        Ir::Var(Place::Reg(found)) if *found == reg && (surely || !fails) => {
            *expr = value.clone();
            true
        }
        Ir::Unary(UnOp::Defined, inner) if **inner == Ir::Var(Place::Reg(reg)) && (surely || !fails) => {
            // The value of an operation is defined; a copy keeps its check.
            let keeps = matches!(value, Ir::Var(_) | Ir::Const(_));
            *expr = if keeps { Ir::unary(UnOp::Defined, value.clone()) } else { value.clone() };
            true
        }
        Ir::Unary(_, arg) => replace(arg, reg, value, fails, surely),
        Ir::Binary(op, a, b) => {
            let lazy = matches!(op, BinOp::And | BinOp::Or);
            replace(a, reg, value, fails, surely) || replace(b, reg, value, fails, surely && !lazy)
        }
        _ => false,
    }
}

/// The registers that an expression reads.
fn registers_of(expr: &LocalExpr) -> Vec<RegId> {
    let mut found = Vec::new();
    expr_reads(expr, &mut |reg| found.push(reg));
    found
}
