//! A graph that grows and shrinks as alternatives are taken and taken back: a part of a search that needs no other.

use crate::graph::Graph;
use crate::models::consistency::Consistency;
use crate::rows::EventId;
use crate::run::Run;
use crate::thread::{Next, Runner, Writing};

/// What is open at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Open {
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

/// The number of an alternative: alternatives are taken from the last one to the first.
pub(crate) type Turn = u16;

/// A point at which there was more than one way to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) open: Open,
    /// How many events there were, and what the model knew.
    pub(crate) len: usize,
    pub(crate) mark: usize,
    /// Where the alternatives begin that are left.
    pub(crate) alternatives: usize,
    /// How long the [path](Level::path) was, and the number that the first of the alternatives has in it.
    pub(crate) path: usize,
    pub(crate) first: Turn,
    /// Which part of the whole search each of them is taken for.
    pub(crate) weight: f64,
}

/// A graph, and how to go on with it: a part of a search that needs no other.
pub(crate) struct Level<'p, M, const W: usize, R: Run = Runner> {
    pub(crate) graph: Graph<'p, W, R>,
    pub(crate) model: M,
    pub(crate) points: Vec<Point>,
    /// What is left to do at each point, the next one last.
    pub(crate) alternatives: Vec<EventId>,
    /// Which alternatives were taken on the way to the graph, from the beginning of the search.
    pub(crate) path: Vec<Turn>,
    /// The read that reads again from a write at the first point, if it does.
    pub(crate) read_again: Option<EventId>,
    /// Which part of the whole search the graph as it is now is taken for.
    pub(crate) weight: f64,
    /// Whether the graph has ended, and only what is left at the points is to be done.
    pub(crate) ended: bool,
}

impl<'p, M: Consistency<W, R>, const W: usize, R: Run> Level<'p, M, W, R> {
    pub(crate) fn new(graph: Graph<'p, W, R>, model: M) -> Self {
        let (points, alternatives, path) = (Vec::new(), Vec::new(), Vec::new());
        Self { graph, model, points, alternatives, path, read_again: None, weight: 1.0, ended: false }
    }

    /// Takes the oldest alternatives that are left, the largest part of what is left to do, as a level of their own.
    pub(crate) fn split(&mut self) -> Option<Self> {
        let ends = self.points.get(1).map_or(self.alternatives.len(), |next| next.alternatives);
        let point = *self.points.first()?;
        self.points.remove(0);
        let alternatives: Vec<EventId> = self.alternatives.drain(point.alternatives..ends).collect();
        for later in &mut self.points {
            later.alternatives -= alternatives.len();
        }
        let mut given = Self {
            graph: self.graph.clone(),
            model: self.model.clone(),
            points: vec![Point { alternatives: 0, ..point }],
            alternatives,
            path: self.path.clone(),
            read_again: self.read_again,
            weight: 0.0,
            ended: true,
        };
        given.back_to(&point);
        Some(given)
    }

    /// Takes the oldest alternative that is left, as a level of its own.
    pub(crate) fn split_one(&mut self) -> Option<Self> {
        let mut given = self.split()?;
        let point = *given.points.first()?;
        let Some(rest) = given.alternatives.len().checked_sub(1).filter(|rest| *rest > 0) else { return Some(given) };
        // What is not taken goes back to where it was.
        let later = given.alternatives.split_off(1);
        self.points.iter_mut().for_each(|point| point.alternatives += rest);
        self.alternatives.splice(..0, later);
        self.points.insert(0, Point { first: point.first + 1, ..point });
        Some(given)
    }

    /// Takes back what was added after a point.
    pub(crate) fn back_to(&mut self, point: &Point) {
        self.graph.truncate(point.len);
        self.model.restore(point.mark);
        self.path.truncate(point.path);
        if let Open::PlaceFor(_, read) = point.open
            && self.read_again.take().is_some()
        {
            self.graph.unread(read);
        }
    }

    /// The places of a write that a read may read from then: it has seen nothing after them.
    pub(crate) fn places_for(&mut self, read: EventId, thread: usize, writing: &Writing) {
        let Self { graph, model, alternatives, .. } = self;
        let reader = usize::from(graph.event(read).thread);
        model.sources(graph, reader, writing.loc, alternatives);
        let seen = alternatives.len();
        model.places(graph, thread, writing, alternatives);
        let places = alternatives.split_off(seen);
        alternatives.retain(|source| places.contains(source));
    }

    /// Takes an alternative; says whose events were added, and whether the model allows them.
    pub(crate) fn go(&mut self, open: Open, alternative: EventId) -> ([usize; 2], bool) {
        let Self { graph, model, .. } = self;
        match open {
            Open::Choice(thread) => {
                let value = graph.runners[thread].values(&graph.code[thread])[usize::from(alternative)];
                let id = graph.choose(thread, value, alternative == 0);
                model.added(graph, id);
                ([thread; 2], true)
            }
            Open::Read(thread) => {
                let Next::Read(loc) = *graph.runners[thread].next() else { unreachable!("a thread that is to read") };
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
        let Next::Write(writing) = *graph.runners[thread].next() else { unreachable!("a thread that is to write") };
        let id = graph.write(thread, &writing, after);
        model.added(graph, id);
        id
    }
}
