//! One trace per thread: which combinations are worth trying, and what becomes of them.

use std::ops::ControlFlow;

use cyrano_engine::{Access, Execution, Stop};
use cyrano_ir::{LocId, Program, ThreadId};
use cyrano_memory::Model;
use rustc_hash::FxHashMap;

use crate::local::EVENT_LIMIT;
use crate::meter::Meter;
use crate::order::{Event, Events, Placing};
use crate::search::{Enumeration, Halt, Prefixes};
use crate::set::EventSet;
use crate::trace::{Status, Trace};

/// What a goal wants to know about a combination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Want {
    /// Nothing.
    Nothing,
    /// Whether it has a memory order.
    AnyOrder,
    /// All final memories that its memory orders lead to.
    AllMemories,
    /// All prefixes of its memory orders, as far as they differ in what is performed and in memory.
    Moments,
    /// All its memory orders.
    AllOrders,
}

/// A combination with a memory order.
pub(crate) struct Found<'a, 'p> {
    pub(crate) combination: &'a [&'a Trace<'p>],
    pub(crate) placing: &'a Placing<'a>,
    pub(crate) memory: Vec<i128>,
}

impl Found<'_, '_> {
    /// The execution. A section that is never performed is left out; if what such a section of thread `until` finds is the
    /// point, the execution ends there.
    pub(crate) fn execution(&self, until: Option<ThreadId>) -> Execution {
        let list = &self.placing.events.list;
        let events = self.placing.order.iter().map(|event| &list[*event]);
        let only_looks = |event: &Event| self.combination[event.thread.index()].only_looks(event.index as usize);
        let until = events.take_while(|event| Some(event.thread) != until || !only_looks(event));
        let order = until.filter(|event| !only_looks(event)).map(|event| Access {
            thread: event.thread,
            index: event.index,
            read: event.read,
            written: event.written.value(),
        });
        let choices = self.combination.iter().map(|trace| trace.machine.choices.clone());
        Execution { order: order.collect(), choices: choices.collect(), relations: None }
    }
}

/// A question about combinations.
pub(crate) trait Goal {
    /// Whether a combination with this trace can matter.
    fn admits(&self, trace: &Trace<'_>) -> bool;

    /// What it wants to know about a combination, before memory orders are tried.
    fn wants(&self, combination: &[&Trace<'_>]) -> Want;

    /// Takes note of a combination that has a memory order.
    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()>;
}

/// Pursues a goal over all combinations.
pub(crate) fn pursue<'p>(
    program: &'p Program,
    model: &Model,
    mut threads: Vec<Vec<Trace<'p>>>,
    goal: &mut impl Goal,
    meter: &mut Meter<'_>,
) -> Result<(), Stop> {
    for traces in &mut threads {
        traces.retain(|trace| goal.admits(trace));
    }
    number_values(program, &mut threads);
    let initial = program.initial_memory();
    let later = offers_from(&threads);
    let mut pursuit = Pursuit { program, model, initial: &initial, threads: &threads, later: &later, goal, meter };
    match pursuit.extend(&mut Vec::new(), &EventSet::default(), &EventSet::default()) {
        Err(Halt::Limit(stop)) => Err(stop),
        Ok(()) | Err(Halt::Enough) => Ok(()),
    }
}

/// Numbers the location-value pairs and fills `needs` and `offers`.
fn number_values(program: &Program, threads: &mut [Vec<Trace<'_>>]) {
    let mut numbers: FxHashMap<(LocId, i128), usize> = FxHashMap::default();
    for trace in threads.iter_mut().flatten() {
        for event in &trace.events {
            let mut number = |value| {
                let fresh = numbers.len();
                *numbers.entry((event.loc, value)).or_insert(fresh)
            };
            if let Some(value) = event.read.filter(|value| *value != program.location(event.loc).init) {
                trace.needs.insert(number(value));
            }
            if let Some(value) = event.written.value() {
                trace.offers.insert(number(value));
            }
        }
    }
}

/// For each thread what it and the threads after it can offer at most.
fn offers_from(threads: &[Vec<Trace<'_>>]) -> Vec<EventSet> {
    let mut later = vec![EventSet::default(); threads.len() + 1];
    for at in (0..threads.len()).rev() {
        let mut offers = later[at + 1].clone();
        threads[at].iter().for_each(|trace| offers.absorb(&trace.offers));
        later[at] = offers;
    }
    later
}

struct Pursuit<'a, 'p, 'm, G> {
    program: &'a Program,
    model: &'a Model,
    initial: &'a [i128],
    threads: &'a [Vec<Trace<'p>>],
    later: &'a [EventSet],
    goal: &'a mut G,
    meter: &'a mut Meter<'m>,
}

impl<'a, 'p, G: Goal> Pursuit<'a, 'p, '_, G> {
    /// Adds each trace of the next thread, as long as every value read can still be offered by somebody.
    fn extend(&mut self, chosen: &mut Vec<&'a Trace<'p>>, needs: &EventSet, offers: &EventSet) -> Result<(), Halt> {
        let Some(traces) = self.threads.get(chosen.len()) else { return self.judge(chosen) };
        for trace in traces {
            self.meter.tick().map_err(Halt::Limit)?;
            let (mut needs, mut offers) = (needs.clone(), offers.clone());
            needs.absorb(&trace.needs);
            offers.absorb(&trace.offers);
            let mut possible = offers.clone();
            possible.absorb(&self.later[chosen.len() + 1]);
            if !needs.within(&possible) || !self.starts_in_time(chosen, trace) {
                continue;
            }
            chosen.push(trace);
            self.extend(chosen, &needs, &offers)?;
            chosen.pop();
        }
        Ok(())
    }

    /// Axiom 8: threads have started exactly if the setup thread has run to its end.
    fn starts_in_time(&self, chosen: &[&Trace<'p>], next: &Trace<'p>) -> bool {
        let fit = |setup: &Trace<'p>, other: &Trace<'p>| {
            (setup.status == Status::Done) != (other.status == Status::NotStarted)
        };
        let Some(setup) = self.program.setup.map(ThreadId::index) else { return true };
        match chosen.get(setup) {
            Some(setup) => fit(setup, next),
            None if chosen.len() == setup => chosen.iter().all(|other| fit(next, other)),
            None => true,
        }
    }

    /// Looks for memory orders of a full combination.
    fn judge(&mut self, combination: &[&'a Trace<'p>]) -> Result<(), Halt> {
        let want = self.goal.wants(combination);
        if want == Want::Nothing {
            return Ok(());
        }
        let mut events = Events::of(self.program);
        combination.iter().for_each(|trace| events.push_thread(&trace.events));
        if events.list.len() > EVENT_LIMIT {
            return Err(Halt::Limit(Stop::Size));
        }
        self.meter.stats.states += 1;
        self.meter.stats.depth = self.meter.stats.depth.max(events.list.len() as u64);
        let mut satisfied = false;
        let (goal, initial) = (&mut *self.goal, self.initial);
        let prefixes = match want {
            Want::Moments => Prefixes::Moments,
            Want::AllOrders => Prefixes::Orders,
            Want::Nothing | Want::AnyOrder | Want::AllMemories => Prefixes::None,
        };
        let ended = Enumeration::run(self.model, &events, initial, self.meter, prefixes, |placing| {
            let memory = placing.memory(initial);
            let flow = goal.found(&Found { combination, placing, memory });
            satisfied = flow.is_break();
            if want == Want::AnyOrder { ControlFlow::Break(()) } else { flow }
        });
        match ended {
            Err(Halt::Enough) if !satisfied => Ok(()),
            other => other,
        }
    }
}
