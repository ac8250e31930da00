//! A source text as something that can be repaired with fences.
//!
//! A fence is inserted into the text and the text is compiled again, so whatever is found is a program that a user can have. A C file
//! is repaired for all its tests together ([`suite`]).

mod orders;
mod sessions;
mod suite;

use std::time::Instant;

use cyrano_engine::Watch;
use cyrano_fences::{Fence, Options, Outcome, c, merge, source, statement, synthesise, unified_diff};
use cyrano_ir::{FenceSet, Property};
use cyrano_memory::Model;
use cyrano_report::{CandidateInfo, FenceInfo, FencesReport};
use cyrano_trace::Trace;

use crate::failure::Failure;
use crate::program::Loaded;
use crate::run::Runner;
use crate::specification::Specification;
pub use orders::repair_orders;
use suite::Text;

/// How many sets are listed at most.
const MOST_SETS: usize = 1_000;

/// What is to hold on one model.
pub struct Task<'a> {
    /// The programs of one source: one, or one for each test. There is at least one.
    pub cases: &'a [Case<'a>],
    /// The model.
    pub model: &'a Model,
    /// Whether all minimal sets are wanted.
    pub all: bool,
}

/// A program and what must hold of it.
pub struct Case<'a> {
    /// The program.
    pub loaded: &'a Loaded,
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
    /// The repaired source, if there are fences to insert.
    pub text: Option<String>,
}

/// Finds fences for one model.
pub fn repair(task: &Task<'_>, runner: &Runner, watch: &dyn Watch) -> Result<Repaired, Failure> {
    let start = Instant::now();
    let Some(Case { loaded, goals }) = task.cases.first() else {
        return Err(Failure::input("there is nothing to repair"));
    };
    let text = Text::new(task, loaded, runner, watch);
    let options = Options {
        sets: if task.all { MOST_SETS } else { 1 },
        kinds: FenceSet::FULL.without(task.model.different),
        ..Options::default()
    };
    let outcome = synthesise(&text, &options);
    text.finish()?;
    let insert = if loaded.source.is_c() { c::insert } else { source::insert };
    let first = outcome.sets.first().map(|set| insert(&loaded.source.text, &set.fences).text);
    let name = &loaded.source.name;
    let diff = |new: &String| {
        let fenced = format!("{name} ({})", task.model.name);
        unified_diff(&loaded.source.text, new, name, &fenced)
    };
    let candidate = outcome.undecided.as_ref().map(|undecided| {
        let set = &undecided.repair;
        CandidateInfo {
            fences: infos(&outcome, &set.fences, &set.prevents),
            reason: undecided.reason.clone(),
            diff: diff(&insert(&loaded.source.text, &set.fences).text),
        }
    });
    let diff = first.as_ref().map(diff);
    let criteria: Vec<&str> = goals.iter().map(Goal::criterion).collect();
    let report = FencesReport {
        file: name.clone(),
        model: task.model.name.clone(),
        criterion: criteria.join(", "),
        verdict: outcome.verdict.name(),
        reason: outcome.reason.clone(),
        minimal: outcome.minimal,
        complete: task.all && outcome.complete,
        sets: outcome.sets.iter().map(|set| infos(&outcome, &set.fences, &set.prevents)).collect(),
        candidate,
        orders: None,
        diff,
        trace: match outcome.verdict {
            cyrano_fences::Verdict::Irreparable => {
                outcome.counterexamples.first().and_then(|shown| shown.wrong.evidence.clone())
            }
            _ => None,
        },
        questions: outcome.questions,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(Repaired { report, text: first })
}

/// One set as it is told: kinds at one place are one statement.
fn infos(outcome: &Outcome<Option<Trace>>, fences: &[Fence], prevents: &[Option<usize>]) -> Vec<FenceInfo> {
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
