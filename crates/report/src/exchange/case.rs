//! What a CI system is told: one case for each check, whatever command made it.
//!
//! SARIF and JUnit are written from this form, so that both say the same; `docs/ci.md` has the table.

use std::collections::BTreeMap;

use cyrano_engine::Verdict;
use cyrano_trace::{End, Step, Trace};
use serde_json::{Value, json};

use crate::results::checks::CheckReport;
use crate::results::fences::{FenceInfo, FencesReport};
use crate::results::litmus::LitmusReport;

/// What became of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Fate {
    #[default]
    Passed,
    Failed,
    /// A limit was reached.
    Unknown,
    /// Nothing wrong up to a bound, or not supported.
    Partial,
    /// Nothing was exercised.
    Vacuous,
}

impl From<Verdict> for Fate {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Verified => Self::Passed,
            Verdict::Violated => Self::Failed,
            Verdict::Unknown => Self::Unknown,
            Verdict::Bounded => Self::Partial,
            Verdict::Vacuous => Self::Vacuous,
        }
    }
}

/// One check.
#[derive(Default)]
pub(crate) struct Case<'a> {
    pub(crate) file: &'a str,
    pub(crate) test: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    /// The criterion, which is a rule in SARIF.
    pub(crate) rule: &'a str,
    /// What is checked: `never (r1 = 0)`.
    pub(crate) title: String,
    pub(crate) fate: Fate,
    /// The verdict's own name.
    pub(crate) verdict: &'a str,
    /// Why, in a sentence.
    pub(crate) sentence: String,
    pub(crate) trace: Option<&'a Trace>,
    /// Lines of the file with something to say about each.
    pub(crate) remarks: Vec<(usize, String)>,
    /// More text, for logs.
    pub(crate) text: Option<&'a str>,
    pub(crate) seconds: f64,
    pub(crate) properties: BTreeMap<&'static str, Value>,
}

impl Case<'_> {
    /// `T0: observations on pso`.
    pub(crate) fn name(&self) -> String {
        let model = self.model.map(|model| format!(" on {model}")).unwrap_or_default();
        let test = self.test.map(|test| format!("{test}: ")).unwrap_or_default();
        format!("{test}{}{model}", self.title)
    }

    /// The whole finding in one paragraph.
    pub(crate) fn message(&self) -> String {
        let mut message = format!("{} is {}", self.name(), self.verdict);
        if !self.sentence.is_empty() {
            message.push_str(&format!(": {}", self.sentence));
        }
        message
    }

    /// The access at which it goes wrong, if there is an execution.
    pub(crate) fn place(&self) -> Option<SourcePlace<'_>> {
        self.trace.and_then(offending)
    }
}

/// A statement in the source.
pub(crate) struct SourcePlace<'a> {
    pub(crate) line: usize,
    pub(crate) column: Option<usize>,
    pub(crate) text: &'a str,
}

impl<'a> SourcePlace<'a> {
    pub(crate) fn of(step: &'a Step) -> Self {
        Self { line: step.line, column: Some(step.column), text: &step.text }
    }
}

/// Where an execution goes wrong: the statement that fails, or who waits, or the access that closes the cycle, or the last one that was
/// performed out of program order, or simply the last one.
fn offending(trace: &Trace) -> Option<SourcePlace<'_>> {
    if let Some(line) = trace.explanation.line {
        let step = trace.steps.iter().rev().find(|step| step.line == line);
        return Some(step.map_or(SourcePlace { line, column: None, text: "" }, SourcePlace::of));
    }
    let waits = trace.threads.iter().find_map(|thread| match &thread.end {
        End::Waiting { line, column, text, .. } => Some(SourcePlace { line: *line, column: Some(*column), text }),
        _ => None,
    });
    if waits.is_some() {
        return waits;
    }
    let closing = trace.explanation.conflicts.iter().map(|conflict| conflict.steps.0.max(conflict.steps.1)).max();
    let closing = closing.and_then(|n| trace.steps.get(n.checked_sub(1)?));
    let overtaking = || trace.steps.iter().rev().find(|step| !step.overtook.is_empty());
    closing.or_else(overtaking).or_else(|| trace.steps.last()).map(SourcePlace::of)
}

/// A check.
pub(crate) fn of_check(check: &CheckReport) -> Case<'_> {
    let explained = check.explanation.as_ref().map(|explanation| explanation.sentence.clone());
    let passed = check.verdict == Verdict::Verified;
    let sentence = explained.filter(|_| !passed).or_else(|| check.reason.clone()).unwrap_or_default();
    let doubt = check.doubt().filter(|_| !passed).map(|doubt| format!("{doubt}; ")).unwrap_or_default();
    let sentence = format!("{doubt}{sentence}");
    let title = match &check.property {
        Some(condition) => format!("{} ({condition})", check.criterion),
        None => check.criterion.clone(),
    };
    let mut properties = BTreeMap::from([
        ("model", json!(check.model)),
        ("criterion", json!(check.criterion)),
        ("property", json!(check.property)),
        ("test", json!(check.test)),
        ("verdict", json!(check.verdict.name())),
        ("engine", json!(check.engine)),
        ("states", json!(check.stats.map(|stats| stats.states))),
    ]);
    properties.retain(|_, value| !value.is_null());
    Case {
        file: &check.file,
        test: check.test.as_deref(),
        model: check.model.as_deref(),
        rule: &check.criterion,
        title,
        fate: check.verdict.into(),
        verdict: check.verdict.name(),
        sentence,
        trace: check.trace.as_ref().filter(|_| !passed),
        seconds: check.stats.map_or(0.0, |stats| stats.seconds),
        properties,
        ..Case::default()
    }
}

/// The rule of reports that are missing.
const SHARDS: &str = "shards";

/// Checks that nobody has a report of.
pub(crate) fn of_missing(sentence: &str) -> Case<'_> {
    Case {
        file: SHARDS,
        rule: SHARDS,
        title: "missing shards".to_owned(),
        fate: Fate::Unknown,
        verdict: Verdict::Unknown.name(),
        sentence: sentence.to_owned(),
        ..Case::default()
    }
}

/// The rule of missing fences.
pub(crate) const FENCES: &str = "fences";

/// A search for fences: what is missing is said where it is missing; the case itself fails only where no fences help.
pub(crate) fn of_fences(report: &FencesReport) -> Case<'_> {
    let remark = |fence: &FenceInfo| {
        let what = match (&fence.order, &fence.instead_of) {
            (Some(order), _) => format!("order {order}"),
            (None, Some(was)) => format!("{} instead of {was} in this line", fence.kind),
            (None, None) => format!("fence({}) {} this line", fence.kind, fence.place),
        };
        let why = fence.prevents.first().map(|why| format!(" Without it: {why}")).unwrap_or_default();
        (fence.line, format!("{} on {} needs {what}.{why}", report.criterion, report.model))
    };
    Case {
        file: &report.file,
        model: Some(&report.model),
        rule: FENCES,
        title: format!("fences for {}", report.criterion),
        fate: match report.verdict {
            "repaired" | "already-correct" => Fate::Passed,
            "irreparable" => Fate::Failed,
            _ => Fate::Unknown,
        },
        verdict: report.verdict,
        sentence: report.reason.clone().unwrap_or_default(),
        trace: report.trace.as_ref(),
        remarks: report.sets.first().into_iter().flatten().map(remark).collect(),
        text: report.diff.as_deref(),
        seconds: report.seconds,
        properties: BTreeMap::from([("model", json!(report.model)), ("criterion", json!(report.criterion))]),
        ..Case::default()
    }
}

/// The rule of litmus tests.
pub(crate) const LITMUS: &str = "litmus";

/// A litmus test: it fails if an expectation is not met or engines disagree; without an expectation every observation is fine.
pub(crate) fn of_litmus(report: &LitmusReport) -> Case<'_> {
    let wrong = report.differs || report.disagreement.is_some();
    let observed = report.observation.filter(|_| !report.vacuous);
    let (fate, verdict) = match observed {
        _ if wrong => (Fate::Failed, "not as expected"),
        Some(observation) => (Fate::Passed, observation),
        None if report.refused => (Fate::Partial, "refused"),
        None if report.vacuous => (Fate::Vacuous, report.outcome()),
        None => (Fate::Unknown, "unknown"),
    };
    let expected = report.expected.as_ref().filter(|_| report.differs);
    let expected = expected.map(|expected| format!("expected {expected}, observed {}", report.outcome()));
    let parts = [expected, report.disagreement.clone(), report.reason.clone()];
    let mut properties = BTreeMap::from([
        ("model", json!(report.model)),
        ("observation", json!(observed)),
        ("expected", json!(report.expected)),
    ]);
    properties.retain(|_, value| !value.is_null());
    Case {
        file: &report.file,
        model: Some(&report.model),
        rule: LITMUS,
        title: report.name.clone(),
        fate,
        verdict,
        sentence: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        seconds: report.seconds,
        properties,
        ..Case::default()
    }
}
