//! The experiments of Flanagan's paper on commit-atomicity, Fig. 1 and section 5.5.
//!
//! *Standard semantics* is the program without a shadow: all its states are visited in search of a failing assertion, of which it has
//! none. *Instrumented semantics* is the check of commit-atomicity, with whatever the engine needs for it.
//!
//! Reductions help the two differently. So there is a second table, *like for like*: the states of both with every reduction off
//! but `macro-steps`, without which the standard semantics would be the finer one: with a shadow, threads always run on to their next access.

use std::sync::atomic::{AtomicBool, Ordering};

use cyrano_engine::Verdict;
use cyrano_ir::Property;
use cyrano_report::{CheckReport, count};
use cyrano_session::{Failure, Options, REDUCTIONS, Runner, default_model};

use super::{Made, Recipe, Rows, Setup, decided, each, made};

/// All of them.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Fig. 1: standard and instrumented semantics", make: figure },
    Recipe { title: "Fig. 1, like for like: states without any reduction", make: unreduced },
    Recipe { title: "Section 5.5: what goes wrong", make: wrong },
];

/// What Spin needed: states, megabytes, seconds; none where it ran out of memory.
type Cost = Option<(u64, f64, f64)>;

/// A row of Fig. 1.
struct Printed {
    benchmark: &'static str,
    threads: i128,
    standard: Cost,
    instrumented: Cost,
}

const fn row(benchmark: &'static str, threads: i128, standard: (u64, f64, f64), instrumented: Cost) -> Printed {
    Printed { benchmark, threads, standard: Some(standard), instrumented }
}

const FIGURE: [Printed; 19] = [
    row("dekker", 2, (3104, 1.7, 0.02), Some((3601, 1.8, 0.05))),
    row("acquire1", 2, (135, 1.6, 0.02), Some((278, 1.6, 0.02))),
    row("acquire1", 3, (468, 1.6, 0.02), Some((1795, 1.7, 0.03))),
    row("acquire1", 4, (4361, 1.9, 0.05), Some((20935, 3.4, 0.16))),
    row("acquire1", 5, (16369, 6.0, 0.15), Some((118_242, 16.9, 0.99))),
    row("acquire1", 6, (62806, 11.5, 0.58), Some((658_038, 113.4, 7.21))),
    row("acquire1", 7, (299_952, 70.8, 4.42), None),
    row("acquire2", 2, (3335, 1.7, 0.03), Some((8278, 2.0, 0.04))),
    row("acquire2", 3, (12864, 2.4, 0.09), Some((58795, 5.4, 0.24))),
    row("acquire2", 4, (153_854, 45.6, 1.32), Some((714_359, 96.7, 4.91))),
    row("acquire2", 5, (541_601, 85.3, 5.97), None),
    row("transaction", 2, (836, 1.6, 0.02), Some((4730, 1.9, 0.05))),
    row("transaction", 3, (25557, 6.0, 0.11), Some((532_457, 78.1, 2.21))),
    row("transaction", 4, (826_627, 99.3, 4.68), None),
    row("bluetooth", 2, (91, 1.6, 0.02), Some((116, 1.6, 0.02))),
    row("bluetooth", 3, (568, 1.6, 0.02), Some((1187, 1.6, 0.03))),
    row("bluetooth", 4, (4762, 1.9, 0.05), Some((16383, 3.1, 0.09))),
    row("bluetooth", 5, (47163, 5.2, 0.13), Some((271_111, 33.1, 1.46))),
    row("bluetooth", 6, (527_668, 48.6, 1.79), None),
];

fn figure(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let header =
        ["benchmark", "threads", "standard, paper", "standard", "instrumented, paper", "instrumented", "verdict"];
    let mut notes = vec![
        "States, memory in MB, time in s; the paper's are Spin's in 2004 with 1 GB, of which `-` ran out. State counts depend on the grain of the model.",
        "The paper's verdict is the same in every row that it could finish: nothing goes wrong.",
    ];
    let alike = AtomicBool::new(false);
    let rows = each(1, &FIGURE, |printed| {
        let standard = ask(setup, printed.benchmark, Some(printed.threads), &Property::Assertions)?;
        let instrumented = ask(setup, printed.benchmark, Some(printed.threads), &Property::CommitAtomicity)?;
        let symmetric = |report: &CheckReport| report.reductions.iter().any(|name| name == "thread-symmetry");
        alike.fetch_or(symmetric(&instrumented) && !symmetric(&standard), Ordering::Relaxed);
        let cells = vec![
            printed.benchmark.to_owned(),
            printed.threads.to_string(),
            said(printed.standard),
            cost(&standard),
            said(printed.instrumented),
            cost(&instrumented),
            instrumented.verdict.name().to_owned(),
        ];
        let notes = difference(printed, &instrumented).into_iter().collect();
        Ok(Rows::one(cells, notes, decided(&instrumented)))
    })?;
    if alike.into_inner() {
        notes.push("The instrumented search does not tell threads apart that do the same, the standard one does; so it may have fewer states.");
    }
    Ok(made(title, &header, rows, &notes))
}

fn unreduced(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let header = [
        "benchmark",
        "threads",
        "standard, paper",
        "standard",
        "instrumented, paper",
        "instrumented",
        "paper",
        "ratio",
    ];
    let notes = [
        "As with `--no-reduction all`, but a step of either is an access, as it is with a shadow anyway.",
        "`>` where 16 MiB are not enough; the ratio is that of instrumented to standard states.",
    ];
    let rows = each(1, &FIGURE, |printed| {
        let (standard, instrumented) =
            (states(setup, printed, &Property::Assertions)?, states(setup, printed, &Property::CommitAtomicity)?);
        let said = |cost: Cost| cost.map(|(states, ..)| (states, true));
        let (standard_said, instrumented_said) = (said(printed.standard), said(printed.instrumented));
        let cells = vec![
            printed.benchmark.to_owned(),
            printed.threads.to_string(),
            counted(standard_said),
            counted(Some(standard)),
            counted(instrumented_said),
            counted(Some(instrumented)),
            ratio(standard_said, instrumented_said),
            ratio(Some(standard), Some(instrumented)),
        ];
        Ok(Rows::one(cells, Vec::new(), true))
    })?;
    Ok(made(title, &header, rows, &notes))
}

/// How many states there are, and whether these are all.
type States = (u64, bool);

/// The states without reductions, as many as have room.
fn states(setup: &Setup<'_>, printed: &Printed, property: &Property) -> Result<States, Failure> {
    let off = REDUCTIONS.iter().filter(|reduction| reduction.name != "macro-steps").collect();
    let options = Options { off, memory: Some(16 << 20), timeout: Some(setup.timeout), ..setup.options.clone() };
    let runner = Runner::new(&Options { workers: Some(1), ..options }, 1);
    let report = asked(setup, &runner, printed.benchmark, Some(printed.threads), property)?;
    Ok((report.stats.unwrap_or_default().states, report.verdict != Verdict::Unknown))
}

fn counted(states: Option<States>) -> String {
    states.map_or("-".to_owned(), |(states, all)| format!("{}{}", if all { "" } else { ">" }, count(states)))
}

fn ratio(standard: Option<States>, instrumented: Option<States>) -> String {
    match (standard, instrumented) {
        (Some((one, true)), Some((other, true))) => format!("{:.1}", other as f64 / one as f64),
        _ => "-".to_owned(),
    }
}

fn wrong(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let said = [("bluetooth_bug", "goes wrong"), ("dekker_printed", "does not go wrong")];
    let notes = ["Dekker's algorithm as printed differs from what the paper checked; see the comments in the file."];
    let rows = each(1, &said, |(name, paper)| {
        let report = ask(setup, name, None, &Property::CommitAtomicity)?;
        let known = decided(&report);
        let steps = report.trace.as_ref().map_or("-".to_owned(), |trace| trace.steps.len().to_string());
        let why = report.explanation.map_or("-".to_owned(), |explanation| explanation.sentence);
        let cells = vec![(*name).to_owned(), (*paper).to_owned(), report.verdict.name().to_owned(), steps, why];
        Ok(Rows::one(cells, Vec::new(), known))
    })?;
    Ok(made(title, &["program", "paper", "verdict", "steps", "why"], rows, &notes))
}

fn ask(setup: &Setup<'_>, name: &str, threads: Option<i128>, property: &Property) -> Result<CheckReport, Failure> {
    asked(setup, &setup.runner(), name, threads, property)
}

fn asked(
    setup: &Setup<'_>,
    runner: &Runner,
    name: &str,
    threads: Option<i128>,
    property: &Property,
) -> Result<CheckReport, Failure> {
    // Dekker's algorithm is for two threads and says so itself.
    let set = threads.filter(|_| name != "dekker").map(|threads| ("threads", threads));
    let case = setup.case(&format!("lib:atomicity/{name}.rml"), set.as_slice())?;
    runner.check(&case, property, &default_model(), &())
}

fn said(cost: Cost) -> String {
    cost.map_or("-".to_owned(), |(states, megabytes, seconds)| format!("{states}, {megabytes:.1}, {seconds:.2}"))
}

fn cost(report: &CheckReport) -> String {
    let Some(stats) = report.stats else { return "-".to_owned() };
    let megabytes = stats.peak_bytes as f64 / 1e6;
    format!("{}, {megabytes:.1}, {:.2}", stats.states, stats.seconds)
}

/// What the paper could not say, or says otherwise.
fn difference(printed: &Printed, report: &CheckReport) -> Option<String> {
    let (name, threads) = (printed.benchmark, printed.threads);
    match (printed.instrumented, report.verdict) {
        (_, Verdict::Violated) => Some(format!("{name} with {threads} threads goes wrong, against the paper.")),
        (None, Verdict::Verified) => Some(format!("{name} with {threads} threads ran out of memory in the paper.")),
        _ => None,
    }
}
