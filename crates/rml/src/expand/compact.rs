//! Labels to positions, without the instructions that nothing reaches and the jumps that lead nowhere new.
//!
//! A branch is never removed, not even one whose two targets are the same: memory models see the control dependency. A pinned jump is not
//! removed either, as long as something reaches it: an invariant asks who stands there.

use std::collections::BTreeSet;

use cyrano_ir::{Instr, InstrId, Op};

/// Resolves targets, which are positions in `labels`, and drops superfluous instructions. The last one must be `Halt`. Returned with the code is
/// for each old position the new one, if it was kept.
pub(crate) fn compact(
    mut code: Vec<Instr>,
    labels: &[usize],
    pinned: &BTreeSet<usize>,
) -> (Vec<Instr>, Vec<Option<usize>>) {
    resolve(&mut code, labels);
    let ends = jump_ends(&code, pinned);
    for instr in &mut code {
        retarget(&mut instr.op, |target| ends[target]);
    }
    let mut kept = reachable(&code);
    drop_jumps_to_next(&code, &mut kept, pinned);
    renumber(code, &kept)
}

/// Lets jumps and branches go to where their labels were placed.
pub(crate) fn resolve(code: &mut [Instr], labels: &[usize]) {
    for instr in code {
        retarget(&mut instr.op, |target| labels[target]);
    }
}

fn retarget(op: &mut Op, to: impl Fn(usize) -> usize) {
    match op {
        Op::Jump(target) => *target = InstrId::new(to(target.index())),
        Op::Branch { then_to, else_to, .. } => {
            *then_to = InstrId::new(to(then_to.index()));
            *else_to = InstrId::new(to(else_to.index()));
        }
        _ => {}
    }
}

/// For every position the first instruction that is not a jump, following jumps; a circle of jumps ends somewhere on itself.
fn jump_ends(code: &[Instr], pinned: &BTreeSet<usize>) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut ends = vec![UNKNOWN; code.len()];
    let mut path = Vec::new();
    for start in 0..code.len() {
        let mut at = start;
        let end = loop {
            if ends[at] != UNKNOWN {
                break ends[at];
            }
            // Should the path come back to this position, it ends here.
            ends[at] = at;
            path.push(at);
            match code[at].op {
                Op::Jump(target) if !pinned.contains(&at) => at = target.index(),
                _ => break at,
            }
        };
        path.drain(..).for_each(|position| ends[position] = end);
    }
    ends
}

fn reachable(code: &[Instr]) -> Vec<bool> {
    let mut reached = vec![false; code.len()];
    let mut pending = vec![0];
    while let Some(at) = pending.pop() {
        if at >= code.len() || std::mem::replace(&mut reached[at], true) {
            continue;
        }
        match &code[at].op {
            Op::Jump(target) => pending.push(target.index()),
            Op::Branch { then_to, else_to, .. } => pending.extend([then_to.index(), else_to.index()]),
            Op::Halt => {}
            _ => pending.push(at + 1),
        }
    }
    reached
}

/// From the end backwards, so that a run of superfluous jumps goes at once.
fn drop_jumps_to_next(code: &[Instr], kept: &mut [bool], pinned: &BTreeSet<usize>) {
    let mut next_kept = code.len();
    for at in (0..code.len()).rev() {
        if !kept[at] {
            continue;
        }
        if matches!(code[at].op, Op::Jump(target) if target.index() == next_kept && !pinned.contains(&at)) {
            kept[at] = false;
        } else {
            next_kept = at;
        }
    }
}

/// A target that was dropped was a jump to the next kept instruction, so that is where it goes.
fn renumber(code: Vec<Instr>, kept: &[bool]) -> (Vec<Instr>, Vec<Option<usize>>) {
    let mut positions = Vec::with_capacity(kept.len());
    let mut next = 0;
    for kept in kept {
        positions.push(next);
        next += usize::from(*kept);
    }
    let mut code: Vec<_> = code.into_iter().zip(kept).filter_map(|(instr, kept)| kept.then_some(instr)).collect();
    for instr in &mut code {
        retarget(&mut instr.op, |target| positions[target]);
    }
    (code, positions.into_iter().zip(kept).map(|(position, kept)| kept.then_some(position)).collect())
}
