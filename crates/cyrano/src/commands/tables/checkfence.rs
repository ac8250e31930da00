//! The experiments of CheckFence (Burckhardt, Alur, Martin), sections 4.1 to 4.4.
//!
//! **Invariant:** every row has one deadline for all that it asks, and a limit shows as `unknown` in the row; every violation was confirmed by the
//! reference interpreter.

mod failures;
mod fences;
mod inclusion;
mod paper;
mod question;
mod ranges;

use cyrano_report::{TableReport, TableRow};

use super::{Made, Recipe};
use crate::args::TablesArgs;
use crate::failure::Failure;
use crate::pool;

/// All of them, in the paper's order.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 4.1: bugs that no fence repairs, under sc", make: failures::bugs },
    Recipe { title: "Section 4.2: without any fence, under relaxed", make: failures::unfenced },
    Recipe { title: "Section 4.3: typical failures, each without the fences against it", make: failures::typical },
    Recipe { title: "Fences of each implementation", make: fences::counted },
    Recipe { title: "Fences found by synthesis on small tests, under relaxed", make: fences::synthesised },
    Recipe {
        title: "Fig. 10, ms2: inclusion under relaxed",
        make: |args, title| inclusion::figure(args, title, "ms2"),
    },
    Recipe {
        title: "Fig. 10, msn: inclusion under relaxed",
        make: |args, title| inclusion::figure(args, title, "msn"),
    },
    Recipe {
        title: "Fig. 10, lazylist: inclusion under relaxed",
        make: |args, title| inclusion::figure(args, title, "lazylist"),
    },
    Recipe {
        title: "Fig. 10, harris: inclusion under relaxed",
        make: |args, title| inclusion::figure(args, title, "harris"),
    },
    Recipe {
        title: "Fig. 10, snark: inclusion under relaxed",
        make: |args, title| inclusion::figure(args, title, "snark"),
    },
    Recipe { title: "Section 4.4: mining the specifications", make: inclusion::mining },
    Recipe { title: "Section 4.4: range analysis on and off", make: ranges::compared },
];

/// The rows of one experiment, and whether everything in them is known.
struct Rows {
    rows: Vec<TableRow>,
    complete: bool,
}

/// Does one experiment after the other, as many at a time as there are processors; rows stay in order.
fn each<T: Sync>(
    args: &TablesArgs,
    experiments: &[T],
    work: impl Fn(&TablesArgs, &T) -> Result<Rows, Failure> + Sync,
) -> Result<Rows, Failure> {
    let done = pool::map(workers(), experiments, |_, experiment| work(args, experiment));
    let mut all = Rows { rows: Vec::new(), complete: true };
    for rows in done {
        let rows = rows?;
        all.complete &= rows.complete;
        all.rows.extend(rows.rows);
    }
    Ok(all)
}

/// How many rows are made at a time.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn made(title: &str, header: &[&str], rows: Rows, notes: Vec<String>) -> Made {
    let report = TableReport { title: title.to_owned(), header: strings(header), rows: rows.rows, notes };
    Made { report, complete: rows.complete }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Seconds, as a cell of a column of seconds.
fn seconds(number: f64) -> String {
    format!("{number:.2}")
}
