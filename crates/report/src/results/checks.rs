//! Verdicts as text: one aligned row per check, then every execution worth seeing.

use std::collections::BTreeMap;

use cyrano_engine::{Stats, Verdict};
use cyrano_trace::{Effort, Explanation, Trace};
use serde::{Deserialize, Serialize};

use crate::draw::lanes::trace_text;
use crate::exchange::saved;
use crate::results::every_number::{EveryNumberReport, Size};
use crate::style::{Paint, Style, bytes, count, hang, hang_painted};
use crate::table::{Cell, Row, table};

/// Below this width what is checked stands on a line of its own.
const ROOM_FOR_TITLES: usize = 80;

/// Everything that is said about one check.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CheckReport {
    /// The file.
    pub file: String,
    /// The test of the file, if it has tests.
    pub test: Option<String>,
    /// The model's name; `None` if the check never got that far.
    pub model: Option<String>,
    /// `assertions`, `exists`, `never`, `always`.
    pub criterion: String,
    /// The condition, where the criterion has one.
    pub property: Option<String>,
    /// The constants that were given another value.
    pub set: BTreeMap<String, i128>,
    /// The engine that answered.
    pub engine: Option<String>,
    /// Why this engine and not the usual one.
    pub engine_note: Option<String>,
    /// The size of the instance: threads, variables, constants.
    #[serde(deserialize_with = "saved::instance")]
    pub instance: Vec<(String, Size)>,
    /// The verdict.
    #[serde(deserialize_with = "saved::verdict")]
    pub verdict: Verdict,
    /// What the verdict alone does not say.
    pub reason: Option<String>,
    /// What a reader of the verdict must know.
    #[serde(default)]
    pub caveats: Vec<String>,
    /// What the observations were compared with.
    pub specification: Option<SpecificationReport>,
    /// How many of all clients of a size are wrong.
    pub clients: Option<ClientsReport>,
    /// How it was decided for every number of threads, if that was asked.
    pub every_number: Option<EveryNumberReport>,
    /// How each atomic block was proven, for `commit-atomicity`.
    #[serde(default)]
    pub blocks: Vec<BlockReport>,
    /// What no execution reaches, after a complete search that looked.
    #[serde(default)]
    pub unreached: Vec<UnreachedReport>,
    /// The size of the formula, if there was one.
    pub clauses: Option<u64>,
    /// What it cost; `None` if no engine ran.
    #[serde(flatten, deserialize_with = "saved::stats")]
    pub stats: Option<Stats>,
    /// The reductions that were used.
    pub reductions: Vec<String>,
    /// The execution that shows it.
    #[serde(default, deserialize_with = "saved::trace")]
    pub trace: Option<Trace>,
    /// What making that execution small brought.
    pub minimised: Option<MinimisedReport>,
    /// Why, also where there is no execution to show.
    pub explanation: Option<Explanation>,
}

/// A word of ours; under this name it is not taken for a part of what is read.
type Word = &'static str;

/// How an atomic block was proven to be atomic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockReport {
    /// The block's name.
    pub name: String,
    /// `movers`, or `serial-run` for the comparison with a serial run; null if it was not proven.
    #[serde(default, deserialize_with = "saved::proven_by")]
    pub proven_by: Option<Word>,
}

/// A part of the source that no execution reaches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct UnreachedReport {
    /// What it is.
    pub kind: UnreachedKind,
    /// Where it starts; 0 for an operation, which stands in the test.
    pub line: usize,
    /// The threads whose code it is, by name.
    pub thread: String,
    /// The name of a command or an operation; else the statement, or its first line.
    pub text: String,
}

/// What was not reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnreachedKind {
    /// All of a command, procedure or method.
    Command,
    /// All calls of an operation in a test.
    Operation,
    /// A check within the code.
    Assertion,
    /// Something else that is written there.
    Statement,
}

impl UnreachedReport {
    fn words(&self) -> String {
        let Self { kind, line, thread, text } = self;
        match kind {
            UnreachedKind::Command => format!("command `{text}` of line {line}"),
            UnreachedKind::Operation => format!("operation `{text}` ({thread})"),
            UnreachedKind::Assertion => format!("the check `{text}` in line {line} ({thread})"),
            UnreachedKind::Statement => format!("line {line} `{text}` ({thread})"),
        }
    }
}

/// So many places are named in text.
const SHOWN_PLACES: usize = 3;

/// What no execution reaches, if there is something.
fn unreached_sentence(places: &[UnreachedReport]) -> Option<String> {
    let shown = places.iter().take(SHOWN_PLACES);
    let shown: Vec<String> = shown.map(UnreachedReport::words).collect();
    let more = places.len().saturating_sub(SHOWN_PLACES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("never reached: {}{more}", shown.join(", ")))
}

/// Which blocks movers prove, if they prove any.
fn blocks_sentence(blocks: &[BlockReport]) -> Option<String> {
    let by = |how: &str| -> Vec<String> {
        let proven = blocks.iter().filter(|block| block.proven_by == Some(how));
        proven.map(|block| format!("`{}`", block.name)).collect()
    };
    let (movers, serial) = (by("movers"), by("serial-run"));
    let others = (!serial.is_empty()).then(|| format!("; {} compared with serial runs", serial.join(", ")));
    (!movers.is_empty()).then(|| format!("proven by movers: {}{}", movers.join(", "), others.unwrap_or_default()))
}

/// What an execution asked of its reader before it was made small, and what it asks now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MinimisedReport {
    /// As the engine found it.
    pub from: Effort,
    /// As it is shown.
    pub to: Effort,
    /// Whether no further change helps; otherwise a limit ended the search.
    pub complete: bool,
}

/// All clients of a size, and those of them that are wrong. The numbers are exact, however large.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClientsReport {
    /// How many there are.
    pub total: String,
    /// How many of them are wrong; none if that is not known.
    pub wrong: Option<String>,
    /// Whether these are all.
    pub complete: bool,
    /// The smallest wrong one, as far as it got.
    pub smallest: Option<String>,
}

impl ClientsReport {
    /// In words.
    pub fn sentence(&self) -> Option<String> {
        let grouped = |digits: &str| digits.parse::<u64>().map_or_else(|_| digits.to_owned(), count);
        let wrong = self.wrong.as_deref()?;
        let least = if self.complete { "" } else { "at least " };
        let total = grouped(&self.total);
        let smallest = self.smallest.as_ref().map(|smallest| format!("; the smallest: {smallest}"));
        let verb = if wrong == "0" { "none" } else { &format!("{least}{}", grouped(wrong)) };
        Some(format!("{verb} of {total} clients can go wrong{}", smallest.unwrap_or_default()))
    }
}

/// A specification that was mined from serial executions (CheckFence, section 2.2).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpecificationReport {
    /// The file that was run, if it is another one.
    pub reference: Option<String>,
    /// How many serial observations there are.
    pub observations: usize,
    /// Whether these are all.
    pub complete: bool,
    /// The engine that found them; none if they were known from an earlier run.
    pub engine: Option<String>,
    /// Whether they were known from an earlier run.
    pub cached: bool,
    /// How long that took.
    pub seconds: f64,
}

impl CheckReport {
    /// The criterion with its condition and its test: `never (r1 = 0)`, `T0: observations`.
    pub fn title(&self) -> String {
        let test = self.test.as_ref().map(|test| format!("{test}: ")).unwrap_or_default();
        match &self.property {
            Some(condition) => format!("{test}{} ({condition})", self.criterion),
            None => format!("{test}{}", self.criterion),
        }
    }
}

/// All checks as text; `details` asks for the executions too.
pub(crate) fn checks_text(checks: &[CheckReport], details: bool, style: Style) -> String {
    let mut out = String::new();
    for group in checks.chunk_by(|a, b| a.file == b.file && a.set == b.set) {
        file_table(&mut out, group, style);
    }
    let tables = out.len();
    if details {
        details_text(&mut out, checks, style);
    }
    // Last, where one looks when everything has scrolled by.
    if checks.len() > 1 {
        out.push_str(if out.len() > tables { "\n" } else { "" });
        out.push_str(&summary(checks));
    }
    out
}

/// What each check shows. Where one execution is shown under several models, it is drawn once.
fn details_text(out: &mut String, checks: &[CheckReport], style: Style) {
    let mut shown: Vec<(&CheckReport, String, Vec<&str>)> = Vec::new();
    for check in checks {
        let Some(text) = detail(check, style) else { continue };
        let model = check.model.as_deref().unwrap_or("-");
        let alike = |(other, drawn, _): &&mut (&CheckReport, String, Vec<&str>)| {
            *drawn == text && (&other.file, &other.set, other.verdict) == (&check.file, &check.set, check.verdict)
        };
        let same = shown.iter_mut().find(|known| alike(known) && known.0.title() == check.title());
        match same {
            Some((_, _, models)) => models.push(model),
            None => shown.push((check, text, vec![model])),
        }
    }
    for (check, text, models) in shown {
        let what = match check.verdict {
            Verdict::Verified => "witness",
            other => other.name(),
        };
        let (first, others) = models.split_first().expect("each has a model");
        let also = if others.is_empty() { String::new() } else { format!(", also on {}", others.join(", ")) };
        let heading = format!("{what}: {} on {first}{also} ({})", check.title(), check.file);
        out.push('\n');
        hang_painted(out, Paint::Strong, "", &heading, style);
        out.push('\n');
        out.push_str(&text);
    }
}

fn file_table(out: &mut String, checks: &[CheckReport], style: Style) {
    let Some(first) = checks.first() else { return };
    // Tests are of different sizes; the JSON report has them all.
    let alike = checks.iter().all(|check| check.instance == first.instance);
    let size: Vec<String> =
        first.instance.iter().filter(|_| alike).map(|(name, value)| format!("{name} = {value}")).collect();
    let size = if size.is_empty() { String::new() } else { format!("({})", size.join(", ")) };
    hang_painted(out, Paint::Strong, &format!("{} ", first.file), &size, style);
    let mut header = vec!["verdict", "model", "engine", "states", "time", "memory", "check"];
    let mut rows: Vec<Row> = checks.iter().map(row).collect();
    if style.columns() < ROOM_FOR_TITLES {
        header.pop();
        for row in &mut rows {
            let title = row.cells.pop().map(|cell| cell.text);
            row.notes.splice(0..0, title);
        }
    }
    table(out, &header, &rows, style);
    let mut said: Vec<&str> = Vec::new();
    for check in checks.iter().filter(|check| !check.reductions.is_empty()) {
        let engine = check.engine.as_deref().unwrap_or("");
        if !said.contains(&engine) {
            said.push(engine);
            let text = format!("{engine} used {}", check.reductions.join(", "));
            hang_painted(out, Paint::Faint, "  ", &text, style);
        }
    }
}

fn row(check: &CheckReport) -> Row {
    let dash = || "-".to_owned();
    let stat = |show: &dyn Fn(&Stats) -> String| check.stats.as_ref().map_or_else(dash, show);
    let clients = check.clients.as_ref().and_then(ClientsReport::sentence);
    let blocks = blocks_sentence(&check.blocks);
    let many = |stats: &&Stats| stats.states >= MANY && stats.seconds >= FOUND_BEFORE;
    let speed = check.stats.as_ref().filter(many).map(speed);
    let every_number = check.every_number.as_ref();
    let every_number = every_number.and_then(|number| number.sentence(check.verdict, check.stats.as_ref()));
    let (doubt, unreached) = (check.doubt(), unreached_sentence(&check.unreached));
    let notes = [
        every_number.as_ref(),
        doubt.as_ref(),
        check.reason.as_ref(),
        check.engine_note.as_ref(),
        clients.as_ref(),
        blocks.as_ref(),
    ];
    let notes = notes.into_iter().chain([unreached.as_ref(), speed.as_ref()]).flatten().chain(&check.caveats);
    Row {
        cells: vec![
            Cell::left(check.verdict.name()).paint(paint(check.verdict)),
            Cell::left(check.model.clone().unwrap_or_else(dash)),
            Cell::left(check.engine.clone().unwrap_or_else(dash)),
            Cell::right(stat(&|stats| count(stats.states))),
            Cell::right(stat(&|stats| format!("{:.2} s", stats.seconds))),
            Cell::right(stat(&|stats| bytes(stats.peak_bytes))),
            Cell::left(check.title()),
        ],
        notes: notes.cloned().collect(),
    }
}

/// From this many states on it is told how fast they were found, and what each takes; not where they were found for another question.
const MANY: u64 = 1_000_000;
const FOUND_BEFORE: f64 = 0.01;

fn speed(stats: &Stats) -> String {
    let rate = stats.states as f64 / stats.seconds;
    let bytes = stats.bytes_per_state().unwrap_or_default();
    format!("{} states a second, {bytes} bytes for each", count(rate as u64))
}

fn summary(checks: &[CheckReport]) -> String {
    let mut kinds: Vec<Verdict> = checks.iter().map(|check| check.verdict).collect();
    kinds.sort_by_key(|verdict| std::cmp::Reverse(verdict.gravity()));
    kinds.dedup();
    let counted = kinds.iter().map(|kind| {
        let number = checks.iter().filter(|check| check.verdict == *kind).count();
        format!("{number} {}", kind.name())
    });
    format!("{} checks: {}\n", checks.len(), counted.collect::<Vec<_>>().join(", "))
}

/// The execution of a check, or why there is none.
fn detail(check: &CheckReport, style: Style) -> Option<String> {
    match (&check.trace, &check.explanation) {
        (Some(trace), _) => Some(trace_text(trace, style)),
        (None, Some(explanation)) => {
            let mut out = String::new();
            hang(&mut out, "Why: ", &explanation.sentence, style);
            Some(out)
        }
        (None, None) => None,
    }
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Verified => Paint::Good,
        Verdict::Violated => Paint::Bad,
        Verdict::Unknown | Verdict::Bounded | Verdict::Vacuous => Paint::Unsure,
    }
}
