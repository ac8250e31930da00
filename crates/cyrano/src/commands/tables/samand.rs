//! The experiments of Samand (Lesani, Palsberg), sections 5 and 7, and what the paper could not ask: all clients of a size.
//!
//! **Invariant:** a sentence about the paper stands in a table only if the numbers of its row contradict the paper or explain it; it is
//! chosen when the row is made.

mod clients;
mod orders;
mod paper;

use cyrano_engine::Verdict;
use cyrano_memory::Model;
use cyrano_report::{CheckReport, TableReport, TableRow};

use super::{Made, Recipe};
use crate::args::{ColorChoice, EngineChoice, TablesArgs, TestArgs};
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::run::Runner;
use crate::{models, pool};
use paper::{EXPERIMENTS, Experiment};

/// All of them.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 5: the bug patterns", make: patterns },
    Recipe { title: "Orders that are needed out of order", make: orders::needed },
    Recipe { title: "All clients of 2 threads, 1 transaction, 2 operations, in order", make: clients::two },
    Recipe { title: "All clients of 2 threads, 1 transaction, 3 operations, in order", make: clients::three },
    Recipe {
        title: "All clients of 2 threads, 1 transaction, 2 operations, out of order",
        make: clients::out_of_order,
    },
];

/// The modes of execution.
const MODES: [&str; 3] = ["inorder", "declared", "literal"];

fn model(name: &str) -> Result<Model, Failure> {
    models::resolve(name, ColorChoice::Never)
}

fn load(file: &str, set: &[(String, i128)], tests: &[&str]) -> Result<Vec<Loaded>, Failure> {
    let tests = TestArgs { test: tests.iter().map(|test| (*test).to_owned()).collect(), all_tests: None };
    program::load_all(file, set, &tests, ColorChoice::Never)
}

/// Makes one row after the other, as many at a time as there are processors.
fn made<T: Sync>(
    title: &str,
    header: &[&str],
    notes: &[&str],
    jobs: &[T],
    work: impl Fn(&T) -> Result<(TableRow, bool), Failure> + Sync,
) -> Result<Made, Failure> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = pool::map(workers, jobs, |_, job| work(job));
    let rows: Vec<(TableRow, bool)> = rows.into_iter().collect::<Result<_, Failure>>()?;
    let complete = rows.iter().all(|(_, known)| *known);
    let strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let report = TableReport {
        title: title.to_owned(),
        header: strings(header),
        rows: rows.into_iter().map(|(row, _)| row).collect(),
        notes: strings(notes),
    };
    Ok(Made { report, complete })
}

fn patterns(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let header = ["algorithm", "client", "paper", "paper's time", "inorder", "declared", "literal", "in all"];
    let notes = [
        "The paper's tool runs out of order: its mode is `literal`; `declared` also keeps early returns and accesses of one object in order.",
        "The symbolic engine answers; the last column is the time of all three modes with compiling, confirming and shortening what was seen.",
    ];
    made(title, &header, &notes, &EXPERIMENTS, |experiment| pattern(args, experiment))
}

fn pattern(args: &TablesArgs, experiment: &Experiment) -> Result<(TableRow, bool), Failure> {
    let start = std::time::Instant::now();
    let loaded = load(experiment.file, &[], &[experiment.client])?;
    let (mut seen, mut answers) = (Vec::new(), Vec::new());
    for mode in MODES {
        let mut reports = Vec::new();
        for loaded in &loaded {
            for check in &loaded.program.checks {
                let runner = Runner::sequential(Some(args.timeout))?.part(args.timeout, Some(EngineChoice::Symbolic));
                reports.push(runner.check(loaded, &check.property, &model(mode)?, &())?);
            }
        }
        let asked = reports.iter().filter_map(|report| report.stats).map(|stats| stats.seconds).sum::<f64>();
        let word = match worst(&reports) {
            Some(true) => "seen",
            Some(false) => "not seen",
            None => "unknown",
        };
        answers.push(format!("{word}, {asked:.2} s"));
        seen.push(worst(&reports));
    }
    let seconds = start.elapsed().as_secs_f64();
    let (said, time) = (experiment.paper.to_owned(), experiment.time.to_owned());
    let mut cells = vec![experiment.algorithm.to_owned(), experiment.client.to_owned(), said, time];
    cells.extend(answers);
    cells.push(format!("{seconds:.2} s"));
    let known = seen.iter().all(Option::is_some);
    Ok((TableRow { cells, notes: difference(experiment, &seen).into_iter().collect() }, known))
}

/// Whether some check is violated; none if that is not known.
fn worst(reports: &[CheckReport]) -> Option<bool> {
    if reports.iter().any(|report| report.verdict == Verdict::Violated) {
        return Some(true);
    }
    let verified = !reports.is_empty() && reports.iter().all(|report| report.verdict == Verdict::Verified);
    verified.then_some(false)
}

/// What the paper did not find.
fn difference(experiment: &Experiment, seen: &[Option<bool>]) -> Option<String> {
    let said = experiment.seen?;
    let other = MODES.iter().zip(seen).filter(|(_, seen)| seen.is_some_and(|seen| seen != said));
    let other: Vec<&str> = other.map(|(mode, _)| *mode).collect();
    if other.is_empty() {
        return None;
    }
    let (algorithm, client) = (experiment.algorithm, experiment.client);
    let (modes, here) = (other.join(" and "), if said { "cannot be seen" } else { "can be seen" });
    let why = if !said && !other.contains(&"inorder") {
        ": it takes orders that the paper does not declare (see the next table)"
    } else {
        ""
    };
    Some(format!("The paper's claim does not hold for {algorithm}: the pattern of {client} {here} under {modes}{why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_contradicts_the_paper_is_a_difference() {
        let check = |experiment: usize, seen: [Option<bool>; 3], part: Option<&str>| {
            let sentence = difference(&EXPERIMENTS[experiment], &seen);
            assert_eq!(sentence.is_some(), part.is_some(), "{sentence:?}");
            assert!(sentence.iter().zip(part).all(|(sentence, part)| sentence.contains(part)), "{sentence:?}");
        };
        check(2, [Some(true); 3], None);
        check(2, [Some(false), Some(true), None], Some("cannot be seen under inorder."));
        check(
            6,
            [Some(false), Some(true), Some(true)],
            Some("can be seen under declared and literal: it takes orders"),
        );
        check(6, [Some(true), None, None], Some("can be seen under inorder."));
        check(7, [Some(true); 3], None);
    }
}
