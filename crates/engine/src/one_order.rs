//! Which programs have executions without one order of all accesses.
//!
//! An atomic section is part of such an execution if it is a read-modify-write: on every path at most one load and then at most one store, to one address, or one
//! read-modify-write alone. Consecutive accesses to several locations are about an order that there is not. Objects that are freed need a model that says what happens
//! before what ([`cyrano_memory::cat::Plan::happens_before`]), and an engine that asks it.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{AccessKind, Addr, InstrId, Op, Place, Program, Thread, Ty};

/// What of a program is about one order of all accesses, if anything is; freed memory only where nobody `knows_lives` of objects.
pub fn one_order(program: &Program, knows_lives: bool) -> Option<&'static str> {
    let ops = || program.threads.iter().flat_map(|thread| thread.code.iter().map(|instr| &instr.op));
    if ops().any(|op| matches!(op, Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_))) {
        return Some("a transaction");
    }
    if !knows_lives && program.has_headers() {
        return Some("freed memory");
    }
    if program.locations.iter().any(|location| location.ty == Ty::Witness) {
        return Some("an assertion about the order of statements");
    }
    let updates = |thread: &Thread| {
        let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
        let stands = |begin| is_update(thread, begin) || program.revives(thread, begin);
        begins.into_iter().all(|(begin, _)| stands(InstrId::new(begin)))
    };
    if !program.threads.iter().all(updates) {
        return Some("an atomic section that is no read-modify-write of one location");
    }
    None
}

/// How far a path through a section is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Fresh,
    Loaded,
    Stored,
}

/// Whether the section that starts at `begin` is a read-modify-write of one location, or less.
pub fn is_update(thread: &Thread, begin: InstrId) -> bool {
    let mut addr: Option<&Addr> = None;
    let mut assigned: Vec<&Place> = Vec::new();
    let mut seen = Vec::new();
    let mut todo = vec![(InstrId(begin.0 + 1), Stage::Fresh)];
    while let Some((at, mut stage)) = todo.pop() {
        if seen.contains(&(at, stage)) {
            continue;
        }
        seen.push((at, stage));
        let op = &thread.code[at.index()].op;
        if matches!(op, Op::AtomicEnd) {
            continue;
        }
        if let Some(access) = op.access() {
            let next = if access.kind == AccessKind::Load { Stage::Loaded } else { Stage::Stored };
            let late = if access.kind == AccessKind::Store { stage == Stage::Stored } else { stage > Stage::Fresh };
            if late || addr.is_some_and(|addr| *addr != access.addr) {
                return false;
            }
            (addr, stage) = (Some(&access.addr), next);
        }
        assigned.extend(op.dst());
        for next in successors(op, at) {
            if next <= at {
                return false;
            }
            todo.push((next, stage));
        }
    }
    is_steady(addr, &assigned)
}

/// Whether an address means the same before and after these assignments.
fn is_steady(addr: Option<&Addr>, assigned: &[&Place]) -> bool {
    let Some(Addr::Indexed { index, .. }) = addr else { return true };
    let mut steady = true;
    index.for_each_var(&mut |place| {
        let own = place.registers();
        steady &= !assigned.iter().any(|other| other.registers().any(|register| own.contains(&register)));
    });
    steady
}
