//! A paper's experiments, our numbers beside the paper's (`cyrano.tables/1`).

use serde::Serialize;

use crate::results::json::{document, object};
use crate::style::{Paint, Style, hang, hang_painted};
use crate::table::{Cell, Row, table};

/// One table.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// What it shows.
    pub title: String,
    /// The columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<TableRow>,
    /// One sentence for each difference that concerns the whole table.
    pub notes: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TableRow {
    /// One text for each column.
    pub cells: Vec<String>,
    /// One sentence for each difference from the paper.
    pub notes: Vec<String>,
}

/// All tables as one JSON object.
pub fn tables_json(paper: &str, tables: &[TableReport], version: &str) -> String {
    document("cyrano.tables/1", version, object! { "paper": paper, "tables": tables })
}

/// One table as text; `details` asks for the sentences too.
pub fn table_text(report: &TableReport, details: bool, style: Style) -> String {
    let mut out = String::new();
    hang_painted(&mut out, Paint::Strong, "", &report.title, style);
    let header: Vec<&str> = report.header.iter().map(String::as_str).collect();
    let rows: Vec<Row> = report.rows.iter().map(|row| line(row, details)).collect();
    table(&mut out, &header, &rows, style);
    for note in report.notes.iter().filter(|_| details) {
        hang(&mut out, "  ", note, style);
    }
    out
}

fn line(row: &TableRow, details: bool) -> Row {
    let number = |text: &str| {
        let digits = text.trim_end_matches([' ', 's']);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '.')
    };
    let cell = |text: &String| if number(text) { Cell::right(text) } else { Cell::left(text) };
    let notes = if details { row.notes.clone() } else { Vec::new() };
    Row { cells: row.cells.iter().map(cell).collect(), notes }
}
