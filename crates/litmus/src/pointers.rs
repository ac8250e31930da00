//! Which registers and locations may hold an address, so that people see names and not numbers. Nothing else depends on it.

use cyrano_ir::{Addr, Expr, FinalVar, LocalExpr, Op, Place, Program, RegId, RmwOp, ThreadId, Ty};

/// Marks everything that an address may flow to, starting from what is marked already.
pub(crate) fn mark(program: &mut Program) {
    if program.arrays.is_empty() {
        return;
    }
    while step(program) {}
}

/// Whether a variable of a final state may hold an address.
pub(crate) fn is_pointer(program: &Program, var: FinalVar) -> bool {
    let ty = match var {
        FinalVar::Reg(thread, reg) => program.thread(thread).registers[reg.index()].ty,
        FinalVar::Loc(loc) => program.location(loc).ty,
    };
    ty == Ty::Pointer
}

fn step(program: &mut Program) -> bool {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        for instr in &program.thread(thread).code {
            flows(program, thread, &instr.op, &mut found);
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

fn flows(program: &Program, thread: ThreadId, op: &Op, found: &mut Vec<FinalVar>) {
    let holds = |value: &LocalExpr| carries(program, thread, value);
    let into = |dst: Option<&Place>, found: &mut Vec<FinalVar>| {
        if let Some(Place::Reg(reg)) = dst {
            found.push(FinalVar::Reg(thread, *reg));
        }
    };
    match op {
        Op::Assign { dst, value } if holds(value) => into(Some(dst), found),
        Op::Load { dst, addr } if loaded(program, addr) => into(Some(dst), found),
        Op::Store { addr, value, .. } if holds(value) => stored(program, addr, found),
        Op::Rmw { dst, addr, op } => {
            if loaded(program, addr) {
                into(dst.as_ref(), found);
            }
            let value = match op {
                RmwOp::Cas { new, .. } => new,
                RmwOp::Exchange(value) | RmwOp::FetchAdd(value) => value,
            };
            if holds(value) {
                stored(program, addr, found);
            }
        }
        _ => {}
    }
}

fn loaded(program: &Program, addr: &Addr) -> bool {
    match addr {
        Addr::Fixed(loc) => program.location(*loc).ty == Ty::Pointer,
        Addr::Indexed { .. } => program.locations.iter().any(|location| location.ty == Ty::Pointer),
    }
}

fn stored(program: &Program, addr: &Addr, found: &mut Vec<FinalVar>) {
    match addr {
        Addr::Fixed(loc) => found.push(FinalVar::Loc(*loc)),
        Addr::Indexed { .. } => {
            let all = (0..program.locations.len()).map(|at| FinalVar::Loc(cyrano_ir::LocId::new(at)));
            found.extend(all);
        }
    }
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
