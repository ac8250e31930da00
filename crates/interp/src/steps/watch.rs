//! Steps for an invariant: where threads rest so that no moment is passed unseen (`cyrano_engine::moments` defines moments).
//!
//! An instruction is *seen* if its thread stands at other points of the invariant behind it than before it, if it may write a register that the invariant
//! reads, or if an atomic section begins with it. A thread rests before every instruction that is seen, and to execute it is a step of its own; so is to issue it, where
//! it is an access or a section that is deferred. In between a thread stands at the same points, with the same named registers, and memory is as it was: what the
//! invariant says of the configuration at the end it says of every moment on the way.
//!
//! A thread is not past a fence as long as an access before it is outstanding that nothing behind the fence may overtake (rule 2): it rests there. No execution is lost
//! by that, for whatever stands behind the fence comes behind that access in every memory order.
//!
//! So every moment has a configuration in which the invariant sees the same. To have more rests than needed would cost states, to have fewer would lose moments.

use cyrano_engine::configuration::{Configuration, Deferred};
use cyrano_ir::dataflow::{successors, writes};
use cyrano_ir::{FenceSet, InstrId, Invariant, Op, Program, ThreadId};

use super::{Beyond, Step, Steps};

/// For every thread and instruction, whether the invariant sees it executed.
pub(super) type Seen = Vec<Vec<bool>>;

/// What an invariant sees.
pub(super) fn seen(program: &Program, invariant: &Invariant) -> Seen {
    program.thread_ids().map(|thread| seen_of(program, invariant, thread)).collect()
}

fn seen_of(program: &Program, invariant: &Invariant, thread: ThreadId) -> Vec<bool> {
    let code = &program.thread(thread).code;
    let points: Vec<_> = invariant.points().into_iter().map(|point| program.point(point)).collect();
    let stands = |at: InstrId| points.iter().map(|point| point.thread == thread && point.has(at)).collect::<Vec<_>>();
    let registers = invariant.registers(thread);
    let ids = || (0..code.len()).map(InstrId::new);
    if registers.is_empty() && !ids().any(|at| stands(at).contains(&true)) {
        return vec![false; code.len()];
    }
    let is_seen = |at: InstrId| {
        let op = &code[at.index()].op;
        matches!(op, Op::AtomicBegin)
            || successors(op, at).any(|next| stands(next) != stands(at))
            || writes(op).into_iter().flat_map(|write| write.registers()).any(|register| registers.contains(&register))
    };
    ids().map(is_seen).collect()
}

impl Steps<'_> {
    /// Whether a thread rests before an instruction because somebody sees it executed.
    pub(super) fn is_seen(&self, thread: ThreadId, pc: InstrId) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen[thread.index()].get(pc.index()) == Some(&true))
    }

    /// Whether a thread with this queue is not past a fence.
    pub(super) fn waits_at_fence(&self, thread: ThreadId, queue: &[Deferred], fence: FenceSet) -> bool {
        self.seen.is_some()
            && (0..queue.len()).any(|position| {
                let Some((kind, _)) = self.waiting(thread, &queue[position]) else { return false };
                let fences = queue[position..].iter().fold(fence, |all, deferred| match deferred {
                    Deferred::Fence(kinds) => all | *kinds,
                    Deferred::Op(_) | Deferred::Mark(_) => all,
                });
                !self.model.reordering().may_be_outstanding(kind, fences)
            })
    }

    /// The ways in which a thread leaves an instruction that it rests before only because it is seen, and whether it can do nothing else there.
    pub(super) fn leave(&self, at: &Configuration, thread: ThreadId) -> Result<(Vec<Step>, bool), Beyond> {
        let pc = at.threads[thread.index()].pc;
        let mut ways = self.run_from(Step::new(thread, pc, at.clone()), thread, true)?;
        let all = ways.len();
        ways.retain(|way| way.wrong.is_some() || way.to != *at);
        let left = ways.len() == all;
        Ok((ways, left))
    }
}
