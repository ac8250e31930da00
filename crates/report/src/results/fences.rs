//! Fences that repair a program (`cyrano.fences/1`).

use cyrano_trace::Trace;
use serde::Serialize;

use crate::draw::lanes::trace_text;
use crate::results::json::{document, object};
use crate::results::orders::{OrdersReport, orders_text};
use crate::style::{Paint, Style, count, hang};

/// What a search for fences found.
#[derive(Clone, Debug, Default)]
pub struct FencesReport {
    /// The file.
    pub file: String,
    /// The model's name.
    pub model: String,
    /// What the program has to satisfy.
    pub criterion: String,
    /// `repaired`, `already-correct`, `irreparable` or `unknown`.
    pub verdict: &'static str,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    /// Whether each fence was shown to be needed.
    pub minimal: bool,
    /// Whether these are all minimal sets.
    pub complete: bool,
    /// The sets, cheapest first.
    pub sets: Vec<Vec<FenceInfo>>,
    /// What each of them costs, where somebody said how often commands run.
    pub costs: Vec<u64>,
    /// If nothing is known to repair it: the set that prevents every counterexample that was found, and why it is not known to be enough.
    pub candidate: Option<CandidateInfo>,
    /// What is known about the orders that an algorithm declares already.
    pub orders: Option<OrdersReport>,
    /// The change of the source that the first set asks for.
    pub diff: Option<String>,
    /// The execution that no fence prevents, if it is irreparable.
    pub trace: Option<Trace>,
    /// How many questions an engine was asked.
    pub questions: usize,
    /// Wall time.
    pub seconds: f64,
}

/// A set of fences that may be enough.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CandidateInfo {
    /// The fences.
    pub fences: Vec<FenceInfo>,
    /// Why it is not known whether they are enough.
    pub reason: String,
    /// The change of the source that they ask for.
    pub diff: String,
}

/// One fence, or one order.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FenceInfo {
    /// The line of the original that it stands behind; for an order, the line of the brace that it stands before.
    pub line: usize,
    /// `after`; for an order `before`; for an access that is written otherwise `at`.
    #[serde(rename = "where")]
    pub place: &'static str,
    /// `store-store`, `load-load`, …; several at one place are joined by commas; the name of a machine's fence; `order` for an order; what is written for an access.
    pub kind: String,
    /// The order as it is written, if it is one: `R03 < R09`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// What was written for an access that is to be stronger: `LDR`, where `kind` is `LDAR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The thread, procedure or command that it is in.
    pub program: Option<String>,
    /// What goes wrong without it alone, in words.
    pub prevents: Vec<String>,
    /// The executions behind these words, one for each; in pages only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counterexamples: Vec<Trace>,
}

/// All results as one JSON object.
pub fn fences_json(results: &[FencesReport], version: &str) -> String {
    fences_document(results, version, false)
}

/// The same, perhaps with the executions that the fences prevent.
pub(crate) fn fences_document(results: &[FencesReport], version: &str, executions: bool) -> String {
    let candidate =
        |candidate: &CandidateInfo| CandidateInfo { fences: told(&candidate.fences, executions), ..candidate.clone() };
    let results = results.iter().map(|report| {
        object! {
            "file": &report.file,
            "model": &report.model,
            "criterion": &report.criterion,
            "verdict": report.verdict,
            "reason": &report.reason,
            "minimal": report.minimal,
            "complete": report.complete,
            "sets": report.sets.iter().map(|set| told(set, executions)).collect::<Vec<_>>(),
            "costs" ?: (!report.costs.is_empty()).then_some(&report.costs),
            "candidate" ?: report.candidate.as_ref().map(candidate),
            "orders" ?: report.orders.as_ref(),
            "diff": &report.diff,
            "questions": report.questions,
            "seconds": report.seconds,
            "trace": &report.trace,
            "explanation": report.trace.as_ref().map(|trace| &trace.explanation),
        }
    });
    document("cyrano.fences/1", version, object! { "results": results.collect::<Vec<_>>() })
}

fn told(set: &[FenceInfo], executions: bool) -> Vec<FenceInfo> {
    let mut set = set.to_vec();
    if !executions {
        set.iter_mut().for_each(|fence| fence.counterexamples.clear());
    }
    set
}

/// All results as text; `details` asks for reasons and changes too.
pub fn fences_text(results: &[FencesReport], details: bool, style: Style) -> String {
    let mut out = String::new();
    for (at, report) in results.iter().enumerate() {
        if at > 0 && details {
            out.push('\n');
        }
        one(&mut out, report, details, style);
    }
    out
}

fn one(out: &mut String, report: &FencesReport, details: bool, style: Style) {
    let heading = format!("{}, {} on {}: ", report.file, report.criterion, report.model);
    let paint = match report.verdict {
        "repaired" | "already-correct" => Paint::Good,
        "irreparable" => Paint::Bad,
        _ => Paint::Unsure,
    };
    out.push_str(&style.paint(Paint::Strong, &heading));
    out.push_str(&style.paint(paint, report.verdict));
    let noun = if report.questions == 1 { "question" } else { "questions" };
    let cost = format!("{} {noun}, {:.2} s", count(report.questions as u64), report.seconds);
    out.push_str(&format!(" ({cost})\n"));
    if let Some(reason) = &report.reason {
        hang(out, "  ", reason, style);
    }
    let many = report.sets.len() > 1 || report.complete && !report.sets.is_empty();
    if many {
        let number = report.sets.len();
        let all = if report.complete { "all of them" } else { "there may be more" };
        let noun = if number == 1 { "minimal set" } else { "minimal sets" };
        hang(out, "  ", &format!("{number} {noun} ({all})"), style);
    }
    for (at, set) in report.sets.iter().enumerate() {
        let lead = if many { format!("  {}. ", at + 1) } else { "  ".to_owned() };
        let lead = match report.costs.get(at) {
            Some(cost) => {
                hang(out, &lead, &format!("cost {}", count(*cost)), style);
                " ".repeat(lead.len())
            }
            None => lead,
        };
        for (position, fence) in set.iter().enumerate() {
            let lead = if position == 0 { lead.clone() } else { " ".repeat(lead.len()) };
            describe(out, &lead, fence, details && at == 0, style);
        }
    }
    if !report.sets.is_empty() && !report.minimal {
        let noun = if report.orders.is_some() { "order" } else { "fence" };
        hang(out, "  ", &format!("It was not shown that every {noun} is needed."), style);
    }
    if let Some(candidate) = &report.candidate {
        hang(out, "  ", "NOT PROVEN, but every counterexample that was found is prevented by:", style);
        for fence in &candidate.fences {
            describe(out, "    ", fence, details, style);
        }
    }
    if let Some(orders) = &report.orders {
        orders_text(out, orders, details, style);
    }
    if details {
        let diff = report.diff.as_ref().or(report.candidate.as_ref().map(|candidate| &candidate.diff));
        if let Some(diff) = diff {
            out.push_str(&format!("\n{diff}"));
        }
        if let Some(trace) = &report.trace {
            out.push_str(&format!("\n{}", trace_text(trace, style)));
        }
    }
}

fn describe(out: &mut String, lead: &str, fence: &FenceInfo, details: bool, style: Style) {
    let inside = fence.program.as_ref().map(|program| format!(" ({program})")).unwrap_or_default();
    let words = match (&fence.order, &fence.instead_of) {
        (Some(order), _) => format!("order {order}"),
        (None, Some(was)) => format!("{} instead of {was} {} line {}{inside}", fence.kind, fence.place, fence.line),
        (None, None) => format!("fence({}) {} line {}{inside}", fence.kind, fence.place, fence.line),
    };
    hang(out, lead, &words, style);
    for words in fence.prevents.iter().filter(|_| details) {
        hang(out, &format!("{}  without it: ", " ".repeat(lead.len())), words, style);
    }
}
