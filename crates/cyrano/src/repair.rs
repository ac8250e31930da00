//! A source text as something that can be repaired with fences.
//!
//! A fence is inserted into the text and the text is compiled again, so whatever is found is a program that a user can have.
//!
//! **Invariant:** every counterexample that the search learns from was confirmed by the reference interpreter on the program with the
//! fences; one that is not confirmed ends the search with an internal error.

use std::cell::{OnceCell, RefCell};
use std::time::Instant;

use cyrano_engine::{Query, Question, Replayed, Verdict, Violation, Watch};
use cyrano_fences::{
    Fence, Judgement, Options, Outcome, Position, Subject, Wrong, merge, source, statement, synthesise, unified_diff,
};
use cyrano_ir::{FenceSet, Program, Property};
use cyrano_memory::Model;
use cyrano_report::{FenceInfo, FencesReport};
use cyrano_trace::Trace;

use crate::failure::{self, Failure};
use crate::program::Loaded;
use crate::run::{self, Answered, Runner};
use crate::select::default_model;

/// How many sets are listed at most.
const MOST_SETS: usize = 1_000;

/// What is to hold on one model.
pub struct Task<'a> {
    /// The program.
    pub loaded: &'a Loaded,
    /// The model.
    pub model: &'a Model,
    /// What must hold.
    pub properties: &'a [Property],
    /// Whether all minimal sets are wanted.
    pub all: bool,
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
    let text = Text { task, runner, watch, positions: OnceCell::new(), failure: RefCell::new(None) };
    let options = Options {
        sets: if task.all { MOST_SETS } else { 1 },
        kinds: FenceSet::FULL.without(task.model.different),
        ..Options::default()
    };
    let outcome = synthesise(&text, &options);
    if let Some(failure) = text.failure.into_inner() {
        return Err(failure);
    }
    let first = outcome.sets.first().map(|set| source::insert(&task.loaded.source.text, &set.fences).text);
    let name = &task.loaded.source.name;
    let diff = first.as_ref().map(|new| {
        let fenced = format!("{name} ({})", task.model.name);
        unified_diff(&task.loaded.source.text, new, name, &fenced)
    });
    let criteria: Vec<&str> = task.properties.iter().map(Property::criterion).collect();
    let report = FencesReport {
        file: name.clone(),
        model: task.model.name.clone(),
        criterion: criteria.join(", "),
        verdict: outcome.verdict.name(),
        reason: outcome.reason.clone(),
        minimal: outcome.minimal,
        complete: task.all && outcome.complete,
        sets: outcome.sets.iter().map(|set| infos(&outcome, &set.fences, &set.prevents)).collect(),
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
fn infos(outcome: &Outcome<Option<Trace>>, fences: &[Fence], prevents: &[usize]) -> Vec<FenceInfo> {
    let words = |fence: &Fence| {
        let own = fences.iter().zip(prevents).filter(|(other, _)| other.position.at == fence.position.at);
        let shown = own.filter_map(|(_, number)| outcome.counterexamples.get(*number)?.wrong.evidence.as_ref());
        let mut words: Vec<String> = shown.map(|trace| trace.explanation.sentence.clone()).collect();
        words.dedup();
        words
    };
    let info = |fence: &Fence| {
        let statement = statement(fence.kind);
        let kind = statement.trim_start_matches("fence(").trim_end_matches(')');
        FenceInfo {
            line: fence.position.line,
            place: "after",
            kind: kind.to_owned(),
            program: fence.position.program.clone(),
            prevents: words(fence),
        }
    };
    merge(fences).iter().map(info).collect()
}

struct Text<'a> {
    task: &'a Task<'a>,
    runner: &'a Runner,
    watch: &'a dyn Watch,
    positions: OnceCell<Vec<Position>>,
    /// What went wrong on our side; the search cannot carry it.
    failure: RefCell<Option<Failure>>,
}

impl Text<'_> {
    fn compile(&self, text: &str) -> Option<Program> {
        let loaded = self.task.loaded;
        cyrano_rml::compile(text, &loaded.source.name, &loaded.set).ok()
    }

    fn judge_on(&self, program: &Program, model: &Model) -> Judgement<Option<Trace>> {
        for property in self.task.properties {
            let query = Query { program, model, question: Question::Holds(property) };
            let Answered { answer, .. } = self.runner.ask(query, self.watch);
            match answer.verdict {
                Verdict::Verified => {}
                Verdict::Violated => return self.wrong(program, property, model, &answer),
                Verdict::Unknown | Verdict::Bounded | Verdict::Vacuous => {
                    let reason = answer.reason.unwrap_or_default();
                    return Judgement::Unknown(format!("a check is {}: {reason}", answer.verdict.name()));
                }
            }
        }
        Judgement::Correct
    }

    fn wrong(
        &self,
        program: &Program,
        property: &Property,
        model: &Model,
        answer: &cyrano_engine::Answer,
    ) -> Judgement<Option<Trace>> {
        let violation = answer.violation.as_ref();
        match run::proof(program, property, model, answer) {
            Ok(Some(proof)) => {
                let trace = run::trace(self.task.loaded, program, property, model, violation, &proof);
                Judgement::Wrong(Wrong { execution: proof.execution, replayed: proof.replayed, evidence: Some(trace) })
            }
            Ok(None) if violation == Some(&Violation::NoWitness) => {
                let replayed =
                    Replayed { steps: Vec::new(), ends: Vec::new(), memory: Vec::new(), registers: Vec::new() };
                Judgement::Wrong(Wrong { execution: Default::default(), replayed, evidence: None })
            }
            Ok(None) => self.fail("the violation came without an execution"),
            Err(why) => self.fail(&why),
        }
    }

    fn fail(&self, why: &str) -> Judgement<Option<Trace>> {
        let text = format!("while fences were sought for {}, {why}", self.task.loaded.source.name);
        *self.failure.borrow_mut() = Some(Failure::Internal(failure::bug(&text)));
        Judgement::Unknown(why.to_owned())
    }
}

impl Subject for Text<'_> {
    type Evidence = Option<Trace>;

    fn positions(&self) -> Vec<Position> {
        let find = || source::positions(&self.task.loaded.source.text, &|text| self.compile(text).is_some());
        self.positions.get_or_init(find).clone()
    }

    fn build(&self, fences: &[Fence]) -> Result<Program, String> {
        let patched = source::insert(&self.task.loaded.source.text, fences);
        let program = self.compile(&patched.text).ok_or("the source with these fences does not compile")?;
        Ok(patched.with_original_spans(program))
    }

    fn judge(&self, program: &Program) -> Judgement<Option<Trace>> {
        self.judge_on(program, self.task.model)
    }

    fn judge_sequentially(&self, program: &Program) -> Judgement<Option<Trace>> {
        self.judge_on(program, &default_model())
    }
}
