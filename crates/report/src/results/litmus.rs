//! Litmus tests: herd's summary for each, a table of all, and `cyrano.litmus/1`.

use cyrano_engine::Verdict;
use serde::{Deserialize, Serialize};

use crate::exchange::shard::ShardReport;
use crate::results::graphs::{GraphReport, graph_text};
use crate::results::json::{InOrder, document, object, some};
use crate::style::{Paint, Style, hang};
use crate::table::{Cell, Row, table};

/// What became of one test under one model.
#[derive(Clone, Debug, Default)]
pub struct LitmusReport {
    /// The file.
    pub file: String,
    /// The test's name.
    pub name: String,
    /// The model's name.
    pub model: String,
    /// The engine that answered.
    pub engine: Option<String>,
    /// `exists`, `~exists` or `forall`; unknown if the test could not be read.
    pub condition: Option<&'static str>,
    /// `Allowed`, `Forbidden` or `Required`, as herd calls the three.
    pub kind: Option<&'static str>,
    /// The condition as written.
    pub text: String,
    /// `Never`, `Sometimes` or `Always`; nothing if the test was refused or is undecided.
    pub observation: Option<&'static str>,
    /// Whether the quantified condition holds, where that is known.
    pub holds: Option<bool>,
    /// Why there is no observation.
    pub reason: Option<String>,
    /// Whether the test was refused, by its front end or by every engine.
    pub refused: bool,
    /// Whether there is no final state that the condition could be about.
    pub vacuous: bool,
    /// What a state shows.
    pub columns: Vec<String>,
    /// The final states that were found; of each one value per column.
    pub states: Vec<Vec<LitmusValue>>,
    /// In how many of them the proposition holds.
    pub positive: usize,
    /// How long the engine took.
    pub seconds: f64,
    /// What was expected.
    pub expected: Option<String>,
    /// Whether that is not what came out.
    pub differs: bool,
    /// How engines disagree, if several were asked.
    pub disagreement: Option<String>,
    /// Which engines were asked, if several were.
    pub compared: Vec<String>,
    /// What the model flags: `data-race`.
    pub flags: Vec<String>,
    /// The executions that the condition is about, if they are wanted; one that is forbidden if none is allowed.
    pub graphs: Vec<GraphReport>,
    /// What a reader of the graphs has to know.
    pub graphs_note: Option<String>,
}

/// A value: a number, or the name of the location whose address it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LitmusValue {
    /// A number.
    Int(#[serde(with = "cyrano_trace::number")] i128),
    /// An address.
    Address(String),
}

impl std::fmt::Display for LitmusValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Address(name) => f.write_str(name),
        }
    }
}

impl LitmusReport {
    fn negative(&self) -> usize {
        self.states.len().saturating_sub(self.positive)
    }

    /// One word for what came out.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.observation {
            _ if self.vacuous => Verdict::Vacuous.name(),
            Some(observation) => observation,
            None if self.refused => "refused",
            None => "unknown",
        }
    }
}

/// The name of this schema.
pub(crate) const LITMUS: &str = "cyrano.litmus/1";

/// All results as one JSON object, perhaps those of a part of a campaign.
pub(crate) fn litmus_document(results: &[LitmusReport], version: &str, shard: Option<&ShardReport>) -> String {
    let tests = results.iter().map(|report| {
        let counted = report.observation.is_some() || !report.states.is_empty();
        let outcome =
            |state: &Vec<LitmusValue>| InOrder(report.columns.iter().cloned().zip(state.iter().cloned()).collect());
        object! {
            "file": &report.file,
            "name": &report.name,
            "model": &report.model,
            "engine": &report.engine,
            "observation": report.observation,
            "condition": report.condition,
            "proposition": report.condition.map(|word| report.text.trim_start_matches(word).trim()),
            "holds": report.holds,
            "refused": report.refused,
            "verdict" ?: report.vacuous.then(|| Verdict::Vacuous.name()),
            "reason": &report.reason,
            "positive": counted.then_some(report.positive),
            "negative": counted.then(|| report.negative()),
            "outcomes": report.states.iter().map(outcome).collect::<Vec<_>>(),
            "seconds": report.seconds,
            "expected": &report.expected,
            "differs": report.differs,
            "engines": &report.compared,
            "disagreement": &report.disagreement,
            "flags" ?: some(&report.flags),
            "graphs" ?: some(&report.graphs),
            "graphs_note" ?: report.graphs_note.as_ref(),
        }
    });
    document(LITMUS, version, object! { "shard" ?: shard, "tests": tests.collect::<Vec<_>>() })
}

/// All results as text; `details` asks for herd's summary of each test before the table.
pub(crate) fn litmus_text(results: &[LitmusReport], details: bool, style: Style) -> String {
    let mut out = String::new();
    let several = results.iter().any(|report| report.model != results[0].model);
    if details {
        for report in results {
            summary(&mut out, report, several, style);
            out.push('\n');
        }
    }
    rows(&mut out, results, !details, style);
    totals(&mut out, results, style);
    out
}

/// herd's lines; counts are of states, not of executions.
fn summary(out: &mut String, report: &LitmusReport, several: bool, style: Style) {
    let title = format!("Test {} {}", report.name, report.kind.unwrap_or("Refused"));
    let model = if several { format!(" ({})", report.model) } else { String::new() };
    style.line(out, Paint::Strong, &format!("{title}{model}"));
    if let Some(reason) = &report.reason {
        for line in reason.lines() {
            hang(out, "  ", line, style);
        }
    }
    if report.observation.is_none() && report.states.is_empty() {
        return;
    }
    out.push_str(&format!("States {}\n", report.states.len()));
    for state in &report.states {
        let cells = report.columns.iter().zip(state).map(|(name, value)| format!("{name}={value};"));
        out.push_str(&cells.collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    match report.holds {
        Some(true) => out.push_str("Ok\n"),
        Some(false) => out.push_str("No\n"),
        None => out.push_str("Undecided\n"),
    }
    let (positive, negative) = (report.positive, report.negative());
    for flag in &report.flags {
        out.push_str(&format!("Flag {flag}\n"));
    }
    out.push_str(&format!("Witnesses\nPositive: {positive} Negative: {negative}\n"));
    out.push_str(&format!("Condition {}\n", report.text));
    out.push_str(&format!("Observation {} {} {positive} {negative}\n", report.name, report.outcome()));
    out.push_str(&format!("Time {} {:.2}\n", report.name, report.seconds));
    graphs(out, report, style);
}

/// The executions that the condition is about.
fn graphs(out: &mut String, report: &LitmusReport, style: Style) {
    let count = report.graphs.len();
    for (at, graph) in report.graphs.iter().enumerate() {
        let title = match graph.forbidden {
            Some(_) => "Execution that is not allowed".to_owned(),
            None => format!("Execution {} of {count}", at + 1),
        };
        graph_text(out, &title, graph, style);
    }
    if let Some(note) = &report.graphs_note {
        hang(out, "  ", note, style);
    }
}

fn rows(out: &mut String, results: &[LitmusReport], reasons: bool, style: Style) {
    let expected = results.iter().any(|report| report.expected.is_some());
    let rows: Vec<Row> = results.iter().map(|report| row(report, expected, reasons)).collect();
    let mut header = vec!["test", "model", "condition", "observation", "holds", "states", "engine"];
    if expected {
        header.push("expected");
    }
    table(out, &header, &rows, style);
}

/// One row; reasons stand below it unless they were printed already.
fn row(report: &LitmusReport, expected: bool, reasons: bool) -> Row {
    let paint = match (report.observation, report.differs) {
        (_, true) => Some(Paint::Bad),
        (None, _) => Some(Paint::Unsure),
        _ => None,
    };
    let mut observation = Cell::left(report.outcome());
    observation.paint = paint;
    let holds = match report.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    let mut cells = vec![
        Cell::left(report.name.clone()),
        Cell::left(report.model.clone()),
        Cell::left(report.condition.unwrap_or("-")),
        observation,
        Cell::left(holds),
        Cell::right(report.states.len().to_string()),
        Cell::left(report.engine.clone().unwrap_or_else(|| "-".to_owned())),
    ];
    if expected {
        let mark = if report.differs { " (differs)" } else { "" };
        cells.push(Cell::left(format!("{}{mark}", report.expected.as_deref().unwrap_or("-"))));
    }
    let lines = report.reason.iter().filter(|_| reasons).flat_map(|reason| reason.lines());
    let mut notes: Vec<String> = lines.map(|line| format!("{}: {line}", report.file)).collect();
    notes.extend(report.disagreement.clone());
    Row { cells, notes }
}

fn totals(out: &mut String, results: &[LitmusReport], style: Style) {
    let count = |wanted: &dyn Fn(&LitmusReport) -> bool| results.iter().filter(|report| wanted(report)).count();
    let mut parts = Vec::new();
    for word in ["Never", "Sometimes", "Always", "refused", "vacuous", "unknown"] {
        let number = count(&|report| report.outcome() == word);
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    let expected = count(&|report| report.expected.is_some());
    if expected > 0 {
        let differ = count(&|report| report.differs);
        parts.push(format!("{} as expected, {differ} not as expected", expected - differ));
    }
    let flagged = count(&|report| !report.flags.is_empty());
    if flagged > 0 {
        parts.push(format!("{flagged} flagged"));
    }
    let compared = count(&|report| report.compared.len() > 1);
    if compared > 0 {
        let disagreements = count(&|report| report.disagreement.is_some());
        parts.push(format!("{compared} answered by several engines, {disagreements} disagreements"));
    }
    let noun = if results.len() == 1 { "result" } else { "results" };
    hang(out, "", &format!("{} {noun}: {}", results.len(), parts.join(", ")), style);
    if results.len() > 1 {
        let refused = count(&|report| report.refused);
        let seconds: f64 = results.iter().map(|report| report.seconds).sum();
        let accepted = results.len() - refused;
        hang(out, "", &format!("{accepted} accepted, {refused} refused; the engines took {seconds:.2} s"), style);
        reasons(out, results, style);
    }
}

/// So many reasons for refusals are listed.
const MOST_REASONS: usize = 12;

/// Why tests are refused, the most frequent reason first; without the places.
fn reasons(out: &mut String, results: &[LitmusReport], style: Style) {
    let mut counted: Vec<(usize, &str)> = Vec::new();
    let refused = results.iter().filter(|report| report.refused).filter_map(|report| report.reason.as_deref());
    for reason in refused.filter_map(|reason| reason.lines().next()) {
        let reason =
            if reason.starts_with("line ") { reason.split_once(": ").map_or(reason, |it| it.1) } else { reason };
        match counted.iter_mut().find(|(_, known)| *known == reason) {
            Some((number, _)) => *number += 1,
            None => counted.push((1, reason)),
        }
    }
    counted.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    for (number, reason) in counted.iter().take(MOST_REASONS) {
        hang(out, &format!("  {number} refused: "), reason, style);
    }
    if counted.len() > MOST_REASONS {
        hang(out, "  ", &format!("and {} other reasons", counted.len() - MOST_REASONS), style);
    }
}
