//! Drops the registers that nothing mentions.

use cyrano_ir::dataflow::{reads, writes};
use cyrano_ir::{Leaf, Op, Place, RegId, Thread};

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
        instr.op.for_each_leaf(&mut |leaf| {
            if let Leaf::Register(reg) = leaf {
                *reg = numbers[reg.index()];
            }
        });
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
