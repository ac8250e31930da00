//! Candidate values: which values might a load of a location return?
//!
//! An over-approximation; the memory order decides. It starts with the initial values and grows by what the threads store
//! when their loads return candidates; who stores a value matters, for a load cannot see a later store of its own thread.
//!
//! **Why the rounds end.** Where a store is ordered after everything that decides it (its value, its address and
//! whether it is executed), each value has a finite depth: one more than the deepest value that decided it. A value of depth `d` is found
//! in round `d` and needs `d` stores in one execution. So once the rounds reach the number of stores that one
//! combination of traces has, nothing new can be justified.
//! Where the model does not order a store after the branches that lead to it, two branches may justify one another; then the
//! rounds follow every branch both ways, let every compare-and-swap succeed, and depth is by value and address alone (axiom 7).

use cyrano_engine::Stop;
use cyrano_ir::{AccessKind, LocId, Program};
use cyrano_memory::Model;

use crate::local::{self, Paths};
use crate::machine::{Code, Machine};
use crate::meter::Meter;
use crate::set::EventSet;
use crate::trace::{Status, Trace};

/// The values that threads write to each location.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    initial: Vec<i128>,
    /// For each location the values, each with the threads that write it.
    written: Vec<Vec<(i128, EventSet)>>,
}

impl Candidates {
    /// Nothing is written.
    pub(crate) fn new(program: &Program) -> Self {
        Self { initial: program.initial_memory(), written: vec![Vec::new(); program.locations.len()] }
    }

    /// Lets somebody outside the program write these values everywhere, to compare with.
    #[cfg(test)]
    pub(crate) fn uniform(program: &Program, values: &[i128]) -> Self {
        let outside = |value: &i128| (*value, [program.threads.len()].into_iter().collect());
        let written = vec![values.iter().map(outside).collect(); program.locations.len()];
        Self { written, ..Self::new(program) }
    }

    /// What a load by the next instruction of this machine might return.
    ///
    /// A thread's own store counts only if it comes before the load: every model keeps a load before a later
    /// store to its address, except those in which the program says itself what is kept. The last such store also hides the initial value and the thread's stores before it, unless the
    /// model lets the load overtake it without seeing it.
    pub(crate) fn of(&self, machine: &Machine<'_>, loc: LocId) -> Vec<i128> {
        let model = machine.code.model;
        let kept = model.reordering().keeps(AccessKind::Store, AccessKind::Load, true);
        let hides = model.reordering().forwarding || kept && !machine.code.program.is_witness(loc);
        let mut own = machine.events.iter().rev().filter(|event| event.loc == loc).filter_map(|e| e.written.value());
        let mut values: Vec<_> = if hides { own.next().into_iter().collect() } else { own.collect() };
        if values.is_empty() || !hides {
            values.push(self.initial[loc.index()]);
        }
        // Nobody else has written anything while the setup thread runs.
        if machine.code.is_setup() {
            return values;
        }
        for (value, writers) in &self.written[loc.index()] {
            let others = writers.iter().any(|writer| writer != machine.code.thread.index());
            if (others || model.reordering().own_order) && !values.contains(value) {
                values.push(*value);
            }
        }
        values
    }

    /// Adds what the traces write; whether anything was new.
    fn grow(&mut self, threads: &[Vec<Trace<'_>>]) -> bool {
        let mut grown = false;
        for event in threads.iter().flatten().flat_map(|trace| &trace.events) {
            let Some(value) = event.written.value() else { continue };
            let values = &mut self.written[event.loc.index()];
            let at = values.iter().position(|(known, _)| *known == value).unwrap_or_else(|| {
                values.push((value, EventSet::default()));
                values.len() - 1
            });
            let writer = event.thread.index();
            grown |= !values[at].1.contains(writer);
            values[at].1.insert(writer);
        }
        grown
    }
}

/// All traces of all threads, for candidates that are sufficient.
pub(crate) fn traces<'p>(
    program: &'p Program,
    model: &'p Model,
    meter: &mut Meter<'p>,
) -> Result<Vec<Vec<Trace<'p>>>, Stop> {
    let paths = if model.reordering().branches_order_stores() { Paths::Real } else { Paths::Any };
    let mut candidates = Candidates::new(program);
    let mut rounds = 0;
    loop {
        let kept = meter.bytes;
        let threads = all(program, model, &candidates, paths, meter)?;
        let sufficient = rounds >= stores(&threads) || !candidates.grow(&threads);
        if sufficient && paths == Paths::Real {
            return Ok(threads);
        }
        meter.bytes = kept;
        if sufficient {
            return all(program, model, &candidates, Paths::Real, meter);
        }
        rounds += 1;
    }
}

fn all<'p>(
    program: &'p Program,
    model: &'p Model,
    candidates: &Candidates,
    paths: Paths,
    meter: &mut Meter<'p>,
) -> Result<Vec<Vec<Trace<'p>>>, Stop> {
    let threads = program.thread_ids();
    threads.map(|thread| of_thread(Code::new(program, model, thread), candidates, paths, meter)).collect()
}

/// The traces of one thread, and that it has not started where there is a setup thread to wait for.
fn of_thread<'p>(
    code: Code<'p>,
    candidates: &Candidates,
    paths: Paths,
    meter: &mut Meter<'p>,
) -> Result<Vec<Trace<'p>>, Stop> {
    let mut traces = local::traces(code, candidates, paths, meter)?;
    if code.program.setup.is_some() && !code.is_setup() {
        traces.push(Trace::new(Machine::new(code), Status::NotStarted));
    }
    Ok(traces)
}

/// The most stores that one combination has.
fn stores(threads: &[Vec<Trace<'_>>]) -> usize {
    let writes = |trace: &Trace<'_>| trace.events.iter().filter(|event| event.written.value().is_some()).count();
    threads.iter().map(|traces| traces.iter().map(writes).max().unwrap_or(0)).sum()
}
