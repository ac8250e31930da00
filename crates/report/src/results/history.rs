//! Verdicts on a recorded history (`cyrano.history/1`).

use cyrano_trace::Explanation;
use serde::Serialize;

use crate::draw::lanes::conflicts;
use crate::results::json::{document, object};
use crate::style::{Paint, Style, hang};

/// What one criterion says about a history.
#[derive(Clone, Debug)]
pub struct HistoryReport {
    /// The criterion's name.
    pub criterion: String,
    /// What is wrong; `None` if it is accepted.
    pub rejected: Option<Rejected>,
    /// The order of transactions that accepts it, where one was looked for.
    pub order: Option<Vec<String>>,
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
    pub explanation: Reason,
}

/// Why a history is rejected, by its alphabet.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Reason {
    /// Memory events: conflicts that form a cycle, or a broken rule.
    Memory(Box<Explanation>),
    /// Values: reads that cannot be justified together.
    Values(Box<Unjustified>),
}

/// Constraints on the order of transactions that cannot be met together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unjustified {
    /// `own-access`, `no-writer` or `no-order`.
    pub kind: String,
    /// One full sentence.
    pub sentence: String,
    /// The transactions that matter.
    pub transactions: Vec<String>,
    /// The reads that cannot all be justified.
    pub reads: Vec<Read>,
    /// Pairs of which the first had ended before the second began.
    pub real_time: Vec<[String; 2]>,
    /// Pairs that write a location in common and must not overlap.
    pub clashes: Vec<[String; 2]>,
    /// What each order breaks; empty if there are many orders.
    pub attempts: Vec<Attempt>,
}

/// A read that returned a value.
#[derive(Clone, Debug, Serialize)]
pub struct Read {
    /// Who read.
    pub transaction: String,
    /// What.
    pub location: String,
    /// The value.
    pub value: i128,
}

/// An order that does not do.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// The order.
    pub order: Vec<String>,
    /// What it breaks.
    pub breaks: String,
    /// How many other orders break the same.
    pub others: usize,
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
        object! {
            "criterion": &report.criterion,
            "verdict": report.verdict(),
            "at": rejected.map(|rejected| rejected.at),
            "line": rejected.map(|rejected| rejected.line),
            "event": rejected.map(|rejected| &rejected.event),
            "explanation": rejected.map(|rejected| &rejected.explanation),
            "order": &report.order,
        }
    });
    let results: Vec<_> = results.collect();
    document("cyrano.history/1", version, object! { "file": file, "events": events, "results": results })
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
            if let Some(order) = report.order.as_ref().filter(|_| details) {
                hang(&mut out, "    Order: ", &row(order), style);
            }
            continue;
        };
        out.push_str(&format!(" at event {}, line {}: {}\n", rejected.at, rejected.line, rejected.event));
        if details {
            why(&mut out, &rejected.explanation, style);
        }
    }
    out
}

fn why(out: &mut String, reason: &Reason, style: Style) {
    match reason {
        Reason::Memory(explanation) => {
            hang(out, "    Why: ", &explanation.sentence, style);
            conflicts(out, "         ", explanation, "events", style);
        }
        Reason::Values(unjustified) => {
            hang(out, "    Why: ", &unjustified.sentence, style);
            for attempt in &unjustified.attempts {
                let others = match attempt.others {
                    0 => String::new(),
                    1 => " (one other order too)".to_owned(),
                    n => format!(" ({n} other orders too)"),
                };
                hang(out, "         ", &format!("{}: {}{others}", row(&attempt.order), attempt.breaks), style);
            }
        }
    }
}

fn row(order: &[String]) -> String {
    if order.is_empty() { "nothing to order".to_owned() } else { order.join(", ") }
}
