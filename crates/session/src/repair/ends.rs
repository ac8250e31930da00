//! A repair that hangs is no repair: where a program comes to an end in order, it has to do so with its fences, too.
//!
//! A file that says nothing about termination is repaired for it as well, for each of its programs that has a loop with accesses and is known to terminate under `sc`. Fences only
//! forbid executions, infinite ones too, so that what terminates in order terminates with enough fences, unless the model defers what no fence keeps.
//! Whoever names a criterion asks about that one alone. Under models about relations nobody judges termination or looks for deadlocks, and the report says so.

use cyrano_engine::{Query, Question, Verdict, Watch};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Liveness, Program, Property, Thread};

use super::{Aim, Goal};
use crate::case::Case;
use crate::run::Runner;

/// The property.
const ENDS: Property = Property::Live(Liveness::Termination);

/// Adds termination to what has to hold of programs of one file that are known to terminate in order, unless the file speaks of it itself.
pub(super) fn also_end(runner: &Runner, aims: &mut [Aim<'_>], watch: &dyn Watch) {
    let named = |goal: &Goal<'_>| matches!(goal, Goal::Property(Property::Live(_)));
    if aims.iter().flat_map(|aim| &aim.goals).any(named) {
        return;
    }
    let looping = aims.iter_mut().filter(|aim| may_spin(&aim.case.program));
    let ending = looping.filter(|aim| ends_in_order(runner, aim.case, watch));
    ending.for_each(|aim| aim.goals.push(Goal::Also(ENDS)));
}

/// What is to be said about termination and deadlocks where nobody judges them.
pub(super) fn unjudged(aims: &[Aim<'_>]) -> impl Iterator<Item = &'static str> {
    let any = |may: fn(&Program) -> bool| aims.iter().any(|aim| may(&aim.case.program));
    let spins = any(may_spin).then_some("whether it terminates is not judged under this model");
    let waits = any(Program::may_wait).then_some("deadlocks are not looked for under this model");
    spins.into_iter().chain(waits)
}

/// Whether the program is known to terminate under sc.
fn ends_in_order(runner: &Runner, case: &Case, watch: &dyn Watch) -> bool {
    let Some(sc) = cyrano_memory::named("sc") else { return false };
    let Ok(query) = Query::new(&case.program, &sc, Question::Holds(&ENDS)) else { return false };
    runner.ask_briefly(query, watch).answer.verdict == Verdict::Verified
}

/// Whether some thread has a loop with an access in it.
fn may_spin(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let accesses = (0..thread.code.len()).filter(|pc| thread.code[*pc].op.access_kind().is_some());
        { accesses }.any(|pc| comes_back(thread, InstrId::new(pc)))
    })
}

/// Whether an instruction can be executed again.
fn comes_back(thread: &Thread, pc: InstrId) -> bool {
    let mut seen = vec![false; thread.code.len()];
    let mut todo = vec![pc];
    while let Some(from) = todo.pop() {
        for to in thread.code.get(from.index()).into_iter().flat_map(|instr| successors(&instr.op, from)) {
            if to == pc {
                return true;
            }
            if to.index() < seen.len() && !std::mem::replace(&mut seen[to.index()], true) {
                todo.push(to);
            }
        }
    }
    false
}
