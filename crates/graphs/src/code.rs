//! What is known of a thread before it runs: its loops and sections, and where things are kept.

use std::sync::Arc;

use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{AccessKind, FinalVar, InstrId, LocId, Op, Program, ThreadId};

use crate::faults::Fault;
use crate::fits::is_unit;
use crate::fresh::Fresh;
use crate::names::Names;
use crate::races::may_race_in_loop;
use crate::symmetry::moves::Moves;
use crate::thread::Writing;
use crate::thread::weak::Weak;

/// How threads are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    /// How often each may go around a loop.
    pub(crate) iterations: usize,
    /// If iterations that change nothing are left out, what is looked at in the end.
    pub(crate) idle: Option<&'a [FinalVar]>,
    /// Whether there is one order of all accesses, so that a section may have any.
    pub(crate) ordered: bool,
    /// The choices whose values have names.
    pub(crate) names: &'a Names,
    /// Whether an iteration that changes nothing may choose: that a thread always chooses to go round is not its end.
    pub(crate) idles_by_choice: bool,
    /// Whether the model knows races, which idle iterations may be in ([`crate::races`]).
    pub(crate) races: bool,
    /// If weak compare-and-swaps that fail again are left out ([`crate::thread::weak`]), what is looked at in the end.
    pub(crate) weak: Option<&'a [FinalVar]>,
    /// A bug that is there on purpose.
    pub(crate) fault: Option<Fault>,
}

/// What is known of a thread before it runs.
#[derive(Clone, Debug)]
pub(crate) struct Code<'p> {
    pub(crate) program: &'p Program,
    pub(crate) thread: ThreadId,
    /// For each instruction that jumps back, where it is counted how often; behind the registers.
    pub(crate) counters: Vec<Option<usize>>,
    /// For each beginning of a section, whether it is a read-modify-write.
    pub(crate) updates: Vec<bool>,
    /// For each beginning of a section, whether it is none, as it only makes an object alive again ([`cyrano_ir::guards`]).
    pub(crate) revives: Vec<bool>,
    /// Whether the program has objects that can be freed.
    pub(crate) has_headers: bool,
    /// Whether some section is no read-modify-write, and yet held together.
    pub(crate) has_units: bool,
    /// For each instruction that is jumped back to, the registers that matter there.
    pub(crate) heads: Vec<Option<Box<[usize]>>>,
    pub(crate) idles_by_choice: bool,
    /// Whether the thread goes on after one idle iteration.
    pub(crate) lingers: bool,
    pub(crate) registers: usize,
    /// The values that change places with equal threads.
    pub(crate) moves: Moves,
    /// Where the registers are kept as they were when a loop began; behind the counters.
    pub(crate) kept: usize,
    pub(crate) stride: usize,
    pub(crate) iterations: i128,
    /// The choices whose values have names.
    pub(crate) names: Names,
    /// The objects that threads make for themselves, and for each loop what is overwritten in it.
    pub(crate) fresh: Option<Arc<Fresh>>,
    pub(crate) dead: Vec<Box<[LocId]>>,
    /// Its weak compare-and-swaps, if those that fail again are left out.
    pub(crate) weak: Option<Arc<Weak>>,
    /// A bug that is there on purpose.
    pub(crate) fault: Option<Fault>,
}

impl<'p> Code<'p> {
    /// A thread of a program.
    pub(crate) fn new(program: &'p Program, thread: ThreadId, rules: Rules<'_>) -> Self {
        let Rules { iterations, idle, ordered, races, idles_by_choice, names, weak, fault } = rules;
        let code = &program.thread(thread).code;
        let registers = program.thread(thread).registers.len();
        let mut stride = registers;
        let mut counters = vec![None; code.len()];
        let mut is_head = vec![false; code.len()];
        for (at, instr) in code.iter().enumerate() {
            let targets = match &instr.op {
                Op::Branch { then_to, else_to, .. } => [*then_to, *else_to],
                Op::Jump(to) => [*to; 2],
                _ => continue,
            };
            for back in targets.into_iter().filter(|to| to.index() <= at) {
                is_head[back.index()] = idle.is_some();
                if counters[at].is_none() {
                    counters[at] = Some(stride);
                    stride += 1;
                }
            }
        }
        let kept = stride;
        stride += if is_head.contains(&true) { registers } else { 0 };
        let heads = live_at(program, thread, &is_head, idle.unwrap_or_default());
        let stores = |_, op: &Op| op.access_kind().is_some_and(AccessKind::writes);
        let begins = |at: usize| matches!(code[at].op, Op::AtomicBegin);
        let is_unit = |at: usize| ordered && begins(at) && is_unit(program.thread(thread), InstrId::new(at));
        let units: Vec<bool> = (0..code.len()).map(is_unit).collect();
        let revives = |at: usize| !ordered && begins(at) && program.revives(program.thread(thread), InstrId::new(at));
        let revives = (0..code.len()).map(revives).collect();
        let updates =
            |at: usize| begins(at) && !units[at] && program.thread(thread).section_has(InstrId::new(at), stores);
        let updates = (0..code.len()).map(updates).collect();
        let has_units = units.contains(&true);
        let lingers = fault != Some(Fault::NoLinger)
            && races
            && heads.iter().any(Option::is_some)
            && may_race_in_loop(program, thread);
        let iterations = i128::try_from(iterations).unwrap_or(i128::MAX);
        let (moves, names) = (Moves::default(), names.clone());
        let weak = weak.and_then(|shown| Weak::new(program, thread, shown)).map(Arc::new);
        Self {
            program,
            thread,
            counters,
            updates,
            revives,
            has_headers: program.has_headers(),
            has_units,
            heads,
            idles_by_choice,
            lingers,
            registers,
            moves,
            kept,
            stride,
            iterations,
            names,
            fresh: None,
            dead: Vec::new(),
            weak,
            fault,
        }
    }

    /// With the objects that threads make for themselves.
    pub(crate) fn with(&mut self, fresh: &Arc<Fresh>) {
        let heads: Vec<bool> = self.heads.iter().map(Option::is_some).collect();
        self.dead = fresh.dead_at(self.program, self.thread, &heads);
        self.lingers = false;
        self.fresh = Some(Arc::clone(fresh));
    }

    /// Whether a thread that has published these objects overwrites what it writes in a loop that begins there.
    pub(crate) fn overwrites(&self, head: Option<(InstrId, u32)>, published: u64, writing: &Writing) -> bool {
        let (Some(fresh), Some((head, _))) = (&self.fresh, head) else { return false };
        let own = writing.own && writing.half.is_none();
        own && fresh.is_dead((self.thread.index(), published), &self.dead[head.index()], writing.loc, writing.tags)
    }

    /// What a thread has published once it has written this.
    pub(crate) fn publishes(&self, value: i128) -> u64 {
        self.fresh.as_ref().map_or(0, |fresh| fresh.publishes(self.thread.index(), value))
    }

    pub(crate) fn op(&self, at: InstrId) -> &'p Op {
        &self.program.instr(self.thread, at).op
    }
}

/// For each of these instructions the registers that matter there.
fn live_at(program: &Program, thread: ThreadId, wanted: &[bool], shown: &[FinalVar]) -> Vec<Option<Box<[usize]>>> {
    let at_exit = shown.iter().filter_map(|var| match var {
        FinalVar::Reg(owner, register) if *owner == thread => Some(*register),
        _ => None,
    });
    let liveness = Liveness::new(program.thread(thread), at_exit);
    let live = |at| liveness.live_before(InstrId::new(at)).iter().map(|register| register.index()).collect();
    wanted.iter().enumerate().map(|(at, wanted)| wanted.then(|| live(at))).collect()
}
