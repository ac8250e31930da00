//! Termination under models about relations, in its bounded form: an execution after which every thread that has not ended spins or waits at a section, each that spins
//! has read in its last round the latest stores, that round changes nothing, and no thread can go on.
//!
//! A *round* is what a thread does between two moments at which it jumps back to the same place with the same registers, as far as these are still used. It changes
//! nothing if it writes nothing but, in a read-modify-write, what it has read. A read has read the latest store if nothing but such writes comes later in coherence order.
//! Then the thread may do the same again, and every store has reached everybody: it does so for ever.
//!
//! **What is assumed** is what makes the form bounded: that the model allows a further round which reads the same latest stores. The built-in models do.
//! A store-exclusive that fails may succeed next time, so a round with one is none.
//!
//! A thread that stands at a section waits for ever if it waits again on what the last writes left (`waits`); a deadlock is the case in which all do.

use std::ops::{ControlFlow, Range};

use cyrano_engine::{Blocked, Execution, Violation};
use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{AccessKind, InstrId, Program};
use cyrano_memory::cat::{Judge, What};

use super::goals::Notes;
use super::graph::Candidate;
use super::search::{Goal, Want};
use super::thread::{Half, Run, Status};
use super::traces::Trace;

/// A thread that has just jumped back.
#[derive(Clone, Debug)]
pub(super) struct Lap {
    /// To this place,
    pub(super) to: InstrId,
    /// with these registers,
    pub(super) registers: Vec<i128>,
    /// after so many events and accesses.
    pub(super) events: usize,
    pub(super) accesses: usize,
}

impl Run<'_> {
    /// Notes that it jumps back.
    pub(super) fn note_lap(&mut self, to: InstrId) {
        let known = self.laps.iter().filter(|lap| lap.to == to).count();
        if known >= 2
            && let Some(first) = self.laps.iter().position(|lap| lap.to == to)
        {
            self.laps.remove(first);
        }
        let (events, accesses) = (self.events.len(), self.accesses.len());
        self.laps.push(Lap { to, registers: self.registers.clone(), events, accesses });
    }
}

/// Threads that hang, or a computation that goes wrong.
pub(super) struct Hangs<'p> {
    pub(super) program: &'p Program,
    pub(super) violation: Option<(Violation, Execution)>,
    pub(super) notes: Notes,
}

impl Goal for Hangs<'_> {
    fn wants(&self, combination: &[&Trace<'_>], may_flag: bool) -> Want {
        let fails = combination.iter().any(|trace| error(trace).is_some());
        match self.notes.wants(combination, may_flag) {
            _ if stuck(self.program, combination, None).is_some() => Want::All,
            Want::Nothing if fails => Want::Any,
            other => other,
        }
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, judge: &Judge<'_>) -> ControlFlow<()> {
        self.notes.note(candidate.combination, judge);
        let error = candidate.combination.iter().find_map(|trace| error(trace));
        let Some(violation) = error.or_else(|| hang(self.program, candidate)) else { return ControlFlow::Continue(()) };
        self.violation = Some((violation, candidate.execution()));
        ControlFlow::Break(())
    }
}

/// The computation of a thread that goes wrong.
pub(super) fn error(trace: &Trace<'_>) -> Option<Violation> {
    match trace.status {
        Status::Failed(instr, error) => Some(Violation::Error { thread: trace.run.thread, instr, error }),
        _ => None,
    }
}

/// That no thread can go on, in an execution that the model allows.
pub(super) fn hang(program: &Program, candidate: &Candidate<'_, '_>) -> Option<Violation> {
    let (graph, memory) = (&candidate.graph, candidate.memory());
    let stands = stuck(program, candidate.combination, Some(&memory))?;
    let own: Vec<usize> = stands
        .iter()
        .filter_map(|(blocked, round)| Some(candidate.events_in(blocked.thread, round.clone()?)))
        .flatten()
        .collect();
    let silent = |write: usize| own.contains(&write) && graph.events[write].what == What::Write;
    let latest = |read: &usize| {
        let loc = graph.events[*read].loc.map(|loc| memory[loc.index()]);
        let sources = (0..graph.events.len()).filter(|write| graph.rf.contains(*write, *read));
        let last =
            |write: usize| (0..graph.events.len()).all(|later| !graph.co.contains(write, later) || silent(later));
        loc == Some(candidate.values[*read]) && sources.into_iter().all(last)
    };
    let mut reads = own.iter().filter(|event| graph.events[**event].what == What::Read);
    let blocked = stands.iter().map(|(blocked, _)| *blocked).collect();
    reads.all(latest).then_some(Violation::Deadlock { blocked })
}

/// The threads that have not ended, if there are some, and each either spins, with the events of its last round, or stands at a section, and waits again if it finds this
/// memory. A thread that is run again from a record stops where that ends, which may be in a section that it spins through.
fn stuck(
    program: &Program,
    combination: &[&Trace<'_>],
    memory: Option<&[i128]>,
) -> Option<Vec<(Blocked, Option<Range<usize>>)>> {
    let open = combination.iter().filter(|trace| !trace.is_done());
    let of = |trace: &&Trace<'_>| {
        let thread = trace.run.thread;
        let waits = trace.run.stands_at().filter(|at| memory.is_none_or(|memory| trace.run.waits_again(at, memory)));
        let stands = waits.map(|at| (Blocked { thread, instr: at.instr }, None));
        stands.or_else(|| round(program, trace).map(|(instr, events)| (Blocked { thread, instr }, Some(events))))
    };
    let found: Option<Vec<_>> = open.map(of).collect();
    found.filter(|found| !found.is_empty())
}

/// The last round of a thread, if it changes nothing.
fn round(program: &Program, trace: &Trace<'_>) -> Option<(InstrId, Range<usize>)> {
    if trace.status != Status::Stopped {
        return None;
    }
    let run = &trace.run;
    let last = run.laps.last()?;
    let before = run.laps[..run.laps.len() - 1].iter().rfind(|lap| lap.to == last.to)?;
    let live = Liveness::new(program.thread(run.thread), []);
    let same = live
        .live_before(last.to)
        .iter()
        .all(|register| last.registers[register.index()] == before.registers[register.index()]);
    let (events, accesses) = (before.events..last.events, before.accesses..last.accesses);
    let idle = events.clone().all(|event| changes_nothing(run, event));
    let failed = run.accesses[accesses].iter().any(|done| done.kind == AccessKind::Store && done.write.is_none());
    let whole = last.accesses == run.accesses.len();
    (same && idle && !failed && whole).then_some((last.to, events))
}

fn changes_nothing(run: &Run<'_>, event: usize) -> bool {
    let event = &run.events[event];
    match (event.what, event.half) {
        (What::Write, Some(Half::Amo(read))) => run.events[read].value == event.value,
        (What::Write, _) => false,
        _ => true,
    }
}
