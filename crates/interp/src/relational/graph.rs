//! From one trace per thread to a graph of events.

use cyrano_engine::{Access, Execution, Racing, Relations};
use cyrano_ir::{LocId, Program, Tags, ThreadId};
use cyrano_memory::cat::{Event, Graph, Matrix, What};

use super::thread::{Half, Performed};
use super::traces::Trace;
use crate::set::EventSet;

/// The events of a combination: first the initial writes, then those of each thread in program order.
pub(super) struct Candidate<'a, 'p> {
    pub(super) combination: &'a [&'a Trace<'p>],
    /// Initial values.
    initial: &'a [i128],
    pub(super) graph: Graph,
    /// What each event reads or writes.
    pub(super) values: Vec<i128>,
    /// For each location its initial write, if it is accessed.
    first: Vec<Option<usize>>,
    /// For each thread the number of its first event.
    starts: Vec<usize>,
    /// For each read the write that it was given (`search`).
    pub(super) source: Vec<Option<usize>>,
    /// For each write of a read-modify-write its read, and whether the two are one instruction.
    pub(super) halves: Vec<Option<(usize, bool)>>,
}

impl<'a, 'p> Candidate<'a, 'p> {
    /// The events of these traces, with everything but `rf` and `co`; a model that knows `races` is told what synchronises.
    pub(super) fn new(program: &Program, races: bool, initial: &'a [i128], combination: &'a [&'a Trace<'p>]) -> Self {
        let accessed = |loc: usize| {
            let own = combination.iter().flat_map(|trace| &trace.run.events);
            own.into_iter().any(|event| event.loc == Some(LocId::new(loc)) && !matches!(event.what, What::Fence(_)))
        };
        let (mut events, mut values) = (Vec::new(), Vec::new());
        let mut first = vec![None; program.locations.len()];
        for loc in (0..first.len()).filter(|loc| accessed(*loc)) {
            first[loc] = Some(events.len());
            let (what, loc) = (What::Write, LocId::new(loc));
            events.push(Event { thread: None, what, loc: Some(loc), tags: Tags::default(), rmw: false });
            values.push(initial[loc.index()]);
        }
        let mut starts = Vec::new();
        for trace in combination {
            starts.push(events.len());
            for own in &trace.run.events {
                let (what, loc, tags, rmw) = (own.what, own.loc, own.tags, own.rmw);
                let tags = if races { tags.spoken() } else { tags };
                events.push(Event { thread: Some(trace.run.thread), what, loc, tags, rmw });
                values.push(own.value);
            }
        }
        let (source, halves) = (vec![None; events.len()], vec![None; events.len()]);
        let graph = Graph::new(events);
        let mut candidate = Self { combination, initial, graph, values, first, starts, source, halves };
        candidate.relate();
        candidate
    }

    fn relate(&mut self) {
        for (trace, start) in self.combination.iter().zip(&self.starts) {
            let graph = &mut self.graph;
            for (number, event) in trace.run.events.iter().enumerate() {
                let at = start + number;
                let mut add = |relation: fn(&mut Graph) -> &mut Matrix, from: &EventSet| {
                    from.iter().for_each(|from| relation(graph).insert(start + from, at));
                };
                add(|graph| &mut graph.addr, &event.addr.all);
                add(|graph| &mut graph.data, &event.data.all);
                add(|graph| &mut graph.direct_addr, &event.addr.direct);
                add(|graph| &mut graph.direct_data, &event.data.direct);
                add(|graph| &mut graph.ctrl, &event.ctrl);
                add(|graph| &mut graph.casdep, &event.compared);
                self.halves[at] = event.half.map(|half| match half {
                    Half::Amo(read) => (start + read, true),
                    Half::Exclusive(read) => (start + read, false),
                });
                match self.halves[at] {
                    Some((read, true)) => graph.amo.insert(read, at),
                    Some((read, false)) => graph.lxsx.insert(read, at),
                    None => {}
                }
                (0..number).for_each(|earlier| graph.po.insert(start + earlier, at));
            }
        }
    }

    /// The events that read, in order.
    pub(super) fn reads(&self) -> Vec<usize> {
        (0..self.graph.events.len()).filter(|event| self.graph.events[*event].what == What::Read).collect()
    }

    /// The writes that a read may see: those with its location and its value.
    pub(super) fn sources(&self, read: usize) -> Vec<usize> {
        let events = &self.graph.events;
        let fits = |write: &usize| {
            events[*write].what == What::Write
                && events[*write].loc == events[read].loc
                && self.values[*write] == self.values[read]
        };
        (0..events.len()).filter(fits).collect()
    }

    /// Whether a coherent model never lets a read see this write of its location: it comes later in its own thread, or is before a write of its own thread that
    /// comes between the two, or that no other thread has a say about because it overwrites what memory held at first.
    pub(super) fn is_hidden(&self, write: usize, read: usize) -> bool {
        let (events, po) = (&self.graph.events, &self.graph.po);
        let between = |other: usize| {
            let same = events[other].what == What::Write && events[other].loc == events[read].loc;
            same && po.contains(other, read) && (events[write].thread.is_none() || po.contains(write, other))
        };
        po.contains(read, write) || (0..events.len()).any(between)
    }

    /// For each location that is written the initial write, and the writes of threads.
    pub(super) fn writes(&self) -> Vec<(usize, Vec<usize>)> {
        let of = |first: usize| {
            let events = &self.graph.events;
            let own = |event: &usize| events[*event].what == What::Write && events[*event].loc == events[first].loc;
            (first, (first + 1..events.len()).filter(own).collect::<Vec<_>>())
        };
        self.first.iter().flatten().map(|first| of(*first)).filter(|(_, writes)| !writes.is_empty()).collect()
    }

    /// What memory holds at the end.
    pub(super) fn memory(&self) -> Vec<i128> {
        let mut memory = self.initial.to_vec();
        let overwritten = self.graph.co.domain();
        for (number, event) in self.graph.events.iter().enumerate() {
            if let Some(loc) = event.loc.filter(|_| event.what == What::Write && !overwritten.contains(number)) {
                memory[loc.index()] = self.values[number];
            }
        }
        memory
    }

    /// The execution as data.
    pub(super) fn execution(&self) -> Execution {
        let mut order = Vec::new();
        let mut relations = Relations::default();
        // The number of the access that an event belongs to; 0 for initial writes.
        let mut access_of = vec![0; self.graph.events.len()];
        for (trace, start) in self.combination.iter().zip(&self.starts) {
            let before = order.len();
            for (index, performed) in trace.run.accesses.iter().enumerate() {
                order.push(self.access(trace.run.thread, index, performed, *start));
            }
            let kept = trace.run.accesses.iter().enumerate().filter(|(_, performed)| performed.kept);
            relations.kept.extend(kept.map(|(index, _)| before + index + 1));
            for (number, event) in trace.run.events.iter().enumerate() {
                access_of[start + number] = event.access.map_or(0, |access| before + access + 1);
            }
        }
        relations.rf = self.graph.rf.iter().map(|(from, to)| (access_of[from], access_of[to])).collect();
        let next = |relation: &Matrix| {
            let direct = relation.diff(&relation.seq(&self.graph.co));
            direct.iter().map(|(from, to)| (access_of[from], access_of[to])).collect::<Vec<_>>()
        };
        relations.co = next(&self.graph.co);
        relations.fr = next(&self.graph.rf.inverse().seq(&self.graph.co).diff(&self.graph.amo));
        let choices = self.combination.iter().map(|trace| trace.run.choices.clone()).collect();
        Execution { order, choices, relations: Some(Box::new(relations)) }
    }

    fn access(&self, thread: ThreadId, index: usize, performed: &Performed, start: usize) -> Access {
        let value = |event: Option<usize>| event.map(|event| self.values[start + event]);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Access { thread, index, read: value(performed.read), written: value(performed.write) }
    }

    /// An event that takes part in a race.
    pub(super) fn racing(&self, event: usize) -> Option<Racing> {
        let thread = self.graph.events[event].thread?;
        let run = &self.combination[thread.index()].run;
        let access = run.events[event - self.starts[thread.index()]].access?;
        let before: usize = self.combination[..thread.index()].iter().map(|trace| trace.run.accesses.len()).sum();
        Some(Racing { thread, instr: run.accesses[access].instr, step: before + access })
    }

    /// The event of a thread's access that reads, and the one that writes.
    pub(super) fn events_of(&self, thread: ThreadId, access: usize) -> Option<(Option<usize>, Option<usize>)> {
        let performed = self.combination.get(thread.index())?.run.accesses.get(access)?;
        let start = self.starts[thread.index()];
        let moved = |event: Option<usize>| event.map(|event| start + event);
        Some((moved(performed.read), moved(performed.write)))
    }

    /// The numbers of events of a thread.
    pub(super) fn events_in(
        &self,
        thread: ThreadId,
        own: std::ops::Range<usize>,
    ) -> impl Iterator<Item = usize> + use<> {
        let start = self.starts[thread.index()];
        own.map(move |event| start + event)
    }

    /// The initial write of a location.
    pub(super) fn initial_write(&self, loc: LocId) -> Option<usize> {
        self.first[loc.index()]
    }
}
