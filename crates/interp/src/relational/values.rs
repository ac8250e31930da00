//! What reads may return: an over-approximation, so that the executions to be tried are finitely many.
//!
//! It is found in rounds: at first what memory holds at the start, then also what threads write when their reads return that, and so on. In these rounds every
//! branch is taken both ways and every compare-and-swap may succeed, for a model need not order a write after the branch that leads to it. Only what a thread
//! writes matters here, so that two ways to the same instruction with the same registers are one.
//!
//! **Why the rounds end.** A value is computed from values that were read, each of which was written, and so on; unless this leads in a circle, it ends after
//! as many writes as one execution has. So after that many rounds all values are known that do not come from a circle.
//!
//! **Circles.** A model may allow values that come from nowhere but themselves (out of thin air), as the kernel's does for plain accesses: `r = x; y = r` beside
//! `r = y; x = r`. That takes writes whose values or places, and reads whose places, were computed from reads, round in a circle of locations. Where threads have such a circle
//! ([`circle`]), values that nobody computes are tried, too: those of all locations, the program's constants, and one that is nowhere else
//! ([`thin`]). If the model then allows an execution in which somebody reads such a value, others may be possible that were not tried, and nothing is claimed of all
//! executions (`Notes::thin`). If it allows none, it rejects the circles of these values for their dependencies, which are those of the text whatever the value; but
//! a circle that only a value nobody thought of can close is not seen. A circle of one location alone has a cycle of `po-loc` and `rf`, and is left out where the
//! model rejects these; so is every circle under a model in which `po | rf` has no cycle.

use std::collections::{BTreeSet, HashSet};

use cyrano_engine::Stop;
use cyrano_ir::{Change, Expr, InstrId, LocId, LocalExpr, Op, Program, ThreadId};
use cyrano_memory::cat::{Matrix, What};

use super::thread::{Need, Reading, Run};
use super::traces::Trace;
use crate::meter::Meter;

/// The values that a read of each location may return.
pub(super) type Values = Vec<BTreeSet<i128>>;

/// What a read of each location may return in any execution.
pub(super) fn values(program: &Program, meter: &mut Meter<'_>) -> Result<Values, Stop> {
    grown(program, program.initial_memory().into_iter().map(|value| BTreeSet::from([value])).collect(), meter)
}

/// These values and all that come from them.
fn grown(program: &Program, mut values: Values, meter: &mut Meter<'_>) -> Result<Values, Stop> {
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

/// The values that may be read if those of a circle come out of thin air.
pub(super) fn thin(program: &Program, known: &Values, circle: &[LocId], meter: &mut Meter<'_>) -> Result<Values, Stop> {
    let mut all: BTreeSet<i128> = known.iter().flatten().copied().collect();
    let ops = program.threads.iter().flat_map(|thread| thread.code.iter().map(|instr| &instr.op));
    ops.flat_map(Op::operands).for_each(|operand| constants(operand, &mut all));
    let fresh = (1..).find(|value| known.iter().all(|values| !values.contains(value))).unwrap_or(1);
    let mut values = known.clone();
    for loc in circle {
        values[loc.index()].extend(all.iter().copied().chain([fresh]));
    }
    grown(program, values, meter)
}

fn constants(expr: &LocalExpr, found: &mut BTreeSet<i128>) {
    match expr {
        Expr::Const(value) => {
            found.insert(*value);
        }
        Expr::Var(_) => {}
        Expr::Unary(_, inner) => constants(inner, found),
        Expr::Binary(_, left, right) => {
            constants(left, found);
            constants(right, found);
        }
    }
}

/// The locations on circles of accesses that were computed from reads. A location alone is no circle if `coherent`.
pub(super) fn circle(threads: &[Vec<Trace<'_>>], locations: usize, coherent: bool) -> Vec<LocId> {
    let mut leads = Matrix::new(locations);
    for run in threads.iter().flatten().map(|trace| &trace.run) {
        // What a read returns depends on where it looks.
        for event in &run.events {
            let sources = event.addr.all.iter().chain(event.data.all.iter());
            for (from, to) in sources.filter_map(|read| run.events[read].loc.zip(event.loc)) {
                leads.insert(from.index(), to.index());
            }
        }
    }
    let mut others = leads.clone();
    (0..locations).for_each(|loc| others.remove(loc, loc));
    let ways = if coherent { others.closure() } else { leads.closure() };
    (0..locations).filter(|loc| ways.contains(*loc, *loc)).map(LocId::new).collect()
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
        for event in run.events.drain(..).filter(|event| event.what == What::Write) {
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
                    fork(&|run| run.read(access, loc, *value, Reading::Plain).is_ok());
                    if forced {
                        fork(&|run| run.read(access, loc, *value, Reading::Forced).is_ok());
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
