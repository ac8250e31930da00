//! What a verdict about whole executions does not say: some of them may never end.
//!
//! That no assertion fails, or that every final state is right, holds of a lock that nobody ever gets. So where an engine has verified such a claim, the explorer is asked about
//! termination as well, and if that does not hold, the verdict comes with a caveat. This costs little: only programs with a loop, or with a section that can wait, are looked at;
//! only if the search for the verdict was small; and the second question is given up after [`LOOKS`]. What is said has been replayed like any other execution, and is fair, so it is
//! never wrong; that nothing is said means nothing.

use cyrano_engine::{Answer, Engine, Fate, Limits, Query, Question, Verdict, Violation};
use cyrano_ir::{Liveness, Op, Program, Property, Quantifier, Thread};
use cyrano_memory::Model;

use super::{Answered, EngineName, Runner};
use crate::case::Case;

/// The largest search, in states, after which it is asked.
const MOST_STATES: u64 = 20_000;

/// How often the question may look at its limits, which it does once for about a thousand states.
const LOOKS: u64 = 64;

/// The same where a formula gave the verdict, so that nobody knows how many states there are.
const FEW_LOOKS: u64 = 8;

/// What it may take.
const MEMORY: u64 = 256 << 20;

impl Runner {
    /// The caveat that some executions never end, if they are seen.
    pub(super) fn endless(&self, case: &Case, property: &Property, model: &Model, found: &Answered) -> Option<String> {
        let by = |engine: &dyn Engine| found.engine.as_deref() == Some(engine.name());
        let (explored, solved) = (by(&self.explore), by(&self.symbolic));
        let small = found.answer.verdict == Verdict::Verified && found.answer.stats.states <= MOST_STATES;
        if !explored && !solved
            || !small
            || self.large.is_some()
            || self.gpu.is_some()
            || self.cluster.is_some()
            || !is_asked(property, &case.program)
        {
            return None;
        }
        let asked = Property::Live(Liveness::Termination);
        let query = Query::new(&case.program, model, Question::Holds(&asked)).ok()?;
        self.explore.supports(&query).ok()?;
        let limits = Limits { memory: self.limits.memory.min(MEMORY), workers: 1, ..self.limits.clone() };
        let looks = if explored { LOOKS } else { FEW_LOOKS };
        let answer = self.explore.ask(query, &limits.with_looks(looks), &());
        let (violation, execution) = (answer.violation?, answer.execution?);
        let replayed = cyrano_interp::confirm(&case.program, model, &asked, Some(&violation), &execution).ok()?;
        let does = match &violation {
            Violation::Lasso(lasso) if lasso.fate == Fate::Spins => "spin",
            Violation::Lasso(_) | Violation::Deadlock { .. } => "wait",
            _ => return None,
        };
        let trace = case.trace(&case.program, (&asked, model), Some(&violation), (&execution, &replayed));
        let blocked = match &violation {
            Violation::Deadlock { blocked } => blocked.first().map(|at| (at.thread, case.line(at.thread, at.instr))),
            _ => None,
        };
        let name = |thread| case.program.thread(thread).name.clone();
        let (thread, line) = match blocked {
            Some((thread, line)) => (name(thread), line),
            None => (trace.explanation.thread?, trace.explanation.line),
        };
        let place = line.map_or_else(String::new, |line| format!(" at line {line}"));
        Some(format!("some executions never end: {thread} can {does}{place}"))
    }
}

/// Whether a property is about all executions as a whole, of a program that may go on for ever or, where the property does not see that itself, wait for ever.
fn is_asked(property: &Property, program: &Program) -> bool {
    let loops = program.threads.iter().any(Thread::has_loop);
    match property {
        Property::Assertions | Property::Observations(_) | Property::CommitAtomicity => loops,
        Property::Invariant(_) | Property::Final { quantifier: Quantifier::Never | Quantifier::Always, .. } => {
            let mut code = program.threads.iter().flat_map(|thread| &thread.code);
            loops || code.any(|instr| matches!(instr.op, Op::AtomicBegin))
        }
        Property::Final { quantifier: Quantifier::Exists, .. }
        | Property::Transactions(_)
        | Property::Progress(_)
        | Property::Live(_)
        | Property::Races
        | Property::Structure(_) => false,
    }
}

/// What the engines that look for a last round mean by an answer about executions that go on for ever.
pub(super) fn bounded_form(engine: EngineName, query: &Query<'_>, answer: &Answer) -> Option<String> {
    let asked = matches!(query.property(), Some(Property::Live(_)))
        && matches!(engine, EngineName::Symbolic | EngineName::Interp);
    let what = match answer.verdict {
        Verdict::Violated => "shown",
        Verdict::Verified | Verdict::Bounded => "ruled out",
        _ => return None,
    };
    let form = "executions in which every spinning thread has read the latest stores and no thread can go on";
    asked.then(|| format!("termination in its bounded form: {what} are {form}"))
}
