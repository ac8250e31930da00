//! Two memory models, and the smallest generated tests that tell them apart (`cyrano.models-compare/1`); the classical tests under all models
//! (`cyrano.models-table/1`).

use serde::Serialize;

use crate::results::json::{InOrder, document, document_of, object};
use crate::style::{Paint, Style, count, hang};
use crate::table::{Cell, Row, table};

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
        hang(
            out,
            "",
            &format!("No test of up to {length} relations{known} that {allows} allows and {forbids} forbids."),
            style,
        );
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

/// The classical tests under some models.
#[derive(Clone, Debug)]
pub struct ModelsTable {
    /// The models.
    pub models: Vec<String>,
    /// For each test whether each model allows its outcome; nothing where there is no such test for the model.
    pub rows: Vec<(String, Vec<Option<bool>>)>,
}

/// The tables as one JSON object.
pub fn models_table_json(tables: &[ModelsTable], version: &str) -> String {
    let tests = tables.iter().flat_map(|table| {
        table.rows.iter().map(|(name, cells)| {
            let allowed = InOrder(table.models.iter().cloned().zip(cells.iter().copied()).collect());
            object! { "test": name, "allowed": allowed }
        })
    });
    document("cyrano.models-table/1", version, object! { "tests": tests.collect::<Vec<_>>() })
}

/// The tables as text.
pub fn models_table_text(tables: &[ModelsTable], style: Style) -> String {
    let mut out = String::new();
    for shown in tables {
        if !out.is_empty() {
            out.push('\n');
        }
        let header: Vec<&str> = std::iter::once("test").chain(shown.models.iter().map(String::as_str)).collect();
        let word = |cell: &Option<bool>| Cell::left(cell.map_or("-", |allowed| if allowed { "yes" } else { "no" }));
        let row = |(name, cells): &(String, Vec<Option<bool>>)| Row {
            cells: std::iter::once(Cell::left(name.clone())).chain(cells.iter().map(word)).collect(),
            notes: Vec::new(),
        };
        let rows: Vec<Row> = shown.rows.iter().map(row).collect();
        table(&mut out, &header, &rows, style);
    }
    out.push_str("yes: the model allows the outcome; -: its language has no such test.\n");
    out
}
