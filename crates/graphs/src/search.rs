//! Every execution once (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly stateless, optimal dynamic partial order reduction", POPL 2022).
//!
//! Events are added one after the other. A read is added once for every write that it may read from, a write at every place among the writes to its
//! location; the model says which of these graphs are consistent. A read that is there already may have wanted to read from a write that comes later: the
//! write *revisits* it, and everything that was added after the read goes, but for what the write itself depends on (`po | rf`).
//!
//! **Argument.** Many graphs lead to the same one by such a revisit, since what goes could have been anything. Only one of them may do it: the one in which all
//! that goes, and the read itself, was added in the *maximal* way ([`is_maximal`]): reads from the last write, writes at the last place, the first value of
//! a choice, and nobody who stays or was there before reads from it. For models in which an execution can always be extended in this way, whose executions have only
//! executions as prefixes by `po | rf`, and in which `po | rf` has no cycle, every consistent execution is then found, and once. [`crate::Graphs`] takes no others.

use std::ops::ControlFlow;

use cyrano_engine::{Counters, Limits, Stop, Watch};
use cyrano_ir::ThreadId;

use crate::consistency::Consistency;
use crate::graph::{EventId, Graph, Kind};
use crate::thread::{Next, Status, Writing};

/// A part of the condition for revisits that is left out on purpose, so that tests see it missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A read that goes may have read from anywhere.
    AnySource,
    /// A write that goes may have been placed anywhere.
    AnyPlace,
    /// A write that goes may have been read from by what stays.
    AnyReader,
    /// The read that is revisited may have read from anywhere.
    AnyRevisited,
    /// A choice that goes may have been any.
    AnyChoice,
    /// Reads are not revisited at all.
    NoRevisits,
    /// What was added after the read goes, even if the write depends on it.
    LoseCauses,
}

/// Somebody who looks at executions.
pub(crate) trait Goal {
    /// Looks at an execution that is complete, or in which some thread does not go on.
    fn found(&mut self, graph: &Graph<'_>, judge: &mut dyn Consistency) -> ControlFlow<()>;

    /// Whether a thread has gone wrong in a way that settles the question.
    fn is_wrong(&self, graph: &Graph<'_>) -> bool;
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Executions in which every thread came to its end.
    pub executions: u64,
    /// Those in which some thread does not go on.
    pub blocked: u64,
    /// Graphs that the model looked at.
    pub judged: u64,
    /// Events of the largest graph.
    pub depth: u64,
    /// Graphs that waited at the same time, at most.
    pub waiting: u64,
}

/// A search.
pub(crate) struct Search<'a, 'p, G> {
    pub(crate) goal: &'a mut G,
    pub(crate) judge: &'a mut dyn Consistency,
    pub(crate) limits: &'a Limits,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) fault: Option<Fault>,
    pub(crate) counts: Counts,
    todo: Vec<Graph<'p>>,
}

/// Graphs between two looks at the limits.
const INTERVAL: u64 = 256;

impl<'a, 'p, G: Goal> Search<'a, 'p, G> {
    pub(crate) fn new(
        goal: &'a mut G,
        judge: &'a mut dyn Consistency,
        (limits, watch): (&'a Limits, &'a dyn Watch),
        fault: Option<Fault>,
    ) -> Self {
        Self { goal, judge, limits, watch, fault, counts: Counts::default(), todo: Vec::new() }
    }

    /// Shows every execution to the goal.
    pub(crate) fn run(&mut self, start: Graph<'p>) -> Result<(), Stop> {
        self.todo.push(start);
        while let Some(graph) = self.todo.pop() {
            self.look()?;
            if self.goal.is_wrong(&graph) {
                let graph = self.completed(graph);
                if self.goal.found(&graph, self.judge).is_break() {
                    return Ok(());
                }
                continue;
            }
            if self.extend(graph).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Stop> {
        self.counts.waiting = self.counts.waiting.max(self.todo.len() as u64);
        if !self.counts.judged.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        let Counts { judged, depth, .. } = self.counts;
        let bytes = self.bytes();
        self.watch.progress(Counters { states: judged, frontier: self.todo.len() as u64, depth, bytes });
        self.limits.exceeded(bytes).map_or(Ok(()), Err)
    }

    fn bytes(&self) -> u64 {
        let of = |graph: &Graph<'_>| size_of::<Graph<'_>>() + graph.events.len() * 160;
        self.todo.iter().map(of).sum::<usize>() as u64
    }

    /// Adds the next event in every way.
    fn extend(&mut self, mut graph: Graph<'p>) -> ControlFlow<()> {
        self.counts.depth = self.counts.depth.max(graph.events.len() as u64);
        let Some((thread, next)) = graph.next() else { return self.ended(&graph) };
        match next {
            Next::Choice(from) => {
                let mut taken = Vec::new();
                for value in from {
                    if !taken.contains(value) {
                        taken.push(*value);
                        let mut other = graph.clone();
                        other.choose(thread, *value, taken.len() == 1);
                        self.todo.push(other);
                    }
                }
            }
            Next::Fence(fence) => {
                graph.fence(thread, fence);
                self.todo.push(graph);
            }
            Next::Read(access, loc) => {
                let writes = graph.co[loc.index()].clone();
                for from in std::iter::once(None).chain(writes.into_iter().map(Some)) {
                    let mut other = graph.clone();
                    other.read(thread, access, loc, from);
                    self.visit(other);
                }
            }
            Next::Write(writing) => {
                self.revisit(&graph, thread, &writing);
                self.place(&graph, thread, &writing);
            }
            Next::End => unreachable!("such a thread has no next event"),
        }
        ControlFlow::Continue(())
    }

    fn visit(&mut self, graph: Graph<'p>) {
        self.counts.judged += 1;
        if self.judge.allows(&graph) {
            self.todo.push(graph);
        }
    }

    /// Adds a write at every place.
    fn place(&mut self, graph: &Graph<'p>, thread: ThreadId, writing: &Writing) {
        for at in 0..=graph.co[writing.loc.index()].len() {
            let mut other = graph.clone();
            other.write(thread, writing, at);
            self.visit(other);
        }
    }

    /// Lets a write that comes next be read from by reads that are there already.
    fn revisit(&mut self, graph: &Graph<'p>, thread: ThreadId, writing: &Writing) {
        if self.fault == Some(Fault::NoRevisits) {
            return;
        }
        let causes = graph.causes(thread);
        for read in 0..graph.events.len() {
            let event = &graph.events[read];
            let is_read = matches!(event.kind, Kind::Read(_)) && event.loc == Some(writing.loc);
            if !is_read || causes[read] {
                continue;
            }
            let lost = self.fault == Some(Fault::LoseCauses);
            let own = |event: EventId| graph.events[event].thread == thread;
            let kept: Vec<bool> =
                (0..graph.events.len()).map(|event| event <= read || causes[event] && (!lost || own(event))).collect();
            let goes = (0..graph.events.len()).filter(|event| !kept[*event]);
            if !goes.chain([read]).all(|event| self.is_maximal(graph, event, read, &causes)) {
                continue;
            }
            self.read_from_next(graph.keep(&kept), read, thread, writing);
        }
    }

    /// Adds a write at every place, with a read that reads from it.
    fn read_from_next(&mut self, mut graph: Graph<'p>, read: EventId, thread: ThreadId, writing: &Writing) {
        let write = graph.events.len();
        (graph.events[read].kind, graph.events[read].value) = (Kind::Read(Some(write)), writing.value);
        graph.run_again(graph.events[read].thread);
        self.place(&graph, thread, writing);
    }

    /// Whether an event was added as the last one of those that were there before it or that the write depends on.
    fn is_maximal(&self, graph: &Graph<'_>, event: EventId, revisited: EventId, causes: &[bool]) -> bool {
        let before = |other: EventId| other <= event || causes[other];
        let is_last = |write: Option<EventId>| {
            let loc = graph.events[event].loc.map_or(0, |loc| loc.index());
            let writes = &graph.co[loc];
            let at = write.map_or(0, |write| writes.iter().position(|other| *other == write).map_or(0, |at| at + 1));
            write.is_none_or(before) && !writes[at..].iter().any(|later| before(*later))
        };
        match graph.events[event].kind {
            Kind::Fence(_) => true,
            Kind::Choice { first } => first || self.fault == Some(Fault::AnyChoice),
            Kind::Read(from) => {
                let fault = if event == revisited { Fault::AnyRevisited } else { Fault::AnySource };
                self.fault == Some(fault) || is_last(from)
            }
            Kind::Write(_) => {
                let mut readers = (0..graph.events.len()).filter(|other| before(*other));
                let is_read = readers.any(|other| graph.events[other].kind == Kind::Read(Some(event)));
                (self.fault == Some(Fault::AnyReader) || !is_read)
                    && (self.fault == Some(Fault::AnyPlace) || is_last(Some(event)))
            }
        }
    }

    /// No thread goes on.
    fn ended(&mut self, graph: &Graph<'p>) -> ControlFlow<()> {
        let done = graph.runners.iter().all(|runner| runner.status() == Some(Status::Done));
        *(if done { &mut self.counts.executions } else { &mut self.counts.blocked }) += 1;
        self.goal.found(graph, self.judge)
    }

    /// Lets the other threads go on as far as they go, each event added in the maximal way.
    fn completed(&self, mut graph: Graph<'p>) -> Graph<'p> {
        while let Some((thread, next)) = graph.next() {
            match next {
                Next::Choice(from) => graph.choose(thread, from[0], true),
                Next::Fence(fence) => graph.fence(thread, fence),
                Next::Read(access, loc) => {
                    let last = graph.co[loc.index()].last().copied();
                    graph.read(thread, access, loc, last);
                }
                Next::Write(writing) => {
                    let last = graph.co[writing.loc.index()].len();
                    graph.write(thread, &writing, last);
                }
                Next::End => unreachable!("such a thread has no next event"),
            }
        }
        graph
    }
}
