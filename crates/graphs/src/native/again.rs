//! One execution again: accesses happen as they did, without a search. What else threads do, they do as soon as they can: it follows from these and from what they chose.

use std::ops::ControlFlow;

use crate::graph::Graph;
use crate::models::consistency::Consistency;
use crate::models::total::{Kept, Total};
use crate::models::views::Views;
use crate::native::goal::Executions;
use crate::native::search::{empty, root};
use crate::native::tape::Tape;
use crate::native::{Desk, Machine, Memory, Native};
use crate::rows::{EventId, INITIAL};
use crate::run::Run;
use crate::search::Goal;
use crate::search::level::Level;
use crate::thread::{Next, Status};

/// An access that is to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The thread that it is of.
    pub thread: usize,
    /// The access that it reads from, if it reads; that before it at its location, of those that happened, if it only writes. None is what the location was made with.
    pub from: Option<usize>,
}

impl Native {
    /// Shows one execution to a machine, with these accesses and choices of threads; or says which access is another one.
    pub fn replay(&self, machine: Box<dyn Machine>, taken: &[Taken], choices: &[Vec<u64>]) -> Result<(), usize> {
        let desk = Desk::new(machine, 0);
        let start = empty();
        match self.memory {
            Memory::Rc11 => again(root(&start, &desk, Views::<16>::native(self.own_stores)), taken, choices),
            Memory::Sc => again(root(&start, &desk, Total::<16>::native(Kept::All)), taken, choices),
            Memory::Tso => again(root(&start, &desk, Total::<16>::native(Kept::Tso)), taken, choices),
        }
    }
}

fn again<M: Consistency<W, Tape>, const W: usize>(
    mut level: Level<'_, M, W, Tape>,
    taken: &[Taken],
    choices: &[Vec<u64>],
) -> Result<(), usize> {
    let Level { graph, model, .. } = &mut level;
    // Of each access the event that it writes by, or reads by if it writes nothing.
    let mut events: Vec<EventId> = Vec::new();
    let mut left: Vec<std::slice::Iter<'_, u64>> = choices.iter().map(|choices| choices.iter()).collect();
    for (at, taken) in taken.iter().enumerate() {
        while others(graph, model, &mut left) {}
        let from = match taken.from {
            None => INITIAL,
            Some(from) => *events.get(from).ok_or(at)?,
        };
        let id = access(graph, model, (taken.thread, from), &mut left).ok_or(at)?;
        events.push(id);
    }
    while others(graph, model, &mut left) {}
    let desk = graph.code[0].clone();
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = (Executions { desk }).found(graph, model);
    Ok(())
}

type Choices<'a> = [std::slice::Iter<'a, u64>];

/// An event was added.
fn added<M: Consistency<W, Tape>, const W: usize>(graph: &mut Graph<'_, W, Tape>, model: &mut M, id: EventId) -> bool {
    model.added(graph, id);
    let allowed = model.allows(graph, id);
    Tape::settle(graph, model);
    allowed && !graph.full
}

/// Lets a thread go on that is about to do something that is no access; says whether there is one.
fn others<M: Consistency<W, Tape>, const W: usize>(
    graph: &mut Graph<'_, W, Tape>,
    model: &mut M,
    choices: &mut Choices<'_>,
) -> bool {
    for thread in 0..graph.runners.len() {
        let id = match *graph.runners[thread].next() {
            Next::Fence(fence) => graph.fence(thread, fence),
            Next::Join(other) if graph.runners[other].status() != Some(Status::Done) => continue,
            tie @ (Next::Spawn(_) | Next::Join(_)) => graph.tie(thread, tie),
            Next::Choice if !graph.runners[thread].is_busy() => match choose(graph, thread, choices) {
                Some(id) => id,
                None => continue,
            },
            _ => continue,
        };
        return added(graph, model, id);
    }
    false
}

fn choose<const W: usize>(graph: &mut Graph<'_, W, Tape>, thread: usize, choices: &mut Choices<'_>) -> Option<EventId> {
    let value = i128::from(*choices.get_mut(thread)?.next()?);
    let values = graph.runners[thread].values(&graph.code[thread]);
    let first = values.first() == Some(&value);
    values.contains(&value).then(|| graph.choose(thread, value, first))
}

/// Adds an access, if it can be added; both halves of a read-modify-write.
fn access<M: Consistency<W, Tape>, const W: usize>(
    graph: &mut Graph<'_, W, Tape>,
    model: &mut M,
    (thread, from): (usize, EventId),
    choices: &mut Choices<'_>,
) -> Option<EventId> {
    let is_at = |graph: &Graph<'_, W, Tape>, loc| from == INITIAL || graph.event(from).loc == Some(loc);
    let mut id = match *graph.runners.get(thread)?.next() {
        Next::Read(loc) if is_at(graph, loc) => graph.read(thread, loc, from),
        Next::Write(writing) if is_at(graph, writing.loc) => graph.write(thread, &writing, from),
        _ => return None,
    };
    while added(graph, model, id) {
        if !graph.runners[thread].is_busy() {
            return Some(id);
        }
        id = match *graph.runners[thread].next() {
            Next::Choice => choose(graph, thread, choices)?,
            Next::Write(writing) => graph.write(thread, &writing, from),
            _ => return None,
        };
    }
    None
}
