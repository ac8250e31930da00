//! Every execution once (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly stateless, optimal dynamic partial order reduction", POPL 2022).
//!
//! Events are added one after the other. A read is added once for every write that it may read from, a write at every place among the writes to its
//! location, as the model allows. A read that is there already may have wanted to read from a write that comes later: the write *revisits* it, and everything that
//! was added after the read goes, but for what the write itself depends on (`po | rf`).
//!
//! **Argument.** Many graphs lead to the same one by such a revisit, since what goes could have been anything. Only one of them may do it: the one in which all
//! that goes, and the read itself, was added in the *maximal* way ([`Search::revisited`]): reads from the last write, writes at the last place, the first value of
//! a choice, and nobody who stays or was there before reads from it. For models in which an execution can always be extended in this way, whose executions have only
//! executions as prefixes by `po | rf`, and in which `po | rf` has no cycle, every consistent execution is then found, and once. [`crate::Graphs`] takes no others.
//!
//! **What is kept.** One graph grows and shrinks as alternatives are taken and taken back ([`Point`]). A revisit works on a part of the graph, copied to be a graph
//! of its own ([`Level`]), until all that follows from it is done. So what is kept is as many graphs as there are revisits within one another.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Counters, Limits, Stop, Watch};

use crate::consistency::Consistency;
use crate::graph::{Graph, Kind};
use crate::pool::Pool;
use crate::rows::{EventId, INITIAL, Row};
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
pub(crate) trait Goal<const W: usize> {
    /// Looks at an execution that is complete, or in which some thread does not go on.
    fn found(&mut self, graph: &Graph<'_, W>, model: &mut impl Consistency<W>) -> ControlFlow<()>;

    /// Whether a thread has gone wrong in a way that settles the question.
    fn is_wrong(&self, graph: &Graph<'_, W>, thread: usize) -> bool;

    /// Adds what somebody else has seen.
    fn join(&mut self, other: Self);
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Executions in which every thread came to its end.
    pub executions: u64,
    /// Those in which some thread does not go on.
    pub blocked: u64,
    /// Events that were added.
    pub events: u64,
    /// Events of the largest graph.
    pub depth: u64,
    /// Graphs that were kept at the same time, at most.
    pub levels: u64,
}

impl Counts {
    /// Adds what another search counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.events += other.events;
        self.depth = self.depth.max(other.depth);
        self.levels = self.levels.max(other.levels);
    }
}

/// What is open at a point.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// Which value the thread takes; the alternatives are places among those that it may take.
    Choice(usize),
    /// Which write the thread reads from.
    Read(usize),
    /// Which read sees the next write of the thread; then, after which write it stands.
    Revisit(usize),
    Place(usize),
    /// After which write the write stands that a read is to read from.
    PlaceFor(usize, EventId),
}

/// A point at which there was more than one way to go on.
#[derive(Clone, Copy, Debug)]
struct Point {
    open: Open,
    /// How many events there were, and what the model knew.
    len: usize,
    mark: usize,
    /// Where the alternatives begin that are left.
    alternatives: usize,
    /// Which part of the whole search each of them is taken for.
    weight: f64,
}

/// A graph, and how to go on with it: a part of a search that needs no other.
pub(crate) struct Level<'p, M, const W: usize> {
    graph: Graph<'p, W>,
    model: M,
    points: Vec<Point>,
    /// What is left to do at each point, the next one last.
    alternatives: Vec<EventId>,
    /// The read that reads again from a write at the first point, if it does.
    read_again: Option<EventId>,
    /// Which part of the whole search the graph as it is now is taken for.
    weight: f64,
    /// Whether the graph has ended, and only what is left at the points is to be done.
    ended: bool,
}

/// What all parts of a search share.
pub(crate) struct Shared<'a, T> {
    pub(crate) limits: &'a Limits,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) fault: Option<Fault>,
    /// Where others get work from, if there are others.
    pub(crate) pool: Option<Pool<T>>,
    /// What was counted, and which part of the search is done.
    pub(crate) told: Mutex<(Counts, f64)>,
    /// After how many events the search is to be given to several.
    pub(crate) patience: Option<u64>,
}

/// A search.
pub(crate) struct Search<'a, 'p, G, M, const W: usize> {
    goal: &'a mut G,
    shared: &'a Shared<'a, Level<'p, M, W>>,
    counts: Counts,
    /// Which part of the whole was done since it was last told.
    done: f64,
    /// Events since the last look at the limits, here or in the search that the same worker did before.
    pub(crate) since: u64,
    levels: Vec<Level<'p, M, W>>,
    /// Levels that are done, for their memory.
    spare: Vec<Level<'p, M, W>>,
}

/// Why a search ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    /// The goal has seen enough.
    Settled,
    /// A graph has more events than there are numbers.
    TooLarge,
    /// It takes long.
    Long,
    Stopped(Stop),
    /// Somebody else ended it.
    Elsewhere,
}

/// Events between two looks at the limits.
const INTERVAL: u64 = 4096;

impl<'p, M: Consistency<W>, const W: usize> Level<'p, M, W> {
    pub(crate) fn new(graph: Graph<'p, W>, model: M) -> Self {
        let (points, alternatives) = (Vec::new(), Vec::new());
        Self { graph, model, points, alternatives, read_again: None, weight: 1.0, ended: false }
    }
}

impl<'a, 'p, G: Goal<W>, M: Consistency<W>, const W: usize> Search<'a, 'p, G, M, W> {
    pub(crate) fn new(goal: &'a mut G, level: Level<'p, M, W>, shared: &'a Shared<'a, Level<'p, M, W>>) -> Self {
        Self { goal, shared, counts: Counts::default(), done: 0.0, since: 0, levels: vec![level], spare: Vec::new() }
    }

    /// What is left to do, in parts.
    pub(crate) fn left(self) -> Vec<Level<'p, M, W>> {
        self.levels
    }

    /// Tells what was done since the last time.
    pub(crate) fn tell(&mut self) -> (Counts, f64) {
        let mut told = self.shared.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.0.add(&std::mem::take(&mut self.counts));
        told.1 += std::mem::take(&mut self.done);
        *told
    }

    /// Shows every execution to the goal.
    pub(crate) fn run(&mut self) -> Result<(), Halt> {
        if self.shared.pool.is_none() {
            self.look()?;
        }
        if (0..self.graph().runners.len()).any(|thread| self.goal.is_wrong(self.graph(), thread)) {
            return self.went_wrong();
        }
        loop {
            if !self.top().ended {
                self.open()?;
            }
            if !self.take()? {
                return Ok(());
            }
        }
    }

    fn top(&mut self) -> &mut Level<'p, M, W> {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn graph(&self) -> &Graph<'p, W> {
        &self.levels[self.levels.len() - 1].graph
    }

    fn look(&mut self) -> Result<(), Halt> {
        let bytes = self.levels.iter().chain(&self.spare).map(|level| level.graph.bytes()).sum();
        let (counts, share) = self.tell();
        let (states, frontier, share) = (counts.executions + counts.blocked, self.levels.len() as u64, Some(share));
        self.shared.watch.progress(Counters { states, frontier, depth: counts.depth, bytes, share });
        match (self.shared.limits.exceeded(bytes), &self.shared.pool) {
            (Some(stop), _) => Err(Halt::Stopped(stop)),
            (None, Some(pool)) if pool.is_closed() => Err(Halt::Elsewhere),
            (None, None) if self.shared.patience.is_some_and(|most| counts.events >= most) => Err(Halt::Long),
            _ => Ok(()),
        }
    }

    /// Finds out how the graph may go on, or that it does not.
    fn open(&mut self) -> Result<(), Halt> {
        loop {
            let Some(thread) = self.graph().next() else { return self.ended() };
            self.top().ended = true;
            let Level { graph, model, alternatives, .. } = self.top();
            let start = alternatives.len();
            match graph.runners[thread].frame().next {
                Next::Fence(fence) => {
                    let id = graph.fence(thread, fence);
                    model.added(graph, id);
                    if self.goal.is_wrong(self.graph(), thread) {
                        return self.went_wrong();
                    }
                    self.top().ended = false;
                    self.added()?;
                    continue;
                }
                Next::Choice => {
                    let values = graph.runners[thread].values(&graph.code[thread]);
                    let new = (0..values.len()).filter(|at| !values[..*at].contains(&values[*at]));
                    alternatives.extend(new.map(|at| at as EventId));
                    self.point(Open::Choice(thread), start);
                    self.share(start);
                }
                Next::Read(loc) => {
                    model.sources(graph, thread, loc, alternatives);
                    self.point(Open::Read(thread), start);
                    self.share(start);
                }
                Next::Write(writing) => {
                    model.places(graph, thread, &writing, alternatives);
                    self.point(Open::Place(thread), start);
                    let revisits = self.top().alternatives.len();
                    self.revisited(thread, &writing);
                    self.point(Open::Revisit(thread), revisits);
                    self.share(start);
                }
                Next::End(_) => unreachable!("such a thread has no next event"),
            }
            return Ok(());
        }
    }

    /// Remembers alternatives, to be taken in their order.
    fn point(&mut self, open: Open, start: usize) {
        let Level { graph, model, points, alternatives, .. } = self.top();
        if alternatives.len() > start {
            alternatives[start..].reverse();
            points.push(Point { open, len: graph.order.len(), mark: model.mark(), alternatives: start, weight: 0.0 });
        }
    }

    /// Shares what the graph is taken for among the alternatives from this one on.
    fn share(&mut self, start: usize) {
        let level = self.top();
        let count = level.alternatives.len() - start;
        let weight = level.weight / count.max(1) as f64;
        for point in level.points.iter_mut().rev().take_while(|point| point.alternatives >= start) {
            point.weight = weight;
        }
        if count == 0 {
            let weight = level.weight;
            self.done += weight;
        }
    }

    /// Goes back to the last point at which something is left to do, and does it; not if there is none.
    fn take(&mut self) -> Result<bool, Halt> {
        loop {
            if self.shared.pool.as_ref().is_some_and(Pool::is_hungry) {
                self.give();
            }
            let Some(point) = self.top().points.last().copied() else {
                if self.levels.len() == 1 {
                    return Ok(false);
                }
                self.spare.extend(self.levels.pop());
                continue;
            };
            let level = self.top();
            let Some(alternative) = level.alternatives.pop() else { unreachable!("a point has alternatives") };
            if level.alternatives.len() == point.alternatives {
                level.points.pop();
            }
            level.back_to(&point);
            if let Open::Revisit(thread) = point.open {
                self.revisit(thread, alternative, point.weight);
                continue;
            }
            (level.weight, level.ended) = (point.weight, true);
            let (threads, allowed) = level.go(point.open, alternative);
            if !allowed {
                self.done += point.weight;
                self.added()?;
                continue;
            }
            if threads.iter().any(|thread| self.goal.is_wrong(self.graph(), *thread)) {
                self.went_wrong()?;
                continue;
            }
            self.top().ended = false;
            self.added()?;
            return Ok(true);
        }
    }

    /// Gives others the oldest alternatives that are left: they are the largest part of what is left to do.
    fn give(&mut self) {
        let Some(pool) = &self.shared.pool else { return };
        let Some(level) = self.levels.iter_mut().find(|level| !level.points.is_empty()) else { return };
        let ends = level.points.get(1).map_or(level.alternatives.len(), |next| next.alternatives);
        let point = level.points.remove(0);
        let alternatives: Vec<EventId> = level.alternatives.drain(point.alternatives..ends).collect();
        for later in &mut level.points {
            later.alternatives -= alternatives.len();
        }
        let mut given = Level {
            graph: level.graph.clone(),
            model: level.model.clone(),
            points: vec![Point { alternatives: 0, ..point }],
            alternatives,
            read_again: level.read_again,
            weight: 0.0,
            ended: true,
        };
        given.back_to(&point);
        pool.give(given);
    }

    /// Counts an event.
    fn added(&mut self) -> Result<(), Halt> {
        self.counts.events += 1;
        let graph = self.graph();
        let (full, len) = (graph.full, graph.order.len() as u64);
        self.counts.depth = self.counts.depth.max(len);
        if full {
            return Err(Halt::TooLarge);
        }
        self.since += 1;
        if self.since < INTERVAL {
            return Ok(());
        }
        self.since = 0;
        self.look()
    }

    /// Finds the reads that are to see a write that comes next: looks at what was added last first, and stops at what was not added in the maximal way.
    fn revisited(&mut self, thread: usize, writing: &Writing) {
        let fault = self.shared.fault;
        let Level { graph, alternatives, .. } = self.top();
        let causes = graph.causes(thread);
        if fault == Some(Fault::NoRevisits) || !graph.is_read(writing.loc, causes) {
            return;
        }
        let mut there = graph.alive;
        for id in graph.order.iter().rev().copied() {
            if causes.contains(id) {
                continue;
            }
            let event = graph.event(id);
            let maximal = is_maximal(graph, id, &there, fault);
            if matches!(event.kind, Kind::Read(_)) && event.loc == Some(writing.loc) {
                let source =
                    if fault == Some(Fault::AnySource) { is_maximal(graph, id, &there, None) } else { maximal };
                if source || fault == Some(Fault::AnyRevisited) {
                    alternatives.push(id);
                }
            }
            if !maximal {
                return;
            }
            there.remove(id);
        }
    }

    /// Lets a read that is there see the next write of a thread.
    fn revisit(&mut self, thread: usize, read: EventId, weight: f64) {
        let mut spare = self.spare.pop();
        let fault = self.shared.fault;
        let Level { graph, model, .. } = self.top();
        let mut kept = graph.causes(thread);
        if fault == Some(Fault::LoseCauses) {
            kept = graph.runners[thread].events.iter().fold(Row::EMPTY, |row, id| row | Row::one(*id));
        }
        let earlier = graph.order.iter().position(|id| *id == read).unwrap_or(0);
        graph.order[..=earlier].iter().for_each(|id| kept.insert(*id));
        let level = spare.get_or_insert_with(|| Level::new(graph.clone(), model.clone()));
        level.graph.copy_part(graph, kept);
        level.graph.unread(read);
        level.model.copy_part(model, &level.graph);
        level.points.clear();
        level.alternatives.clear();
        (level.read_again, level.weight, level.ended) = (None, weight, true);
        let Next::Write(writing) = level.graph.runners[thread].frame().next else {
            unreachable!("a thread that is to write")
        };
        level.places_for(read, thread, &writing);
        self.levels.extend(spare);
        self.counts.levels = self.counts.levels.max(self.levels.len() as u64);
        self.point(Open::PlaceFor(thread, read), 0);
        self.share(0);
    }

    /// No thread goes on.
    fn ended(&mut self) -> Result<(), Halt> {
        let done = self.graph().runners.iter().all(|runner| runner.status() == Some(Status::Done));
        *(if done { &mut self.counts.executions } else { &mut self.counts.blocked }) += 1;
        let level = self.top();
        level.ended = true;
        let weight = level.weight;
        self.done += weight;
        self.show()
    }

    fn show(&mut self) -> Result<(), Halt> {
        let last = self.levels.len() - 1;
        let Level { graph, model, .. } = &mut self.levels[last];
        if self.goal.found(graph, model).is_break() { Err(Halt::Settled) } else { Ok(()) }
    }

    /// A thread went wrong: the others go on as far as they go, each event added in the maximal way, so that there is a whole execution to show.
    fn went_wrong(&mut self) -> Result<(), Halt> {
        let level = self.top();
        level.ended = true;
        let (weight, graph) = (level.weight, &mut level.graph);
        while let Some(thread) = graph.next().filter(|_| !graph.full) {
            match graph.runners[thread].frame().next {
                Next::Choice => {
                    let first = graph.runners[thread].values(&graph.code[thread])[0];
                    graph.choose(thread, first, true);
                }
                Next::Fence(fence) => {
                    graph.fence(thread, fence);
                }
                Next::Read(loc) => {
                    graph.read(thread, loc, graph.last(loc));
                }
                Next::Write(writing) => {
                    graph.write(thread, &writing, graph.last(writing.loc));
                }
                Next::End(_) => unreachable!("such a thread has no next event"),
            }
        }
        if graph.full {
            return Err(Halt::TooLarge);
        }
        self.done += weight;
        self.show()
    }
}

impl<M: Consistency<W>, const W: usize> Level<'_, M, W> {
    /// Takes back what was added after a point.
    fn back_to(&mut self, point: &Point) {
        self.graph.truncate(point.len);
        self.model.restore(point.mark);
        if let Open::PlaceFor(_, read) = point.open
            && self.read_again.take().is_some()
        {
            self.graph.unread(read);
        }
    }

    /// The places of a write that a read may read from then: it has seen nothing after them.
    fn places_for(&mut self, read: EventId, thread: usize, writing: &Writing) {
        let Self { graph, model, alternatives, .. } = self;
        let reader = usize::from(graph.event(read).thread);
        model.sources(graph, reader, writing.loc, alternatives);
        let seen = alternatives.len();
        model.places(graph, thread, writing, alternatives);
        let places = alternatives.split_off(seen);
        alternatives.retain(|source| places.contains(source));
    }

    /// Takes an alternative; says whose events were added, and whether the model allows them.
    fn go(&mut self, open: Open, alternative: EventId) -> ([usize; 2], bool) {
        let Self { graph, model, .. } = self;
        match open {
            Open::Choice(thread) => {
                let value = graph.runners[thread].values(&graph.code[thread])[usize::from(alternative)];
                let id = graph.choose(thread, value, alternative == 0);
                model.added(graph, id);
                ([thread; 2], true)
            }
            Open::Read(thread) => {
                let Next::Read(loc) = graph.runners[thread].frame().next else {
                    unreachable!("a thread that is to read")
                };
                let id = graph.read(thread, loc, alternative);
                model.added(graph, id);
                ([thread; 2], model.allows(graph, id))
            }
            Open::Place(thread) => {
                let id = self.write(thread, alternative);
                ([thread; 2], self.model.allows(&self.graph, id))
            }
            Open::PlaceFor(thread, read) => {
                let id = self.write(thread, alternative);
                let Self { graph, model, read_again, .. } = self;
                graph.read_again(read, id);
                *read_again = Some(read);
                model.added(graph, read);
                ([thread, usize::from(graph.event(read).thread)], model.allows(graph, read))
            }
            Open::Revisit(_) => unreachable!("revisits are graphs of their own"),
        }
    }

    fn write(&mut self, thread: usize, after: EventId) -> EventId {
        let Self { graph, model, .. } = self;
        let Next::Write(writing) = graph.runners[thread].frame().next else {
            unreachable!("a thread that is to write")
        };
        let id = graph.write(thread, &writing, after);
        model.added(graph, id);
        id
    }
}

/// Whether an event was added as the last one of those that are there: of what was there before it, and what a write depends on.
fn is_maximal<const W: usize>(graph: &Graph<'_, W>, id: EventId, there: &Row<W>, fault: Option<Fault>) -> bool {
    let event = graph.event(id);
    let last = || {
        let mut last = event.loc.map_or(INITIAL, |loc| graph.last(loc));
        while last != INITIAL && !there.contains(last) {
            last = graph.event(last).previous;
        }
        last
    };
    match (event.kind, event.loc) {
        (Kind::Fence(_), _) => true,
        (Kind::Choice { first }, _) => first || fault == Some(Fault::AnyChoice),
        (Kind::Read(from), _) => fault == Some(Fault::AnySource) || last() == from,
        (Kind::Write(_), Some(loc)) => {
            (fault == Some(Fault::AnyReader) || !graph.readers(id, loc).meets(there))
                && (fault == Some(Fault::AnyPlace) || last() == id)
        }
        (Kind::Write(_), None) => unreachable!("a write is somewhere"),
    }
}
