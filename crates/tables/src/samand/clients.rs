//! All clients of a size against the criteria: how many are wrong, and the smallest of them.

use std::time::Instant;

use cyrano_engine::Verdict;
use cyrano_report::{CheckReport, count};
use cyrano_session::{Failure, pool};

use super::paper::{self, CORE_DSTM, CORE_MCRT, FIXED_DSTM, FIXED_MCRT, PRINTED_MCRT};
use crate::{Made, Rows, Setup, each, made, model, transactions};

const ALGORITHMS: [(&str, &str); 8] = [
    CORE_DSTM,
    FIXED_DSTM,
    CORE_MCRT,
    PRINTED_MCRT,
    FIXED_MCRT,
    ("Repaired McRT", "lib:tm-objects/core_mcrt_repaired.rml"),
    ("TL2", "lib:tm-objects/tl2.rml"),
    ("NOrec", "lib:tm-objects/norec.rml"),
];

const CRITERIA: [&str; 4] = ["opacity", "strict-serializability", "serializability", "snapshot-isolation"];

const HEADER: [&str; 8] = ["algorithm", "criterion", "mode", "clients", "wrong", "paper", "states", "time"];

const NOTES: [&str; 2] = [
    "2 locations; every write writes a value of its own. Clients that differ in the names of threads or locations are counted apart.",
    "A client is wrong if some execution of it, or of its beginning, has a history that the criterion forbids.",
];

struct Job {
    algorithm: (&'static str, &'static str),
    criterion: &'static str,
    mode: &'static str,
    operations: i128,
}

/// The table for two operations.
pub fn two(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    in_order(setup, title, 2)
}

/// The table for three operations.
pub fn three(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    in_order(setup, title, 3)
}

fn in_order(setup: &Setup<'_>, title: &'static str, operations: i128) -> Result<Made, Failure> {
    let jobs: Vec<Job> = ALGORITHMS
        .into_iter()
        .flat_map(|algorithm| CRITERIA.map(|criterion| Job { algorithm, criterion, mode: "inorder", operations }))
        .collect();
    Ok(made(title, &HEADER, each(pool::processors(), &jobs, |job| row(setup, job))?, &NOTES))
}

/// The table for the modes that leave the order of the text: opacity, two operations.
pub fn out_of_order(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let jobs: Vec<Job> = ALGORITHMS
        .into_iter()
        .flat_map(|algorithm| {
            ["declared", "literal"].map(|mode| Job { algorithm, criterion: "opacity", mode, operations: 2 })
        })
        .collect();
    let notes = [
        NOTES[0],
        NOTES[1],
        "`literal` gets a fifth of the limit of a cell. Where it is not enough to count the wrong clients, *violated* says that there are some.",
    ];
    Ok(made(title, &HEADER, each(pool::processors(), &jobs, |job| row(setup, job))?, &notes))
}

fn row(setup: &Setup<'_>, job: &Job) -> Result<Rows, Failure> {
    let start = Instant::now();
    let (algorithm, file) = job.algorithm;
    let set = [("threads", 2), ("txns", 1), ("ops", job.operations), ("locs", 2)];
    let cases = setup.cases(file, &set, &["clients-*"])?;
    let case = cases.iter().find(|case| case.clients().is_some());
    let case = case.ok_or_else(|| Failure::input(format!("{file}: no check is about all clients of a size")))?;
    // Where hardly anything is kept in order, some sweeps have no end in sight.
    let times = if job.mode == "literal" { 0.2 } else { 1.0 };
    let report = setup.runner_with(times).check(case, &transactions(job.criterion), &model(job.mode), &())?;
    let claim = paper::claim(file, job.criterion);
    let stats = report.stats.unwrap_or_default();
    let cells = vec![
        algorithm.to_owned(),
        job.criterion.to_owned(),
        job.mode.to_owned(),
        report.clients.as_ref().map_or("-".to_owned(), |clients| clients.total.clone()),
        wrong(&report),
        claim.map_or("-", |claim| claim.said).to_owned(),
        count(stats.states),
        format!("{:.2} s", start.elapsed().as_secs_f64()),
    ];
    let counted = report.clients.as_ref().is_some_and(|clients| clients.complete);
    let known = counted || report.verdict == Verdict::Violated;
    Ok(Rows::one(cells, notes(&report, claim), known))
}

/// How many clients are wrong, as a cell.
fn wrong(report: &CheckReport) -> String {
    let Some(clients) = &report.clients else { return report.verdict.name().to_owned() };
    match &clients.wrong {
        Some(number) if clients.complete => number.clone(),
        // One was found, and the search that tells clients apart did not come that far.
        Some(number) if number == "0" => "at least 1".to_owned(),
        Some(number) => format!("at least {number}"),
        None => report.verdict.name().to_owned(),
    }
}

fn notes(report: &CheckReport, claim: Option<&paper::Claim>) -> Vec<String> {
    let mut notes: Vec<String> = report.reason.iter().cloned().collect();
    let smallest = report.clients.as_ref().and_then(|clients| clients.smallest.as_ref());
    notes.extend(smallest.map(|client| format!("Smallest: {client}.")));
    let holds = match report.verdict {
        Verdict::Verified => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown | Verdict::Bounded | Verdict::Vacuous => None,
    };
    let claim = claim.filter(|claim| holds.is_some_and(|holds| holds != claim.holds));
    notes.extend(claim.map(|claim| {
        let but = if claim.holds { "but these clients show otherwise" } else { "but no client of this size shows it" };
        format!("The paper: {}; {but}.", claim.words)
    }));
    notes
}
