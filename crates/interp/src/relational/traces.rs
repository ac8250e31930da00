//! All that each thread can do alone, whatever its reads return.

use std::collections::BTreeSet;

use cyrano_engine::Stop;
use cyrano_ir::{EvalError, LocId, Program, ThreadId};
use cyrano_memory::cat::What;

use super::thread::{Need, Run, Status};
use super::values::{self, Values};
use crate::meter::Meter;
use crate::set::EventSet;

/// What a thread did, and why it did not go on.
#[derive(Clone, Debug)]
pub(super) struct Trace<'p> {
    pub(super) run: Run<'p>,
    pub(super) status: Status,
    /// Numbers of the location-value pairs that it reads, apart from initial values; see `search`.
    pub(super) needs: EventSet,
    /// Numbers of the location-value pairs that it writes.
    pub(super) offers: EventSet,
}

impl<'p> Trace<'p> {
    pub(super) fn new(run: Run<'p>, status: Status) -> Self {
        Self { run, status, needs: EventSet::default(), offers: EventSet::default() }
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
        (size_of_val(&*self.run.events) + self.run.registers.len() * 64 + size_of::<Self>()) as u64
    }
}

/// All traces of each thread.
pub(super) fn traces<'p>(program: &'p Program, meter: &mut Meter<'p>) -> Result<Vec<Vec<Trace<'p>>>, Stop> {
    let values = values::values(program, meter)?;
    program.thread_ids().map(|thread| of_thread(program, thread, &values, meter)).collect()
}

fn of_thread<'p>(
    program: &'p Program,
    thread: ThreadId,
    values: &Values,
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
                values[loc.index()].iter().for_each(|value| fork(&|run| run.read(access, loc, *value, false)));
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
