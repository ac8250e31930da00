//! Where the ways of a branch meet again: the first instruction that every way from it to the end of the thread passes.

use super::successors;
use crate::ids::InstrId;
use crate::op::Op;
use crate::program::Thread;

/// For each instruction that branches where its ways meet, if they do; a way that goes on for ever meets no other.
pub fn joins(thread: &Thread) -> Vec<Option<InstrId>> {
    let count = thread.code.len();
    let after: Vec<Vec<usize>> = thread
        .code
        .iter()
        .enumerate()
        .map(|(at, instr)| successors(&instr.op, InstrId::new(at)).map(InstrId::index).collect())
        .collect();
    // What every way from an instruction passes, itself included: the greatest solution.
    let mut passed = vec![vec![true; count]; count];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..count).rev() {
            let row: Vec<bool> = (0..count)
                .map(|other| other == at || !after[at].is_empty() && after[at].iter().all(|next| passed[*next][other]))
                .collect();
            changed |= row != passed[at];
            passed[at] = row;
        }
    }
    let join = |at: usize| {
        let candidates = (0..count).filter(|other| *other != at && passed[at][*other]);
        // The nearest of them is the one that passes all the others.
        let nearest = candidates.clone().find(|first| candidates.clone().all(|other| passed[*first][other]));
        nearest.map(InstrId::new)
    };
    let branches = |at: usize| matches!(thread.code[at].op, Op::Branch { .. });
    (0..count).map(|at| if branches(at) { join(at) } else { None }).collect()
}
