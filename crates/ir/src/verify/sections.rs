//! Invariant 6: atomic sections and operations, by a forward walk that knows for every reachable
//! instruction which sections it is in.
//!
//! The sections at an instruction are a fact about all paths to it, so there is nothing to join: the first
//! path decides and every other one must agree. This makes the walk linear.

use super::Errors;
use crate::blocks::{BlockProblem, Blocks};
use crate::dataflow::successors;
use crate::ids::InstrId;
use crate::op::Op;
use crate::program::Thread;

/// The sections that an instruction is in.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Inside {
    atomic: bool,
    operation: bool,
}

/// Checks one thread.
pub(super) fn check_thread(thread: &Thread, errors: &mut Errors) {
    let mut known: Vec<Option<Inside>> = vec![None; thread.code.len()];
    let mut disagrees = vec![false; thread.code.len()];
    let mut to_visit = vec![(InstrId(0), Inside::default())];
    while let Some((pc, inside)) = to_visit.pop() {
        // A target that does not exist is reported by the check of ids.
        let Some(slot) = known.get_mut(pc.index()) else {
            continue;
        };
        match *slot {
            None => {
                *slot = Some(inside);
                let op = &thread.code[pc.index()].op;
                for problem in problems(op, inside) {
                    errors.push_at(pc.index(), problem);
                }
                let after = after(op, inside);
                to_visit.extend(successors(op, pc).map(|next| (next, after)));
            }
            Some(before) if before != inside && !disagrees[pc.index()] => {
                disagrees[pc.index()] = true;
                let message = "paths to this instruction disagree on the sections it is in";
                errors.push_at(pc.index(), message);
            }
            Some(_) => {}
        }
    }
}

/// Invariant 12, for one thread.
pub(super) fn check_blocks(thread: &Thread, errors: &mut Errors) {
    for (pc, problem) in Blocks::of(thread).problems(thread) {
        let message = match problem {
            BlockProblem::Nested => "an atomic block within an atomic block",
            BlockProblem::Outside => "a mark of an atomic block outside of one",
            BlockProblem::CommitsTwice => "a path on which an atomic block commits twice",
            BlockProblem::NoCommit => "a path on which an atomic block ends without its commit point",
            BlockProblem::NothingCommits => "a commit point without an access before it in its block",
            BlockProblem::ChoiceCommits => "a choice between a commit point and the access before it",
            BlockProblem::Unfinished => "the thread halts within an atomic block",
        };
        errors.push_at(pc.index(), message);
    }
}

/// What is wrong with an instruction in these sections.
fn problems(op: &Op, inside: Inside) -> Vec<&'static str> {
    let Inside { atomic, operation } = inside;
    let rules: &[(bool, &'static str)] = match op {
        Op::AtomicBegin => &[(atomic, "an atomic section within an atomic section")],
        Op::AtomicEnd => &[(!atomic, "the end of an atomic section that has no begin")],
        Op::OperationBegin(_) => {
            &[(operation, "an operation within an operation"), (atomic, "an operation begins within an atomic section")]
        }
        Op::OperationEnd => &[
            (!operation, "the end of an operation that has no begin"),
            (atomic, "an operation ends within an atomic section"),
        ],
        Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) => {
            &[(atomic, "a mark of an atomic block within an atomic section")]
        }
        Op::Progress(_) => &[(atomic, "a progress mark within an atomic section")],
        Op::Fence(_) => &[(atomic, "a fence within an atomic section")],
        Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_) => {
            &[(atomic, "a transaction's event within an atomic section")]
        }
        Op::Halt => &[
            (atomic, "the thread halts within an atomic section"),
            (operation, "the thread halts within an operation"),
        ],
        _ => &[],
    };
    let broken = rules.iter().filter(|(broken, _)| *broken);
    broken.map(|(_, message)| *message).collect()
}

/// The sections after an instruction.
fn after(op: &Op, mut inside: Inside) -> Inside {
    match op {
        Op::AtomicBegin => inside.atomic = true,
        Op::AtomicEnd => inside.atomic = false,
        Op::OperationBegin(_) => inside.operation = true,
        Op::OperationEnd => inside.operation = false,
        _ => {}
    }
    inside
}
