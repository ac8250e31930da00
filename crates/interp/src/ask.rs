//! The engine: from a query to an answer.

use std::collections::BTreeSet;
use std::time::Instant;

use cyrano_engine::{
    Answer, Cause, Cut, Engine, Execution, Limits, Query, Question, Refusal, Stats, Stop, Subject, Verdict, Violation,
    Watch, vacuity,
};
use cyrano_ir::{FinalExpr, Invariant, Liveness, Op, Program, Property, Quantifier};
use cyrano_memory::Model;

use crate::combine::{self, Goal};
use crate::goals::{Assertions, Final, Outcomes};
use crate::happens::Races;
use crate::meter::Meter;
use crate::moments::Moments;
use crate::observations::Observations;
use crate::relational;
use crate::trace::Trace;
use crate::values;

/// The reference interpreter: enumerates executions straight from the axioms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interp;

/// Whether a thread need not end, but pass a mark again and again.
fn has_marks(program: &Program) -> bool {
    program.threads.iter().any(|thread| thread.code.iter().any(|instr| matches!(instr.op, Op::Progress(_))))
}

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal> {
        let subject = match query.property() {
            Some(Property::Transactions(_)) => Subject::Histories,
            Some(Property::Progress(_)) => Subject::Progress,
            Some(Property::Live(Liveness::Termination))
                if query.model().cat().is_some() && !has_marks(query.program()) =>
            {
                return relational::supports(query);
            }
            Some(Property::Live(_)) => Subject::EndlessRuns,
            Some(Property::Structure(_)) => Subject::Languages,
            Some(Property::CommitAtomicity) => Subject::CommitPoints,
            _ if query.model().cat().is_some() => return relational::supports(query),
            _ => return Ok(()),
        };
        Err(Refusal::NotJudged(subject))
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let started = Instant::now();
        let mut meter = Meter::new(limits, watch);
        let cat = query.model().cat().filter(|_| self.supports(&query).is_ok());
        if let Some(cat) = cat {
            let answer = relational::ask(&query, cat, &mut meter);
            return measured(answer, &meter, started);
        }
        if let Some(why) = self.supports(&query).err() {
            return answer(Verdict::Unknown, Some(Cause::Refused(why)));
        }
        let run = Run { program: query.program(), model: query.model(), iterations: limits.iterations };
        let answer = match query.question() {
            Question::Outcomes => run.outcomes(&mut meter),
            Question::Holds(Property::Assertions) => run.assertions(&mut meter),
            // These are replayed, not enumerated.
            Question::Holds(
                Property::Transactions(_)
                | Property::Progress(_)
                | Property::Live(_)
                | Property::Structure(_)
                | Property::CommitAtomicity,
            ) => unreachable!("such questions are refused"),
            Question::Holds(Property::Observations(allowed)) => run.observations(allowed, &mut meter),
            Question::Holds(Property::Invariant(invariant)) => run.invariant(invariant, &mut meter),
            Question::Holds(Property::Races) => run.races(&mut meter),
            Question::Holds(Property::Final { quantifier, cond, .. }) => run.condition(*quantifier, cond, &mut meter),
        };
        measured(answer, &meter, started)
    }
}

/// The answer, with what it cost.
fn measured(mut answer: Answer, meter: &Meter<'_>, started: Instant) -> Answer {
    let peak_bytes = meter.stats.peak_bytes.max(meter.bytes);
    answer.stats = Stats { seconds: started.elapsed().as_secs_f64(), peak_bytes, ..meter.stats };
    answer
}

struct Run<'p> {
    program: &'p Program,
    model: &'p Model,
    iterations: usize,
}

fn answer(verdict: Verdict, reason: Option<Cause>) -> Answer {
    Answer::new(verdict, reason)
}

fn violated(violation: Violation, execution: Execution) -> Answer {
    Answer { violation: Some(violation), execution: Some(execution), ..answer(Verdict::Violated, None) }
}

fn has_cuts(threads: &[Vec<Trace<'_>>]) -> bool {
    threads.iter().flatten().any(Trace::is_cut)
}

impl<'p> Run<'p> {
    /// Enumerates executions for a goal, which may look at the traces first.
    fn pursue<G: Goal>(
        &self,
        goal: &mut G,
        meter: &mut Meter<'p>,
        prepare: impl FnOnce(&mut G, &[Vec<Trace<'p>>]),
    ) -> Result<(), Stop> {
        let threads = values::traces(self.program, self.model, meter)?;
        prepare(goal, &threads);
        combine::pursue(self.program, self.model, threads, goal, meter)
    }

    /// `Verified`, unless a limit or a bound stood in the way.
    fn settled(&self, stopped: Result<(), Stop>, cut: Option<Cut>, meter: &Meter<'_>) -> Answer {
        let cut = cut.or(meter.clipped.then_some(Cut::Loops));
        match (stopped, cut) {
            (Err(stop), _) => answer(Verdict::Unknown, Some(stop.into())),
            (Ok(()), Some(cut)) => answer(Verdict::Bounded, Some(cut.cause(self.program, self.iterations))),
            (Ok(()), None) => answer(Verdict::Verified, None),
        }
    }

    fn outcomes(&self, meter: &mut Meter<'p>) -> Answer {
        let observed = &self.program.observed;
        let mut goal = Outcomes::new(observed);
        let stopped = self.pursue(&mut goal, meter, |goal, threads| goal.has_cuts = has_cuts(threads));
        let answer = self.settled(stopped, goal.cut, meter);
        Answer { outcomes: goal.outcomes, ..answer }
    }

    fn assertions(&self, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Assertions::default();
        let stopped = self.pursue(&mut goal, meter, |_, _| {});
        if let Some((violation, execution)) = goal.violation {
            return violated(violation, execution);
        }
        let settled = self.settled(stopped, goal.cut, meter);
        let can_go_wrong = vacuity::can_go_wrong(self.program);
        let exercised = goal.asserted || goal.ended && can_go_wrong || self.program.may_wait();
        if settled.verdict == Verdict::Verified && !exercised {
            let reason = if can_go_wrong { vacuity::NO_ASSERTION_REACHED } else { vacuity::NO_ASSERTION };
            return answer(Verdict::Vacuous, Some(Cause::Nothing(reason)));
        }
        settled
    }

    fn invariant(&self, invariant: &'p Invariant, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Moments::new(self.program, self.model, invariant);
        let stopped = self.pursue(&mut goal, meter, |_, _| {});
        if let Some((violation, execution)) = goal.violation {
            return violated(violation, execution);
        }
        let settled = self.settled(stopped, goal.cut, meter);
        if settled.verdict == Verdict::Verified && !goal.stood && !invariant.points().is_empty() {
            return answer(Verdict::Vacuous, Some(Cause::Nothing(vacuity::NO_POINT_REACHED)));
        }
        settled
    }

    fn races(&self, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Races::new(self.program);
        let stopped = self.pursue(&mut goal, meter, |_, _| {});
        if let Some((violation, execution)) = goal.violation {
            return violated(violation, execution);
        }
        let settled = self.settled(stopped, goal.cut, meter);
        if settled.verdict == Verdict::Verified && !vacuity::can_conflict(self.program) {
            return answer(Verdict::Vacuous, Some(Cause::Nothing(vacuity::NO_CONFLICT)));
        }
        settled
    }

    fn observations(&self, allowed: &'p BTreeSet<Vec<i128>>, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Observations::new(&self.program.observed, allowed);
        let stopped = self.pursue(&mut goal, meter, |_, _| {});
        if let Some((violation, execution)) = goal.assertions.violation {
            return violated(violation, execution);
        }
        let settled = self.settled(stopped, goal.assertions.cut, meter);
        let nothing = self.program.observed.is_empty().then_some(vacuity::NOTHING_OBSERVED);
        let vacuous = (!goal.reached).then_some(vacuity::NO_END).or(nothing);
        if let Some(reason) = vacuous.filter(|_| settled.verdict == Verdict::Verified) {
            return answer(Verdict::Vacuous, Some(Cause::Nothing(reason)));
        }
        settled
    }

    fn condition(&self, quantifier: Quantifier, cond: &'p FinalExpr, meter: &mut Meter<'p>) -> Answer {
        let mut goal = Final::new(quantifier, cond);
        let stopped = self.pursue(&mut goal, meter, |goal, threads| goal.has_cuts = has_cuts(threads));
        if let Some((execution, undefined)) = goal.decision {
            let exists = quantifier == Quantifier::Exists;
            let verdict = if exists { Verdict::Verified } else { Verdict::Violated };
            let reason = undefined.map(|error| Cause::NoValue(Some(error)));
            let violation = (!exists).then_some(Violation::FinalState);
            return Answer { violation, execution: Some(execution), ..answer(verdict, reason) };
        }
        let settled = self.settled(stopped, goal.cut, meter);
        match settled.verdict {
            Verdict::Unknown | Verdict::Bounded => settled,
            _ if !goal.reached => answer(Verdict::Vacuous, Some(Cause::Nothing(vacuity::NO_END))),
            Verdict::Verified if quantifier == Quantifier::Exists => {
                Answer { violation: Some(Violation::NoWitness), ..answer(Verdict::Violated, None) }
            }
            _ => settled,
        }
    }
}
