//! What reads may return: an over-approximation, so that the executions to be tried are finitely many.
//!
//! It is found in rounds: at first what memory holds at the start, then also what threads write when their reads return that, and so on. In these rounds every
//! branch is taken both ways and every compare-and-swap may succeed, for a model need not order a write after the branch that leads to it. Only what a thread
//! writes matters here, so that two ways to the same instruction with the same registers are one.
//!
//! **Why the rounds end.** A value is computed from values that were read, each of which was written, and so on; unless this leads in a circle, it ends after
//! as many writes as one execution has. So after that many rounds all values are known that do not come from a circle. A model that allows such circles (values
//! out of thin air) is judged on these values alone; none of the built-in models does.

use std::collections::{BTreeSet, HashSet};

use cyrano_engine::Stop;
use cyrano_ir::{Change, InstrId, Op, Program, ThreadId};

use super::thread::{Need, Run};
use crate::meter::Meter;

/// The values that a read of each location may return.
pub(super) type Values = Vec<BTreeSet<i128>>;

/// What a read of each location may return in any execution.
pub(super) fn values(program: &Program, meter: &mut Meter<'_>) -> Result<Values, Stop> {
    let mut values: Values = program.initial_memory().into_iter().map(|value| BTreeSet::from([value])).collect();
    for _ in 0..=most_writes(program, meter.limits.iterations) {
        let mut more = values.clone();
        for thread in program.thread_ids() {
            written(program, thread, &values, &mut more, meter)?;
        }
        if more == values {
            break;
        }
        values = more;
    }
    Ok(values)
}

/// How many writes one execution may have, at most: in a thread with loops each instruction once more than loops go round.
fn most_writes(program: &Program, iterations: usize) -> usize {
    let of_thread = |thread: &cyrano_ir::Thread| {
        let back = |(at, op): (usize, &Op)| match op {
            Op::Jump(to) => to.index() <= at,
            Op::Branch { then_to, else_to, .. } => then_to.index() <= at || else_to.index() <= at,
            _ => false,
        };
        let ops = || thread.code.iter().map(|instr| &instr.op);
        let loops = ops().enumerate().filter(|op| back(*op)).count();
        let writes = ops().filter(|op| op.access_kind().is_some_and(cyrano_ir::AccessKind::writes)).count();
        writes * (iterations + 1).saturating_pow(loops as u32)
    };
    program.threads.iter().map(of_thread).fold(0, usize::saturating_add)
}

/// Where a thread is, what its registers hold, and how often it has jumped back where.
type State = (InstrId, Vec<i128>, Vec<(InstrId, usize)>);

/// Adds what a thread may write.
fn written<'p>(
    program: &'p Program,
    thread: ThreadId,
    values: &Values,
    more: &mut Values,
    meter: &mut Meter<'_>,
) -> Result<(), Stop> {
    let mut seen: HashSet<State> = HashSet::new();
    let mut todo = vec![Run::new(program, thread, meter.limits.iterations)];
    while let Some(mut run) = todo.pop() {
        meter.tick()?;
        let need = run.proceed(true);
        for event in run.events.drain(..).filter(|event| event.what == cyrano_memory::cat::What::Write) {
            event.loc.into_iter().for_each(|loc| {
                more[loc.index()].insert(event.value);
            });
        }
        run.forget();
        if !seen.insert((run.pc, run.registers.clone(), run.jumps().to_vec())) {
            continue;
        }
        let mut fork = |step: &dyn Fn(&mut Run<'p>) -> bool| {
            let mut other = run.clone();
            if step(&mut other) {
                todo.push(other);
            }
        };
        match need {
            Need::End(_) => {}
            Need::Choice(from) => from.iter().for_each(|value| fork(&|run| run.choose(*value).is_ok())),
            Need::Read(access, loc) => {
                let forced = matches!(access.change, Some(Change::Cas { .. }));
                for value in &values[loc.index()] {
                    fork(&|run| run.read(access, loc, *value, false).is_ok());
                    if forced {
                        fork(&|run| run.read(access, loc, *value, true).is_ok());
                    }
                }
            }
            Need::Success(access, loc) => {
                fork(&|run| run.store_exclusive(access, loc, false).is_ok());
                fork(&|run| run.store_exclusive(access, loc, true).is_ok());
            }
            Need::Way(op) => {
                fork(&|run| run.go(true));
                if matches!(op, Op::Branch { .. }) {
                    fork(&|run| run.go(false));
                }
            }
        }
    }
    Ok(())
}
