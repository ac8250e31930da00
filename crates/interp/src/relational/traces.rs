//! All that each thread can do alone, whatever its reads return.

use std::collections::BTreeSet;

use cyrano_engine::Stop;
use cyrano_ir::{EvalError, LocId, Program, ThreadId};
use cyrano_memory::cat::{Plan, What};

use super::thread::{Need, Run, Status};
use super::values::{self, Values};
use crate::meter::Meter;
use crate::set::EventSet;

/// What a thread did, and why it did not go on.
#[derive(Clone, Debug)]
pub(super) struct Trace<'p> {
    pub(super) run: Run<'p>,
    pub(super) status: Status,
    /// Whether it reads a value that only comes out of thin air.
    pub(super) thin: bool,
    /// Numbers of the location-value pairs that it reads, apart from initial values; see `search`.
    pub(super) needs: EventSet,
    /// Numbers of the location-value pairs that it writes.
    pub(super) offers: EventSet,
}

impl<'p> Trace<'p> {
    pub(super) fn new(run: Run<'p>, status: Status) -> Self {
        Self { run, status, thin: false, needs: EventSet::default(), offers: EventSet::default() }
    }

    /// Whether the thread ran to its end.
    pub(super) fn is_done(&self) -> bool {
        self.status == Status::Done
    }

    /// What it reads, or what it writes.
    pub(super) fn values(&self, what: What) -> impl Iterator<Item = (LocId, i128)> + '_ {
        let events = self.run.events.iter().filter(move |event| event.what == what);
        events.filter_map(|event| Some((event.loc?, event.value)))
    }

    fn bytes(&self) -> u64 {
        (self.run.bytes() + size_of::<Self>()) as u64
    }
}

/// All traces of each thread, also with values out of thin air if the model might allow them.
pub(super) fn traces<'p>(
    program: &'p Program,
    plan: &Plan,
    meter: &mut Meter<'p>,
) -> Result<Vec<Vec<Trace<'p>>>, Stop> {
    let values = values::values(program, meter)?;
    let with = |values: &Values, meter: &mut Meter<'p>| -> Result<Vec<Vec<Trace<'p>>>, Stop> {
        program.thread_ids().map(|thread| of_thread(program, thread, (values, plan.tells_direct()), meter)).collect()
    };
    let threads = with(&values, meter)?;
    if plan.has_no_circles() {
        return Ok(threads);
    }
    let circle = values::circle(&threads, program.locations.len(), plan.is_coherent());
    if circle.is_empty() {
        return Ok(threads);
    }
    let more = values::thin(program, &values, &circle, meter)?;
    let mut threads = with(&more, meter)?;
    for trace in threads.iter_mut().flatten() {
        let thin = trace.values(What::Read).any(|(loc, value)| !values[loc.index()].contains(&value));
        trace.thin = thin;
    }
    Ok(threads)
}

fn of_thread<'p>(
    program: &'p Program,
    thread: ThreadId,
    (values, picks): (&Values, bool),
    meter: &mut Meter<'p>,
) -> Result<Vec<Trace<'p>>, Stop> {
    let mut traces = Vec::new();
    let mut todo = vec![Run::new(program, thread, meter.limits.iterations)];
    while let Some(mut run) = todo.pop() {
        meter.tick()?;
        let need = run.proceed(false);
        let mut fork = |step: &dyn Fn(&mut Run<'p>) -> Result<(), EvalError>| {
            let mut other = run.clone();
            match step(&mut other) {
                Ok(()) => todo.push(other),
                Err(error) => {
                    let status = Status::Failed(other.pc, error);
                    traces.push(Trace::new(other, status));
                }
            }
        };
        match need {
            Need::End(status) => {
                let trace = Trace::new(run, status);
                meter.bytes += trace.bytes();
                traces.push(trace);
            }
            Need::Choice(from) => {
                let different: BTreeSet<i128> = from.iter().copied().collect();
                different.into_iter().for_each(|value| fork(&|run| run.choose(value)));
            }
            Need::Read(access, loc) => {
                for value in &values[loc.index()] {
                    let readings = run.readings(access, *value, picks);
                    readings.iter().for_each(|reading| fork(&|run| run.read(access, loc, *value, *reading)));
                }
            }
            Need::Success(access, loc) => {
                fork(&|run| run.store_exclusive(access, loc, false));
                if run.is_reserved(loc) {
                    fork(&|run| run.store_exclusive(access, loc, true));
                }
            }
            Need::Way(_) => unreachable!("only conditions say which way"),
        }
    }
    Ok(traces)
}
