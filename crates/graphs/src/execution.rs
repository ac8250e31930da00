//! A graph as a model about relations sees it, and as data for others: with relations, or as one order of all accesses under a model that has one.

use cyrano_engine::{Access, Execution, Relations};
use cyrano_ir::{LocId, ThreadId};
use cyrano_memory::cat;

use crate::graph::{Event, Graph, Kind};
use crate::models::total::Kept;
use crate::rows::{EventId, INITIAL, Row};
use crate::thread::Runner;
use crate::units::Order;

/// The number that each event has for a model.
struct Numbers {
    /// By location, of its initial write.
    initial: Vec<Option<usize>>,
    events: Vec<Option<usize>>,
}

impl Numbers {
    fn write(&self, write: EventId, loc: LocId) -> Option<usize> {
        if write == INITIAL { self.initial[loc.index()] } else { self.events[usize::from(write)] }
    }
}

/// Without choices, with initial writes first.
pub(crate) fn for_model<const W: usize>(graph: &Graph<'_, W>, races: bool) -> cat::Graph {
    related(graph, races, |_| true).0
}

/// The same of what counts, and which event is which.
pub(crate) fn counted_for_model<const W: usize>(
    graph: &Graph<'_, W>,
    races: bool,
) -> (cat::Graph, impl Fn(usize) -> Option<EventId> + use<W>) {
    let counted = counted(graph);
    let (model, numbers) = related(graph, races, |id| counted[usize::from(id)]);
    let event_of = move |number| numbers.events.iter().position(|event| *event == Some(number));
    (model, move |number| event_of(number).map(|event| event as EventId))
}

/// Which events count.
fn counted<const W: usize>(graph: &Graph<'_, W>) -> Vec<bool> {
    let mut counted = vec![false; graph.events.len()];
    for runner in &graph.runners {
        runner.events[..runner.counted()].iter().for_each(|id| counted[usize::from(*id)] = true);
    }
    counted
}

fn related<const W: usize>(
    graph: &Graph<'_, W>,
    races: bool,
    counted: impl Fn(EventId) -> bool,
) -> (cat::Graph, Numbers) {
    let mut events = Vec::new();
    let mut initial = vec![None; graph.program().locations.len()];
    let there = |id: &&EventId| counted(**id);
    for id in graph.order.iter().filter(there) {
        let event = graph.event(*id);
        if let Some(loc) = event.loc.filter(|_| event.is_access()) {
            initial[loc.index()] = Some(0);
        }
    }
    for (loc, initial) in initial.iter_mut().enumerate().filter(|(_, initial)| initial.is_some()) {
        *initial = Some(events.len());
        let (what, loc) = (cat::What::Write, Some(LocId::new(loc)));
        events.push(cat::Event { thread: None, what, loc, tags: cyrano_ir::Tags::default(), rmw: false });
    }
    let mut numbers = vec![None; graph.events.len()];
    for id in graph.runners.iter().flat_map(|runner| &runner.events).filter(there) {
        let Event { thread, kind, loc, tags, rmw, .. } = *graph.event(*id);
        let what = match kind {
            Kind::Read(_) => cat::What::Read,
            Kind::Write(_) => cat::What::Write,
            Kind::Fence(fence) => cat::What::Fence(fence),
            Kind::Choice { .. } | Kind::Spawn(_) | Kind::Join(_) => continue,
        };
        numbers[usize::from(*id)] = Some(events.len());
        let tags = if races { tags.spoken() } else { tags };
        events.push(cat::Event { thread: Some(ThreadId::new(thread.into())), what, loc, tags, rmw });
    }
    let mut related = cat::Graph::new(events);
    let numbers = Numbers { initial, events: numbers };
    relate(graph, &mut related, &numbers);
    (related, numbers)
}

fn relate<const W: usize>(graph: &Graph<'_, W>, related: &mut cat::Graph, numbers: &Numbers) {
    let number = |id: &EventId| numbers.events[usize::from(*id)];
    for runner in &graph.runners {
        let own: Vec<usize> = runner.events.iter().filter_map(number).collect();
        for (at, event) in own.iter().enumerate() {
            own[..at].iter().for_each(|before| related.po.insert(*before, *event));
        }
    }
    for id in &graph.order {
        let (Some(number), event) = (number(id), graph.event(*id)) else { continue };
        match (event.kind, event.loc) {
            (Kind::Read(from), Some(loc)) => {
                numbers.write(from, loc).into_iter().for_each(|from| related.rf.insert(from, number));
            }
            (Kind::Write(Some(half)), _) => {
                let pairs = if graph.is_exclusive(half) { &mut related.lxsx } else { &mut related.amo };
                numbers.events[usize::from(half)].into_iter().for_each(|half| pairs.insert(half, number));
            }
            _ => {}
        }
    }
    for (loc, initial) in numbers.initial.iter().enumerate() {
        let writes = graph.writes(LocId::new(loc)).filter_map(|id| number(&id));
        let order: Vec<usize> = initial.iter().copied().chain(writes).collect();
        for (at, write) in order.iter().enumerate() {
            order[..at].iter().for_each(|before| related.co.insert(*before, *write));
        }
    }
}

/// How an execution is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Thread by thread, with relations.
    Related,
    /// In an order of all accesses that keeps this much of program order.
    Ordered(Kept),
}

/// The execution as data: what the setup thread did, and what counts of a graph.
pub(crate) fn execution<const W: usize>(graph: &Graph<'_, W>, form: Form) -> Execution {
    finished(
        graph,
        match form {
            Form::Related => with_relations(graph),
            Form::Ordered(kept) => in_order(graph, kept, None),
        },
    )
}

/// With an access between two writes, in the order of all accesses.
pub(crate) fn execution_between<const W: usize>(graph: &Graph<'_, W>, kept: Kept, between: [EventId; 3]) -> Execution {
    finished(graph, in_order(graph, kept, Some(between)))
}

fn finished<const W: usize>(graph: &Graph<'_, W>, mut execution: Execution) -> Execution {
    let chosen = |runner: &Runner| {
        let is_choice =
            |id: &&EventId| matches!(graph.event(**id).kind, Kind::Choice { .. }) && !graph.is_exclusive(**id);
        runner.events.iter().filter(is_choice).map(|id| graph.event(*id).value).collect()
    };
    execution.choices = graph.runners.iter().map(chosen).collect();
    if let Some(setup) = graph.start.setup {
        execution.choices[setup.index()].clone_from(&graph.start.choices);
        execution.order.splice(..0, graph.start.accesses.iter().copied());
    }
    execution
}

fn access<const W: usize>(
    graph: &Graph<'_, W>,
    (thread, index): (usize, usize),
    (read, write): (Option<EventId>, Option<EventId>),
) -> Access {
    let value = |id: Option<EventId>| id.map(|id| graph.event(id).value);
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    Access { thread: ThreadId::new(thread), index, read: value(read), written: value(write) }
}

fn with_relations<const W: usize>(graph: &Graph<'_, W>) -> Execution {
    let counted = counted(graph);
    let (model, numbers) = related(graph, false, |id| counted[usize::from(id)]);
    let mut order = Vec::new();
    // The number of the access that an event of the model's graph belongs to; 0 for initial writes.
    let mut access_of = vec![0; model.events.len()];
    for thread in 0..graph.runners.len() {
        for (index, (read, write)) in graph.accesses(thread).into_iter().enumerate() {
            order.push(access(graph, (thread, index), (read, write)));
            for id in read.into_iter().chain(write) {
                let number = graph.start.accesses.len() + order.len();
                numbers.events[usize::from(id)].into_iter().for_each(|event| access_of[event] = number);
            }
        }
    }
    let named = |pairs: &cat::Matrix| pairs.iter().map(|(from, to)| (access_of[from], access_of[to])).collect();
    let next = |relation: &cat::Matrix| named(&relation.diff(&relation.seq(&model.co)));
    let fr = model.rf.inverse().seq(&model.co).diff(&model.amo);
    let relations = Relations { rf: named(&model.rf), co: next(&model.co), fr: next(&fr), kept: Vec::new() };
    Execution { order, choices: Vec::new(), relations: Some(Box::new(relations)) }
}

/// The accesses in an order that the model's relation is part of, and in which these stand so, if they may. What is held together stands side by side: of a
/// read-modify-write, what is before its write and not before its read is not after its read, since nothing is between the two at their location.
fn in_order<const W: usize>(graph: &Graph<'_, W>, kept: Kept, between: Option<[EventId; 3]>) -> Execution {
    let Some(order) = Order::new(graph, kept) else { unreachable!("a graph that is whole") };
    let mut waiting = Vec::new();
    for thread in 0..graph.runners.len() {
        for (index, (read, write)) in graph.accesses(thread).into_iter().enumerate() {
            let Some(id) = read.or(write) else { continue };
            let (unit, mut before) = (order.unit(id), order.before(id));
            for [first, second] in between.iter().flat_map(|[from, at, to]| [[*from, *at], [*at, *to]]) {
                if unit.contains(second) && first != INITIAL && !unit.contains(first) {
                    before.insert(first);
                }
            }
            waiting.push((unit, before, access(graph, (thread, index), (read, write))));
        }
    }
    let mut left = waiting.iter().fold(Row::EMPTY, |row, (unit, ..)| row | *unit);
    let mut order = Vec::new();
    while let Some(at) = waiting.iter().position(|(_, before, _)| !before.meets(&left)) {
        let unit = waiting[at].0;
        while let Some(at) = waiting.iter().position(|(other, ..)| *other == unit) {
            order.push(waiting.remove(at).2);
        }
        left &= !unit;
    }
    Execution { order, choices: Vec::new(), relations: None }
}
