//! Aligned tables whose last column is wrapped.

use crate::style::{Paint, Style, hang, pad, pad_left, width};

/// A cell: its text, how it is coloured, and whether it is a number, which goes to the right.
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) paint: Option<Paint>,
    pub(crate) right: bool,
}

impl Cell {
    pub(crate) fn left(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: None, right: false }
    }

    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: None, right: true }
    }

    pub(crate) fn paint(mut self, paint: Paint) -> Self {
        self.paint = Some(paint);
        self
    }
}

/// One row, and text below it that is not part of any column.
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    pub(crate) notes: Vec<String>,
}

/// Appends a table with a header; every line starts with two spaces.
pub(crate) fn table(out: &mut String, header: &[&str], rows: &[Row], style: Style) {
    let cell_width = |row: &Row, at: usize| row.cells.get(at).map_or(0, |cell| width(&cell.text));
    let columns = |at: usize| rows.iter().map(|row| cell_width(row, at)).max().unwrap_or(0).max(width(header[at]));
    let widths: Vec<usize> = (0..header.len()).map(columns).collect();
    let right = |at: usize| rows.iter().any(|row| row.cells.get(at).is_some_and(|cell| cell.right));
    let titles = header.iter().enumerate().map(|(at, title)| {
        let cell = if right(at) { Cell::right(*title) } else { Cell::left(*title) };
        cell.paint(Paint::Faint)
    });
    line(out, &titles.collect::<Vec<_>>(), &widths, style);
    for row in rows {
        line(out, &row.cells, &widths, style);
        for note in &row.notes {
            hang(out, "      ", note, style);
        }
    }
}

fn line(out: &mut String, cells: &[Cell], widths: &[usize], style: Style) {
    let Some((last, front)) = cells.split_last() else { return };
    let mut lead = String::from("  ");
    let mut plain = 2;
    for (cell, columns) in front.iter().zip(widths) {
        let text = if cell.right { pad_left(&cell.text, *columns) } else { pad(&cell.text, *columns) };
        lead.push_str(&cell.paint.map_or_else(|| text.clone(), |paint| style.paint(paint, &text)));
        lead.push_str("  ");
        plain += columns + 2;
    }
    // Wrapping counts columns, so the coloured lead takes the place of as many spaces only afterwards.
    let mut wrapped = String::new();
    let text = if last.right { pad_left(&last.text, widths[front.len()]) } else { last.text.clone() };
    if last.right {
        wrapped = format!("{}{text}\n", " ".repeat(plain));
    } else {
        hang(&mut wrapped, &" ".repeat(plain), &text, style);
    }
    let body = wrapped.get(plain..).unwrap_or("\n");
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let first = last.paint.map_or_else(|| first.to_owned(), |paint| style.paint(paint, first));
    let joined = format!("{lead}{first}");
    out.push_str(joined.trim_end());
    out.push('\n');
    out.push_str(rest);
}
