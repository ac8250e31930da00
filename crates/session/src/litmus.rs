//! A litmus test under a model: the final states that its condition is about, and what is certain about them.
//!
//! **Invariant:** that a test has no meaning, because some execution computes nonsense, is said only if the reference interpreter confirms
//! that execution.

pub(crate) mod graphs;

use std::path::Path;
use std::time::Duration;

use cyrano_engine::{Query, Question, Refusal, Verdict, Violation, Watch, vacuity};
use cyrano_ir::{Diagnostic, Property};
use cyrano_litmus::ast::{Arch, Quantifier};
use cyrano_litmus::{Judgement, Observation, Shown, Test};
use cyrano_memory::Model;
use cyrano_report::{LitmusReport, LitmusValue};

use crate::case::Case;
use crate::failure::Failure;
use crate::frontend::{self, Saved, Wanted};
use crate::proof;
use crate::run::options::EngineName;
use crate::run::{Answered, Runner};
use crate::source::Source;

/// A test that may not be readable.
pub struct Litmus {
    source: Source,
    /// The test, or why there is none.
    test: Result<Case, String>,
}

/// How long one question may take, and whether every engine is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// How long.
    pub timeout: Duration,
    /// Whether every engine that can run a test is asked, and the sets of outcomes are compared.
    pub compare: bool,
    /// Whether executions are wanted as graphs.
    pub graphs: bool,
}

impl Litmus {
    /// Reads a test, whatever its file is called.
    pub fn new(source: Source) -> Self {
        let cases = frontend::LITMUS.cases(&source, &[], &Wanted::default(), &Saved(&Default::default()));
        let test = match cases {
            Ok(mut cases) => cases.pop().ok_or_else(String::new),
            Err(Failure::Source(source, errors)) => Err(reason(&source, &errors)),
            Err(failure) => Err(format!("{failure:?}")),
        };
        Self { source, test }
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The test, if it can be read.
    pub fn case(&self) -> Option<&Case> {
        self.test.as_ref().ok()
    }

    /// The model of a test if the user names none: what the machine does, or no relaxation at all. A test that cannot be read has that of its
    /// architecture; none if there is no such architecture.
    pub fn default_model(&self) -> Option<Model> {
        let name = match cyrano_litmus::arch(&self.source.text)? {
            Arch::AArch64 => "armv8",
            Arch::Riscv => "riscv",
            Arch::Ppc => "power",
            Arch::C => "sc",
            Arch::X86 | Arch::X86_64 => "tso",
        };
        cyrano_memory::named(name)
    }

    /// Complains about a model that no litmus test makes sense under. What this one says about accesses and fences may still be
    /// nothing that the model knows; then it is refused alone.
    pub fn require(&self, model: &Model) -> Result<(), Failure> {
        let Ok(case) = &self.test else { return Ok(()) };
        let case = case.for_question(None, model);
        match Query::new(&case.program, model, Question::Outcomes) {
            Err(Refusal::UnknownTags { .. } | Refusal::UnknownFence { .. }) => Ok(()),
            _ => case.query(model, Question::Outcomes).map(|_| ()),
        }
    }

    /// What can be said about the test under a model.
    pub fn run(&self, runner: &Runner, model: &Model, ask: Ask, watch: &dyn Watch) -> Result<LitmusReport, Failure> {
        let mut report =
            LitmusReport { file: self.source.name.clone(), model: model.name.clone(), ..LitmusReport::default() };
        let (case, test) = match &self.test {
            Ok(case) => (case, case.litmus.as_ref().expect("a litmus test is one")),
            Err(reason) => {
                let stem = Path::new(&report.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
                report.name = cyrano_litmus::name(&self.source.text).or(stem).unwrap_or_default();
                report.reason = Some(reason.clone());
                report.refused = true;
                return Ok(report);
            }
        };
        report.name.clone_from(&test.head.name);
        report.condition = Some(test.condition.quantifier.name());
        report.kind = Some(test.condition.quantifier.kind());
        report.text.clone_from(&test.condition.text);
        report.columns = test.columns.iter().map(|column| column.name.clone()).collect();
        let case = &*case.for_question(None, model);
        let query = match Query::new(&case.program, model, Question::Outcomes) {
            Ok(query) => query,
            Err(why) => {
                report.reason = Some(why.to_string());
                report.refused = true;
                return Ok(report);
            }
        };
        let own = runner.part(ask.timeout, None);
        if test.can_go_wrong()
            && let asked = case.query(model, Question::Holds(&Property::Assertions))?
            && let Some(reason) = goes_wrong(&own.ask(asked, &()), asked, &self.source.name)?
        {
            report.reason = Some(reason);
            report.refused = true;
            return Ok(report);
        }
        let mut answered = own.ask(query, watch);
        if answered.answer.verdict != Verdict::Verified && runner.is_free() {
            // Another engine may not need the bound that this one reached.
            let second = runner.part(ask.timeout, Some(EngineName::Symbolic)).ask(query, watch);
            if second.answer.verdict == Verdict::Verified {
                answered = second;
            }
        }
        fill(&mut report, test, &answered, own.stopped().is_some());
        if ask.graphs && report.observation.is_some() {
            let found = graphs::of_litmus(case, model, own.limits());
            (report.graphs, report.graphs_note) = (found.graphs, found.note);
        }
        if ask.compare && answered.answer.verdict == Verdict::Verified {
            compare(runner, ask.timeout, query, &answered, &mut report, watch);
        }
        Ok(report)
    }
}

/// Diagnostics as the reason of a refusal: every one in a line of its own, with line and column.
fn reason(source: &Source, errors: &[Diagnostic]) -> String {
    let line = |error: &Diagnostic| {
        let (line, column) = cyrano_litmus::line_column(&source.text, error.span.start as usize);
        // What architectures there are is not said by the message that this is none.
        let help = error.help.as_ref().filter(|help| help.contains("the architectures are"));
        let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
        format!("line {line}, column {column}: {}{help}", error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Why a test has no meaning, if some execution computes nonsense: one that the reference interpreter confirms.
fn goes_wrong(answered: &Answered, query: Query<'_>, file: &str) -> Result<Option<String>, Failure> {
    let property = Property::Assertions;
    let confirmed = proof::proof(query.program(), &property, query.model(), &answered.answer, None);
    confirmed.map_err(|why| answered.untrusted(&property, query.model(), file, &why))?;
    Ok(match &answered.answer.violation {
        Some(Violation::Error { thread, error, .. }) => {
            Some(format!("an execution goes wrong in P{}: {error}", thread.0))
        }
        Some(violation) => Some(format!("an execution goes wrong: {}", violation.kind())),
        None => None,
    })
}

/// What an answer says about a test; without an engine it was refused, unless the run was `stopped` before.
fn fill(report: &mut LitmusReport, test: &Test, answered: &Answered, stopped: bool) {
    let answer = &answered.answer;
    report.engine.clone_from(&answered.engine);
    report.flags = answer.flags.iter().cloned().collect();
    report.seconds = answer.stats.seconds;
    report.reason = answer.reason.as_ref().map(ToString::to_string);
    report.refused = answered.engine.is_none() && !stopped;
    let judgement = match test.judge(&answer.outcomes) {
        Ok(judgement) => judgement,
        Err(error) => {
            report.reason = Some(format!("the condition cannot be evaluated: {error}"));
            report.refused = true;
            return;
        }
    };
    let complete = answer.verdict == Verdict::Verified;
    if complete && judgement.states.is_empty() {
        // Nothing can be said about final states where there are none, neither that all are right nor that none is wrong.
        let why = if answer.outcomes.is_empty() { vacuity::NO_END } else { "no final state passes the filter" };
        report.reason = Some(why.to_owned());
        report.vacuous = true;
        if test.condition.quantifier == Quantifier::Exists {
            // What is looked for is not there, as herd says, too.
            (report.observation, report.holds) = (Some(Observation::Never.name()), Some(false));
        }
        return;
    }
    let (observation, holds) = decided(&judgement, test.condition.quantifier, complete);
    report.observation = observation.map(Observation::name);
    report.holds = holds;
    if report.observation.is_some() {
        report.reason = None;
    }
    let value = |shown: &Shown| match shown {
        Shown::Int(value) => LitmusValue::Int(*value),
        Shown::Address(name) => LitmusValue::Address(name.clone()),
    };
    report.states = judgement.states.iter().map(|state| state.values.iter().map(value).collect()).collect();
    report.positive = judgement.positive;
}

/// What is certain: final states that were not found can only add to those that were.
fn decided(judgement: &Judgement, quantifier: Quantifier, complete: bool) -> (Option<Observation>, Option<bool>) {
    let observation = judgement.observation();
    let certain = complete || observation == Observation::Sometimes;
    let holds = judgement.holds(quantifier);
    let settled = complete
        || match quantifier {
            Quantifier::Exists => holds,
            Quantifier::NotExists | Quantifier::Forall => !holds,
        };
    (certain.then_some(observation), settled.then_some(holds))
}

/// Asks the other engines and compares sets of outcomes.
fn compare(
    runner: &Runner,
    timeout: Duration,
    query: Query<'_>,
    first: &Answered,
    report: &mut LitmusReport,
    watch: &dyn Watch,
) {
    report.compared.extend(first.engine.clone());
    for engine in EngineName::ALL {
        let answered = runner.part(timeout, Some(engine)).ask(query, watch);
        let Some(name) = &answered.engine else { continue };
        if answered.answer.verdict != Verdict::Verified || report.compared.contains(name) {
            continue;
        }
        report.compared.push(name.clone());
        if answered.answer.outcomes != first.answer.outcomes {
            let (own, other) = (first.answer.outcomes.len(), answered.answer.outcomes.len());
            let who = first.engine.as_deref().unwrap_or_default();
            let text = format!("{who} finds {own} outcomes and {name} {other}, or other ones");
            report.disagreement = Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::options::Options;

    #[test]
    fn what_goes_wrong_has_to_be_confirmed() {
        let text = "C t\n{}\nP0(int *x) { int r = 1 / *x; }\nexists (0:r=1)\n";
        let test = cyrano_litmus::compile(text).expect("it compiles");
        let model = cyrano_memory::named("sc").expect("this is a named model");
        let query = Query::new(&test.program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
        let mut answered = runner.ask(query, &());
        let reason = goes_wrong(&answered, query, "t.litmus").expect("it is confirmed").expect("it goes wrong");
        assert!(reason.contains("goes wrong in P0"), "{reason}");
        let execution = answered.answer.execution.as_mut().expect("it is shown");
        execution.order.iter_mut().for_each(|access| access.read = Some(1));
        let refuted = goes_wrong(&answered, query, "t.litmus").expect_err("no such value can be read");
        assert!(format!("{refuted:?}").contains("does not confirm"), "{refuted:?}");
    }

    #[test]
    fn partial_knowledge_is_used_and_not_stretched() {
        let judgement = |positive, negative| Judgement { states: Vec::new(), positive, negative };
        let check = |positive, negative, quantifier, complete, expected| {
            assert_eq!(decided(&judgement(positive, negative), quantifier, complete), expected);
        };
        use Observation::{Always, Never, Sometimes};
        check(1, 2, Quantifier::Exists, false, (Some(Sometimes), Some(true)));
        check(0, 2, Quantifier::Exists, false, (None, None));
        check(0, 2, Quantifier::Exists, true, (Some(Never), Some(false)));
        check(2, 0, Quantifier::Exists, false, (None, Some(true)));
        check(2, 0, Quantifier::Forall, false, (None, None));
        check(2, 0, Quantifier::Forall, true, (Some(Always), Some(true)));
        check(0, 1, Quantifier::Forall, false, (None, Some(false)));
        check(0, 1, Quantifier::NotExists, false, (None, None));
    }
}
