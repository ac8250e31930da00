//! Whether a model allows a graph.
//!
//! A graph grows by one event at a time, at the end of a thread, and was allowed before. An event that is added last (it reads from the last write, or is the last
//! write) has nothing after it in any relation, and is always allowed. So what is asked is how far back it may read from or stand, and little else.

use cyrano_ir::LocId;
use cyrano_memory::cat::{Base, Judge, Node, NodeId, Plan};

use crate::execution::{counted_for_model, for_model};
use crate::graph::{Event, Graph, Kind};
use crate::linear::Order;
use crate::rows::{EventId, INITIAL, Row};
use crate::run::Run;
use crate::thread::{Runner, Writing};

/// Whoever says whether a graph is consistent. It may keep something about the events of one graph, which is told of every change to it.
pub(crate) trait Consistency<const W: usize, R: Run = Runner>: Clone {
    /// The writes that the next read of a thread may read from, the last one first. The graph with it is then asked about by [`Self::allows`].
    fn sources(&mut self, graph: &Graph<'_, W, R>, thread: usize, loc: LocId, found: &mut Vec<EventId>);

    /// The writes after which the next write of a thread may stand, the last one first; likewise.
    fn places(&mut self, graph: &Graph<'_, W, R>, thread: usize, writing: &Writing, found: &mut Vec<EventId>);

    /// An event was added.
    fn added(&mut self, graph: &Graph<'_, W, R>, id: EventId);

    /// What happens before the next event of a thread if it synchronises with nobody; by `po | rf` in models that say nothing of it.
    fn known(&self, graph: &Graph<'_, W, R>, thread: usize) -> Row<W> {
        graph.causes(thread)
    }

    /// Whether the graph is allowed with the event that was just added.
    fn allows(&mut self, graph: &Graph<'_, W, R>, id: EventId) -> bool;

    /// Whether nobody comes between what belongs together, in a graph that does not go on ([`crate::units`]).
    fn is_whole(&self, _: &Graph<'_, W, R>) -> bool {
        true
    }

    /// A point that can be gone back to.
    fn mark(&self) -> usize;

    /// Goes back to it; the events that were added since are gone.
    fn restore(&mut self, mark: usize);

    /// Becomes what another one is for a graph of which this graph is a part.
    fn copy_part(&mut self, from: &Self, graph: &Graph<'_, W, R>);

    /// What happens before each event of those that count, by number; of models that say so ([`cyrano_memory::cat::HAPPENS_BEFORE`]).
    fn happens_before(&mut self, graph: &Graph<'_, W, R>) -> Vec<Row<W>>;

    /// What comes before each event, in each relation that a message from one thread to another one adds to ([`crate::linear`]).
    fn order(&self, graph: &Graph<'_, W, R>) -> Order<W>;

    /// Whether a graph is allowed if this is what comes before each event.
    fn agrees(&self, graph: &Graph<'_, W, R>, order: &Order<W>) -> bool;

    /// The flags that a complete graph raises.
    fn flags(&mut self, graph: &Graph<'_, W, R>) -> Vec<String>;

    /// Whether the last access of a thread may race with one that comes before it by `po | rf`.
    fn may_race(&self, _: &Graph<'_, W, R>, _: EventId) -> bool {
        true
    }

    /// Two accesses that race, of those that count.
    fn race(&mut self, graph: &Graph<'_, W, R>) -> Option<[EventId; 2]>;
}

/// Walks from the last write to a location back to the first that must not be passed.
pub(crate) fn walk<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    loc: LocId,
    stops: impl Fn(EventId) -> bool,
    mut take: impl FnMut(EventId),
) {
    let mut at = graph.last(loc);
    loop {
        take(at);
        if at == INITIAL || stops(at) {
            return;
        }
        at = graph.event(at).previous;
    }
}

/// Whether the next write after this one is a read-modify-write that reads from it, so that nothing fits between the two.
fn is_taken<const W: usize, R: Run>(graph: &Graph<'_, W, R>, write: EventId, loc: LocId) -> bool {
    let next = graph.after(write, loc);
    next != INITIAL
        && matches!(graph.event(next).kind, Kind::Write(Some(half)) if graph.event(half).kind == Kind::Read(write))
}

/// The places of a write: of a read-modify-write right after what it read, if that is free, else back to the first write that must not be passed.
pub(crate) fn places<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    (thread, writing): (usize, &Writing),
    stops: impl Fn(EventId) -> bool,
    found: &mut Vec<EventId>,
) {
    let loc = writing.loc;
    let half = writing.half.map(|half| graph.event(graph.runners[thread].events()[half as usize]).kind);
    if let Some(Kind::Read(source)) = half {
        found.extend((!is_taken(graph, source, loc)).then_some(source));
        return;
    }
    walk(graph, loc, stops, |at| found.extend((!is_taken(graph, at, loc)).then_some(at)));
}

/// Whether somebody in this set wrote this write or reads from it.
pub(crate) fn is_seen<const W: usize, R: Run>(
    graph: &Graph<'_, W, R>,
    by: &Row<W>,
    write: EventId,
    loc: LocId,
) -> bool {
    by.contains(write) || graph.readers(write, loc).meets(by)
}

/// Whether an event has a write after it: one that its own comes before, or that it did not read.
pub(crate) fn is_passed<const W: usize, R: Run>(graph: &Graph<'_, W, R>, event: &Event) -> bool {
    match (event.kind, event.loc) {
        (Kind::Read(from), Some(loc)) => graph.after(from, loc) != INITIAL,
        (Kind::Write(_), _) => event.next != INITIAL,
        _ => false,
    }
}

/// Any model in cat, through the evaluator: everything is tried.
#[derive(Clone)]
pub(crate) struct ByAxioms<'p> {
    judge: Judge<'p>,
    /// Whether the model knows races, and so is told what synchronises.
    races: bool,
}

impl<'p> ByAxioms<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { judge: Judge::new(plan), races: plan.data_race().is_some() }
    }
}

impl<const W: usize> Consistency<W> for ByAxioms<'_> {
    fn sources(&mut self, graph: &Graph<'_, W>, _: usize, loc: LocId, found: &mut Vec<EventId>) {
        walk(graph, loc, |_| false, |write| found.push(write));
    }

    fn places(&mut self, graph: &Graph<'_, W>, _: usize, writing: &Writing, found: &mut Vec<EventId>) {
        walk(graph, writing.loc, |_| false, |write| found.push(write));
    }

    fn added(&mut self, _: &Graph<'_, W>, _: EventId) {}

    fn allows(&mut self, graph: &Graph<'_, W>, _: EventId) -> bool {
        self.judge.allows(&for_model(graph, self.races))
    }

    fn mark(&self) -> usize {
        0
    }

    fn restore(&mut self, _: usize) {}

    fn copy_part(&mut self, _: &Self, _: &Graph<'_, W>) {}

    fn happens_before(&mut self, graph: &Graph<'_, W>) -> Vec<Row<W>> {
        let mut before = vec![Row::EMPTY; graph.events.len()];
        let (related, event_of) = counted_for_model(graph, self.races);
        if self.judge.allows(&related) {
            for (from, to) in self.judge.happens_before().into_iter().flat_map(|pairs| pairs.iter()) {
                if let (Some(from), Some(to)) = (event_of(from), event_of(to)) {
                    before[usize::from(to)].insert(from);
                }
            }
        }
        before
    }

    fn order(&self, _: &Graph<'_, W>) -> Order<W> {
        unreachable!("a text does not say what messages add to")
    }

    fn agrees(&self, _: &Graph<'_, W>, _: &Order<W>) -> bool {
        unreachable!("a text does not say what messages add to")
    }

    fn flags(&mut self, graph: &Graph<'_, W>) -> Vec<String> {
        let allowed = self.judge.allows(&for_model(graph, self.races));
        if allowed { self.judge.flags().map(str::to_owned).collect() } else { Vec::new() }
    }

    fn race(&mut self, graph: &Graph<'_, W>) -> Option<[EventId; 2]> {
        let (related, event_of) = counted_for_model(graph, self.races);
        let allowed = self.judge.allows(&related);
        let (first, second) = self.judge.race().filter(|_| allowed)?;
        Some([event_of(first)?, event_of(second)?])
    }
}

/// What a model asks for that graphs do not keep.
pub(crate) fn unknown_base(plan: &Plan) -> Option<&'static str> {
    let mut seen = vec![false; plan.nodes.len()];
    let mut todo: Vec<NodeId> = plan.axioms.iter().map(|axiom| axiom.of).collect();
    while let Some(node) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        match plan.nodes[node as usize] {
            Node::Base(
                Base::Address | Base::Data | Base::DirectAddress | Base::DirectData | Base::Control | Base::Compared,
            ) => return Some("dependencies"),
            Node::Base(Base::RcuSection) => return Some("critical sections of RCU"),
            Node::Fixpoint(group, _) | Node::Sofar(group, _) => todo.extend(&plan.groups[group as usize].bodies),
            other => todo.extend(other.operands()),
        }
    }
    None
}
