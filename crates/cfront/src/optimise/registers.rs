//! Drops the registers that nothing mentions.

use cyrano_ir::dataflow::{reads, writes};
use cyrano_ir::{Expr as Ir, LocalExpr, Op, Place, RegId, Thread};

use super::for_each_expr;

/// Renumbers; gives the new number of every register in `observed`.
pub(super) fn drop_unused(thread: &mut Thread, observed: &[RegId]) -> Vec<RegId> {
    let mut used = vec![false; thread.registers.len()];
    for instr in &thread.code {
        reads(&instr.op, &mut |reg| used[reg.index()] = true);
        writes(&instr.op).into_iter().flat_map(|write| write.registers()).for_each(|reg| used[reg.index()] = true);
        whole_arrays(&instr.op, &mut used);
    }
    observed.iter().for_each(|reg| used[reg.index()] = true);
    let mut numbers = Vec::with_capacity(used.len());
    let mut count = 0;
    for used in &used {
        numbers.push(RegId::new(count));
        count += usize::from(*used);
    }
    let mut position = 0;
    thread.registers.retain(|_| {
        position += 1;
        used[position - 1]
    });
    for instr in &mut thread.code {
        for_each_expr(&mut instr.op, &mut |expr| renumber(expr, &numbers));
        if let Op::Assign { dst, .. } | Op::Load { dst, .. } | Op::Choose { dst, .. } | Op::Rmw { dst: Some(dst), .. } =
            &mut instr.op
        {
            renumber_place(dst, &numbers);
        }
    }
    observed.iter().map(|reg| numbers[reg.index()]).collect()
}

/// The elements of a local array stay together, also where an index is fixed.
fn whole_arrays(op: &Op, used: &mut [bool]) {
    let mut mark = |place: &Place| {
        if let Place::Elem { base, len, .. } = place {
            used[base.index()..base.index() + *len as usize].fill(true);
        }
    };
    op.dst().into_iter().for_each(&mut mark);
    op.operands().into_iter().for_each(|expr| expr.for_each_var(&mut |place| mark(place)));
}

fn renumber(expr: &mut LocalExpr, numbers: &[RegId]) {
    match expr {
        Ir::Const(_) => {}
        Ir::Var(place) => renumber_place(place, numbers),
        Ir::Unary(_, arg) => renumber(arg, numbers),
        Ir::Binary(_, a, b) => {
            renumber(a, numbers);
            renumber(b, numbers);
        }
    }
}

fn renumber_place(place: &mut Place, numbers: &[RegId]) {
    match place {
        Place::Reg(reg) => *reg = numbers[reg.index()],
        Place::Elem { base, index, .. } => {
            *base = numbers[base.index()];
            renumber(index, numbers);
        }
    }
}
