//! How two specifications compare (`cyrano.spec/1`).

use serde::Serialize;

use crate::results::json::document_of;
use crate::style::{Paint, Style, count, hang};

/// How two specifications compare.
#[derive(Clone, Debug, Serialize)]
pub struct SpecReport {
    /// The first specification.
    pub left: String,
    /// The second one.
    pub right: String,
    /// For how many threads.
    pub threads: u8,
    /// For how many variables.
    pub vars: u8,
    /// Whether they have the same histories; `None` if a limit was reached first.
    pub equivalent: Option<bool>,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// A shortest history that only the first has, one event a line of a history file.
    pub left_only: Option<Vec<String>>,
    /// A shortest history that only the second has.
    pub right_only: Option<Vec<String>>,
    /// How many states of the first were reached, with all that renamings make of them.
    pub left_states: usize,
    /// How many states of the second were reached.
    pub right_states: usize,
    /// How many pairs of a state and a set of states were visited.
    pub pairs: Option<usize>,
    /// Whether pairs that differ by a renaming of threads and variables are one.
    pub symmetry: bool,
    /// Wall time.
    pub seconds: f64,
}

/// The comparison as one JSON object.
pub fn spec_json(report: &SpecReport, version: &str) -> String {
    document_of("cyrano.spec/1", version, report)
}

/// The comparison as text.
pub fn spec_text(report: &SpecReport, style: Style) -> String {
    let SpecReport { left, right, .. } = report;
    let some = |number: u8, noun: &str| if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") };
    let size = format!("{}, {}", some(report.threads, "thread"), some(report.vars, "variable"));
    let mut out = style.paint(Paint::Strong, &format!("{left} and {right} ({size})"));
    out.push('\n');
    let (paint, word) = match report.equivalent {
        Some(true) => (Paint::Good, "equivalent: they have the same histories"),
        Some(false) => (Paint::Bad, "different"),
        None => (Paint::Unsure, "unknown"),
    };
    out.push_str(&format!("  {}\n", style.paint(paint, word)));
    if let Some(reason) = &report.reason {
        hang(&mut out, "  ", reason, style);
    }
    if report.equivalent == Some(false) {
        only(&mut out, left, right, report.left_only.as_deref(), style);
        only(&mut out, right, left, report.right_only.as_deref(), style);
    }
    let states =
        format!("{} and {} states reached", count(report.left_states as u64), count(report.right_states as u64));
    let renamed = if report.symmetry { " up to renaming" } else { "" };
    let pairs = report.pairs.map(|pairs| format!(", {} pairs{renamed}", count(pairs as u64))).unwrap_or_default();
    hang(&mut out, "  ", &format!("{states}{pairs}, {:.2} s", report.seconds), style);
    out
}

fn only(out: &mut String, one: &str, other: &str, history: Option<&[String]>, style: Style) {
    let Some(history) = history else {
        hang(out, "  ", &format!("every history of {one} is one of {other}"), style);
        return;
    };
    hang(out, "  ", &format!("a shortest history of {one} that {other} rejects at its last event:"), style);
    for event in history {
        out.push_str(&format!("    {event}\n"));
    }
}
