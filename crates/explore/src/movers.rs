//! Movers (Lipton's reduction; Flanagan, sections 2 and 7): the cheap proof that a block is atomic, tried before the shadow.
//!
//! **Argument.** Take a block whose steps before its commit are *right movers*: wherever such a step is followed by a step of another
//! thread, the two can be taken in the other order and lead to the same state. And whose steps behind its commit are *left movers*: wherever one
//! follows a step of another thread, it could have come first. Then in every execution the steps of each run of the block can be
//! brought together around its commit, one exchange at a time, without changing where the execution leads or the order of commits. An exchange
//! leads to a state that can be reached as well, and the moved step does there what it did, because the thread's own part of the
//! resulting state is the same, results that it hands on included; so the argument goes on from there. What has become consecutive is the serial run in the order of commits.
//!
//! Both conditions are looked up in all reachable states of the program itself, without a shadow, step against step, where nothing is
//! deferred (`sc`). A run that has committed has to be able to end: behind a commit point there may be neither a jump back nor anything that
//! waits, or the block does not count as proven.
//!
//! If all blocks are proven, that is the answer; if not, the shadow decides, and the answer says which blocks movers would have settled.
//! The search ends as soon as no block is left to be proven.

use std::collections::VecDeque;

use cyrano_engine::{Limits, Progress, Query, Stats, Watch};
use cyrano_ir::{Op, Program, Thread};
use rustc_hash::FxHashSet;

use crate::Explore;
use crate::machine::Machine;
use crate::shadow::Shadows;
use crate::state::State;
use crate::step::{Stepper, Successors};

/// Beyond this many states the shadow is asked instead.
const MOST_STATES: usize = 1 << 20;

/// What movers prove.
pub(crate) struct Proof {
    /// The blocks by name, each with whether all of its texts were proven.
    pub blocks: Vec<(String, bool)>,
    pub stats: Stats,
}

impl Proof {
    /// Whether nothing is left for the shadow.
    pub fn is_complete(&self) -> bool {
        !self.blocks.is_empty() && self.blocks.iter().all(|(_, proven)| *proven)
    }
}

/// Looks at all states; nothing if that is not possible here.
pub(crate) fn prove(config: &Explore, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Option<Proof> {
    let Query { program, model, .. } = query;
    let config = Explore { thread_symmetry: false, timestamps: false, ..config.clone() };
    let machine = Machine::new(program, model, &config, None, limits.deferred, None);
    if machine.defers_any() || model.serial || model.own_order || program.setup.is_some() {
        return None;
    }
    let shadows = Shadows::of(program);
    let blocks = Texts::of(program, &shadows);
    let search = Search { m: &machine, stepper: Stepper::new(&machine), shadows: &shadows, blocks, committed: false };
    search.run(limits, watch)
}

/// The blocks by name, none of them proven.
pub(crate) fn unproven(program: &Program) -> Vec<(String, bool)> {
    let texts = Texts::of(program, &Shadows::of(program));
    texts.by_name().into_iter().map(|(name, _)| (name, false)).collect()
}

/// The blocks by thread and place.
struct Texts {
    /// For each thread and instruction the number of its block.
    at: Vec<Vec<Option<usize>>>,
    names: Vec<String>,
    open: Vec<bool>,
}

impl Texts {
    fn of(program: &Program, shadows: &Shadows) -> Self {
        let mut texts = Self { at: Vec::new(), names: Vec::new(), open: Vec::new() };
        for (thread, marks) in program.threads.iter().zip(&shadows.threads) {
            let mut current = None;
            let mut at = Vec::with_capacity(thread.code.len());
            for (pc, instr) in thread.code.iter().enumerate() {
                if let Op::BlockBegin(name) = &instr.op {
                    current = Some(texts.names.len());
                    texts.names.push(name.clone());
                    texts.open.push(true);
                }
                at.push(current.filter(|_| marks.inside[pc]));
                let behind = marks.inside[pc] && !marks.uncommitted[pc];
                if let Some(block) = current.filter(|_| behind && may_not_end(thread, pc)) {
                    texts.open[block] = false;
                }
            }
            texts.at.push(at);
        }
        texts
    }

    fn refute(&mut self, thread: usize, pc: u32) {
        if let Some(block) = self.at[thread][pc as usize] {
            self.open[block] = false;
        }
    }

    fn by_name(&self) -> Vec<(String, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        for (name, open) in self.names.iter().zip(&self.open) {
            match names.iter_mut().find(|(known, _)| known == name) {
                Some((_, proven)) => *proven &= open,
                None => names.push((name.clone(), *open)),
            }
        }
        names
    }
}

/// Whether an instruction behind a commit point could keep a run from ending.
fn may_not_end(thread: &Thread, pc: usize) -> bool {
    match &thread.code[pc].op {
        Op::Jump(to) => to.index() <= pc,
        Op::Branch { then_to, else_to, .. } => then_to.index() <= pc || else_to.index() <= pc,
        Op::Assume(_) | Op::Limit { .. } => true,
        _ => false,
    }
}

/// When a step is taken, seen from its block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the commit: it has to be a right mover.
    Before,
    /// Behind it: a left mover.
    Behind,
    /// With it, or outside of blocks.
    Free,
}

/// A step: whose, when, from which instruction, and where it leads.
struct Step {
    thread: usize,
    pc: u32,
    phase: Phase,
    state: State,
    bytes: Vec<u8>,
    handed_on: Vec<i128>,
}

impl Step {
    /// Whether it is a step of the same thread, with the same results.
    fn hands_on_like(&self, other: &Self) -> bool {
        self.thread == other.thread && self.handed_on == other.handed_on
    }
}

struct Search<'m> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    shadows: &'m Shadows,
    blocks: Texts,
    committed: bool,
}

impl Search<'_> {
    fn run(mut self, limits: &Limits, watch: &dyn Watch) -> Option<Proof> {
        let started = std::time::Instant::now();
        let mut out = Successors::default();
        self.stepper.initial(&mut out);
        let mut seen: FxHashSet<Box<[u8]>> = FxHashSet::default();
        let mut queue = VecDeque::new();
        let mut bytes = 0;
        let mut transitions = 0;
        for successor in out.iter_mut() {
            if successor.event.is_some() {
                return None;
            }
            let state = std::mem::take(&mut successor.state);
            seen.insert(self.bytes(&state).into());
            queue.push_back(state);
        }
        let mut expanded = 0u64;
        while let Some(state) = queue.pop_front() {
            if !self.blocks.open.contains(&true) {
                break;
            }
            expanded += 1;
            if expanded.is_multiple_of(256) {
                watch.progress(Progress { states: seen.len() as u64, frontier: queue.len() as u64, depth: 0, bytes });
                if limits.exceeded(bytes).is_some() || seen.len() > MOST_STATES {
                    return None;
                }
            }
            let steps = self.steps(&state)?;
            transitions += steps.len() as u64;
            self.exchange(&steps)?;
            for step in steps {
                if !seen.contains(step.bytes.as_slice()) {
                    bytes += (step.bytes.len() + 2 * size_of::<State>() + 64) as u64;
                    seen.insert(step.bytes.into());
                    queue.push_back(step.state);
                }
            }
        }
        let stats = Stats {
            states: seen.len() as u64,
            transitions,
            seconds: started.elapsed().as_secs_f64(),
            peak_bytes: bytes,
            ..Stats::default()
        };
        self.committed.then(|| Proof { blocks: self.blocks.by_name(), stats })
    }

    fn bytes(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32);
        self.m.encode(state, &mut bytes);
        bytes
    }

    /// All steps from a state; nothing if one of them goes wrong.
    fn steps(&mut self, state: &State) -> Option<Vec<Step>> {
        let mut out = Successors::default();
        self.stepper.successors(state, &mut out);
        let mut steps = Vec::with_capacity(out.len());
        for successor in out.iter_mut() {
            if successor.event.is_some() || self.stepper.notes.limited.is_some() || self.stepper.notes.too_large {
                return None;
            }
            let thread = successor.thread;
            let pc = state.threads[thread].pc;
            let marks = &self.shadows.threads[thread];
            let phase = match (marks.inside[pc as usize], marks.uncommitted[pc as usize]) {
                (true, true) if !successor.block_committed => Phase::Before,
                (true, false) => Phase::Behind,
                _ => Phase::Free,
            };
            self.committed |= successor.block_committed;
            let state = std::mem::take(&mut successor.state);
            let bytes = self.bytes(&state);
            let handed_on = std::mem::take(&mut successor.handed_on);
            steps.push(Step { thread, pc, phase, state, bytes, handed_on });
        }
        Some(steps)
    }

    /// Tries every pair of consecutive steps of two threads in the other order.
    fn exchange(&mut self, first: &[Step]) -> Option<()> {
        let after: Vec<Vec<Step>> = first.iter().map(|step| self.steps(&step.state)).collect::<Option<_>>()?;
        for (one, then) in first.iter().zip(&after) {
            for other in then.iter().filter(|other| other.thread != one.thread) {
                let matters = one.phase == Phase::Before || other.phase == Phase::Behind;
                let swapped = || {
                    first.iter().zip(&after).any(|(step, then)| {
                        let same = |last: &Step| last.bytes == other.bytes && last.hands_on_like(one);
                        step.hands_on_like(other) && then.iter().any(same)
                    })
                };
                if !matters || swapped() {
                    continue;
                }
                if one.phase == Phase::Before {
                    self.blocks.refute(one.thread, one.pc);
                }
                if other.phase == Phase::Behind {
                    self.blocks.refute(other.thread, other.pc);
                }
            }
        }
        Some(())
    }
}
