//! Jumps: labels to positions, jumps to jumps, unreachable instructions.
//!
//! A branch is kept even if both targets are the same: memory models see the control dependency.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Instr, InstrId, Op};

/// Replaces labels by their positions.
pub(crate) fn resolve(mut code: Vec<Instr>, labels: &[usize]) -> Vec<Instr> {
    let last = code.len().saturating_sub(1);
    let position = |label: usize| labels.get(label).copied().filter(|at| *at <= last).unwrap_or(last);
    code.iter_mut().for_each(|instr| retarget(&mut instr.op, &position));
    compact(code)
}

fn retarget(op: &mut Op, to: &dyn Fn(usize) -> usize) {
    match op {
        Op::Jump(target) => *target = InstrId::new(to(target.index())),
        Op::Branch { then_to, else_to, .. } => {
            *then_to = InstrId::new(to(then_to.index()));
            *else_to = InstrId::new(to(else_to.index()));
        }
        _ => {}
    }
}

/// Whether each instruction is the target of a jump or branch.
pub(super) fn targets(code: &[Instr]) -> Vec<bool> {
    let mut found = vec![false; code.len()];
    for instr in code {
        match &instr.op {
            Op::Jump(to) => found[to.index()] = true,
            Op::Branch { then_to, else_to, .. } => {
                found[then_to.index()] = true;
                found[else_to.index()] = true;
            }
            _ => {}
        }
    }
    found
}

/// Jumps go where they end, and what is not reached or leads to the next instruction goes. The last instruction is a `halt`.
pub(super) fn compact(mut code: Vec<Instr>) -> Vec<Instr> {
    let ends: Vec<_> = (0..code.len()).map(|at| end_of(&code, at)).collect();
    code.iter_mut().for_each(|instr| retarget(&mut instr.op, &|at| ends[at]));
    let mut kept = reachable(&code);
    let mut next_kept = code.len();
    for at in (0..code.len()).rev().filter(|at| kept[*at]).collect::<Vec<_>>() {
        if matches!(code[at].op, Op::Jump(target) if target.index() == next_kept) {
            kept[at] = false;
        } else {
            next_kept = at;
        }
    }
    let mut positions = Vec::with_capacity(code.len());
    let mut count = 0;
    for kept in &kept {
        positions.push(count);
        count += usize::from(*kept);
    }
    let mut code: Vec<_> = code.into_iter().zip(kept).filter_map(|(instr, kept)| kept.then_some(instr)).collect();
    code.iter_mut().for_each(|instr| retarget(&mut instr.op, &|at| positions[at]));
    code
}

/// The first instruction from here that is not a jump; a circle of jumps ends where it began.
fn end_of(code: &[Instr], start: usize) -> usize {
    let mut at = start;
    for _ in 0..code.len() {
        match code[at].op {
            Op::Jump(target) => at = target.index(),
            _ => return at,
        }
    }
    start
}

fn reachable(code: &[Instr]) -> Vec<bool> {
    let mut reached = vec![false; code.len()];
    let mut pending = vec![0];
    while let Some(at) = pending.pop() {
        if at < code.len() && !std::mem::replace(&mut reached[at], true) {
            pending.extend(successors(&code[at].op, InstrId::new(at)).map(InstrId::index));
        }
    }
    reached
}
