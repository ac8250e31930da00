//! `cyrano compare`: the outcomes that one memory model allows and another forbids, each with an execution.

use std::collections::BTreeSet;

use cyrano_engine::{Query, Question, Verdict};
use cyrano_ir::{BinOp, Expr, FinalExpr, Program, Property, Quantifier};
use cyrano_memory::Model;
use cyrano_report::{CompareReport, ComparedModel, ComparedOutcome, compare_json, compare_text};

use crate::args::{CompareModelsArgs, Format};
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::run::{Runner, VERSION};
use crate::{console, models};

/// Runs the command.
pub fn run(args: &CompareModelsArgs) -> Result<u8, Failure> {
    let color = args.output.color;
    let names: Vec<String> = args.models.iter().chain(&args.run.model).cloned().collect();
    let models = models::resolve_all(&names, color)?;
    if models.len() < 2 {
        return Err(Failure::input("comparing takes at least two memory models: --models sc,tso"));
    }
    let loaded = program::load(&args.file, &args.run.set, color)?;
    if loaded.program.observed.is_empty() {
        return Err(Failure::input(format!("{}: nothing to compare: it observes nothing", loaded.source.name)));
    }
    let runner = Runner::new(&args.run, models.len())?;
    let sets = runner.map(&models, |_, model| Ok(outcomes(&runner, &loaded, model)))?;
    let all: BTreeSet<Vec<i128>> = sets.iter().flat_map(|set| set.outcomes.iter().cloned()).collect();
    let differing: Vec<Vec<i128>> =
        all.into_iter().filter(|outcome| sets.iter().any(|set| !set.outcomes.contains(outcome))).collect();
    let compared = runner.map(&differing, |_, outcome| explain(&runner, &loaded, &models, &sets, outcome))?;
    let report = CompareReport {
        file: loaded.source.name.clone(),
        columns: loaded.program.observed.iter().map(|observed| observed.name.clone()).collect(),
        models: models.iter().zip(&sets).map(|(model, set)| set.report(model)).collect(),
        outcomes: compared,
    };
    let text = match args.output.format {
        other @ (Format::Sarif | Format::Junit) => return Err(other.is_for_verdicts()),
        Format::Json => compare_json(&report, VERSION),
        Format::Text => compare_text(&report, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    Ok(super::exit_code(sets.iter().map(|set| set.verdict)))
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

fn outcomes(runner: &Runner, loaded: &Loaded, model: &Model) -> Set {
    let query = Query { program: &loaded.program, model, question: Question::Outcomes };
    let answer = runner.ask(query, &()).answer;
    Set { verdict: answer.verdict, reason: answer.reason, outcomes: answer.outcomes }
}

/// An outcome that some models allow and others do not, with an execution of the first that does.
fn explain(
    runner: &Runner,
    loaded: &Loaded,
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
    let property = shows(&loaded.program, outcome);
    let trace = match first {
        Some(model) => runner.check(loaded, &property, model, &())?.trace,
        None => None,
    };
    Ok(ComparedOutcome { values: outcome.to_vec(), allowed, forbidden, trace })
}

/// That some final state shows this outcome.
fn shows(program: &Program, outcome: &[i128]) -> Property {
    let equations = program.observed.iter().zip(outcome);
    let equations: Vec<FinalExpr> =
        equations.map(|(seen, value)| Expr::binary(BinOp::Eq, Expr::Var(seen.var), Expr::Const(*value))).collect();
    let cond = equations.into_iter().reduce(|left, right| Expr::binary(BinOp::And, left, right));
    let words = program.observed.iter().zip(outcome).map(|(seen, value)| format!("{} = {value}", seen.name));
    let text = words.collect::<Vec<_>>().join(" && ");
    Property::Final { quantifier: Quantifier::Exists, cond: cond.unwrap_or(Expr::Const(1)), text }
}
