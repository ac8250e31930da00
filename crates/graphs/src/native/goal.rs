//! What is made of an execution of native code once nobody goes on.

use std::ops::ControlFlow;
use std::rc::Rc;

use crate::graph::{Graph, Kind};
use crate::models::consistency::Consistency;
use crate::native::Desk;
use crate::native::tape::{Asked, End, Request, Tape};
use crate::rows::{EventId, INITIAL};
use crate::search::Goal;

/// A thread that waits for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Which one.
    pub thread: usize,
    /// The thread whose end it waits for, if it does.
    pub joins: Option<usize>,
    /// Whether it reads the same again and again.
    pub spins: bool,
}

/// How an execution ended.
#[derive(Debug)]
pub enum Ended<'a> {
    /// All threads came to their ends.
    Done,
    /// Some thread waits for what comes in other executions, or has left.
    Left,
    /// These threads wait for ever.
    Stuck(&'a [Waiting], &'a Shown<'a>),
    /// A thread went wrong.
    Wrong(&'a Shown<'a>),
}

/// An execution to look at.
#[derive(Debug)]
pub struct Shown<'a> {
    /// What each thread asked for and was told.
    pub tapes: &'a [Tape],
    /// The events, thread and place in it, in an order that has each read after the write that it reads from.
    pub order: Vec<(usize, usize)>,
    /// By place in this order, that of the write that is read.
    pub sources: Vec<Option<usize>>,
}

/// Shows executions to a machine.
pub(crate) struct Executions {
    pub(crate) desk: Rc<Desk>,
}

impl<const W: usize> Goal<W, Tape> for Executions {
    fn found(&mut self, graph: &Graph<'_, W, Tape>, _: &mut impl Consistency<W, Tape>) -> ControlFlow<()> {
        let mut machine = self.desk.machine.borrow_mut();
        let ended = |thread: usize| match graph.runners[thread].asked() {
            Asked::Ended(end) => Some(*end),
            Asked::Unborn => Some(End::Done),
            Asked::Unknown => unreachable!("a thread that was let go on"),
            _ => None,
        };
        let threads = 0..graph.runners.len();
        if threads.clone().any(|thread| ended(thread) == Some(End::Wrong)) {
            return machine.ended(Ended::Wrong(&shown(graph)));
        }
        if threads.clone().all(|thread| ended(thread) == Some(End::Done)) {
            return machine.ended(Ended::Done);
        }
        let open = threads.filter(|thread| ended(*thread) != Some(End::Done));
        let waiting: Option<Vec<Waiting>> = open.map(|thread| waits(graph, thread, ended(thread))).collect();
        match waiting {
            Some(waiting) => machine.ended(Ended::Stuck(&waiting, &shown(graph))),
            None => machine.ended(Ended::Left),
        }
    }

    /// Others may run when a thread gets an event, one that it begins for example.
    fn is_wrong(&self, graph: &Graph<'_, W, Tape>, _: usize) -> bool {
        graph.runners.iter().any(|tape| matches!(tape.asked(), Asked::Ended(End::Wrong)))
    }

    fn join(&mut self, _: Self) {}
}

/// A thread that is not done, if it waits for ever: what it reads is the last that was written.
fn waits<const W: usize>(graph: &Graph<'_, W, Tape>, thread: usize, end: Option<End>) -> Option<Waiting> {
    let tape = &graph.runners[thread];
    let reads = match (end, tape.asked()) {
        (None, Asked::For(Request::Join(joins))) => {
            return Some(Waiting { thread, joins: Some(*joins), spins: false });
        }
        (Some(End::Waits), _) => 1,
        (Some(End::Spins(reads)), _) => reads as usize,
        _ => return None,
    };
    let is_late = |at: usize| {
        let event = graph.event(tape.event(at).unwrap_or(INITIAL));
        match (event.kind, event.loc) {
            (Kind::Read(from), Some(loc)) => graph.last(loc) == from,
            _ => true,
        }
    };
    let late = (tape.len() - reads..tape.len()).all(is_late);
    late.then_some(Waiting { thread, joins: None, spins: matches!(end, Some(End::Spins(_))) })
}

fn shown<'a, const W: usize>(graph: &'a Graph<'_, W, Tape>) -> Shown<'a> {
    let mut events: Vec<EventId> = graph.order.clone();
    events.sort_by_key(|id| graph.before[usize::from(*id)].iter().count());
    let place = |id: &EventId| {
        let thread = usize::from(graph.event(*id).thread);
        let tape = &graph.runners[thread];
        (thread, (0..tape.len()).find(|at| tape.event(*at) == Some(*id)).unwrap_or_default())
    };
    let source = |id: &EventId| match graph.event(*id).kind {
        Kind::Read(from) => events.iter().position(|other| *other == from),
        _ => None,
    };
    let sources = events.iter().map(source).collect();
    Shown { tapes: &graph.runners, order: events.iter().map(place).collect(), sources }
}
