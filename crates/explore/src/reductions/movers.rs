//! Movers (Lipton's reduction; Flanagan, sections 2 and 7): the cheap proof that a block is atomic, tried before the shadow.
//!
//! **What a step is.** An access or a section, or a choice, and whatever the thread does behind it by itself. Besides changing the state a
//! step *does* something that the state may not show: it commits a block or does not, it ends a unit there and hands on these registers
//! and results, it makes these choices. That is its [`Label`]. Two steps are the same only if their labels are: a block that waits in a loop and starts
//! anew when it has ended is in the same place whether it went on waiting or committed, ended and began again.
//!
//! **Movers.** A step of a block before its commit is a *right mover* if, wherever a step of another thread follows it, that thread has a step
//! first and this one then, the labels the same, and all leads to the same state. A step behind the commit is a *left mover* if,
//! wherever it follows a step of another thread, the same holds. A block is *proven* if its steps before the commit are right movers and
//! those behind it left movers, in all reachable states of the program itself, without a shadow, where nothing is deferred (`sc`),
//! and if it can always end once it has committed: behind a commit there is neither a jump back nor anything that waits. All blocks of one
//! name are proven or none.
//!
//! **Argument.** Take an execution, however it goes wrong for the shadow in its last step.
//!
//! 1. *Let what has committed end.* Every proven block that has committed can run to its end, one after the other, without waiting. This
//!    adds steps at the end, and no commit.
//! 2. *Drop what has not.* The steps of a proven block that does not commit are right movers. The last one of all is moved to the very end and left
//!    out, and so on. So a block that waits for ever, alone or not, is none of our business: it commits in no execution.
//! 3. *Bring together.* The steps before a commit are moved right to it, those behind it left, one exchange at a time. An exchange leads from
//!    a reachable state to a reachable one by steps with the same labels, and the parts of both threads come out the same, so each
//!    thread does next what it did. Two commits, and two steps of one thread, are never exchanged. Each exchange brings a step nearer to its commit, so it ends.
//!
//! What results is an execution of the program: proven blocks run in one piece, units commit in the same order and hand on the same. No exchange
//! crosses a moment at which nobody is in a block, since a block is all before it or all behind, so memory at these moments is the same
//! as well. The shadow depends on nothing else: which units committed in what order, which choices were made outside of blocks, what was handed on
//! and what memory was when nobody was in a block. Each of these only drops serial runs that do not fit, so the order of dropping does not matter. If
//! no run was left for the first execution, none is left for the one in which proven blocks run in one piece, which may at most have more to compare.
//!
//! - *If all blocks are proven*, that execution is a serial one itself: each block did run alone, to its end, and the serial run that makes the same
//!   choices does the same. So nothing ever goes wrong. That is also why a block that never ends when it runs alone is not proven if
//!   it ever commits: there would have to be such an execution.
//! - *If some are*, it is enough to search the executions in which they run in one piece; see `whole`.
//!
//! An access outside of blocks, and a section of them, is one step and a unit of its own; it may be anything. A choice is a step that everything
//! commutes with. Where a step goes wrong, where a `limit` is met, where there is a setup thread, and where a thread computes so long that it rests
//! between an access and its commit, nothing is claimed and the shadow decides. Places that belong to two phases by different paths belong to no proven block.
//! Steps are macro-steps even if that reduction is off: a commit *is* at the access before it.
//!
//! **Symmetry** (`symmetric_threads`): what is looked up for a pair of threads in a state holds for the exchanged pair in the exchanged state, and all threads
//! that are alike have blocks of the same names. So one state of those that differ by an exchange is enough, and in a state one pair of those
//! that look the same.
//!
//! **Timestamps** (`timestamps`) are renumbered in the states that are searched, not in those that are compared: two steps from a state and the same two
//! in the other order copy the same timestamps and add the same constants, so they lead to equal states from all states that are renumbered alike.
//!
//! **Cost.** The unit of work is to compute the steps of one thread in one state. Once some block is refuted the proof can no longer be the
//! answer, only a help, so less work is spent on it. It ends as soon as no block is left to be proven. The states are those of the search that all criteria
//! share, which is observed here.

mod texts;

use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Limits, Query, Stats, Watch};
use cyrano_ir::{Op, Program, Property};

use crate::search::Search;
use crate::search::observer::Observer;
use crate::search::plain::{Bytes, Plain};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};
use crate::store::Store;
use crate::{Explore, larger, used};
use texts::Texts;

/// Work beyond which the shadow is asked instead, if movers may still be the whole answer.
const MOST_WORK: u64 = 1 << 23;
/// The same, once a block is refuted.
const MOST_WORK_AS_HELP: u64 = 1 << 19;

/// What movers prove.
pub(crate) struct Proof {
    /// The blocks by name, each with whether all of its texts were proven.
    pub blocks: Vec<(String, bool)>,
    /// For each thread and instruction whether it stands in a proven block.
    pub places: Vec<Vec<bool>>,
    /// The reductions that were used.
    pub reductions: Vec<&'static str>,
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
    let mut gap = (config.timestamps && query.program().has_timestamps()).then_some(1);
    loop {
        match prove_within(config, query, gap, limits, watch) {
            Ok(proof) => return proof,
            Err(GapTooSmall) => gap = larger(gap),
        }
    }
}

/// Timestamps have to be kept further apart.
struct GapTooSmall;

/// The same with a gap that timestamps are kept apart by.
fn prove_within(
    config: &Explore,
    query: Query<'_>,
    gap: Option<i128>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Option<Proof>, GapTooSmall> {
    let (program, model) = (query.program(), query.model());
    let plain = Explore { macro_steps: true, ..config.clone() };
    // What is live and who is alike is as for the shadow.
    let mut machine = Machine::new(program, model, &plain, Some(&Property::CommitAtomicity), limits.deferred, gap);
    if machine.defers_any() || model.reordering().serial || model.reordering().own_order || program.setup.is_some() {
        return Ok(None);
    }
    machine.ends = machine.shadows.take();
    machine.judge_assertions = false;
    let pairs = Pairs { m: &machine, blocks: Texts::of(program), committed: false, steps: 0, work: 0, given_up: false };
    let (pairs, property) = (Mutex::new(pairs), Some(&Property::CommitAtomicity));
    // States are looked at one by one.
    let limits = Limits { workers: 1, ..limits.clone() };
    let mut search = Search::new(&machine, property, Store::exact(), &limits, watch);
    search.run(|| Plain::new(&machine, property, Bytes::default()).observed_by(&pairs));
    let (found, _) = search.finish(0, <[u8]>::to_vec);
    let pairs = pairs.into_inner().unwrap_or_else(PoisonError::into_inner);
    if found.notes.gap_too_small {
        return Err(GapTooSmall);
    }
    if pairs.given_up || found.stop.is_some() || !pairs.committed {
        return Ok(None);
    }
    let reductions = used([
        ("dead-registers", config.dead_registers),
        ("macro-steps", true),
        ("timestamps", gap.is_some()),
        ("thread-symmetry", !machine.symmetric_threads.is_empty()),
        ("movers", true),
    ]);
    // Initial states are no steps, and how deep states lie does not matter.
    let stats = Stats { transitions: pairs.steps, depth: 0, ..found.stats };
    Ok(Some(Proof { blocks: pairs.blocks.by_name(), places: pairs.blocks.proven_places(), reductions, stats }))
}

/// The blocks by name, none of them proven.
pub(crate) fn unproven(program: &Program) -> Vec<(String, bool)> {
    Texts::of(program).by_name().into_iter().map(|(name, _)| (name, false)).collect()
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

/// What a step does besides leading to another state.
#[derive(PartialEq, Eq)]
struct Label {
    /// Whether a block commits.
    committed: bool,
    /// Where a unit ends, if one does, and what it hands on.
    handed_on: Vec<i128>,
    /// The choices made.
    choices: Vec<i128>,
}

/// A step: whose, when, from which instruction, what it does, and where it leads.
struct Step {
    thread: usize,
    pc: u32,
    phase: Phase,
    label: Label,
    state: State,
    bytes: Vec<u8>,
}

/// Looks at pairs of consecutive steps of two threads.
struct Pairs<'m> {
    m: &'m Machine<'m>,
    blocks: Texts,
    committed: bool,
    /// How many steps states have.
    steps: u64,
    work: u64,
    /// Whether nothing can be claimed.
    given_up: bool,
}

impl<'m> Observer<'m> for &Mutex<Pairs<'m>> {
    fn begin(&mut self, stepper: &mut Stepper<'m>, initial: &mut Successors) {
        let pairs = &mut *self.lock().unwrap_or_else(PoisonError::into_inner);
        let fine = !judged_elsewhere(stepper) && initial.iter_mut().all(|state| state.event.is_none());
        pairs.go_on(stepper, fine.then_some(()));
    }

    fn see(&mut self, stepper: &mut Stepper<'m>, state: &State, successors: &mut Successors) {
        let pairs = &mut *self.lock().unwrap_or_else(PoisonError::into_inner);
        let most = if pairs.blocks.all_open() { MOST_WORK } else { MOST_WORK_AS_HELP };
        let looked = if pairs.work > most { None } else { pairs.look(stepper, state, successors) };
        pairs.go_on(stepper, looked);
    }
}

/// Whether something happened that only the shadow's search can judge.
fn judged_elsewhere(stepper: &Stepper<'_>) -> bool {
    stepper.notes.limited.is_some() || stepper.notes.too_large
}

impl<'m> Pairs<'m> {
    /// Ends the search if nothing can be claimed, or nothing is left to be proven.
    fn go_on(&mut self, stepper: &mut Stepper<'m>, looked: Option<()>) {
        self.given_up |= looked.is_none();
        stepper.notes.seen_enough |= self.given_up || !self.blocks.any_open();
    }

    /// The steps of a thread in a state; nothing if one of them goes wrong.
    fn steps(&mut self, stepper: &mut Stepper<'m>, state: &State, thread: usize) -> Option<Vec<Step>> {
        self.work += 1;
        let mut out = Successors::default();
        stepper.steps_of(state, thread, &mut out);
        let steps = out.iter_mut().map(|successor| self.step(state, successor)).collect::<Option<Vec<Step>>>()?;
        (!judged_elsewhere(stepper)).then_some(steps)
    }

    fn step(&mut self, state: &State, successor: &Successor) -> Option<Step> {
        let thread = successor.thread;
        let pc = state.threads[thread].pc;
        let marks = &self.m.ends.as_ref()?.threads[thread];
        let rests_at = successor.state.threads[thread].pc;
        if successor.event.is_some() || marks.uncommitted[rests_at as usize] && is_tired(self.m.op(thread, rests_at)) {
            return None;
        }
        let phase = match (marks.inside[pc as usize], marks.uncommitted[pc as usize]) {
            (true, true) if !successor.block_committed => Phase::Before,
            (true, false) => Phase::Behind,
            _ => Phase::Free,
        };
        self.committed |= successor.block_committed;
        let label = Label {
            committed: successor.block_committed,
            handed_on: successor.handed_on.clone(),
            choices: successor.choices.iter().map(|(_, value)| *value).collect(),
        };
        let mut bytes = Vec::with_capacity(32);
        self.m.encode(&successor.state, &mut bytes);
        Some(Step { thread, pc, phase, label, state: successor.state.clone(), bytes })
    }

    /// Tries every pair of consecutive steps of two threads in the other order.
    fn look(&mut self, stepper: &mut Stepper<'m>, state: &State, successors: &mut Successors) -> Option<()> {
        self.work += self.m.threads.len() as u64;
        let first = successors.iter_mut().map(|step| self.step(state, step)).collect::<Option<Vec<Step>>>()?;
        if judged_elsewhere(stepper) {
            return None;
        }
        self.steps += first.len() as u64;
        let looks = self.m.looks_like(state);
        for one in &first {
            for other in (0..looks.len()).filter(|other| *other != one.thread) {
                if is_representative(&looks, one.thread, other) {
                    self.exchange(stepper, &first, one, state, other)?;
                }
            }
        }
        Some(())
    }

    /// Tries a step and those of another thread that can follow it in the other order.
    fn exchange(
        &mut self,
        stepper: &mut Stepper<'m>,
        first: &[Step],
        one: &Step,
        state: &State,
        other: usize,
    ) -> Option<()> {
        let at = state.threads[other].pc;
        let marks = &self.m.ends.as_ref()?.threads[other];
        let behind = marks.inside[at as usize] && !marks.uncommitted[at as usize];
        let right = one.phase == Phase::Before && self.blocks.is_open(one.thread, one.pc);
        let left = behind && self.blocks.is_open(other, at);
        if !right && !left {
            return Some(());
        }
        let then = self.steps(stepper, &one.state, other)?;
        let mut swapped: Vec<(&Label, Vec<Step>)> = Vec::new();
        for step in first.iter().filter(|step| step.thread == other && then.iter().any(|t| t.label == step.label)) {
            swapped.push((&step.label, self.steps(stepper, &step.state, one.thread)?));
        }
        let same = |last: &Step, wanted: &Step| last.label == one.label && last.bytes == wanted.bytes;
        let exchanges = |wanted: &Step| {
            let with = swapped.iter().filter(|(label, _)| **label == wanted.label);
            with.flat_map(|(_, last)| last).any(|last| same(last, wanted))
        };
        if !then.iter().all(exchanges) {
            if right {
                self.blocks.refute(one.thread, one.pc);
            }
            if left {
                self.blocks.refute(other, at);
            }
        }
        Some(())
    }
}

/// Whether a thread would rest at an instruction only because it has computed for long.
fn is_tired(op: &Op) -> bool {
    let rests = op.access_kind().is_some();
    !rests && !matches!(op, Op::AtomicBegin | Op::Choose { .. } | Op::Halt | Op::Assume(_) | Op::Limit { .. })
}

/// Whether of the pairs of threads that look the same this one is the first.
fn is_representative(looks: &[usize], one: usize, other: usize) -> bool {
    let same = looks[one] == looks[other];
    let second = || (0..looks.len()).find(|t| looks[*t] == looks[one] && *t != looks[one]);
    looks[one] == one && if same { second() == Some(other) } else { looks[other] == other }
}
