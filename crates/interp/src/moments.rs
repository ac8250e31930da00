//! Invariants: at every prefix of every memory order, wherever threads may stand then (`cyrano_engine::moments`).

pub(crate) mod stops;

use std::ops::ControlFlow;

use cyrano_engine::{Cut, Execution, Violation};
use cyrano_ir::{EvalError, InstrId, Invariant, Op, Program, StateVar, ThreadId};
use cyrano_memory::Model;
use rustc_hash::FxHashMap;

use crate::combine::{Found, Goal, Want};
use crate::error::ReplayError;
use crate::goals::{cut, error};
use crate::machine::Code;
use crate::moments::stops::{Stop, Stops, stops};
use crate::order::Placing;
use crate::set::EventSet;
use crate::trace::{Status, Trace};

/// How many runs of traces are remembered.
const MOST_STOPS: usize = 1 << 14;

/// Moments at which an invariant does not hold.
pub(crate) struct Moments<'p> {
    program: &'p Program,
    model: &'p Model,
    invariant: &'p Invariant,
    pub(crate) cut: Option<Cut>,
    /// Whether some thread was seen at a point that the invariant names.
    pub(crate) stood: bool,
    pub(crate) violation: Option<(Violation, Execution)>,
    /// The stops of traces, by address and by which of their accesses are performed.
    stops: FxHashMap<(usize, Vec<usize>), Stops>,
}

impl<'p> Moments<'p> {
    /// Nothing is known yet.
    pub(crate) fn new(program: &'p Program, model: &'p Model, invariant: &'p Invariant) -> Self {
        Self { program, model, invariant, cut: None, stood: false, violation: None, stops: FxHashMap::default() }
    }

    fn stops_of(&mut self, trace: &Trace<'_>, placed: &EventSet) -> &Stops {
        let key = (std::ptr::from_ref(trace) as usize, placed.iter().collect());
        if self.stops.len() > MOST_STOPS {
            self.stops.clear();
        }
        self.stops.entry(key).or_insert_with(|| {
            let known = match trace.status {
                Status::Diverges { cut, .. } | Status::Limited { cut, .. } => cut,
                _ => trace.machine.events.len(),
            };
            let value = |index: usize| trace.machine.events[index].read.filter(|_| placed.contains(index));
            let read = |index: usize| (index < known).then(|| value(index));
            stops(trace.machine.code, read, &trace.machine.choices)
        })
    }

    /// For each thread the stops that it may be at, those at which the invariant sees the same once.
    fn standing(&mut self, found: &Found<'_, '_>) -> Vec<Vec<Stop>> {
        let mut standing = Vec::new();
        for (thread, trace) in found.combination.iter().enumerate() {
            let thread = ThreadId::new(thread);
            let placed = placed_of(found.placing, thread);
            let sees = Sees { program: self.program, invariant: self.invariant, thread };
            let (is_setup, model) = (self.program.setup == Some(thread), self.model);
            let stops = self.stops_of(trace, &placed);
            let mut known: Vec<(Vec<Option<i128>>, Stop)> = Vec::new();
            for stop in stops.list.iter().filter(|stop| stops.admit(stop, &placed, model)) {
                if is_setup && !has_ended(trace.machine.code, stop, &placed) {
                    continue;
                }
                let seen = sees.at(stop);
                if known.iter().all(|(other, _)| *other != seen) {
                    known.push((seen, stop.clone()));
                }
            }
            standing.push(known.into_iter().map(|(_, stop)| stop).collect());
        }
        standing
    }

    /// Judges every way in which the threads may stand.
    fn judge(&mut self, found: &Found<'_, '_>, standing: &[Vec<Stop>]) -> ControlFlow<()> {
        let mut stood = false;
        let wrong = some_way(standing, |at| {
            let (truth, stands) = truth(self.program, self.invariant, &found.memory, at);
            stood |= stands;
            truth != Ok(true)
        });
        self.stood |= stood;
        let Some(at) = wrong else { return ControlFlow::Continue(()) };
        self.violation = Some(broken(found, &at));
        ControlFlow::Break(())
    }
}

/// The first way to choose a stop for each thread that is wanted.
fn some_way(standing: &[Vec<Stop>], mut wanted: impl FnMut(&[&Stop]) -> bool) -> Option<Vec<Stop>> {
    if standing.iter().any(Vec::is_empty) {
        return None;
    }
    let mut chosen = vec![0; standing.len()];
    loop {
        let at: Vec<&Stop> = chosen.iter().zip(standing).map(|(number, stops)| &stops[*number]).collect();
        if wanted(&at) {
            return Some(at.into_iter().cloned().collect());
        }
        // The next one, as a number whose digits are the stops.
        let digit = (0..chosen.len()).find(|digit| chosen[*digit] + 1 < standing[*digit].len())?;
        chosen[..digit].fill(0);
        chosen[digit] += 1;
    }
}

/// The accesses of a thread that are placed, in the thread's own numbering.
fn placed_of(placing: &Placing<'_>, thread: ThreadId) -> EventSet {
    let mut placed = EventSet::default();
    let events = placing.order.iter().map(|event| &placing.events.list[*event]).filter(|event| event.thread == thread);
    events.for_each(|event| placed.insert(event.index as usize));
    placed
}

/// Whether a thread has run to its end and all of its accesses are performed: rule 5.
fn has_ended(code: Code<'_>, stop: &Stop, placed: &EventSet) -> bool {
    matches!(code.op(stop.pc), Op::Halt) && (0..stop.events).all(|event| placed.contains(event))
}

fn broken(found: &Found<'_, '_>, at: &[Stop]) -> (Violation, Execution) {
    let standing = at.iter().map(|stop| (u32::try_from(stop.events).unwrap_or(u32::MAX), stop.pc)).collect();
    let mut execution = found.execution(None);
    execution.choices.iter_mut().zip(at).for_each(|(choices, stop)| choices.truncate(stop.choices));
    (Violation::Invariant { standing }, execution)
}

/// What an invariant sees of a thread.
struct Sees<'a> {
    program: &'a Program,
    invariant: &'a Invariant,
    thread: ThreadId,
}

impl Sees<'_> {
    fn at(&self, stop: &Stop) -> Vec<Option<i128>> {
        let mut seen = Vec::new();
        self.invariant.cond.for_each_var(&mut |var| match var {
            StateVar::Reg(thread, register) if *thread == self.thread => seen.push(stop.registers[register.index()]),
            StateVar::At(point) if self.program.point(*point).thread == self.thread => {
                seen.push(Some(self.program.point(*point).has(stop.pc).into()));
            }
            _ => {}
        });
        seen
    }
}

/// The truth of an invariant at a moment, and whether somebody stands at a point that it names. A register without a value makes it false: nobody
/// may ask then.
fn truth(program: &Program, invariant: &Invariant, memory: &[i128], at: &[&Stop]) -> (Result<bool, EvalError>, bool) {
    let stands = |point| {
        let point = program.point(point);
        point.has(at[point.thread.index()].pc)
    };
    let value = invariant.cond.eval(&mut |var| match var {
        StateVar::Loc(loc) => Ok(memory[loc.index()]),
        StateVar::Reg(thread, register) => at[thread.index()].registers[register.index()].ok_or(EvalError::Undefined),
        StateVar::At(point) => Ok(stands(*point).into()),
    });
    (value.map(|value| value != 0), invariant.points().into_iter().any(stands))
}

impl Goal for Moments<'_> {
    fn admits(&self, _: &Trace<'_>) -> bool {
        true
    }

    fn wants(&self, _: &[&Trace<'_>]) -> Want {
        Want::Moments
    }

    fn found(&mut self, found: &Found<'_, '_>) -> ControlFlow<()> {
        if found.placing.is_complete() {
            self.cut = self.cut.or_else(|| cut(found.combination));
            if let Some(violation) = error(found) {
                let endless = match &violation {
                    Violation::AtomicDiverges { thread, .. } => Some(*thread),
                    _ => None,
                };
                self.violation = Some((violation, found.execution(endless)));
                return ControlFlow::Break(());
            }
        }
        if found.combination.iter().any(|trace| trace.status == Status::NotStarted) {
            return ControlFlow::Continue(());
        }
        let standing = self.standing(found);
        self.judge(found, &standing)
    }
}

/// An execution leads to a moment at which the threads stand like this and the invariant does not hold.
pub(crate) fn confirm(
    program: &Program,
    model: &Model,
    invariant: &Invariant,
    execution: &Execution,
    memory: &[i128],
    standing: &[(u32, InstrId)],
) -> Result<Vec<Stop>, ReplayError> {
    if standing.len() != program.threads.len() {
        return Err(ReplayError::new("the claim does not say where every thread stands"));
    }
    let mut ways = Vec::new();
    for (thread, (issued, pc)) in program.thread_ids().zip(standing) {
        let steps = execution.order.iter().filter(|access| access.thread == thread);
        let performed: FxHashMap<usize, Option<i128>> =
            steps.map(|access| (access.index as usize, access.read)).collect();
        let read = |index: usize| (index < *issued as usize).then(|| performed.get(&index).copied().flatten());
        let choices = execution.choices.get(thread.index()).map(Vec::as_slice).unwrap_or_default();
        let code = Code::new(program, model, thread);
        let stops = stops(code, read, choices);
        let placed = performed.keys().copied().collect();
        let fits =
            |stop: &&Stop| stop.pc == *pc && stop.events == *issued as usize && stops.admit(stop, &placed, model);
        let ended = |stop: &&Stop| program.setup != Some(thread) || has_ended(code, stop, &placed);
        let there: Vec<Stop> = stops.list.iter().filter(|stop| fits(stop) && ended(stop)).cloned().collect();
        if there.is_empty() {
            let name = &program.thread(thread).name;
            return Err(ReplayError::new(format_args!("{name} does not stand at {pc} at the end of this execution")));
        }
        ways.push(there);
    }
    let broken = some_way(&ways, |at| truth(program, invariant, memory, at).0 != Ok(true));
    broken.ok_or_else(|| ReplayError::new(format_args!("the invariant holds at the end: {}", invariant.text)))
}
