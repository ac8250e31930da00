//! Verdicts on a recorded history (`cyrano.history/1`).

use cyrano_trace::{Explanation, Tool};
use serde::Serialize;

use crate::json::{to_json, tool};
use crate::lanes::conflicts;
use crate::style::{Paint, Style, hang};

/// What one criterion says about a history.
#[derive(Clone, Debug)]
pub struct HistoryReport {
    /// The criterion's name.
    pub criterion: String,
    /// What is wrong; `None` if it is accepted.
    pub rejected: Option<Rejected>,
}

/// Why a history is rejected.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The number of the event at which it goes wrong, from 1: everything before it is accepted.
    pub at: usize,
    /// That event's line in the file.
    pub line: usize,
    /// That event as written.
    pub event: String,
    /// Why.
    pub explanation: Explanation,
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    tool: Tool,
    file: &'a str,
    events: usize,
    results: Vec<Result<'a>>,
}

#[derive(Serialize)]
struct Result<'a> {
    criterion: &'a str,
    verdict: &'static str,
    at: Option<usize>,
    line: Option<usize>,
    event: Option<&'a str>,
    explanation: Option<&'a Explanation>,
}

impl HistoryReport {
    fn verdict(&self) -> &'static str {
        if self.rejected.is_none() { "accepted" } else { "rejected" }
    }
}

/// All results as one JSON object.
pub fn history_json(file: &str, events: usize, results: &[HistoryReport], version: &str) -> String {
    let results = results.iter().map(|report| {
        let rejected = report.rejected.as_ref();
        Result {
            criterion: &report.criterion,
            verdict: report.verdict(),
            at: rejected.map(|rejected| rejected.at),
            line: rejected.map(|rejected| rejected.line),
            event: rejected.map(|rejected| rejected.event.as_str()),
            explanation: rejected.map(|rejected| &rejected.explanation),
        }
    });
    to_json(&Results { schema: "cyrano.history/1", tool: tool(version), file, events, results: results.collect() })
}

/// All results as text; `details` asks for the reasons too.
pub fn history_text(file: &str, events: usize, results: &[HistoryReport], details: bool, style: Style) -> String {
    let noun = if events == 1 { "event" } else { "events" };
    let mut out = style.paint(Paint::Strong, &format!("{file} ({events} {noun})")) + "\n";
    for report in results {
        let paint = if report.rejected.is_none() { Paint::Good } else { Paint::Bad };
        let verdict = style.paint(paint, report.verdict());
        out.push_str(&format!("  {}: {verdict}", report.criterion));
        let Some(rejected) = &report.rejected else {
            out.push('\n');
            continue;
        };
        out.push_str(&format!(" at event {}, line {}: {}\n", rejected.at, rejected.line, rejected.event));
        if details {
            hang(&mut out, "    Why: ", &rejected.explanation.sentence, style.columns());
            conflicts(&mut out, "         ", &rejected.explanation, "events", style);
        }
    }
    out
}
