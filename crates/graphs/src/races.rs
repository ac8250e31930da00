//! Races: where in the program and in the execution two accesses stand that the model lets race.
//!
//! **Idle iterations and races.** That idle iterations are left out ([`crate::thread`]) loses no outcome. *Argument* for races: take an execution with a race, and
//! what is before its two accesses by `po | rf`. If neither stands in an idle iteration, those iterations can be taken out: happens-before only becomes smaller.
//! Else take out all the others. What is left has one idle iteration in each of the two threads at most (both, if one is a read-modify-write that writes what it has
//! read), after which the thread may go on, for the other access may come of what it does later (by `rf` that does not synchronise). So a thread
//! that may race in a loop goes on after one idle iteration, and spins in the next one. The same holds for a read that races with a free: whether it is in a life of its
//! object is a question of what does *not* happen before what, and taking iterations out only takes from that.

use cyrano_engine::{Racing, Violation};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{Access, AccessKind, InstrId, LocId, Op, Program, Tags, Thread, ThreadId, Ty};

use crate::graph::Graph;
use crate::rows::EventId;

/// The race of two accesses that count.
pub(crate) fn race<const W: usize>(graph: &Graph<'_, W>, [first, second]: [EventId; 2]) -> Option<Violation> {
    Some(Violation::Race { first: racing(graph, first)?, second: racing(graph, second)? })
}

fn racing<const W: usize>(graph: &Graph<'_, W>, id: EventId) -> Option<Racing> {
    let thread = usize::from(graph.event(id).thread);
    let own = |(read, write): &(Option<EventId>, Option<EventId>)| [*read, *write].contains(&Some(id));
    let before: usize = (0..thread).map(|thread| graph.accesses(thread).len()).sum();
    let step = before + graph.accesses(thread).iter().position(own)?;
    let at = graph.runners[thread].events.iter().position(|other| *other == id)?;
    Some(Racing { thread: ThreadId::new(thread), instr: graph.runners[thread].instr_at(at), step })
}

/// Whether a thread has a read in a loop that may race with somebody's write.
pub(crate) fn may_race_in_loop(program: &Program, thread: ThreadId) -> bool {
    let code = program.thread(thread);
    let has_header = |at: usize| program.guard(LocId::new(at), AccessKind::Load).is_some();
    let is_header = |at: usize| program.location(LocId::new(at)).ty == Ty::Header;
    let others = || program.thread_ids().filter(|other| *other != thread).map(|other| program.thread(other));
    let accesses = || others().flat_map(|other| other.code.iter().filter_map(|instr| instr.op.access()));
    let races = |read: &Access| {
        let own = program.cells(&read.addr);
        accesses().filter(|other| other.kind.writes() || read.kind.writes()).any(|access| {
            let other = program.cells(&access.addr);
            let frees = own.clone().any(has_header) && other.clone().any(is_header);
            frees || own.start < other.end && other.start < own.end && (is_plain(read) || is_plain(access))
        })
    };
    let reads = code.code.iter().enumerate().filter_map(|(at, instr)| Some((at, instr.op.access()?)));
    { reads }.any(|(at, access)| access.kind.reads() && comes_back(code, InstrId::new(at)) && races(access))
}

/// Whether an access may not be atomic.
pub(crate) fn is_plain(access: &Access) -> bool {
    // Read-modify-writes synchronise, marked or not.
    let own = if access.kind == AccessKind::Rmw { Tags::SYNC } else { Tags::default() };
    let says = |tags: Tags| !(tags | own).spoken().contains(Tags::ATOMIC);
    says(access.tags) || access.failed.is_some_and(says)
}

/// Whether an instruction may run again after it has run.
pub(crate) fn comes_back(thread: &Thread, at: InstrId) -> bool {
    let next = |from: InstrId| successors(&thread.code[from.index()].op, from);
    let mut seen = vec![false; thread.code.len()];
    let mut todo: Vec<InstrId> = next(at).collect();
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut seen[at.index()], true) && !matches!(thread.code[at.index()].op, Op::Halt) {
            todo.extend(next(at));
        }
    }
    seen[at.index()]
}
