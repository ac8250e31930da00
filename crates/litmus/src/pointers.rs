//! Which registers and locations may hold an address: people see names and not numbers, and computing with one is refused.

use cyrano_ir::{
    Access, Addr, BinOp, Change, Expr, FinalVar, LocId, LocalExpr, Op, Place, Program, RegId, Span, ThreadId, Ty, UnOp,
    WORD,
};

use crate::code::binary;

/// What an offset is multiplied with where only 0 leads to a location: no test has that much memory.
const AWAY: i128 = WORD << 40;

/// An address and an offset that is 0 whatever is executed. The offset is there for its dependency.
pub(crate) fn moved_nowhere(address: LocalExpr, offset: LocalExpr) -> LocalExpr {
    binary(BinOp::BitOr, address, Expr::binary(BinOp::BitAnd, offset, Expr::Const(0)))
}

/// An address and an offset that has to be 0: with every other the sum is the address of nothing, and an access goes wrong.
pub(crate) fn moved_away(address: LocalExpr, offset: LocalExpr) -> LocalExpr {
    binary(BinOp::Add, address, Expr::binary(BinOp::Mul, offset, Expr::Const(AWAY)))
}

/// The element of an array that lies `offset` bytes behind element `first`, if an element has `size` bytes. Between two elements there is
/// nothing.
pub(crate) fn element(first: usize, offset: LocalExpr, size: i128) -> LocalExpr {
    let start = Expr::Const((first as i128 + 1) * WORD);
    let distance = binary(BinOp::Mul, offset, Expr::Const(WORD / size));
    let target = Expr::unary(UnOp::Target, binary(BinOp::Add, start, distance));
    binary(BinOp::Sub, target, Expr::Const(1))
}

/// Whether something is an offset that [`moved_nowhere`] or [`moved_away`] added.
fn is_offset(value: &LocalExpr) -> bool {
    match value {
        Expr::Binary(BinOp::BitAnd, _, mask) => **mask == Expr::Const(0),
        Expr::Binary(BinOp::Mul, _, factor) => **factor == Expr::Const(AWAY),
        _ => false,
    }
}

/// What a selection chooses from, and by which condition: one of the two values, which are multiplied with 1 and 0.
fn selection(value: &LocalExpr) -> Option<[&LocalExpr; 3]> {
    fn chosen(value: &LocalExpr) -> Option<(&LocalExpr, &LocalExpr)> {
        let Expr::Binary(BinOp::Mul, condition, value) = value else { return None };
        match &**condition {
            Expr::Unary(UnOp::Wrap(ty), condition) if ty.bits == 1 => Some((condition, value)),
            _ => None,
        }
    }
    let Expr::Binary(BinOp::Add, left, right) = value else { return None };
    let ((condition, yes), (other, no)) = (chosen(left)?, chosen(right)?);
    let opposite = Expr::binary(BinOp::Eq, condition.clone(), Expr::Const(0));
    (*other == opposite).then_some([condition, yes, no])
}

/// Marks everything that an address may flow to, starting from what is marked already. Only the locations in `taken` have an
/// address that is a value.
pub(crate) fn mark(program: &mut Program, taken: &[LocId]) {
    if program.arrays.is_empty() {
        return;
    }
    while step(program, taken) {}
}

/// Where a program computes with an address. Equality and following it are fine, and so is `p - p`: anything else depends on
/// where locations lie, which a test does not say.
pub(crate) fn arithmetic(program: &Program) -> Vec<Span> {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        for instr in &program.thread(thread).code {
            let index = match instr.op.addr() {
                Some(Addr::Indexed { index, .. }) => computes(program, thread, index),
                _ => false,
            };
            if index || instr.op.operands().into_iter().any(|operand| computes(program, thread, operand)) {
                found.push(instr.span);
            }
        }
    }
    found.dedup();
    found
}

fn computes(program: &Program, thread: ThreadId, value: &LocalExpr) -> bool {
    use cyrano_ir::BinOp::{And, Eq, Ne, Or};
    if let Some(parts) = selection(value) {
        return parts.into_iter().any(|part| computes(program, thread, part));
    }
    match value {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Unary(UnOp::Neg, inner) => carries(program, thread, inner) || computes(program, thread, inner),
        Expr::Unary(_, inner) => computes(program, thread, inner),
        Expr::Binary(_, left, right) if left == right => computes(program, thread, left),
        Expr::Binary(_, left, right) if is_offset(right) && carries(program, thread, left) => {
            computes(program, thread, left) || carries(program, thread, right) || computes(program, thread, right)
        }
        Expr::Binary(op, left, right) => {
            let addresses = carries(program, thread, left) || carries(program, thread, right);
            let inside = computes(program, thread, left) || computes(program, thread, right);
            inside || addresses && !matches!(op, Eq | Ne | And | Or)
        }
    }
}

/// Whether a variable of a final state may hold an address.
pub(crate) fn is_pointer(program: &Program, var: FinalVar) -> bool {
    let ty = match var {
        FinalVar::Reg(thread, reg) => program.thread(thread).registers[reg.index()].ty,
        FinalVar::Loc(loc) => program.location(loc).ty,
    };
    ty == Ty::Pointer
}

fn step(program: &mut Program, taken: &[LocId]) -> bool {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        for instr in &program.thread(thread).code {
            flows(program, thread, &instr.op, taken, &mut found);
        }
    }
    let mut changed = false;
    for var in found {
        let ty = match var {
            FinalVar::Reg(thread, reg) => &mut program.threads[thread.index()].registers[reg.index()].ty,
            FinalVar::Loc(loc) => &mut program.locations[loc.index()].ty,
        };
        if *ty == Ty::Int {
            *ty = Ty::Pointer;
            changed = true;
        }
    }
    changed
}

fn flows(program: &Program, thread: ThreadId, op: &Op, taken: &[LocId], found: &mut Vec<FinalVar>) {
    let holds = |value: &LocalExpr| carries(program, thread, value);
    let into = |dst: Option<&Place>, found: &mut Vec<FinalVar>| {
        if let Some(Place::Reg(reg)) = dst {
            found.push(FinalVar::Reg(thread, *reg));
        }
    };
    match op {
        Op::Assign { dst, value } if holds(value) => into(Some(dst), found),
        Op::Access(Access { addr, dst, change, .. }) => {
            if loaded(program, addr, taken) {
                into(dst.as_ref(), found);
            }
            if let Some(Change::Cas { new: value, .. } | Change::Set(value) | Change::Add(value)) = change
                && holds(value)
            {
                stored(program, addr, taken, found);
            }
        }
        _ => {}
    }
}

fn loaded(program: &Program, addr: &Addr, taken: &[LocId]) -> bool {
    match addr {
        Addr::Fixed(loc) => program.location(*loc).ty == Ty::Pointer,
        Addr::Indexed { .. } => reached(program, addr, taken).any(|loc| program.location(loc).ty == Ty::Pointer),
    }
}

fn stored(program: &Program, addr: &Addr, taken: &[LocId], found: &mut Vec<FinalVar>) {
    match addr {
        Addr::Fixed(loc) => found.push(FinalVar::Loc(*loc)),
        Addr::Indexed { .. } => found.extend(reached(program, addr, taken).map(FinalVar::Loc)),
    }
}

/// The locations whose address is a value, of those that an access may be to.
fn reached(program: &Program, addr: &Addr, taken: &[LocId]) -> impl Iterator<Item = LocId> {
    let cells = program.cells(addr);
    taken.iter().copied().filter(move |loc| cells.contains(&loc.index()))
}

/// Whether a value may be an address: a copy of one, or arithmetic with one.
fn carries(program: &Program, thread: ThreadId, value: &LocalExpr) -> bool {
    use cyrano_ir::BinOp::{Add, BitAnd, BitOr, BitXor, Mul, Sub};
    let pointer = |reg: RegId| program.thread(thread).registers[reg.index()].ty == Ty::Pointer;
    match value {
        Expr::Const(_) => false,
        Expr::Var(Place::Reg(reg)) => pointer(*reg),
        Expr::Var(Place::Elem { .. }) => false,
        Expr::Unary(_, inner) => carries(program, thread, inner),
        Expr::Binary(Add | Sub | Mul | BitAnd | BitOr | BitXor, left, right) => {
            carries(program, thread, left) || carries(program, thread, right)
        }
        Expr::Binary(..) => false,
    }
}
