//! A graph as a model about relations sees it, and as data for others: with relations, or as one order of all accesses under a model that has one.

use cyrano_engine::{Access, Execution, Relations};
use cyrano_ir::{LocId, ThreadId};
use cyrano_memory::cat;

use crate::graph::{Event, Graph, Kind};
use crate::rows::{EventId, INITIAL, Row};
use crate::thread::Runner;
use crate::total::{Kept, Total};

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
            Kind::Choice { .. } => continue,
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
                numbers.events[usize::from(half)].into_iter().for_each(|half| related.amo.insert(half, number));
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
    let mut execution = match form {
        Form::Related => with_relations(graph),
        Form::Ordered(kept) => in_order(graph, kept),
    };
    let chosen = |runner: &Runner| {
        let events = runner.events.iter().map(|id| graph.event(*id));
        events.filter(|event| matches!(event.kind, Kind::Choice { .. })).map(|event| event.value).collect()
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
    let mut counted = vec![false; graph.events.len()];
    for runner in &graph.runners {
        runner.events[..runner.counted()].iter().for_each(|id| counted[usize::from(*id)] = true);
    }
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
    let relations = Relations { rf: named(&model.rf), co: next(&model.co), fr: next(&fr) };
    Execution { order, choices: Vec::new(), relations: Some(Box::new(relations)) }
}

/// The accesses in an order that the model's relation is part of. The two halves of a read-modify-write stand side by side: what is before its write and not before
/// its read is not after its read, since nothing is between the two at their location.
fn in_order<const W: usize>(graph: &Graph<'_, W>, kept: Kept) -> Execution {
    let mut total = Total::new(kept);
    total.compute(graph);
    let mut waiting = Vec::new();
    for thread in 0..graph.runners.len() {
        let accesses = graph.accesses(thread);
        for (index, (read, write)) in accesses.into_iter().enumerate() {
            let half = write.filter(|_| read.is_none()).and_then(|write| match graph.event(write).kind {
                Kind::Write(half) => half,
                _ => None,
            });
            let ids = || read.into_iter().chain(write).chain(half);
            let own = ids().fold(Row::EMPTY, |row: Row<W>, id| row | Row::one(id));
            let before = ids().fold(Row::EMPTY, |row, id| row | total.before(id));
            // The read of a section goes with its write, right before it.
            if half.is_some()
                && let Some((_, last_own, last_before, _)) = waiting.last_mut()
            {
                (*last_own, *last_before) = (own, before & !own);
            }
            waiting.push(((thread, index), own, before & !own, access(graph, (thread, index), (read, write))));
        }
    }
    let counted = waiting.iter().fold(Row::EMPTY, |row, (_, own, ..)| row | *own);
    let mut left = counted;
    let mut order = Vec::new();
    while let Some(at) = waiting.iter().position(|(_, _, before, _)| !before.meets(&left)) {
        let own = waiting[at].1;
        while let Some(at) = waiting.iter().position(|(_, other, ..)| *other == own) {
            order.push(waiting.remove(at).3);
        }
        left &= !own;
    }
    Execution { order, choices: Vec::new(), relations: None }
}
