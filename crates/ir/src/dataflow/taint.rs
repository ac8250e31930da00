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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// Analyses a thread with registers `a` to `d` (a local array of three from `b`); expects the
    /// instructions with a dependent address, and those with a dependent local index.
    #[track_caller]
    fn check(code: &[&str], addresses: &[u32], indices: &[u32]) {
        let mut source = String::from("program p\nlocation x = 0\narray xs = x of 1\nthread t\n");
        for name in ["a", "b", "c", "d"] {
            source.push_str(&format!("register {name} = 0\n"));
        }
        for (pc, op) in code.iter().enumerate() {
            source.push_str(&format!("@{pc}: {op}\n"));
        }
        let program = text::parse(&source).expect("the test's program can be read");
        crate::verify(&program).expect("the test's program is valid");
        let at = |pcs: &[u32]| -> Vec<_> { pcs.iter().map(|pc| (ThreadId(0), InstrId(*pc))).collect() };
        assert_eq!(address_depends_on_load(&program), at(addresses));
        assert_eq!(local_index_depends_on_load(&program), at(indices));
    }

    #[test]
    fn results_of_loads_and_read_modify_writes() {
        check(&["a := load x", "store xs[a], 1", "halt"], &[1], &[]);
        check(&["a := cas x, 0, 1", "b := load xs[(a + 1)]", "halt"], &[1], &[]);
        check(&["a := choose 0", "fetch_add xs[a], 1", "halt"], &[], &[]);
        check(&["a := load x", "store x, a", "halt"], &[], &[]);
    }

    #[test]
    fn values_flow_through_registers_until_overwritten() {
        let through = ["a := load x", "b := a", "c := -b", "store xs[c], 0", "halt"];
        check(&through, &[3], &[]);
        check(&["a := load x", "a := 0", "store xs[a], 0", "halt"], &[], &[]);
        check(&["store xs[a], 0", "a := load x", "halt"], &[], &[]);
    }

    #[test]
    fn control_does_not_count() {
        let code = ["a := load x", "branch a then @2 else @3", "b := 1", "store xs[b], 0", "halt"];
        check(&code, &[], &[]);
    }

    #[test]
    fn loops_need_a_fixpoint() {
        let code = ["store xs[b], 0", "b := a", "a := load x", "branch c then @0 else @4", "halt"];
        check(&code, &[0], &[]);
    }

    #[test]
    fn one_path_suffices() {
        let code = ["branch d then @1 else @2", "a := load x", "store xs[a], 0", "halt"];
        check(&code, &[2], &[]);
    }

    #[test]
    fn elements_of_local_arrays() {
        // A load into some element taints them all, and writing one of them afterwards clears none.
        check(&["b[a of 3] := load x", "store xs[d], 0", "halt"], &[1], &[]);
        let kept = ["d := load x", "b[a of 3] := 0", "store xs[d], 0", "halt"];
        check(&kept, &[2], &[]);
        // A fixed element is a register like any other.
        check(&["b[2 of 3] := load x", "store xs[d], 0", "halt"], &[1], &[]);
        check(&["b[2 of 3] := load x", "store xs[c], 0", "halt"], &[], &[]);
        let cleared = ["d := load x", "b[2 of 3] := 0", "store xs[d], 0", "halt"];
        check(&cleared, &[], &[]);
    }

    #[test]
    fn local_indices_that_depend_on_a_load() {
        check(&["a := load x", "d := b[a of 2]", "halt"], &[], &[1]);
        // Which element received the constant tells what was loaded.
        let told = ["a := load x", "b[a of 2] := 7", "store xs[c], 0", "halt"];
        check(&told, &[2], &[1]);
        check(&["a := load x", "b[a of 2] := load x", "halt"], &[], &[1]);
        check(&["a := load x", "store xs[b[a of 2]], 0", "halt"], &[1], &[1]);
        check(&["a := load x", "store x, b[c[a of 1] of 1]", "halt"], &[], &[1]);
        check(&["a := load x", "b[a of 2] := choose 1, 2", "halt"], &[], &[1]);
        check(&["a := load x", "assume b[a of 2]", "halt"], &[], &[1]);
    }
}
