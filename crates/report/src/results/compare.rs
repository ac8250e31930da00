//! Memory models compared by what they allow (`cyrano.compare/1`).

use cyrano_trace::{Trace, shown};
use serde::Serialize;

use crate::draw::lanes::trace_text;
use crate::results::json::{document, object, pairs};
use crate::style::{Paint, Style, hang};

/// What several models make of one program.
#[derive(Clone, Debug)]
pub struct CompareReport {
    /// The file.
    pub file: String,
    /// What is observed.
    pub columns: Vec<String>,
    /// The models.
    pub models: Vec<ComparedModel>,
    /// The outcomes that not all of them allow.
    pub outcomes: Vec<ComparedOutcome>,
}

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedModel {
    /// Its name.
    pub model: String,
    /// Whether its outcomes are all known.
    pub complete: bool,
    /// Why they are not.
    pub reason: Option<String>,
    /// How many there are.
    pub count: usize,
}

/// An outcome that some models allow and others forbid.
#[derive(Clone, Debug)]
pub struct ComparedOutcome {
    /// The values of the columns.
    pub values: Vec<i128>,
    /// The models that allow it.
    pub allowed: Vec<String>,
    /// The models that forbid it.
    pub forbidden: Vec<String>,
    /// An execution of the first model that allows it.
    pub trace: Option<Trace>,
}

/// The result as one JSON object.
pub fn compare_json(report: &CompareReport, version: &str) -> String {
    let outcomes = report.outcomes.iter().map(|outcome| {
        object! {
            "outcome": pairs(report.columns.iter().zip(outcome.values.iter().copied())),
            "allowed": &outcome.allowed,
            "forbidden": &outcome.forbidden,
            "trace": &outcome.trace,
        }
    });
    let outcomes: Vec<_> = outcomes.collect();
    let members = object! { "file": &report.file, "models": &report.models, "outcomes": outcomes };
    document("cyrano.compare/1", version, members)
}

/// The result as text; `details` asks for the executions too.
pub fn compare_text(report: &CompareReport, details: bool, style: Style) -> String {
    let mut out = style.paint(Paint::Strong, &report.file) + "\n";
    for model in &report.models {
        let noun = if model.count == 1 { "outcome" } else { "outcomes" };
        let more = if model.complete { "" } else { ", there may be more" };
        let reason = model.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        hang(&mut out, &format!("{}: ", model.model), &format!("{} {noun}{more}{reason}", model.count), style);
    }
    if report.outcomes.is_empty() {
        out.push_str("No outcome tells these models apart.\n");
    }
    for outcome in &report.outcomes {
        out.push('\n');
        let cells = report.columns.iter().zip(&outcome.values);
        let cells: Vec<String> = cells.map(|(name, value)| format!("{name} = {}", shown(*value))).collect();
        let title = format!("{}: allowed by {}", cells.join(", "), outcome.allowed.join(", "));
        let forbidden = match outcome.forbidden.as_slice() {
            [] => String::new(),
            names => format!("; forbidden by {}", names.join(", ")),
        };
        hang(&mut out, "", &format!("{title}{forbidden}"), style);
        if let Some(trace) = outcome.trace.as_ref().filter(|_| details) {
            let model = outcome.allowed.first().map_or("", String::as_str);
            style.line(&mut out, Paint::Faint, &format!("On {model}:"));
            out.push_str(&trace_text(trace, style));
        }
    }
    out
}
