//! Every execution once (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly stateless, optimal dynamic partial order reduction", POPL 2022).
//!
//! Events are added one after the other. A read is added once for every write that it may read from, a write at every place among the writes to its
//! location, as the model allows. A read that is there already may have wanted to read from a write that comes later: the write *revisits* it, and everything that
//! was added after the read goes, but for what the write itself depends on (`po | rf`).
//!
//! **Argument.** Many graphs lead to the same one by such a revisit, since what goes could have been anything. Only one of them may do it: the one in which all
//! that goes, and the read itself, was added in the *maximal* way ([`crate::search::revisit`]): reads from the last write, writes at the last place, the first value of
//! a choice, and nobody who stays or was there before reads from it. For models in which an execution can always be extended in this way, whose executions have only
//! executions as prefixes by `po | rf`, and in which `po | rf` has no cycle, every consistent execution is then found, and once. [`crate::Graphs`] takes no others.
//!
//! **What is kept.** One graph grows and shrinks as alternatives are taken and taken back ([`crate::search::level`]). A revisit works on a part of the graph, copied to be a graph
//! of its own ([`Level`]), until all that follows from it is done. So what is kept is as many graphs as there are revisits within one another.

pub(crate) mod level;
pub(crate) mod pool;
pub(crate) mod revisit;
pub(crate) mod several;
pub(crate) mod whole;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Counters, Limits, Stop, Watch};

use crate::faults::Fault;
use crate::graph::Graph;
use crate::kept::{Keep, Seen};
use crate::models::consistency::Consistency;
use crate::rows::{EventId, Row};
use crate::run::Run;
use crate::search::level::{Level, Open, Point, Turn};
use crate::search::pool::Pool;
use crate::search::revisit::revisited;
use crate::stale::waits_in_vain;
use crate::thread::{Next, Runner, Status};

/// Somebody who looks at executions.
pub(crate) trait Goal<const W: usize, R: Run = Runner> {
    /// Looks at an execution that is complete, or in which some thread does not go on.
    fn found(&mut self, graph: &Graph<'_, W, R>, model: &mut impl Consistency<W, R>) -> ControlFlow<()>;

    /// Whether a thread has gone wrong in a way that settles the question.
    fn is_wrong(&self, graph: &Graph<'_, W, R>, thread: usize) -> bool;

    /// Adds what somebody else has seen.
    fn join(&mut self, other: Self);

    /// What it has seen, and that it has seen it, for those who go on later.
    fn seen(&self) -> Seen {
        Seen::default()
    }
    fn has_seen(&mut self, _: &Seen) {}
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
    /// Whether executions in which a thread waits behind something old are left ([`crate::stale`]).
    pub(crate) stale_waits: bool,
    /// Whether such a thread counts if what it read last races.
    pub(crate) stale_reads_race: bool,
    /// Events between two looks at the limits.
    pub(crate) pace: u64,
    /// Who keeps what was found so far.
    pub(crate) keep: Option<&'a dyn Keep>,
}

/// A search.
pub(crate) struct Search<'a, 'p, G, M, const W: usize, R: Run = Runner> {
    goal: &'a mut G,
    shared: &'a Shared<'a, Level<'p, M, W, R>>,
    counts: Counts,
    /// Which part of the whole was done since it was last told.
    done: f64,
    /// Events since the last look at the limits, here or in the search that the same worker did before.
    pub(crate) since: u64,
    levels: Vec<Level<'p, M, W, R>>,
    /// Levels that are done, for their memory.
    spare: Vec<Level<'p, M, W, R>>,
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
    /// Somebody wants to [keep](crate::Keep) what was found so far.
    Paused,
    Stopped(Stop),
    /// Equal threads cannot be told in which order they are ([`crate::symmetry`]).
    Apart,
    /// Objects are not what they should be ([`crate::fresh`]).
    Strange,
    /// A part that is to be searched is not there.
    Lost,
    /// Somebody else ended it.
    Elsewhere,
}

impl<'a, 'p, G: Goal<W, R>, M: Consistency<W, R>, const W: usize, R: Run> Search<'a, 'p, G, M, W, R> {
    /// A search of these parts.
    pub(crate) fn new(
        goal: &'a mut G,
        levels: Vec<Level<'p, M, W, R>>,
        shared: &'a Shared<'a, Level<'p, M, W, R>>,
    ) -> Self {
        Self { goal, shared, counts: Counts::default(), done: 0.0, since: 0, levels, spare: Vec::new() }
    }

    /// What is left to do, in parts.
    pub(crate) fn left(self) -> Vec<Level<'p, M, W, R>> {
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
        if self.levels.is_empty() {
            return Ok(());
        }
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

    pub(crate) fn top(&mut self) -> &mut Level<'p, M, W, R> {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn graph(&self) -> &Graph<'p, W, R> {
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
            (None, _) if self.shared.keep.is_some_and(Keep::is_due) => Err(Halt::Paused),
            (None, None) if self.shared.patience.is_some_and(|most| counts.events >= most) => Err(Halt::Long),
            _ => Ok(()),
        }
    }

    /// Finds out how the graph may go on, or that it does not.
    pub(crate) fn open(&mut self) -> Result<(), Halt> {
        loop {
            let Some(thread) = self.graph().next() else { return self.ended() };
            self.top().ended = true;
            let Level { graph, model, alternatives, .. } = self.top();
            let start = alternatives.len();
            match *graph.runners[thread].next() {
                next @ (Next::Fence(_) | Next::Spawn(_) | Next::Join(_)) => {
                    let id = match next {
                        Next::Fence(fence) => graph.fence(thread, fence),
                        tie => graph.tie(thread, tie),
                    };
                    model.added(graph, id);
                    R::settle(graph, model);
                    if self.goal.is_wrong(self.graph(), thread) {
                        return self.went_wrong();
                    }
                    self.top().ended = false;
                    // Nobody interrupts a search here: the way to a part of it is known by what was chosen, and fences on it are not counted again.
                    self.counted()?;
                    continue;
                }
                Next::Choice => {
                    let values = graph.runners[thread].values(&graph.code[thread]);
                    let new = (0..values.len()).filter(|at| !values[..*at].contains(&values[*at]));
                    alternatives.extend(new.map(|at| at as EventId));
                    graph.sort_choices(thread, &values, alternatives, start);
                    self.point(Open::Choice(thread), start, 0);
                    self.share(start);
                }
                Next::Read(loc) => {
                    model.sources(graph, thread, loc, alternatives);
                    graph.sort_sources((thread, loc), alternatives, start)?;
                    self.point(Open::Read(thread), start, 0);
                    self.share(start);
                }
                Next::Write(writing) => {
                    model.places(graph, thread, &writing, alternatives);
                    graph.sort_places(thread, &writing, alternatives, start);
                    self.point(Open::Place(thread), start, 0);
                    let revisits = self.top().alternatives.len();
                    let fault = self.shared.fault;
                    let Level { graph, alternatives, .. } = self.top();
                    revisited(graph, thread, &writing, fault, alternatives);
                    self.point(Open::Revisit(thread), revisits, revisits - start);
                    self.share(start);
                }
                Next::End(_) => unreachable!("such a thread has no next event"),
            }
            return Ok(());
        }
    }

    /// Remembers alternatives, to be taken in their order; so many have a number already.
    fn point(&mut self, open: Open, start: usize, numbered: usize) {
        let Level { graph, model, points, alternatives, path, .. } = self.top();
        if alternatives.len() > start {
            alternatives[start..].reverse();
            let (len, mark, path, first) = (graph.order.len(), model.mark(), path.len(), numbered as Turn);
            points.push(Point { open, len, mark, alternatives: start, path, first, weight: 0.0 });
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
    pub(crate) fn take(&mut self) -> Result<bool, Halt> {
        loop {
            if self.shared.pool.as_ref().is_some_and(Pool::is_hungry) {
                self.give();
            }
            let Some(point) = self.top().points.last().copied() else {
                if self.levels.len() == 1 {
                    return Ok(false);
                }
                self.spare.extend(self.levels.pop());
                // A part of a search that was interrupted goes on before anything is taken back.
                if !self.top().ended {
                    return Ok(true);
                }
                continue;
            };
            let level = self.top();
            let Some(alternative) = level.alternatives.pop() else { unreachable!("a point has alternatives") };
            if level.alternatives.len() == point.alternatives {
                level.points.pop();
            }
            level.back_to(&point);
            level.path.push(point.first + (level.alternatives.len() - point.alternatives) as Turn);
            if let Open::Revisit(thread) = point.open {
                self.revisit(thread, alternative, point.weight)?;
                continue;
            }
            (level.weight, level.ended) = (point.weight, true);
            let (threads, allowed) = level.go(point.open, alternative);
            if !allowed {
                self.done += point.weight;
                self.added()?;
                continue;
            }
            R::settle(&mut level.graph, &level.model);
            if threads.iter().any(|thread| self.goal.is_wrong(self.graph(), *thread)) {
                self.went_wrong()?;
                continue;
            }
            if let Some(counts) = self.left_early(threads) {
                self.counts.blocked += u64::from(counts);
                self.done += point.weight;
                self.added()?;
                continue;
            }
            self.top().ended = false;
            self.added()?;
            return Ok(true);
        }
    }

    /// Whether the graph is left, as one of these threads waits behind something old, and it is not about its last read that races are looked for; then, whether
    /// it counts.
    fn left_early(&self, threads: [usize; 2]) -> Option<bool> {
        let last = self.levels.len() - 1;
        let Level { graph, model, .. } = &self.levels[last];
        let races = |event: EventId| self.shared.stale_reads_race && model.may_race(graph, event);
        let stays = |thread: &usize| match graph.runners[*thread].status() {
            Some(Status::Again) => waits_in_vain(graph, *thread, None).is_some(),
            Some(_) if self.shared.stale_waits => {
                waits_in_vain(graph, *thread, self.shared.fault).is_some_and(|last| !races(last))
            }
            _ => false,
        };
        threads.iter().any(stays).then(|| !graph.is_again())
    }

    /// Gives others the oldest alternatives that are left.
    fn give(&mut self) {
        let Some(pool) = &self.shared.pool else { return };
        if let Some(given) = self.levels.iter_mut().find_map(Level::split) {
            pool.give(given);
        }
    }

    /// Counts an event, and looks at the limits now and then.
    fn added(&mut self) -> Result<(), Halt> {
        self.counted()?;
        if self.since < self.shared.pace {
            return Ok(());
        }
        self.since = 0;
        self.look()
    }

    fn counted(&mut self) -> Result<(), Halt> {
        self.counts.events += 1;
        let graph = self.graph();
        let (full, strange, len) = (graph.full, graph.strange, graph.order.len() as u64);
        self.counts.depth = self.counts.depth.max(len);
        if full {
            return Err(Halt::TooLarge);
        }
        if strange {
            return Err(Halt::Strange);
        }
        self.since += 1;
        Ok(())
    }

    /// Lets a read that is there see the next write of a thread.
    pub(crate) fn revisit(&mut self, thread: usize, read: EventId, weight: f64) -> Result<(), Halt> {
        let mut spare = self.spare.pop();
        let fault = self.shared.fault;
        let Level { graph, model, path, .. } = self.top();
        let mut kept = graph.needs(thread, fault);
        if fault == Some(Fault::LoseCauses) {
            kept = graph.runners[thread].events().iter().fold(Row::EMPTY, |row, id| row | Row::one(*id));
        }
        let earlier = graph.order.iter().position(|id| *id == read).unwrap_or(0);
        graph.order[..=earlier].iter().for_each(|id| kept.insert(*id));
        let level = spare.get_or_insert_with(|| Level::new(graph.clone(), model.clone()));
        level.graph.copy_part(graph, kept);
        level.graph.unread(read);
        level.model.copy_part(model, &level.graph);
        level.path.clone_from(path);
        level.points.clear();
        level.alternatives.clear();
        (level.read_again, level.weight, level.ended) = (None, weight, true);
        let Next::Write(writing) = *level.graph.runners[thread].next() else {
            unreachable!("a thread that is to write")
        };
        level.places_for(read, thread, &writing);
        level.graph.sort_places_for(read, (thread, &writing), &mut level.alternatives)?;
        self.levels.extend(spare);
        self.counts.levels = self.counts.levels.max(self.levels.len() as u64);
        self.point(Open::PlaceFor(thread, read), 0, 0);
        self.share(0);
        Ok(())
    }

    /// No thread goes on.
    fn ended(&mut self) -> Result<(), Halt> {
        let torn = self.shared.fault == Some(Fault::Torn);
        let Level { graph, model, ended, weight, .. } = self.top();
        if graph.is_again() || !torn && !model.is_whole(graph) {
            *ended = true;
            let weight = *weight;
            self.done += weight;
            return Ok(());
        }
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
        let Level { graph, model, weight, .. } = level;
        while let Some(thread) = graph.next().filter(|_| !R::IS_NATIVE && !graph.full) {
            let id = match *graph.runners[thread].next() {
                Next::Choice => {
                    let first = graph.runners[thread].values(&graph.code[thread])[0];
                    graph.choose(thread, first, true)
                }
                Next::Fence(fence) => graph.fence(thread, fence),
                tie @ (Next::Spawn(_) | Next::Join(_)) => graph.tie(thread, tie),
                Next::Read(loc) => graph.read(thread, loc, graph.last(loc)),
                Next::Write(writing) => graph.write(thread, &writing, graph.last(writing.loc)),
                Next::End(_) => unreachable!("such a thread has no next event"),
            };
            model.added(graph, id);
            R::settle(graph, model);
        }
        let weight = *weight;
        if graph.full {
            return Err(Halt::TooLarge);
        }
        self.done += weight;
        self.show()
    }
}
