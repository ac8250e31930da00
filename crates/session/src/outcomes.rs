//! Final valuations: all of a program under a model, and those that one model allows and another forbids.

use std::collections::BTreeSet;

use cyrano_engine::{Cause, Query, Question, Refusal, Verdict, Watch, vacuity};
use cyrano_ir::{BinOp, Expr, FinalExpr, Program, Property, Quantifier};
use cyrano_memory::Model;
use cyrano_report::{CompareReport, ComparedModel, ComparedOutcome, OutcomesReport};

use crate::case::Case;
use crate::failure::Failure;
use crate::run::{Answered, Runner, unasked};

impl Runner {
    /// Every valuation that the observed variables can have when all threads are done.
    pub fn outcomes(&self, case: &Case, model: &Model, watch: &dyn Watch) -> Result<OutcomesReport, Failure> {
        let case = &*case.for_question(None, model);
        let Answered { engine, note, mut answer, .. } = match Query::new(&case.program, model, Question::Outcomes) {
            // Other tests of the file may have outcomes under this model.
            Err(why @ (Refusal::OnlyInOrder { .. } | Refusal::ForeignModel { relational: false, .. })) => {
                unasked(Cause::Refused(why))
            }
            _ => self.ask(case.query(model, Question::Outcomes)?, watch),
        };
        if answer.verdict == Verdict::Verified && answer.outcomes.is_empty() {
            answer.verdict = Verdict::Vacuous;
            answer.reason = Some(Cause::Nothing(vacuity::NO_END));
        }
        Ok(OutcomesReport {
            file: case.source.name.clone(),
            test: case.test_name(),
            model: model.name.clone(),
            stats: engine.is_some().then_some(answer.stats),
            engine,
            engine_note: note,
            verdict: answer.verdict,
            reason: answer.reason.map(|cause| cause.to_string()),
            columns: case.columns(),
            outcomes: answer.outcomes,
            replies: case.algorithm.is_some(),
        })
    }

    /// The outcomes that some of these models allow and others forbid, each with an execution; and how sure each model's set is.
    pub fn compare(&self, case: &Case, models: &[Model]) -> Result<(CompareReport, Vec<Verdict>), Failure> {
        if case.program.observed.is_empty() {
            return Err(case.refused("nothing to compare: it observes nothing"));
        }
        let sets = self.map(models, |_, model| outcomes(self, case, model))?;
        let all: BTreeSet<Vec<i128>> = sets.iter().flat_map(|set| set.outcomes.iter().cloned()).collect();
        let differing: Vec<Vec<i128>> =
            all.into_iter().filter(|outcome| sets.iter().any(|set| !set.outcomes.contains(outcome))).collect();
        let compared = self.map(&differing, |_, outcome| explain(self, case, models, &sets, outcome))?;
        let report = CompareReport {
            file: case.source.name.clone(),
            columns: case.columns(),
            models: models.iter().zip(&sets).map(|(model, set)| set.report(model)).collect(),
            outcomes: compared,
        };
        Ok((report, sets.iter().map(|set| set.verdict).collect()))
    }
}

/// What one model allows.
struct Set {
    verdict: Verdict,
    reason: Option<String>,
    outcomes: BTreeSet<Vec<i128>>,
}

impl Set {
    fn report(&self, model: &Model) -> ComparedModel {
        ComparedModel {
            model: model.name.clone(),
            complete: self.verdict == Verdict::Verified,
            reason: self.reason.clone(),
            count: self.outcomes.len(),
        }
    }
}

fn outcomes(runner: &Runner, case: &Case, model: &Model) -> Result<Set, Failure> {
    let case = case.for_question(None, model);
    let query = case.query(model, Question::Outcomes)?;
    let answer = runner.ask(query, &()).answer;
    let reason = answer.reason.map(|cause| cause.to_string());
    Ok(Set { verdict: answer.verdict, reason, outcomes: answer.outcomes })
}

/// An outcome that some models allow and others do not, with an execution of the first that does.
fn explain(
    runner: &Runner,
    case: &Case,
    models: &[Model],
    sets: &[Set],
    outcome: &[i128],
) -> Result<ComparedOutcome, Failure> {
    let (mut allowed, mut forbidden) = (Vec::new(), Vec::new());
    let mut first = None;
    for (model, set) in models.iter().zip(sets) {
        if set.outcomes.contains(outcome) {
            allowed.push(model.name.clone());
            first = first.or(Some(model));
        } else if set.verdict == Verdict::Verified {
            forbidden.push(model.name.clone());
        }
    }
    let property = shows(&case.program, Quantifier::Exists, outcome);
    let trace = match first {
        Some(model) => runner.check(case, &property, model, &())?.trace,
        None => None,
    };
    Ok(ComparedOutcome { values: outcome.to_vec(), allowed, forbidden, trace })
}

/// That some final state shows this outcome, or none.
pub(crate) fn shows(program: &Program, quantifier: Quantifier, outcome: &[i128]) -> Property {
    let equations = program.observed.iter().zip(outcome);
    let equations: Vec<FinalExpr> =
        equations.map(|(seen, value)| Expr::binary(BinOp::Eq, Expr::Var(seen.var), Expr::Const(*value))).collect();
    let cond = equations.into_iter().reduce(|left, right| Expr::binary(BinOp::And, left, right));
    let words = program.observed.iter().zip(outcome).map(|(seen, value)| format!("{} = {value}", seen.name));
    let text = words.collect::<Vec<_>>().join(" && ");
    Property::Final { quantifier, cond: cond.unwrap_or(Expr::Const(1)), text }
}
