//! An execution graph: events in the order in which they were added, who reads from whom, and in which order writes hit each location.
//!
//! **Invariant:** an event's number is its place in the order of addition. The events of a thread are numbered in program order, and a write has a smaller number
//! than whoever reads from it, but for a read that was revisited; so `po | rf` has no cycle, and what a graph leaves out at its end can be added again.

use cyrano_engine::{Access, Execution, Relations};
use cyrano_ir::{Fence, LocId, Program, Tags, ThreadId};
use cyrano_memory::cat;

use crate::thread::{Next, Runner, Writing};

/// The number of an event.
pub(crate) type EventId = usize;

/// What an event is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// A read, and the write that it reads from; none is the initial value.
    Read(Option<EventId>),
    /// A write; of a read-modify-write, with its read.
    Write(Option<EventId>),
    Fence(Fence),
    /// A choice, and whether it is the first of its values.
    Choice {
        first: bool,
    },
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) thread: ThreadId,
    pub(crate) kind: Kind,
    pub(crate) loc: Option<LocId>,
    pub(crate) value: i128,
    pub(crate) tags: Tags,
    pub(crate) rmw: bool,
}

/// An execution graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph<'p> {
    program: &'p Program,
    pub(crate) events: Vec<Event>,
    /// The events of each thread, in program order.
    pub(crate) threads: Vec<Vec<EventId>>,
    /// The writes to each location as they hit it, without the initial one.
    pub(crate) co: Vec<Vec<EventId>>,
    /// Where each thread stands.
    pub(crate) runners: Vec<Runner<'p>>,
    iterations: usize,
}

impl<'p> Graph<'p> {
    /// Nothing has happened.
    pub(crate) fn new(program: &'p Program, iterations: usize) -> Self {
        Self {
            program,
            events: Vec::new(),
            threads: vec![Vec::new(); program.threads.len()],
            co: vec![Vec::new(); program.locations.len()],
            runners: program.thread_ids().map(|thread| Runner::new(program, thread, iterations)).collect(),
            iterations,
        }
    }

    /// What comes next: of a thread that is in the middle of a read-modify-write, else of the first that goes on.
    pub(crate) fn next(&mut self) -> Option<(ThreadId, Next<'p>)> {
        let busy = self.runners.iter().position(Runner::is_busy);
        let order = busy.into_iter().chain(0..self.runners.len());
        for thread in order {
            match self.runners[thread].next() {
                Next::End => {}
                next => return Some((ThreadId::new(thread), next)),
            }
        }
        None
    }

    fn push(&mut self, event: Event) -> EventId {
        self.threads[event.thread.index()].push(self.events.len());
        self.events.push(event);
        self.events.len() - 1
    }

    /// What a write wrote; none is the initial one.
    pub(crate) fn written(&self, write: Option<EventId>, loc: LocId) -> i128 {
        write.map_or_else(|| self.program.location(loc).init, |write| self.events[write].value)
    }

    /// Adds the next read of a thread, from this write.
    pub(crate) fn read(&mut self, thread: ThreadId, access: &'p cyrano_ir::Access, loc: LocId, from: Option<EventId>) {
        let value = self.written(from, loc);
        let runner = &mut self.runners[thread.index()];
        let (rmw, tags) = runner.reading(access, value);
        runner.read(access, loc, value);
        self.push(Event { thread, kind: Kind::Read(from), loc: Some(loc), value, tags, rmw });
    }

    /// Adds the next write of a thread, at this place among the writes to its location.
    pub(crate) fn write(&mut self, thread: ThreadId, writing: &Writing, at: usize) -> EventId {
        let half = writing.half.map(|half| self.threads[thread.index()][half]);
        self.runners[thread.index()].wrote(writing);
        let Writing { loc, value, tags, .. } = *writing;
        let event = Event { thread, kind: Kind::Write(half), loc: Some(loc), value, tags, rmw: half.is_some() };
        let id = self.push(event);
        self.co[loc.index()].insert(at, id);
        id
    }

    /// Adds the next fence of a thread.
    pub(crate) fn fence(&mut self, thread: ThreadId, fence: Fence) {
        self.runners[thread.index()].fenced();
        let loc = if let Fence::Named { at, .. } = fence { at } else { None };
        self.push(Event { thread, kind: Kind::Fence(fence), loc, value: 0, tags: fence.tags(), rmw: false });
    }

    /// Adds the next choice of a thread.
    pub(crate) fn choose(&mut self, thread: ThreadId, value: i128, first: bool) {
        self.runners[thread.index()].choose(value);
        let tags = Tags::default();
        self.push(Event { thread, kind: Kind::Choice { first }, loc: None, value, tags, rmw: false });
    }

    /// The events that are before the next one of a thread by program order and reads-from.
    pub(crate) fn causes(&self, thread: ThreadId) -> Vec<bool> {
        let mut found = vec![false; self.events.len()];
        let mut todo: Vec<EventId> = self.threads[thread.index()].last().copied().into_iter().collect();
        while let Some(event) = todo.pop() {
            if std::mem::replace(&mut found[event], true) {
                continue;
            }
            let own = &self.threads[self.events[event].thread.index()];
            let at = own.partition_point(|other| *other < event);
            todo.extend(at.checked_sub(1).map(|before| own[before]));
            if let Kind::Read(Some(write)) = self.events[event].kind {
                todo.push(write);
            }
        }
        found
    }

    /// The graph with these events only; the threads that lose some are run again. The read may have been given another value since.
    pub(crate) fn keep(&self, kept: &[bool]) -> Self {
        let mut number = vec![0; self.events.len()];
        let mut count = 0;
        for (event, kept) in kept.iter().enumerate() {
            number[event] = count;
            count += usize::from(*kept);
        }
        let renumber = |list: &[EventId]| {
            let kept = list.iter().filter(|event| kept[**event]);
            kept.map(|event| number[*event]).collect::<Vec<EventId>>()
        };
        let rename = |event: &Event| {
            let kind = match event.kind {
                Kind::Read(from) => Kind::Read(from.map(|from| number[from])),
                Kind::Write(half) => Kind::Write(half.map(|half| number[half])),
                other => other,
            };
            Event { kind, ..*event }
        };
        let events = self.events.iter().zip(kept).filter(|(_, kept)| **kept).map(|(event, _)| rename(event));
        let mut graph = Self {
            program: self.program,
            events: events.collect(),
            threads: self.threads.iter().map(|own| renumber(own)).collect(),
            co: self.co.iter().map(|writes| renumber(writes)).collect(),
            runners: self.runners.clone(),
            iterations: self.iterations,
        };
        for thread in 0..graph.threads.len() {
            if graph.threads[thread].len() < self.threads[thread].len() {
                graph.run_again(ThreadId::new(thread));
            }
        }
        graph
    }

    /// Runs a thread again on the values of its events.
    pub(crate) fn run_again(&mut self, thread: ThreadId) {
        let mut runner = Runner::new(self.program, thread, self.iterations);
        for at in 0..self.threads[thread.index()].len() {
            let id = self.threads[thread.index()][at];
            let value = self.events[id].value;
            match runner.next() {
                Next::Choice(_) => runner.choose(value),
                Next::Read(access, loc) => {
                    let event = &mut self.events[id];
                    (event.rmw, event.tags) = runner.reading(access, value);
                    runner.read(access, loc, value);
                }
                Next::Write(writing) => runner.wrote(&writing),
                Next::Fence(_) => runner.fenced(),
                Next::End => unreachable!("a thread does what it did before"),
            }
        }
        self.runners[thread.index()] = runner;
    }

    /// The same for a model: without choices, with initial writes first, and the number that each event has there.
    pub(crate) fn for_model(&self, races: bool, counted: impl Fn(EventId) -> bool) -> (cat::Graph, Vec<Option<usize>>) {
        let mut events = Vec::new();
        let mut initial = vec![None; self.program.locations.len()];
        let is_access = |event: &Event| matches!(event.kind, Kind::Read(_) | Kind::Write(_));
        for (loc, initial) in initial.iter_mut().enumerate() {
            let loc = Some(LocId::new(loc));
            let mut accesses = self.events.iter().enumerate();
            if accesses.any(|(id, event)| event.loc == loc && is_access(event) && counted(id)) {
                *initial = Some(events.len());
                let (what, tags) = (cat::What::Write, Tags::default());
                events.push(cat::Event { thread: None, what, loc, tags, rmw: false });
            }
        }
        let mut numbers = vec![None; self.events.len()];
        for id in self.threads.iter().flatten().copied().filter(|id| counted(*id)) {
            let Event { thread, kind, loc, tags, rmw, .. } = self.events[id];
            let what = match kind {
                Kind::Read(_) => cat::What::Read,
                Kind::Write(_) => cat::What::Write,
                Kind::Fence(fence) => cat::What::Fence(fence),
                Kind::Choice { .. } => continue,
            };
            numbers[id] = Some(events.len());
            let tags = if races { tags.spoken() } else { tags };
            events.push(cat::Event { thread: Some(thread), what, loc, tags, rmw });
        }
        let mut graph = cat::Graph::new(events);
        self.relate(&mut graph, &initial, &numbers);
        (graph, numbers)
    }

    fn relate(&self, graph: &mut cat::Graph, initial: &[Option<usize>], numbers: &[Option<usize>]) {
        for own in &self.threads {
            let own: Vec<usize> = own.iter().filter_map(|id| numbers[*id]).collect();
            for (at, event) in own.iter().enumerate() {
                own[..at].iter().for_each(|before| graph.po.insert(*before, *event));
            }
        }
        for (id, event) in self.events.iter().enumerate() {
            let Some(number) = numbers[id] else { continue };
            match (event.kind, event.loc) {
                (Kind::Read(from), Some(loc)) => {
                    let from = from.map_or(initial[loc.index()], |from| numbers[from]);
                    from.into_iter().for_each(|from| graph.rf.insert(from, number));
                }
                (Kind::Write(Some(half)), _) => {
                    numbers[half].into_iter().for_each(|half| graph.amo.insert(half, number));
                }
                _ => {}
            }
        }
        for (writes, initial) in self.co.iter().zip(initial) {
            let order: Vec<usize> =
                initial.iter().copied().chain(writes.iter().filter_map(|id| numbers[*id])).collect();
            for (at, write) in order.iter().enumerate() {
                order[..at].iter().for_each(|before| graph.co.insert(*before, *write));
            }
        }
    }

    /// What memory holds at the end.
    pub(crate) fn memory(&self) -> Vec<i128> {
        let last = |(loc, writes): (usize, &Vec<EventId>)| self.written(writes.last().copied(), LocId::new(loc));
        self.co.iter().enumerate().map(last).collect()
    }

    /// Whether an event counts: those of a section that waits do not, nor does a read that goes wrong.
    fn counts(&self, id: EventId) -> bool {
        let thread = self.events[id].thread.index();
        let at = self.threads[thread].partition_point(|other| *other < id);
        at < self.runners[thread].counted().0
    }

    /// The execution as data.
    pub(crate) fn execution(&self) -> Execution {
        let (model, numbers) = self.for_model(false, |id| self.counts(id));
        let mut order = Vec::new();
        // The number of the access that an event of the model's graph belongs to; 0 for initial writes.
        let mut access_of = vec![0; model.events.len()];
        for (own, runner) in self.threads.iter().zip(&self.runners) {
            for (index, (read, write)) in runner.accesses.iter().take(runner.counted().1).enumerate() {
                let value = |at: &Option<usize>| at.map(|at| self.events[own[at]].value);
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                order.push(Access { thread: runner.thread, index, read: value(read), written: value(write) });
                for at in read.iter().chain(write) {
                    numbers[own[*at]].into_iter().for_each(|number| access_of[number] = order.len());
                }
            }
        }
        let named = |pairs: &cat::Matrix| pairs.iter().map(|(from, to)| (access_of[from], access_of[to])).collect();
        let next = |relation: &cat::Matrix| named(&relation.diff(&relation.seq(&model.co)));
        let fr = model.rf.inverse().seq(&model.co).diff(&model.amo);
        let relations = Relations { rf: named(&model.rf), co: next(&model.co), fr: next(&fr) };
        let chosen = |own: &Vec<EventId>| {
            let events = own.iter().map(|id| &self.events[*id]);
            events.filter(|event| matches!(event.kind, Kind::Choice { .. })).map(|event| event.value).collect()
        };
        let choices = self.threads.iter().map(chosen).collect();
        Execution { order, choices, relations: Some(Box::new(relations)) }
    }
}
