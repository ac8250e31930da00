//! The experiments of the papers again, our numbers beside the papers'.
//!
//! **Invariant:** whatever a paper says is a constant in the paper's own file; everything else is computed when a table is made.

mod atomicity;
mod checkfence;
mod foil;
mod mcrt;
mod samand;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use checkfence::Kept;

use cyrano_engine::Verdict;
use cyrano_ir::{Property, TxCriterion};
use cyrano_memory::Model;
use cyrano_report::{Chart, CheckReport, TableReport, TableRow};
use cyrano_session::frontend::{self, Tests, Wanted};
use cyrano_session::{Case, Failure, Files, Options, Runner, pool};

/// A paper whose experiments can be run again.
#[derive(Debug)]
pub struct Paper {
    /// Its short name.
    pub name: &'static str,
    /// Authors and title.
    pub what: &'static str,
    /// Its tables, in the paper's order.
    pub recipes: &'static [Recipe],
}

/// All papers.
pub static PAPERS: [Paper; 5] = [
    paper("foil", "Guerraoui, Henzinger, Singh: Verification of STM on relaxed memory models (FOIL)", foil::RECIPES),
    paper(
        "checkfence",
        "Burckhardt, Alur, Martin: Checking consistency of concurrent data types on relaxed memory models",
        checkfence::RECIPES,
    ),
    paper("atomicity", "Flanagan: Verifying commit-atomicity using model-checking", atomicity::RECIPES),
    paper("mcrt", "O'Leary, Saha, Tuttle: Model checking transactional memory with Spin", mcrt::RECIPES),
    paper("samand", "Lesani, Palsberg: Proving non-opacity (Samand)", samand::RECIPES),
];

const fn paper(name: &'static str, what: &'static str, recipes: &'static [Recipe]) -> Paper {
    Paper { name, what, recipes }
}

/// How a table is made.
#[derive(Debug)]
pub struct Recipe {
    /// Its title.
    pub title: &'static str,
    make: fn(&Setup<'_>, &'static str) -> Result<Made, Failure>,
}

impl Recipe {
    /// Makes it.
    pub fn make(&self, setup: &Setup<'_>) -> Result<Made, Failure> {
        (self.make)(setup, self.title)
    }
}

/// A table, and whether every cell of it is known.
pub struct Made {
    /// The table.
    pub report: TableReport,
    /// Whether every cell is known.
    pub complete: bool,
    /// The same as a drawing, where the paper has one.
    pub chart: Option<Chart>,
}

/// What experiments are made with.
pub struct Setup<'a> {
    /// Where programs come from: the library.
    pub files: &'a (dyn Files + Sync),
    /// How questions are put.
    pub options: Options,
    /// How long each cell may take.
    pub timeout: Duration,
    /// What several tables show, once it is there.
    pub kept: Kept,
}

impl Setup<'_> {
    /// A runner for questions that are asked one after the other, with the time of one cell from now.
    fn runner(&self) -> Runner {
        self.runner_with(1.0)
    }

    /// The same with so many times the time of one cell.
    fn runner_with(&self, times: f64) -> Runner {
        let timeout = Some(self.timeout.mul_f64(times));
        Runner::new(&Options { workers: Some(1), timeout, ..self.options.clone() }, 1)
    }

    fn case(&self, name: &str, set: &[(&str, i128)]) -> Result<Case, Failure> {
        frontend::case(self.files, name, &owned(set))
    }

    /// The cases of a file that stand for these tests.
    fn cases(&self, name: &str, set: &[(&str, i128)], tests: &[&str]) -> Result<Vec<Case>, Failure> {
        let wanted = Wanted { tests: Tests::Named(strings(tests)), ..Wanted::default() };
        frontend::cases(self.files, name, &owned(set), &wanted)
    }
}

fn owned(set: &[(&str, i128)]) -> Vec<(String, i128)> {
    set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("it is a named model")
}

fn transactions(criterion: &str) -> Property {
    Property::Transactions(TxCriterion::from_name(criterion).expect("it is a criterion"))
}

/// Rows, and whether everything in them is known.
struct Rows {
    rows: Vec<TableRow>,
    complete: bool,
}

impl Rows {
    fn one(cells: Vec<String>, notes: Vec<String>, complete: bool) -> Self {
        Self { rows: vec![TableRow { cells, notes }], complete }
    }
}

/// Does one experiment after the other, so many at a time; rows stay in order.
fn each<T: Sync>(
    workers: usize,
    experiments: &[T],
    work: impl Fn(&T) -> Result<Rows, Failure> + Sync,
) -> Result<Rows, Failure> {
    let mut all = Rows { rows: Vec::new(), complete: true };
    for rows in pool::map(workers, experiments, |_, experiment| work(experiment)) {
        let rows = rows?;
        all.complete &= rows.complete;
        all.rows.extend(rows.rows);
    }
    Ok(all)
}

fn made(title: &str, header: &[&str], rows: Rows, notes: &[&str]) -> Made {
    let (header, notes) = (strings(header), strings(notes));
    let report = TableReport { title: title.to_owned(), header, rows: rows.rows, notes };
    Made { report, complete: rows.complete, chart: None }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Whether a check is settled.
fn decided(report: &CheckReport) -> bool {
    matches!(report.verdict, Verdict::Verified | Verdict::Violated)
}
