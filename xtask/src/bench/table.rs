//! Tables in Markdown that can be read in a terminal too, and the numbers in them.

use std::fmt;

/// What stands where there is no number.
pub const NOTHING: &str = "–";

/// A table; every row has as many cells as there are columns.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: &[&str]) -> Self {
        Self { rows: vec![columns.iter().map(|column| (*column).to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |at: usize| self.rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(3);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        // Names to the left, numbers to the right.
        let number = |cell: &String| cell.parse::<f64>().is_ok() || cell == NOTHING;
        let left: Vec<bool> = (0..columns).map(|at| !self.rows.iter().skip(1).all(|row| number(&row[at]))).collect();
        for (line, row) in self.rows.iter().enumerate() {
            for ((cell, width), left) in row.iter().zip(&widths).zip(&left) {
                if *left { write!(f, "| {cell:<width$} ")? } else { write!(f, "| {cell:>width$} ")? }
            }
            writeln!(f, "|")?;
            if line == 0 {
                for (width, left) in widths.iter().zip(&left) {
                    let (dashes, end) = if *left { (width + 2, "") } else { (width + 1, ":") };
                    write!(f, "|{}{end}", "-".repeat(dashes))?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// A number with two digits behind the point, three where it is small.
pub fn seconds(number: f64) -> String {
    if number < 1.0 { format!("{number:.3}") } else { format!("{number:.2}") }
}

pub fn ratio(number: f64) -> String {
    format!("{number:.2}")
}

pub fn millions(number: f64) -> String {
    format!("{:.2}", number / 1e6)
}

pub fn mib(bytes: f64) -> String {
    format!("{:.0}", bytes / (1024.0 * 1024.0))
}

pub fn whole(number: f64) -> String {
    format!("{number:.0}")
}

/// What of the goals a row misses, for its last cell.
pub fn missed(goals: &[(&str, bool)]) -> String {
    let missed: Vec<&str> = goals.iter().filter(|(_, reached)| !reached).map(|(goal, _)| *goal).collect();
    if missed.is_empty() { "none".to_owned() } else { missed.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown() {
        let mut table = Table::new(&["model", "states", "missed"]);
        table.row(vec!["mcs".to_owned(), "1234567".to_owned(), missed(&[("speed", true), ("memory", false)])]);
        let expected = "| model |  states | missed |\n|-------|--------:|--------|\n| mcs   | 1234567 | memory |\n";
        assert_eq!(table.to_string(), expected);
        assert_eq!(missed(&[("speed", true)]), "none");
        assert_eq!(
            (seconds(0.0123), seconds(12.345), millions(1_234_567.0)),
            ("0.012".into(), "12.35".into(), "1.23".into())
        );
    }
}
