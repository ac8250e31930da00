//! Weak compare-and-swaps: one that fails may have found what it expected, or not.
//!
//! A weak compare-and-swap is a choice and then a swap or a load ([`cyrano_ir::Op::Choose`]). If the load returns what is not expected, the swap would have failed, too: the two executions
//! differ by a choice that nobody sees, and one of them is enough (`weak-failures`).
//!
//! **Argument.** A thread that reads in such a load what is not expected is said to fail [*again*](Status::Again), if the swap in its place would read the same value with the same order, write nothing, and leave
//! the thread in front of the same instruction with the same registers, as far as they matter; that is tried ([`Runner::fails_again`]). Take an execution with such reads, and let each be that of the swap. It is
//! the same graph but for choices that nobody looks at: a read that writes nothing is a read, under `sc`, `ra` and `rc11` (not under `tso` and `pso`, where a swap is a fence even if it fails). So the execution is allowed,
//! shows and does the same, and nobody in it fails again. So executions in which somebody does are not counted and not looked at. They are not left before they
//! are whole, as a write that comes later may be what was expected; unless the read was not added in the maximal way, so that it stays ([`crate::stale`]).

use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{AccessKind, Change, FinalVar, InstrId, LocId, Op, Program, Tags, ThreadId};

use super::{Next, Runner, Status};
use crate::code::Code;
use crate::faults::Fault;
use crate::graph::Graph;
use crate::run::Run;

/// The choices of a thread between a compare-and-swap and a load, and which registers matter where.
#[derive(Clone, Debug)]
pub(crate) struct Weak {
    choices: Vec<bool>,
    live: Vec<Box<[usize]>>,
}

impl Weak {
    /// Those of a thread, if it has any, of which these registers are looked at in the end.
    pub(crate) fn new(program: &Program, thread: ThreadId, shown: &[FinalVar]) -> Option<Self> {
        let code = &program.thread(thread).code;
        let choices: Vec<bool> = (0..code.len()).map(|at| is_weak(program, thread, InstrId::new(at))).collect();
        if !choices.contains(&true) {
            return None;
        }
        let at_exit = shown.iter().filter_map(|var| match var {
            FinalVar::Reg(owner, register) if *owner == thread => Some(*register),
            _ => None,
        });
        let liveness = Liveness::new(program.thread(thread), at_exit);
        let live = |at| liveness.live_before(InstrId::new(at)).iter().map(|register| register.index()).collect();
        Some(Self { choices, live: (0..code.len()).map(live).collect() })
    }
}

/// Whether a program has weak compare-and-swaps.
pub(crate) fn has_weak(program: &Program) -> bool {
    let places =
        program.thread_ids().flat_map(|thread| (0..program.thread(thread).code.len()).map(move |at| (thread, at)));
    { places }.any(|(thread, at)| is_weak(program, thread, InstrId::new(at)))
}

/// Whether an instruction chooses between a compare-and-swap and a load.
fn is_weak(program: &Program, thread: ThreadId, at: InstrId) -> bool {
    let op = |at: InstrId| &program.instr(thread, at).op;
    let Op::Choose { from, .. } = op(at) else { return false };
    let Op::Branch { then_to, else_to, .. } = op(InstrId(at.0 + 1)) else { return false };
    let first = |mut at: InstrId| {
        while let Op::Assign { .. } = op(at) {
            at = InstrId(at.0 + 1);
        }
        op(at).access()
    };
    let swaps = first(*then_to).is_some_and(|access| matches!(access.change, Some(Change::Cas { .. })));
    let loads = first(*else_to).is_some_and(|access| access.kind == AccessKind::Load);
    from.len() == 2 && swaps && loads
}

impl Runner {
    /// Whether the read that was just made is the load of a weak compare-and-swap, and the swap would have read this value, too, and failed.
    pub(super) fn fails_again(&self, code: &Code<'_>, loc: LocId, value: i128) -> bool {
        let Some(weak) = &code.weak else { return false };
        let Some(chosen) = self.events.len().checked_sub(2) else { return false };
        let at = self.instr_at(chosen);
        let Op::Choose { from, dst } = code.op(at) else { return false };
        if !weak.choices[at.index()] || code.op(self.instr_at(chosen + 1)).access_kind() != Some(AccessKind::Load) {
            return false;
        }
        let before = |events: usize| &self.registers[events * code.stride..][..code.stride];
        let own =
            dst.register(&before(chosen + 1)[..code.registers]).map(|register| before(chosen + 1)[register.index()]);
        let Some(other) = from.iter().find(|value| own.is_ok_and(|own| own != **value)) else { return false };
        let registers = before(chosen).to_vec();
        let mut swap = Self { events: Vec::new(), frames: vec![self.frames[chosen]], registers };
        swap.choose(code, 0, *other);
        let Next::Read(of) = *swap.next() else { return false };
        let fails = of == loc && swap.kind(code) == Some(AccessKind::Rmw);
        if code.fault == Some(Fault::AnyFailure) {
            return fails;
        }
        if !fails || !swap.reads_like(self, code, (loc, value)) {
            return false;
        }
        swap.read(code, 0, loc, value);
        let (one, other) = (self.frame(), swap.frame());
        let same = one.pc == other.pc && self.status() == swap.status() && one.failed == other.failed;
        let (kept, made) = (self.registers.len() - code.stride, swap.registers.len() - code.stride);
        let (kept, made) = (&self.registers[kept..], &swap.registers[made..]);
        let counted = code.registers..code.kept;
        let live = &weak.live[one.pc.index()];
        same && !other.pending && kept[counted.clone()] == made[counted] && live.iter().all(|at| kept[*at] == made[*at])
    }

    /// Whether its next read is of the same order as the last one of another runner.
    fn reads_like(&self, other: &Self, code: &Code<'_>, (loc, value): (LocId, i128)) -> bool {
        let frames = other.events.len() - 1;
        let registers = other.registers[frames * code.stride..][..code.stride].to_vec();
        let load = Self { events: Vec::new(), frames: vec![other.frames[frames]], registers };
        // A read-modify-write synchronises by itself only where nothing else is said.
        let said = |runner: &Self| runner.reading(code, loc, value).1.spoken().without(Tags::SYNC);
        said(self) == said(&load)
    }
}

impl<const W: usize, R: Run> Graph<'_, W, R> {
    /// Whether some thread fails again, so that there is another execution like this one.
    pub(crate) fn is_again(&self) -> bool {
        self.runners.iter().any(|runner| runner.status() == Some(Status::Again))
    }
}
