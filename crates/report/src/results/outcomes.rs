//! Sets of outcomes: a table per model, and `cyrano.outcomes/1`.
//!
//! With several models the outcomes that the previous model did not have are marked, for these are what a weaker model adds.

use std::collections::BTreeSet;

use cyrano_engine::{Stats, Verdict};
use cyrano_ir::reply;
use cyrano_trace::number::Written;
use cyrano_trace::shown;

use crate::results::json::{document, object, pairs};
use crate::style::{Paint, Style, count, hang, pad_left, width};

/// The outcomes of one program under one model.
#[derive(Clone, Debug)]
pub struct OutcomesReport {
    /// The file.
    pub file: String,
    /// The test of the file, if it has tests.
    pub test: Option<String>,
    /// The model's name.
    pub model: String,
    /// The engine that answered.
    pub engine: Option<String>,
    /// Why this engine and not the usual one.
    pub engine_note: Option<String>,
    /// `Verified` if the set is complete; `Vacuous` if it is complete and empty, because no execution ends.
    pub verdict: Verdict,
    /// Why it is not complete.
    pub reason: Option<String>,
    /// What is observed.
    pub columns: Vec<String>,
    /// The valuations.
    pub outcomes: BTreeSet<Vec<i128>>,
    /// Whether they are what calls of an algorithm return, so that some are words.
    pub replies: bool,
    /// What it cost.
    pub stats: Option<Stats>,
}

impl OutcomesReport {
    fn word(&self, value: i128) -> Option<&'static str> {
        reply::word(value).filter(|_| self.replies)
    }

    fn written(&self, value: i128) -> Written {
        self.word(value).map_or_else(|| value.into(), |word| Written::Text(word.to_owned()))
    }

    fn shown(&self, value: i128) -> String {
        self.word(value).map_or_else(|| shown(value), str::to_owned)
    }
}

/// All results as one JSON object.
pub fn outcomes_json(results: &[OutcomesReport], version: &str) -> String {
    let results = results.iter().map(|report| {
        let valuation =
            |values: &Vec<i128>| pairs(report.columns.iter().zip(values.iter().map(|value| report.written(*value))));
        object! {
            "file": &report.file,
            "test": &report.test,
            "model": &report.model,
            "engine": &report.engine,
            "engine_note": &report.engine_note,
            "complete": matches!(report.verdict, Verdict::Verified | Verdict::Vacuous),
            "verdict": report.verdict.name(),
            "reason": &report.reason,
            "count": report.outcomes.len(),
            "outcomes": report.outcomes.iter().map(valuation).collect::<Vec<_>>(),
            "states": report.stats.map(|stats| stats.states),
            "seconds": report.stats.map(|stats| stats.seconds),
            "peak_bytes": report.stats.map(|stats| stats.peak_bytes),
        }
    });
    document("cyrano.outcomes/1", version, object! { "results": results.collect::<Vec<_>>() })
}

/// All results as text; `details` asks for the valuations and not just their number.
pub fn outcomes_text(results: &[OutcomesReport], details: bool, style: Style) -> String {
    let mut out = String::new();
    let mut previous: Option<&OutcomesReport> = None;
    for report in results {
        if previous.is_none_or(|p| p.file != report.file || p.test != report.test) {
            previous = None;
            let test = report.test.as_ref().map(|test| format!(", test {test}")).unwrap_or_default();
            style.line(&mut out, Paint::Strong, &format!("{}{test}", report.file));
        }
        heading(&mut out, report, style);
        if details {
            valuations(&mut out, report, previous, style);
        }
        previous = Some(report);
    }
    out
}

fn heading(out: &mut String, report: &OutcomesReport, style: Style) {
    let number = report.outcomes.len();
    let noun = if number == 1 { "outcome" } else { "outcomes" };
    let states = report.stats.map_or(0, |stats| stats.states);
    let engine = report.engine.as_deref().unwrap_or("no engine");
    let complete = match report.verdict {
        Verdict::Verified | Verdict::Vacuous => "complete".to_owned(),
        other => format!("{}, there may be more", other.name()),
    };
    let text = format!("{number} {noun} ({complete}; {engine}, {} states)", count(states));
    hang(out, &format!("{}: ", report.model), &text, style);
    for note in [&report.reason, &report.engine_note].into_iter().flatten() {
        hang(out, "    ", note, style);
    }
}

fn valuations(out: &mut String, report: &OutcomesReport, previous: Option<&OutcomesReport>, style: Style) {
    if report.outcomes.is_empty() {
        return;
    }
    let column = |at: usize| {
        let values = report.outcomes.iter().map(|values| values.get(at).map_or(0, |v| width(&report.shown(*v))));
        values.max().unwrap_or(0).max(width(&report.columns[at]))
    };
    let widths: Vec<usize> = (0..report.columns.len()).map(column).collect();
    let row = |cells: &mut dyn Iterator<Item = String>| {
        let cells = cells.zip(&widths).map(|(cell, columns)| pad_left(&cell, *columns));
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
    };
    style.line(out, Paint::Faint, &row(&mut report.columns.iter().cloned()));
    for values in &report.outcomes {
        out.push_str(&row(&mut values.iter().map(|value| report.shown(*value))));
        let is_new = |p: &OutcomesReport| p.columns == report.columns && !p.outcomes.contains(values);
        if previous.is_some_and(|p| is_new(p) && matches!(p.verdict, Verdict::Verified | Verdict::Vacuous)) {
            out.push_str(&style.paint(Paint::Unsure, "  new"));
        }
        out.push('\n');
    }
}
