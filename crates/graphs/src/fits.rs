//! What a program has that graphs do not.
//!
//! Models about relations know sections that are read-modify-writes ([`one_order`]). With one order of all accesses a section may have any
//! accesses ([`crate::units`]), and objects may be freed ([`crate::freed`]); but others must not see what a section has written that then waits.

use cyrano_engine::{is_update, one_order};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{AccessKind, InstrId, Op, Program, Tags, Thread, Ty};

use crate::names::Names;
use crate::setup::starts;

/// What a program has that graphs do not, under a model with one order of all accesses or under one about relations, which may know what happens before what.
pub(crate) fn unfit(program: &Program, ordered: bool, knows_lives: bool) -> Option<&'static str> {
    let sections = || program.threads.iter().flat_map(|thread| begins_of(thread).map(move |begin| (thread, begin)));
    let in_setup = program.setup.is_some_and(|setup| is_exclusive(program.thread(setup)));
    if has_exclusives(program) && (ordered || in_setup) {
        return Some("exclusive pairs");
    }
    if sections().any(|(thread, begin)| stops_late(thread, begin)) {
        return Some("an atomic section that may stop after it has written, or has a loop");
    }
    if starts(program, 0, &Names::default()).is_err() {
        return Some("a setup thread that may not come to its end");
    }
    if !ordered {
        return one_order(program, knows_lives);
    }
    let ops = || program.threads.iter().flat_map(|thread| thread.code.iter().map(|instr| &instr.op));
    if ops().any(|op| matches!(op, Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_))) {
        return Some("a transaction");
    }
    let has_witness = program.locations.iter().any(|location| location.ty == Ty::Witness);
    has_witness.then_some("an assertion about the order of statements")
}

/// Whether a program has read-modify-writes of two instructions.
pub(crate) fn has_exclusives(program: &Program) -> bool {
    program.threads.iter().any(is_exclusive)
}

fn is_exclusive(thread: &Thread) -> bool {
    let mut accesses = thread.code.iter().filter_map(|instr| instr.op.access());
    accesses.any(|access| access.tags.contains(Tags::EXCLUSIVE))
}

fn begins_of(thread: &Thread) -> impl Iterator<Item = InstrId> {
    let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
    begins.map(|(at, _)| InstrId::new(at))
}

/// Whether some section is held together that is no read-modify-write.
pub(crate) fn has_units(program: &Program) -> bool {
    program.threads.iter().any(|thread| begins_of(thread).any(|begin| is_unit(thread, begin)))
}

/// Whether a section is no read-modify-write for sure: on some path it has loaded and does not store, or it has accesses to several locations.
pub(crate) fn is_unit(thread: &Thread, begin: InstrId) -> bool {
    let stores = |_, op: &Op| op.access_kind().is_some_and(AccessKind::writes);
    !is_update(thread, begin) || thread.section_has(begin, stores) && may_only_load(thread, begin)
}

/// Whether a path through a section loads and does not store.
fn may_only_load(thread: &Thread, begin: InstrId) -> bool {
    any_path(thread, begin, |op, seen| matches!(op, Op::AtomicEnd) && seen.loads && !seen.writes)
}

/// Whether a section may wait, or be cut off, after it has written; or jumps back.
fn stops_late(thread: &Thread, begin: InstrId) -> bool {
    any_path(thread, begin, |op, seen| seen.back || seen.writes && matches!(op, Op::Assume(_) | Op::Limit { .. }))
}

/// What a path through a section has met.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    loads: bool,
    writes: bool,
    back: bool,
}

fn any_path(thread: &Thread, begin: InstrId, is: impl Fn(&Op, Seen) -> bool) -> bool {
    let mut done = Vec::new();
    let mut todo = vec![(InstrId(begin.0 + 1), Seen::default())];
    while let Some((at, mut seen)) = todo.pop() {
        if done.contains(&(at, seen)) {
            continue;
        }
        done.push((at, seen));
        let op = &thread.code[at.index()].op;
        if is(op, seen) {
            return true;
        }
        if matches!(op, Op::AtomicEnd) {
            continue;
        }
        if let Some(kind) = op.access_kind() {
            (seen.loads, seen.writes) = (seen.loads || kind.reads(), seen.writes || kind.writes());
        }
        todo.extend(successors(op, at).map(|next| (next, Seen { back: seen.back || next <= at, ..seen })));
    }
    false
}
