//! The reference for models about relations: executions as herd enumerates them.
//!
//! Each thread is run alone (`thread`), for every value that its reads may return (`values`, `traces`). One trace per thread gives events with program order and
//! dependencies (`graph`); to these every reads-from relation that fits the values is tried, and every order of the writes to each location (`search`); the model
//! decides (`cyrano_memory::cat::Judge`). What is asked is a goal that looks at the executions which are allowed (`goals`). Recorded executions are checked in the
//! same way (`confirm`).
//!
//! **Invariant:** nothing is approximated quietly: a loop that is cut off makes the verdict `bounded`, too many events make it `unknown`, and what is about one
//! order of all accesses is refused (`supports`). Deadlocks are those of sections that wait (`waits`).
//!
//! An execution in which a thread stops at an `assume` that does not hold, or goes wrong, is a beginning of others; what is claimed of all executions is claimed
//! of these, too, for assertions. This is right where a model allows every beginning of what it allows, as all the built-in ones do.

mod all;
mod confirm;
mod goals;
mod graph;
mod graphs;
mod hang;
mod rules;
mod search;
mod setup;
mod supports;
mod taint;
#[cfg(test)]
mod tests;
mod thread;
mod traces;
mod values;
mod waits;

use std::collections::BTreeSet;

use cyrano_engine::{Answer, Cause, Execution, Query, Question, Refusal, Stop, Verdict, Violation, decided};
use cyrano_ir::{FinalExpr, Program, Property, Quantifier};
use cyrano_memory::cat::Cat;

use crate::meter::Meter;
pub use all::all_executions;
pub(crate) use confirm::confirm;
use goals::{Final, Notes, Outcomes, Races, Wrong};
pub use graphs::{Drawn, Seen, executions};
use hang::Hangs;
use search::Goal;

/// Refuses what is about one order of all accesses.
pub(crate) fn supports(query: &Query<'_>) -> Result<(), Refusal> {
    supports::supports(query)
}

/// Answers a question about a program under a model about relations.
pub(crate) fn ask<'p>(query: &Query<'p>, cat: &'p Cat, meter: &mut Meter<'p>) -> Answer {
    let is_built_in = cyrano_memory::named(&query.model().name).as_ref() == Some(query.model());
    let asked = Asked { query, program: query.program(), is_built_in, cat };
    match query.question() {
        Question::Outcomes => asked.outcomes(meter),
        Question::Holds(Property::Final { quantifier, cond, .. }) => asked.condition(*quantifier, cond, meter),
        Question::Holds(Property::Observations(allowed)) => asked.wrong(Some(allowed), meter),
        Question::Holds(Property::Races) => asked.races(meter),
        Question::Holds(Property::Live(_)) => asked.hangs_soon(meter),
        Question::Holds(_) => asked.wrong(None, meter),
    }
}

struct Asked<'a, 'p> {
    query: &'a Query<'p>,
    program: &'p Program,
    /// Whether it is known to let a thread always read what was written last (`waits`).
    is_built_in: bool,
    cat: &'p Cat,
}

impl<'p> Asked<'_, 'p> {
    fn notes(&self) -> Notes {
        Notes { has_flags: self.cat.plan().axioms.iter().any(|axiom| axiom.flag), ..Notes::default() }
    }

    fn pursue(&self, goal: &mut impl Goal, meter: &mut Meter<'p>) -> Result<(), Stop> {
        let threads = traces::traces(self.program, self.cat.plan(), meter)?;
        search::pursue(self.program, self.cat, threads, goal, meter)
    }

    /// The answer where nothing was found that decides the question.
    fn settled(&self, stopped: Result<(), Stop>, notes: Notes, meter: &Meter<'_>) -> Answer {
        notes.noted(self.query, self.is_built_in).answer(self.query, stopped, meter.limits.iterations)
    }

    fn outcomes(&self, meter: &mut Meter<'p>) -> Answer {
        let observed = &self.program.observed;
        let mut goal = Outcomes { observed, outcomes: BTreeSet::new(), notes: self.notes() };
        let stopped = self.pursue(&mut goal, meter);
        Answer { outcomes: goal.outcomes, ..self.settled(stopped, goal.notes, meter) }
    }

    fn condition(&self, quantifier: Quantifier, cond: &'p FinalExpr, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Final { quantifier, cond, decision: None, notes: self.notes() };
        let stopped = self.pursue(&mut goal, meter);
        let Some((execution, undefined)) = goal.decision else { return self.settled(stopped, goal.notes, meter) };
        let violation = (quantifier != Quantifier::Exists).then_some(Violation::FinalState);
        decided(violation, undefined.map(|error| Cause::NoValue(Some(error))), execution)
    }

    fn races(&self, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Races { violation: None, notes: Notes::default() };
        let stopped = self.pursue(&mut goal, meter);
        self.violated(goal.violation, stopped, goal.notes, meter)
    }

    /// Loops are repeated once, then twice and so on: what hangs mostly does so at once. Where a limit is reached, what was found before stands.
    fn hangs_soon(&self, meter: &mut Meter<'p>) -> Answer {
        let mut last = Answer::new(Verdict::Unknown, Some(Cause::Unrolled { threads: Vec::new(), times: 0 }));
        for iterations in 1..=meter.limits.iterations.max(1) {
            let limits = cyrano_engine::Limits { iterations, ..meter.limits.clone() };
            let mut part = meter.part(&limits);
            let asked =
                Asked { query: self.query, program: self.program, is_built_in: self.is_built_in, cat: self.cat };
            let answer = asked.hangs(&mut part);
            (meter.stats, meter.bytes) = (part.stats, part.bytes);
            let looped = matches!(answer.reason, Some(Cause::Unrolled { .. }));
            let stopped = answer.verdict == Verdict::Unknown && last.verdict == Verdict::Bounded;
            last = if stopped { last } else { answer };
            if stopped || !looped {
                break;
            }
        }
        last
    }

    fn hangs(&self, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Hangs { program: self.program, violation: None, notes: self.notes() };
        let stopped = self.pursue(&mut goal, meter);
        self.violated(goal.violation, stopped, goal.notes, meter)
    }

    fn wrong(&self, allowed: Option<&'p BTreeSet<Vec<i128>>>, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Wrong { observed: &self.program.observed, allowed, violation: None, notes: self.notes() };
        let stopped = self.pursue(&mut goal, meter);
        self.violated(goal.violation, stopped, goal.notes, meter)
    }

    fn violated(
        &self,
        violation: Option<(Violation, Execution)>,
        stopped: Result<(), Stop>,
        notes: Notes,
        meter: &Meter<'_>,
    ) -> Answer {
        match violation {
            Some((violation, execution)) => decided(Some(violation), None, execution),
            None => self.settled(stopped, notes, meter),
        }
    }
}
