//! The experiments of O'Leary, Saha and Tuttle (Model checking transactional memory with Spin), section 5, and what the paper could not
//! ask: other orders, strict serializability and opacity, more threads, mutants.
//!
//! **Invariant:** what the paper says stands in [`SIZES`]; everything else is computed when the command runs.

use std::time::Instant;

use cyrano_report::count;
use cyrano_session::Failure;

use super::{Made, Recipe, Rows, Setup, decided, each, model, transactions};

/// All of them.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 5: all programs of k operations, in block-timestamp order", make: sizes },
    Recipe { title: "What holds, and in which order", make: orders },
    Recipe { title: "Mutants", make: mutants },
];

const FILE: &str = "mcrt_timestamps";
const BLOCKS: &str = "serializability-by-block_timestamp";

/// Threads, transactions of each, operations of each, what the paper says, and how many times the limit of a cell this one gets: three operations are the paper's
/// largest result and have to end on a busy machine, too; four do not end.
const SIZES: [(i128, i128, i128, &str, f64); 6] = [
    (2, 1, 1, "-", 1.0),
    (2, 1, 2, "22 s", 1.0),
    (2, 1, 3, "1 h 06 min, 3.8 GB", 5.0),
    (2, 1, 4, "did not finish in 4 h and 8 GB", 0.1),
    (2, 2, 1, "-", 1.0),
    (3, 1, 1, "-", 1.0),
];

const ORDERS: [(&str, &str); 7] = [
    (BLOCKS, "holds (k = 3)"),
    ("serializability", "holds (k = 3)"),
    ("serializability-by-untied", "-"),
    ("serializability-by-validation", "\"did not quite work\""),
    ("serializability-by-commit", "-"),
    ("strict-serializability", "fails"),
    ("opacity", "not checked"),
];

const MUTANTS: [&str; 8] =
    ["no_validation", "no_undo", "stale_abort", "token", "no_lock_check", "no_tie_rule", "no_quiesce", "early_quiesce"];

const HEADER: [&str; 8] = ["memory", "size", "criterion", "paper", "verdict", "states", "time", "memory used"];

const NOTES: [&str; 3] = [
    "2x1x3 gets five times the limit of a cell, 2x1x4, which would take hours, a tenth of it.",
    "A size is threads x transactions of each x operations of each; 2 variables and 2 values. Programs are generated on the fly.",
    "Serializability includes the memory at the end, when every transaction has committed.",
];

struct Job<'a> {
    memory: String,
    size: (i128, i128, i128),
    criterion: &'a str,
    paper: &'a str,
    /// How many times the limit of a cell it gets.
    times: f64,
}

fn sizes(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let jobs = SIZES.map(|(threads, txns, ops, paper, times)| Job {
        memory: FILE.to_owned(),
        size: (threads, txns, ops),
        criterion: BLOCKS,
        paper,
        times,
    });
    made(setup, title, &jobs, &NOTES)
}

fn orders(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let job = |ops: i128| {
        move |(criterion, paper)| Job { memory: FILE.to_owned(), size: (2, 1, ops), criterion, paper, times: 1.0 }
    };
    let jobs: Vec<Job<'_>> = ORDERS.map(job(1)).into_iter().chain(ORDERS.map(job(2))).collect();
    made(setup, title, &jobs, &NOTES[1..])
}

fn mutants(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let job = |mutant: &str, ops: i128, criterion| Job {
        memory: format!("{FILE}_{mutant}"),
        size: (2, 1, ops),
        criterion,
        paper: "-",
        times: 1.0,
    };
    let of = |mutant: &'static str| {
        [1, 2].into_iter().flat_map(move |ops| [BLOCKS, "opacity"].map(|criterion| job(mutant, ops, criterion)))
    };
    made(setup, title, &MUTANTS.into_iter().flat_map(of).collect::<Vec<_>>(), &NOTES[1..])
}

/// One row after the other: each may need most of the memory.
fn made(setup: &Setup<'_>, title: &str, jobs: &[Job<'_>], notes: &[&str]) -> Result<Made, Failure> {
    Ok(super::made(title, &HEADER, each(1, jobs, |job| row(setup, job))?, notes))
}

fn row(setup: &Setup<'_>, job: &Job<'_>) -> Result<Rows, Failure> {
    let (threads, txns, ops) = job.size;
    let set = [("threads", threads), ("txns", txns), ("ops", ops)];
    let case = setup.case(&format!("lib:stm/{}.rml", job.memory), &set)?;
    let start = Instant::now();
    let report = setup.runner_with(job.times).check(&case, &transactions(job.criterion), &model("sc"), &())?;
    let stats = report.stats.unwrap_or_default();
    let cells = vec![
        job.memory.clone(),
        format!("{threads}x{txns}x{ops}"),
        job.criterion.to_owned(),
        job.paper.to_owned(),
        report.verdict.name().to_owned(),
        count(stats.states),
        format!("{:.2} s", start.elapsed().as_secs_f64()),
        format!("{} MiB", stats.peak_bytes >> 20),
    ];
    let known = decided(&report);
    Ok(Rows::one(cells, report.reason.into_iter().collect(), known))
}
