//! Two memory models, and the smallest generated tests that tell them apart (`cyrano.models-compare/1`).

use serde::Serialize;

use crate::results::json::document_of;
use crate::style::{Paint, Style, count, hang};

/// How two models compare.
#[derive(Clone, Debug, Serialize)]
pub struct ModelsCompareReport {
    /// The first model.
    pub left: String,
    /// The second one.
    pub right: String,
    /// The language of the tests.
    pub arch: String,
    /// The most relations in a cycle.
    pub length: usize,
    /// The most threads.
    pub threads: usize,
    /// The most fences, dependencies and notes on a cycle.
    pub decorations: usize,
    /// Whether no test tells them apart; `None` if that is not known.
    pub equivalent: Option<bool>,
    /// Why it is not known, or why a direction is not settled.
    pub reason: Option<String>,
    /// A smallest test whose outcome only the first model allows.
    pub left_only: Option<ToldApart>,
    /// A smallest test whose outcome only the second model allows.
    pub right_only: Option<ToldApart>,
    /// How many tests both models were asked about.
    pub tests: usize,
    /// How many were left out, since a model has no word for what is in them.
    pub left_out: usize,
    /// Wall time.
    pub seconds: f64,
}

/// A test that tells two models apart.
#[derive(Clone, Debug, Serialize)]
pub struct ToldApart {
    /// Its name.
    pub name: String,
    /// Its cycle.
    pub cycle: String,
    /// How many relations that has.
    pub length: usize,
    /// Its source.
    pub source: String,
    /// The outcome that one model allows and the other does not.
    pub outcome: String,
    /// Why the other does not, if it is known.
    pub forbidden: Option<String>,
}

/// The comparison as one JSON object.
pub fn models_compare_json(report: &ModelsCompareReport, version: &str) -> String {
    document_of("cyrano.models-compare/1", version, report)
}

/// The comparison as text.
pub fn models_compare_text(report: &ModelsCompareReport, style: Style) -> String {
    let ModelsCompareReport { left, right, .. } = report;
    let mut out = style.paint(Paint::Strong, &format!("{left} and {right} ({} tests)", report.arch)) + "\n";
    let (paint, word) = match report.equivalent {
        Some(true) => (Paint::Good, "no test tells them apart"),
        Some(false) => (Paint::Bad, "different"),
        None => (Paint::Unsure, "unknown"),
    };
    out.push_str(&format!("  {}\n", style.paint(paint, word)));
    let bounds = format!(
        "{} tests of up to {} relations, {} threads and {} fences, dependencies or notes in {:.1} s",
        count(report.tests as u64),
        report.length,
        report.threads,
        report.decorations,
        report.seconds
    );
    let left_out = match report.left_out {
        0 => String::new(),
        some => format!("; {} were left out, since a model has no word for what is in them", count(some as u64)),
    };
    hang(&mut out, "  ", &format!("{bounds}{left_out}."), style);
    if let Some(reason) = &report.reason {
        hang(&mut out, "  ", reason, style);
    }
    direction(&mut out, (left, right), report.left_only.as_ref(), report, style);
    direction(&mut out, (right, left), report.right_only.as_ref(), report, style);
    out
}

fn direction(
    out: &mut String,
    (allows, forbids): (&str, &str),
    told: Option<&ToldApart>,
    report: &ModelsCompareReport,
    style: Style,
) {
    out.push('\n');
    let Some(told) = told else {
        let known = if report.reason.is_some() { " was found" } else { "" };
        let length = report.length;
        hang(out, "", &format!("No test of up to {length} relations{known} that {allows} allows and {forbids} forbids."), style);
        return;
    };
    let title = format!("{allows} allows and {forbids} forbids {}, {} relations:", told.name, told.length);
    style.line(out, Paint::Strong, &title);
    hang(out, "  ", &format!("cycle {}", told.cycle), style);
    hang(out, "  ", &format!("outcome {}", told.outcome), style);
    if let Some(why) = &told.forbidden {
        hang(out, "  ", why, style);
    }
    out.push('\n');
    out.push_str(&told.source);
}
