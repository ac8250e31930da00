//! Which programs can be run by their own order.

use cyrano_engine::{Inexact, Refusal};
use cyrano_ir::dataflow::{successors, writes};
use cyrano_ir::{Addr, FenceSet, InstrId, Op, OwnOrder, Place, Program, ThreadId};

use crate::own::region::{MOST_UNITS, is_barrier, largest, registers_of};

/// Refuses what [`super::look`] cannot represent: an access that may go before the loads that its address or its operands come from,
/// atomic sections with branches or choices, partial fences, timestamps.
pub(crate) fn supports(program: &Program, order: &OwnOrder) -> Result<(), Refusal> {
    let refuse = |reason: String| Err(Refusal::Inexact(Inexact::OwnOrder(reason)));
    if program.has_timestamps() || program.setup.is_some() {
        return refuse("timestamps and setup threads do not go together with an order of the program's own".into());
    }
    for thread in program.thread_ids() {
        let name = &program.thread(thread).name;
        if largest(program, thread) > MOST_UNITS {
            return refuse(format!("thread {name} has more than {MOST_UNITS} accesses between two barriers"));
        }
        if let Some(pc) = odd_section(program, thread) {
            return refuse(format!("instruction {pc} of thread {name} decides within an atomic section"));
        }
        if let Some(pc) = unordered(program, thread, order) {
            return refuse(format!("instruction {pc} of thread {name} may go before a load that it depends on"));
        }
    }
    Ok(())
}

/// A branch, a jump or a choice within an atomic section, or a fence that is not a full one.
fn odd_section(program: &Program, thread: ThreadId) -> Option<usize> {
    let mut inside = false;
    program.thread(thread).code.iter().position(|instr| match &instr.op {
        Op::AtomicBegin => {
            inside = true;
            false
        }
        Op::AtomicEnd => {
            inside = false;
            false
        }
        Op::Branch { .. } | Op::Jump(_) | Op::Choose { .. } => inside,
        Op::Fence(set) => !set.contains(FenceSet::FULL),
        Op::Transaction(_) => true,
        _ => false,
    })
}

/// An access that its operands, its address or the place of its result do not keep behind the loads that they come from.
fn unordered(program: &Program, thread: ThreadId, order: &OwnOrder) -> Option<usize> {
    let code = &program.thread(thread).code;
    let registers = program.thread(thread).registers.len();
    let mut before: Vec<Option<Sources>> = vec![None; code.len()];
    before[0] = Some(vec![Vec::new(); registers]);
    let mut section: Option<usize> = None;
    for pc in 0..code.len() {
        let Some(mut sources) = before[pc].take() else { continue };
        let op = &code[pc].op;
        match op {
            Op::AtomicBegin => section = Some(pc),
            Op::AtomicEnd => section = None,
            _ if is_barrier(op) => sources.iter_mut().for_each(Vec::clear),
            _ => {}
        }
        let used = used(op, &sources);
        let own = |source: &u32| section.is_some_and(|begin| *source as usize >= begin);
        let kept = |source: &u32| own(source) || order.precedes(thread, InstrId(*source), InstrId::new(pc));
        if op.access_kind().is_some() && !used.iter().all(kept) {
            return Some(pc);
        }
        transfer(pc, op, &used, &mut sources);
        for next in successors(op, InstrId::new(pc)) {
            let slot = &mut before[next.index()];
            match slot {
                None => *slot = Some(sources.clone()),
                Some(known) => known.iter_mut().zip(&sources).for_each(|(a, b)| absorb(a, b)),
            }
        }
    }
    None
}

/// For each register the accesses that its value comes from.
type Sources = Vec<Vec<u32>>;

fn absorb(into: &mut Vec<u32>, from: &[u32]) {
    for source in from {
        if !into.contains(source) {
            into.push(*source);
        }
    }
}

/// What an instruction's operands, address and destination come from.
fn used(op: &Op, sources: &Sources) -> Vec<u32> {
    let mut used = Vec::new();
    let mut take = |register: usize| absorb(&mut used, &sources[register]);
    op.operands().into_iter().for_each(|operand| registers_of(operand, &mut take));
    if let Some(Addr::Indexed { index, .. }) = op.addr() {
        registers_of(index, &mut take);
    }
    if let Some(Place::Elem { index, .. }) = op.dst() {
        registers_of(index, &mut take);
    }
    used
}

fn transfer(pc: usize, op: &Op, used: &[u32], sources: &mut Sources) {
    let Some(write) = writes(op) else { return };
    let reads = op.access_kind().is_some();
    for register in write.registers() {
        let slot = &mut sources[register.index()];
        if write.is_definite() {
            slot.clear();
        }
        if reads {
            absorb(slot, &[pc as u32]);
        } else {
            absorb(slot, used);
        }
    }
}
