//! Objects that are freed, under models that say what happens before what (`cyrano_ir::guards`).
//!
//! An access is looked at in the whole execution: an earlier moment has fewer writes to the header, but no order of all accesses in which it would be seen.

use cyrano_engine::Violation;
use cyrano_ir::LocId;
use cyrano_ir::guards::{ALIVE, misses};
use cyrano_memory::cat::{Judge, Matrix, What};

use super::graph::Candidate;
use super::traces::Trace;

/// Whether some access may be to an object that is not alive.
pub(super) fn may_be_freed(combination: &[&Trace<'_>]) -> bool {
    let headers = || combination.iter().flat_map(|trace| trace.run.guards());
    headers().next().is_some()
}

/// What finds its object freed, in an execution that was just judged.
pub(super) fn freed<'a>(
    candidate: &'a Candidate<'_, '_>,
    judge: &'a Judge<'_>,
) -> impl Iterator<Item = Violation> + 'a {
    let happens = judge.happens_before();
    let guards =
        candidate.combination.iter().flat_map(|trace| trace.run.guards().map(|guard| (trace.run.thread, guard)));
    guards.filter_map(move |(thread, (access, header, error))| {
        let happens = happens?;
        let (read, write) = candidate.events_of(thread, access)?;
        let instr = candidate.combination[thread.index()].run.accesses[access].instr;
        let wrong = read.into_iter().chain(write).any(|event| is_wrong(candidate, happens, header, event));
        wrong.then_some(Violation::Error { thread, instr, error })
    })
}

fn is_wrong(candidate: &Candidate<'_, '_>, happens: &Matrix, header: LocId, event: usize) -> bool {
    let (graph, values) = (&candidate.graph, &candidate.values);
    let is_write = |other: &usize| graph.events[*other].what == What::Write && graph.events[*other].loc == Some(header);
    let mut writes: Vec<usize> = (0..graph.events.len()).filter(is_write).collect();
    writes.sort_by_key(|write| (0..graph.events.len()).filter(|other| graph.co.contains(*other, *write)).count());
    // What memory holds at first is there before everything, whether the header is accessed or not.
    let first = candidate.initial_write(header).is_none().then(|| (candidate.initially(header) == ALIVE, true, false));
    let lives = writes.iter().map(|write| {
        let before = graph.events[*write].thread.is_none() || happens.contains(*write, event);
        (values[*write] == ALIVE, before, *write == event || happens.contains(event, *write))
    });
    misses(first.into_iter().chain(lives))
}
