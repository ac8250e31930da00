//! Which instructions use a value loaded from shared memory to choose a location or a register.
//!
//! A forward analysis through registers: the result of a load or read-modify-write is tainted, and so is
//! what is computed from it. It is flow-sensitive, so that a register used again for another purpose
//! starts afresh. Control flow does not count: a branch on a loaded value taints nothing.
//!
//! An operational engine that defers loads (`rmo`) needs this: the address of a later access, or the
//! register that it fills, may be unknown when the access is issued.

use super::{RegSet, expr_reads, reads, successors, writes};
use crate::access::Addr;
use crate::ids::{InstrId, ThreadId};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program, Thread};

/// The accesses whose shared address may depend on a loaded value, in program order.
pub fn address_depends_on_load(program: &Program) -> Vec<(ThreadId, InstrId)> {
    select(program, |op, tainted| match op.addr() {
        Some(Addr::Indexed { index, .. }) => is_tainted(index, tainted),
        _ => false,
    })
}

/// The instructions, accesses or not, that use a local-array element whose index may depend on a loaded
/// value, be it as destination or as source, in program order.
pub fn local_index_depends_on_load(program: &Program) -> Vec<(ThreadId, InstrId)> {
    select(program, |op, tainted| {
        let address = op.addr().and_then(|addr| match addr {
            Addr::Indexed { index, .. } => Some(index),
            Addr::Fixed(_) => None,
        });
        let mut sources = op.operands().into_iter().chain(address);
        let destination = op.dst().is_some_and(|dst| index_is_tainted(dst, tainted));
        destination || sources.any(|source| uses_tainted_index(source, tainted))
    })
}

/// The instructions for which `test` holds, given the registers that are tainted before them.
fn select(program: &Program, test: impl Fn(&Op, &RegSet) -> bool) -> Vec<(ThreadId, InstrId)> {
    let mut found = Vec::new();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        let loads = |op: &Op| op.access_kind().is_some_and(|kind| kind.reads());
        for (pc, (instr, tainted)) in thread.code.iter().zip(tainted_before(thread, loads)).enumerate() {
            if test(&instr.op, &tainted) {
                found.push((id, InstrId::new(pc)));
            }
        }
    }
    found
}

/// The registers of a thread that may hold something computed from a loaded value at some time.
pub fn loaded_registers(thread: &Thread) -> RegSet {
    let mut loaded = RegSet::new(thread.registers.len());
    let loads = |op: &Op| op.access_kind().is_some_and(|kind| kind.reads());
    for before in tainted_before(thread, loads) {
        loaded.union_with(&before);
    }
    loaded
}

/// The registers that may hold something computed from what a `source` loads, before each instruction.
pub fn tainted_before(thread: &Thread, source: impl Fn(&Op) -> bool) -> Vec<RegSet> {
    let mut before = vec![RegSet::new(thread.registers.len()); thread.code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, instr) in thread.code.iter().enumerate() {
            let after = taint_after(&instr.op, source(&instr.op), &before[pc]);
            for next in successors(&instr.op, InstrId::new(pc)) {
                changed |= before[next.index()].union_with(&after);
            }
        }
    }
    before
}

/// What is tainted after an instruction, given what is before it.
///
/// A destination chosen by a tainted index taints the whole array, whatever the value: which element
/// changed tells about the index. All of [`reads`] is looked at, so that this case needs no extra code.
fn taint_after(op: &Op, source: bool, before: &RegSet) -> RegSet {
    let mut after = before.clone();
    let Some(write) = writes(op) else {
        return after;
    };
    let mut tainted = source;
    reads(op, &mut |reg| tainted |= before.contains(reg));
    for reg in write.registers() {
        if tainted {
            after.insert(reg);
        } else if write.is_definite() {
            after.remove(reg);
        }
    }
    after
}

fn is_tainted(expr: &LocalExpr, tainted: &RegSet) -> bool {
    let mut found = false;
    expr_reads(expr, &mut |reg| found |= tainted.contains(reg));
    found
}

/// Whether the expression uses, at any depth, an element whose index is tainted.
fn uses_tainted_index(expr: &LocalExpr, tainted: &RegSet) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |place| found |= index_is_tainted(place, tainted));
    found
}

/// Whether the place is an element whose index is tainted; a tainted index of an index taints that too,
/// since the element it selects counts as read.
fn index_is_tainted(place: &Place, tainted: &RegSet) -> bool {
    match place {
        Place::Reg(_) => false,
        Place::Elem { index, .. } => is_tainted(index, tainted),
    }
}
