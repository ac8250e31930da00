//! Sources that are repaired with fences or orders: who answers what `cyrano_fences::repair` asks, and what is told about the result.
//!
//! A C file is repaired for all its tests together, an algorithm for all its clients.

mod edits;
mod ends;
mod orders;
mod sessions;
mod tasks;

use std::borrow::Cow;
use std::time::Instant;

use cyrano_engine::{Answer, Execution, Query, Question, Violation, Watch};
use cyrano_fences::repair::{Ask, Candidate, Chart, Confirmed, Text, Trouble};
use cyrano_fences::{Fence, Options, Outcome, Repair, Verdict, merge, statement, synthesise, unified_diff, weights};
use cyrano_ir::origin::{Piece, pieces};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_report::{CandidateInfo, FenceInfo, FencesReport};
use cyrano_trace::Trace;

use crate::case::Case;
use crate::failure::{self, Failure};
use crate::proof::Proof;
use crate::run::Runner;
use crate::source::Source;
use crate::specification::Specification;
pub use cyrano_fences::MOST_GIVEN;
use edits::repair_edits;
use orders::repair_orders;
use sessions::Sessions;
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
    /// How often threads, procedures, commands or functions run, where that matters for what a fence costs.
    pub weights: &'a [(String, u32)],
}

/// A program and what must hold of it.
#[derive(Clone)]
pub struct Aim<'a> {
    /// The program.
    pub case: &'a Case,
    /// What must hold.
    pub goals: Vec<Goal<'a>>,
}

impl Aim<'_> {
    /// The same with what somebody has asked for alone.
    fn as_asked(&self) -> Self {
        let asked = |goal: &&Goal<'_>| !matches!(goal, Goal::Also(_));
        Self { case: self.case, goals: self.goals.iter().filter(asked).cloned().collect() }
    }
}

/// What must hold.
#[derive(Clone)]
pub enum Goal<'a> {
    /// This.
    Property(Property),
    /// This as well, although nobody has asked for it, unless it cannot be decided.
    Also(Property),
    /// That every observation is one of these. Fences change no serial execution, so they are those of the file as it is.
    Observations(&'a Specification),
}

impl Goal<'_> {
    /// The property, whose observations may have to be mined first; `Err` says why they are not known.
    fn property(&self, runner: &Runner, case: &Case, watch: &dyn Watch) -> Result<Property, String> {
        match self {
            Self::Property(property) | Self::Also(property) => Ok(property.clone()),
            Self::Observations(specification) => specification.property(runner, case, watch),
        }
    }

    fn criterion(&self) -> &'static str {
        match self {
            Self::Property(property) | Self::Also(property) => property.criterion(),
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

    /// Whether C's orders are mapped to what the model has.
    fn maps_orders(&self) -> bool {
        self.aims.iter().any(|aim| aim.case.target(self.model).is_some())
    }

    /// What has to hold, each once.
    fn criteria(&self) -> String {
        let mut criteria: Vec<&str> = Vec::new();
        for criterion in self.aims.iter().flat_map(|aim| &aim.goals).map(Goal::criterion) {
            if !criteria.contains(&criterion) {
                criteria.push(criterion);
            }
        }
        criteria.join(", ")
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

    /// What a changed source looks like beside the original, file by file.
    fn diff(&self, source: &Source, text: &str) -> String {
        let files = pieces(&source.text).into_iter().zip(pieces(text));
        let of_file = |(old, new): (Piece, Piece)| {
            let name = old.file.as_ref().unwrap_or(&source.name);
            let changed = format!("{name} ({})", self.model.name);
            unified_diff(&source.text[old.range], &text[new.range], name, &changed)
        };
        files.map(of_file).collect()
    }
}

/// Answers the questions of a search.
struct Asker<'a> {
    task: &'a Task<'a>,
    runner: &'a Runner,
    watch: &'a dyn Watch,
    sessions: Sessions,
}

impl Asker<'_> {
    /// What the search could not carry, as a failure; `sought` is what it looked for.
    fn failure(&self, trouble: Trouble, sought: &str) -> Failure {
        let case = self.task.aims[0].case;
        match trouble {
            Trouble::Nowhere(why) => case.refused(why),
            Trouble::Untrusted(why) => {
                let text = format!("while {sought} were sought for {}, {why}", case.source.name);
                Failure::Internal(failure::bug(&text))
            }
        }
    }

    /// The runner for a question that has to be answered by then.
    fn until(&self, until: Option<Instant>) -> Cow<'_, Runner> {
        match until {
            Some(until) => Cow::Owned(self.runner.part(until.saturating_duration_since(Instant::now()), None)),
            None => Cow::Borrowed(self.runner),
        }
    }

    /// Whether this is a test, which has too many states for the explorer. Histories are for the explorer alone.
    fn is_symbolic_first(&self, number: usize, query: &Query<'_>) -> bool {
        let about_calls = matches!(query.question(), Question::Holds(Property::Transactions(_)));
        let case = self.task.aims[number].case;
        case.test.is_some() && !case.is_whole() && !about_calls
    }
}

impl Ask for Asker<'_> {
    type Trace = Trace;

    fn programs(&self) -> Vec<&Program> {
        self.task.aims.iter().map(|aim| &aim.case.program).collect()
    }

    fn compile(&self, text: &str) -> Option<Vec<Program>> {
        let compiled = self.task.aims[0].case.again(text, self.task.aims.iter().map(|aim| aim.case)).ok()?;
        Some(compiled.into_iter().map(|case| case.program).collect())
    }

    fn compiled<'p>(&self, program: &'p Program) -> Cow<'p, Program> {
        self.task.aims[0].case.compiled(program, self.task.model)
    }

    fn maps_orders(&self) -> bool {
        self.task.maps_orders()
    }

    fn name(&self, number: usize) -> Option<String> {
        self.task.aims[number].case.test_name()
    }

    fn goals(&self, number: usize) -> usize {
        self.task.aims[number].goals.len()
    }

    fn property(&self, number: usize, goal: usize) -> Result<Property, String> {
        let Aim { case, goals } = &self.task.aims[number];
        goals[goal].property(self.runner, case, self.watch)
    }

    fn ask(&self, number: usize, query: Query<'_>, until: Option<Instant>) -> Answer {
        let runner = self.until(until);
        match self.is_symbolic_first(number, &query) {
            true => runner.ask_symbolic_first(query, self.watch).answer,
            false => runner.ask(query, self.watch).answer,
        }
    }

    fn ask_among<'c>(
        &self,
        candidate: &Candidate<'_>,
        until: Option<Instant>,
        chart: &dyn Fn() -> Option<&'c Chart>,
    ) -> Option<(Answer, Option<Vec<Fence>>)> {
        let symbolic_first = self.is_symbolic_first(candidate.program, &candidate.query);
        self.sessions.ask(&self.until(until), symbolic_first, candidate, chart, self.watch)
    }

    fn shown(&self, number: usize, query: Query<'_>, answer: &Answer) -> Result<Option<Confirmed<Trace>>, String> {
        let Question::Holds(property) = query.question() else { return Ok(None) };
        let (program, model) = (query.program(), query.model());
        let proof = self.runner.proof(program, property, model, answer)?;
        Ok(proof.map(|Proof { execution, replayed, .. }| {
            let (case, violation) = (self.task.aims[number].case, answer.violation.as_ref());
            let trace = case.trace(program, (property, model), violation, (&execution, &replayed));
            Confirmed { execution, replayed, trace }
        }))
    }

    fn confirms(&self, query: Query<'_>, violation: Option<&Violation>, execution: &Execution) -> bool {
        let Question::Holds(property) = query.question() else { return false };
        cyrano_interp::confirm(query.program(), query.model(), property, violation, execution).is_ok()
    }
}

/// Finds fences for one model; for an algorithm, which declares what it keeps in order, orders for one mode of execution.
pub fn repair(task: &Task<'_>, runner: &Runner, watch: &dyn Watch) -> Result<Repaired, Failure> {
    let case = task.first()?;
    if case.algorithm.is_some() && !task.weights.is_empty() {
        return Err(case.refused("weights are for fences; the orders of an algorithm have no cost"));
    }
    let asker = Asker { task, runner, watch, sessions: Sessions::default() };
    if case.algorithm.is_some() {
        return repair_orders(&asker, case);
    }
    // Fences of kinds are for models of pairs, and for programs that say nothing about order themselves.
    let by_edits = task.model.cat().is_some() || task.maps_orders();
    let find = |asker: &Asker<'_>| if by_edits { repair_edits(asker, case) } else { repair_fences(asker, case) };
    let repaired = find(&asker)?;
    let asked: Vec<Aim<'_>> = task.aims.iter().map(Aim::as_asked).collect();
    let added = asked.iter().zip(task.aims).any(|(asked, all)| asked.goals.len() < all.goals.len());
    if !added || repaired.report.verdict != Verdict::Unknown.name() || runner.stopped().is_some() {
        return Ok(repaired);
    }
    let asked = Task { aims: &asked, ..*task };
    let mut again = find(&Asker { task: &asked, runner, watch, sessions: Sessions::default() })?;
    let undecided = repaired.report.reason.map_or_else(String::new, |why| format!(": {why}"));
    let note = format!("whether it terminates was not decided{undecided}");
    again.report.reason = Some(again.report.reason.map_or(note.clone(), |reason| format!("{reason}; {note}")));
    Ok(again)
}

fn repair_fences(asker: &Asker<'_>, case: &Case) -> Result<Repaired, Failure> {
    let (start, task) = (Instant::now(), asker.task);
    let language = case.frontend.fences().map_err(|why| case.refused(why))?;
    let mut text = Text::new(asker, &case.source.text, task.model, language);
    if !task.weights.is_empty() {
        let weights = weights(&case.source.text, &language.blocks(&case.source.text), task.weights);
        text = text.with_weights(weights.map_err(|why| case.refused(why))?);
    }
    let options = Options { sets: task.sets(), ..Options::default() }.for_models(std::slice::from_ref(task.model));
    let outcome = synthesise(&text, &options);
    text.finish().map_err(|trouble| asker.failure(trouble, "fences"))?;
    let inserted = |set: &Repair| language.insert(&case.source.text, &set.fences).text;
    let text = outcome.sets.first().map(inserted);
    let candidate = outcome.undecided.as_ref().map(|undecided| CandidateInfo {
        fences: infos(&outcome, &undecided.repair),
        reason: undecided.reason.clone(),
        diff: task.diff(&case.source, &inserted(&undecided.repair)),
    });
    let shown = outcome.counterexamples.first().filter(|_| outcome.verdict == Verdict::Irreparable);
    let report = FencesReport {
        criterion: task.criteria(),
        reason: outcome.reason.clone(),
        minimal: outcome.minimal,
        complete: task.all && outcome.complete,
        sets: outcome.sets.iter().map(|set| infos(&outcome, set)).collect(),
        costs: outcome.sets.iter().filter(|_| !task.weights.is_empty()).map(|set| set.cost).collect(),
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
            instead_of: None,
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
