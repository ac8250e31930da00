//! Idle iterations of loops (reduction `idle-iterations`): an iteration that changes nothing is not followed by another one.
//!
//! A retry loop goes round again because somebody else was faster; a spinning loop because it has nothing to do yet. Such an iteration
//! writes nothing, and the next one starts where it started. Bounds that had to allow for all of them grow with everything that other threads do; without
//! them a loop is repeated only as often as its own iterations change memory.
//!
//! **Which loops.** An iteration is looked at from one *point* of the loop to the same point in the next round. The point may be any instruction of the loop where
//! paths begin or meet, outside of inner loops and of atomic sections, before which no register is live that is written anywhere in the loop. It need not be the head:
//! `while r = 0 { r := x; }` looks at `r` first, but before the load `r` does not matter. Which registers are live depends on the
//! question: at the end only what it is about is. No operation begins or ends in the loop. An iteration is *idle* if it comes from the point back to it and
//! executes no store, no read-modify-write that changes anything, no call or response and no assertion, and no computation in it goes wrong.
//!
//! **Argument.** Take an execution and leave out all accesses, fences, choices and sections of an idle iteration; keep the memory order between the rest.
//!
//! - The thread does the rest as before: it goes on from the point with the same live registers, which hold the same values, computed from the same loads.
//! - Kept pairs, the program's own order, fences between two accesses, dependencies (registers have the same sources; control has fewer), sections and
//!   axiom 7 ask for a subset of what they asked for. Values: no store is gone, and which stores a load sees depends on the order of the load and of stores only.
//! - Final memory, final registers that matter, errors, assertions, limits, and threads that wait before a section are the same.
//!
//! **Stores that find what they write** change nothing, either: `exchange(lock, 1)` on a lock that is taken, in one instruction or in two
//! ([`crate::execute::silent`]).
//!
//! So whatever can be asked about is shown by an execution without idle iterations (leaving out one after the other ends, because each has an
//! instruction), but for threads that never come to an end: in a prefix that shows an
//! error another thread may be left with nothing but idle iterations. Therefore idle iterations are not forbidden: a thread
//! *stops* after the first one, which is the end of a prefix like any other ([`crate::execute::walk`]). It has not halted, so it
//! shows no outcome and no deadlock, and under a serial model its operation is unfinished.
//! A loop that can only idle needs no bound: going round for ever is not an outcome.
//!
//! **Store-exclusives** that fail change nothing. A load-exclusive in an iteration that is left out has no store-exclusive then, unless the one that succeeds stands behind the point.
//! So a loop with exclusive accesses has a point only where every way on comes to a load-exclusive before a store-exclusive: whatever the iteration left behind, nobody asks for it.
//!
//! **Models about relations** have no order of all accesses, and what they ask of the rest need not be a subset of what they asked before: that is found out from their text
//! (`crate::related::fewer`), where the argument is. There, every store is a change but for those that nobody reads who does not go round, too ([`crate::execute::unread`]).
//!
//! Range analysis does not use this: under some models its ranges must not rest on which stores are executed.

use cyrano_ir::dataflow::{Liveness, successors, writes};
use cyrano_ir::{AccessKind, Fence, InstrId, Op, Tags, Thread, ThreadId};

use crate::execute::event::{Event, Run, Spin, ThreadRun};
use crate::execute::loops::{LoopId, Loops};
use crate::execute::silent::{Silent, Words};
use crate::execute::unread::Unread;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit};
use crate::related::Idling;

/// A point of a loop from which on an iteration may be idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Point {
    /// Every iteration passes it.
    Always,
    /// Some iterations may not pass it.
    Sometimes,
}

/// A point of a loop, and the loop.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) at: InstrId,
    pub(crate) point: Point,
    pub(crate) head: InstrId,
    /// The instructions of the loop, in ascending order.
    pub(crate) body: Vec<InstrId>,
}

/// Where a thread may be found idle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Idle {
    points: Vec<Option<Point>>,
    /// The stores that change nothing if they find what they write.
    silent: Vec<Option<Silent>>,
    /// Whether the thread may stop before an iteration, too.
    pub(crate) pauses: bool,
}

impl Idle {
    /// Looks at all loops of all threads.
    pub(crate) fn all(words: &Words<'_>, idling: Idling, loops: &[Loops], live: &[Liveness]) -> Vec<Self> {
        let threads = || words.program().thread_ids();
        let turns = threads().map(|thread| {
            let code = words.program().thread(thread);
            let turns = turns(code, &loops[thread.index()], &live[thread.index()]);
            turns.into_iter().filter(|turn| !idling.marked || words.are_marked(thread, &turn.body)).collect()
        });
        let turns: Vec<Vec<Turn>> = turns.collect();
        let unread = Unread::new(words, idling, &turns);
        let silent: Vec<_> = threads().map(|of| words.silent(of, &turns[of.index()], &unread)).collect();
        let pauses = words.is_about_relations() && silent.iter().flatten().any(Option::is_some);
        let all = silent.into_iter().zip(&turns);
        all.map(|(silent, turns)| {
            let mut points = vec![None; silent.len()];
            turns.iter().for_each(|turn| points[turn.at.index()] = Some(turn.point));
            Self { points, silent, pauses }
        })
        .collect()
    }

    /// Whether the thread may be found idle before this instruction.
    pub(crate) fn point(&self, pc: InstrId) -> Option<Point> {
        self.points.get(pc.index()).copied().flatten()
    }

    /// Whether an access changes memory, or is a call or a response; `before` are the accesses before it.
    fn changes(&self, gates: &mut Gates, event: &Event, before: &[Event]) -> Option<Lit> {
        if event.kind == AccessKind::Mark {
            return Some(event.guard);
        }
        let (value, writes) = event.write.as_ref()?;
        let found = match self.silent[event.instr.index()] {
            Some(Silent::Exchange) => event.read.as_ref(),
            Some(Silent::Swap { load }) => {
                before.iter().rfind(|other| other.instr == load).and_then(|load| load.read.as_ref())
            }
            None => None,
        };
        let Some(found) = found else { return Some(*writes) };
        let same = gates.equal(found, value);
        Some(gates.and(*writes, !same))
    }
}

/// A point that has been passed, and how much of the run there was then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Whether it has been.
    pub(crate) guard: Lit,
    events: usize,
    errors: usize,
    asserted: usize,
    steps: usize,
    choices: usize,
    reached: usize,
}

impl Mark {
    /// Here, now.
    pub(crate) fn new(guard: Lit, run: &Run, own: &ThreadRun) -> Self {
        let (events, errors, asserted) = (run.events.len(), run.errors.len(), run.asserted.len());
        let (steps, choices, reached) = (own.steps.len(), own.choices.len(), run.reached.len());
        Self { guard, events, errors, asserted, steps, choices, reached }
    }

    /// That the thread stops here, having done nothing since then that changes anything.
    pub(crate) fn spin(self, thread: ThreadId, instr: InstrId, stops: Lit, run: &Run, own: &ThreadRun) -> Spin {
        Spin {
            thread,
            instr,
            stops,
            events: self.events..run.events.len(),
            steps: self.steps..own.steps.len(),
            choices: self.choices..own.choices.len(),
            reached: self.reached..run.reached.len(),
            passes: FALSE,
            settled: FALSE,
        }
    }

    /// What has been accessed since then.
    pub(crate) fn events(self, run: &Run) -> std::ops::Range<usize> {
        self.events..run.events.len()
    }

    /// Whether anything has been changed or asserted, or gone wrong, since then.
    ///
    /// Blocks are followed in the order of their keys, a point is the start of a block, and each of these literals implies that its instruction is executed.
    /// So if the thread has come from the point back to it, what is new and holds is what it did on its way.
    pub(crate) fn effects(self, idle: &Idle, gates: &mut Gates, run: &Run) -> Lit {
        let events = &run.events[self.events..];
        let changes = (0..events.len()).filter_map(|at| idle.changes(gates, &events[at], &events[..at]));
        let mut effects: Vec<Lit> = changes.collect();
        effects.extend(run.errors[self.errors..].iter().chain(&run.asserted[self.asserted..]));
        gates.any(effects)
    }
}

/// The points of all loops of a thread.
fn turns(code: &Thread, loops: &Loops, live: &Liveness) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (id, head) in (0u32..).map(LoopId).zip(loops.heads.iter().copied()) {
        let body: Vec<InstrId> = (0..code.code.len()).map(InstrId::new).filter(|pc| loops.contains(id, *pc)).collect();
        let points = choose_points(code, loops, live, id, head, &body);
        turns.extend(points.into_iter().map(|(at, point)| Turn { at, point, head, body: body.clone() }));
    }
    turns
}

/// Whether it begins or ends a critical section of the kernel, or waits for those of others.
fn is_critical(op: &Op) -> bool {
    let rcu = |fence: &Fence| matches!(fence, Fence::Named { name, .. } if name.name().contains("rcu"));
    op.has_tag(Tags::SRCU) || matches!(op, Op::Fence(fence) if rcu(fence))
}

/// Whether a store-exclusive at or behind this instruction may belong to a load-exclusive before it.
fn may_hold(thread: &Thread, pc: InstrId) -> bool {
    let (mut todo, mut seen) = (vec![pc], vec![false; thread.code.len()]);
    while let Some(pc) = todo.pop() {
        let Some(instr) = thread.code.get(pc.index()) else { continue };
        if std::mem::replace(&mut seen[pc.index()], true) {
            continue;
        }
        match instr.op.access_kind().filter(|_| instr.op.has_tag(Tags::EXCLUSIVE)) {
            Some(kind) if kind.reads() => {}
            Some(_) => return true,
            None => todo.extend(successors(&instr.op, pc)),
        }
    }
    false
}

/// Chooses points of a loop: one that every iteration passes, if there is one, the head first; else as many as have something to add.
fn choose_points(
    thread: &Thread,
    loops: &Loops,
    live: &Liveness,
    id: LoopId,
    head: InstrId,
    body: &[InstrId],
) -> Vec<(InstrId, Point)> {
    let op = |pc: &InstrId| &thread.code[pc.index()].op;
    if body.iter().any(|pc| matches!(op(pc), Op::OperationBegin(_) | Op::OperationEnd | Op::Transaction(_))) {
        return Vec::new();
    }
    // The end of a critical section may belong to a beginning before the loop.
    if body.iter().any(|pc| is_critical(op(pc))) {
        return Vec::new();
    }
    let exclusive = body.iter().any(|pc| op(pc).has_tag(Tags::EXCLUSIVE));
    let written = || body.iter().filter_map(|pc| writes(op(pc))).flat_map(|write| write.registers());
    let fits = |pc: InstrId| {
        let starts = pc == head || loops.innermost(pc) == Some(id) && loops.joins[pc.index()];
        starts && !written().any(|register| live.is_live(pc, register)) && !(exclusive && may_hold(thread, pc))
    };
    let others = body.iter().copied().filter(|pc| *pc != head);
    let fitting: Vec<InstrId> = std::iter::once(head).chain(others).filter(|pc| fits(*pc)).collect();
    if let Some(always) = fitting.iter().find(|pc| !Round::without(thread, body, head, &[**pc]).closes) {
        return vec![(*always, Point::Always)];
    }
    let mut chosen = Vec::new();
    for pc in fitting {
        if Round::without(thread, body, head, &chosen).reached.contains(&pc) {
            chosen.push(pc);
        }
    }
    chosen.into_iter().map(|pc| (pc, Point::Sometimes)).collect()
}

/// What can be reached from the head of a loop in one round.
pub(crate) struct Round {
    pub(crate) reached: Vec<InstrId>,
    /// Whether the head can.
    closes: bool,
}

impl Round {
    /// What can be reached without passing these.
    pub(crate) fn without(thread: &Thread, body: &[InstrId], head: InstrId, avoided: &[InstrId]) -> Self {
        let mut round = Self { reached: Vec::new(), closes: false };
        let mut todo = vec![head];
        while let Some(pc) = todo.pop() {
            if round.reached.contains(&pc) || avoided.contains(&pc) || body.binary_search(&pc).is_err() {
                continue;
            }
            round.reached.push(pc);
            for next in successors(&thread.code[pc.index()].op, pc) {
                round.closes |= next == head;
                todo.push(next);
            }
        }
        round
    }
}
