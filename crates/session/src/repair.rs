//! A source text as something that can be repaired with fences.
//!
//! A fence is inserted into the text and the text is compiled again, so whatever is found is a program that a user can have. A C file
//! is repaired for all its tests together ([`suite`]).

mod orders;
mod sessions;
mod suite;
mod tasks;

use std::time::Instant;

use cyrano_engine::{Answer, Execution, Replayed, Violation, Watch};
use cyrano_fences::{
    Fence, Judgement, Options, Outcome, Repair, Verdict, Wrong, merge, statement, synthesise, unified_diff,
};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_report::{CandidateInfo, FenceInfo, FencesReport};
use cyrano_trace::Trace;

use crate::case::Case;
use crate::failure::Failure;
use crate::proof::Proof;
use crate::run::Runner;
use crate::source::Source;
use crate::specification::Specification;
use orders::repair_orders;
use suite::Text;
pub use tasks::tasks;

/// How many sets are listed at most.
const MOST_SETS: usize = 1_000;

/// What is to hold on one model.
pub struct Task<'a> {
    /// The programs of one source: one, or one for each test. There is at least one.
    pub aims: &'a [Aim<'a>],
    /// The model.
    pub model: &'a Model,
    /// Whether all minimal sets are wanted.
    pub all: bool,
}

/// A program and what must hold of it.
pub struct Aim<'a> {
    /// The program.
    pub case: &'a Case,
    /// What must hold.
    pub goals: Vec<Goal<'a>>,
}

/// What must hold.
#[derive(Clone)]
pub enum Goal<'a> {
    /// This.
    Property(Property),
    /// That every observation is one of these. Fences change no serial execution, so they are those of the file as it is.
    Observations(&'a Specification),
}

impl Goal<'_> {
    /// The property, whose observations may have to be mined first; `Err` says why they are not known.
    fn property(&self, runner: &Runner, case: &Case, watch: &dyn Watch) -> Result<Property, String> {
        match self {
            Self::Property(property) => Ok(property.clone()),
            Self::Observations(specification) => specification.property(runner, case, watch),
        }
    }

    fn criterion(&self) -> &'static str {
        match self {
            Self::Property(property) => property.criterion(),
            Self::Observations(_) => "observations",
        }
    }
}

/// A repair, and the text that it leads to.
pub struct Repaired {
    /// What is told about it.
    pub report: FencesReport,
    /// The repaired source, if there is something to insert.
    pub text: Option<String>,
}

impl<'a> Task<'a> {
    fn first(&self) -> Result<&'a Case, Failure> {
        self.aims.first().map(|aim| aim.case).ok_or_else(|| Failure::input("there is nothing to repair"))
    }

    /// How many sets are wanted.
    fn sets(&self) -> usize {
        if self.all { MOST_SETS } else { 1 }
    }

    /// A report that says nothing yet but how the source changes.
    fn report(&self, case: &Case, verdict: Verdict, text: Option<&String>, start: Instant) -> FencesReport {
        FencesReport {
            file: case.source.name.clone(),
            model: self.model.name.clone(),
            verdict: verdict.name(),
            diff: text.map(|text| self.diff(&case.source, text)),
            seconds: start.elapsed().as_secs_f64(),
            ..FencesReport::default()
        }
    }

    /// What a changed source looks like beside the original.
    fn diff(&self, source: &Source, text: &str) -> String {
        unified_diff(&source.text, text, &source.name, &format!("{} ({})", source.name, self.model.name))
    }
}

/// What an answer about `what` says, a counterexample confirmed and with its trace; `Err` says why it cannot be trusted. A condition that no
/// execution satisfies has none to show.
fn judged(
    runner: &Runner,
    case: &Case,
    program: &Program,
    (property, model): (&Property, &Model),
    answer: &Answer,
    what: impl FnOnce() -> String,
) -> Result<Judgement<Option<Trace>>, String> {
    let violation = answer.violation.as_ref();
    match answer.verdict {
        cyrano_engine::Verdict::Verified => return Ok(Judgement::Correct),
        cyrano_engine::Verdict::Violated => {}
        other => {
            let reason = answer.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            return Ok(Judgement::Unknown(format!("{} is {}: {reason}", what(), other.name())));
        }
    }
    match runner.proof(program, property, model, answer)? {
        Some(proof) => {
            let Proof { execution, replayed, .. } = proof;
            let trace = case.trace(program, (property, model), violation, (&execution, &replayed));
            Ok(Judgement::Wrong(Wrong { execution, replayed, evidence: Some(trace) }))
        }
        None if violation == Some(&Violation::NoWitness) => Ok(Judgement::Wrong(Wrong {
            execution: Execution::default(),
            replayed: Replayed::default(),
            evidence: None,
        })),
        None => Err("the violation came without an execution".to_owned()),
    }
}

/// Finds fences for one model; for an algorithm, which declares what it keeps in order, orders for one mode of execution.
pub fn repair(task: &Task<'_>, runner: &Runner, watch: &dyn Watch) -> Result<Repaired, Failure> {
    let case = task.first()?;
    if case.algorithm.is_some() { repair_orders(task, runner, watch) } else { repair_fences(task, case, runner, watch) }
}

fn repair_fences(task: &Task<'_>, case: &Case, runner: &Runner, watch: &dyn Watch) -> Result<Repaired, Failure> {
    let start = Instant::now();
    let language = case.frontend.fences().map_err(|why| case.refused(why))?;
    let text = Text::new(task, case, language, runner, watch);
    let options = Options { sets: task.sets(), ..Options::default() }.for_models(std::slice::from_ref(task.model));
    let outcome = synthesise(&text, &options);
    text.finish()?;
    let inserted = |set: &Repair| language.insert(&case.source.text, &set.fences).text;
    let text = outcome.sets.first().map(inserted);
    let candidate = outcome.undecided.as_ref().map(|undecided| CandidateInfo {
        fences: infos(&outcome, &undecided.repair),
        reason: undecided.reason.clone(),
        diff: task.diff(&case.source, &inserted(&undecided.repair)),
    });
    let criteria: Vec<&str> = task.aims[0].goals.iter().map(Goal::criterion).collect();
    let shown = outcome.counterexamples.first().filter(|_| outcome.verdict == Verdict::Irreparable);
    let report = FencesReport {
        criterion: criteria.join(", "),
        reason: outcome.reason.clone(),
        minimal: outcome.minimal,
        complete: task.all && outcome.complete,
        sets: outcome.sets.iter().map(|set| infos(&outcome, set)).collect(),
        candidate,
        trace: shown.and_then(|shown| shown.wrong.evidence.clone()),
        questions: outcome.questions,
        ..task.report(case, outcome.verdict, text.as_ref(), start)
    };
    Ok(Repaired { report, text })
}

/// One set as it is told: kinds at one place are one statement.
fn infos(outcome: &Outcome<Option<Trace>>, Repair { fences, prevents, .. }: &Repair) -> Vec<FenceInfo> {
    let told = |fence: &Fence| -> (Vec<String>, Vec<Trace>) {
        let own = fences.iter().zip(prevents).filter(|(other, _)| other.position.at == fence.position.at);
        let shown = own.filter_map(|(_, number)| outcome.counterexamples.get((*number)?)?.wrong.evidence.as_ref());
        let mut told: Vec<(String, Trace)> = shown.map(|trace| (sentence(trace), trace.clone())).collect();
        told.dedup_by(|a, b| a.0 == b.0);
        told.into_iter().unzip()
    };
    let info = |fence: &Fence| {
        let statement = statement(fence.kind);
        let kind = statement.trim_start_matches("fence(").trim_end_matches(')');
        let (prevents, counterexamples) = told(fence);
        FenceInfo {
            line: fence.position.line,
            place: "after",
            kind: kind.to_owned(),
            order: None,
            program: fence.position.program.clone(),
            prevents,
            counterexamples,
        }
    };
    merge(fences).iter().map(info).collect()
}

/// What a trace shows, in words, and by which test.
fn sentence(trace: &Trace) -> String {
    let sentence = &trace.explanation.sentence;
    match &trace.program.test {
        Some(test) => format!("{}: {sentence}", test.name),
        None => sentence.clone(),
    }
}
