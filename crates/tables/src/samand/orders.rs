//! Which orders the algorithms need out of order so that the patterns stay away, and which of their own they could do without.

use cyrano_report::{FencesReport, OrdersReport};
use cyrano_session::repair::{Aim, Goal, Task, repair};
use cyrano_session::{Case, Failure, pool};

use super::paper::{CORE_DSTM, CORE_MCRT, FIXED_DSTM, FIXED_MCRT};
use crate::{Made, Rows, Setup, each, made, model};

const PATTERNS: &[&str] = &["P_WS", "P_WE", "P_WE2"];
const ALL_CLIENTS: &[&str] = &["clients-2x1x2"];
const MODES: &[&str] = &["declared", "literal"];
const TL2: (&str, &str) = ("TL2", "lib:tm-objects/tl2.rml");

/// Algorithms with what they do not show in order. All clients are asked about where that takes seconds.
const SUBJECTS: [Subject; 8] = [
    Subject { algorithm: CORE_DSTM, clients: &["P_WE", "P_WE2"], modes: MODES },
    Subject { algorithm: FIXED_DSTM, clients: PATTERNS, modes: MODES },
    Subject { algorithm: CORE_MCRT, clients: &["P_WS"], modes: MODES },
    Subject { algorithm: FIXED_MCRT, clients: PATTERNS, modes: MODES },
    Subject { algorithm: TL2, clients: PATTERNS, modes: MODES },
    Subject { algorithm: ("NOrec", "lib:tm-objects/norec.rml"), clients: PATTERNS, modes: MODES },
    Subject {
        algorithm: ("Repaired McRT", "lib:tm-objects/core_mcrt_repaired.rml"),
        clients: ALL_CLIENTS,
        modes: &["declared"],
    },
    Subject { algorithm: TL2, clients: ALL_CLIENTS, modes: &["declared"] },
];

struct Subject {
    algorithm: (&'static str, &'static str),
    clients: &'static [&'static str],
    modes: &'static [&'static str],
}

/// The table.
pub fn needed(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let header = ["algorithm", "clients", "mode", "verdict", "orders to add", "declared but not needed", "time"];
    let notes = [
        "P_WS, P_WE and P_WE2 must not show their pattern; all clients of a size (clients-2x1x2) must be opaque.",
        "What is not needed for these clients may be needed for others.",
        "Every order that is to be added was shown to be needed by a counterexample without it.",
    ];
    let jobs: Vec<(&Subject, &str)> =
        SUBJECTS.iter().flat_map(|subject| subject.modes.iter().map(move |mode| (subject, *mode))).collect();
    let rows = each(pool::processors(), &jobs, |(subject, mode)| row(setup, subject, mode))?;
    Ok(made(title, &header, rows, &notes))
}

fn row(setup: &Setup<'_>, subject: &Subject, mode: &str) -> Result<Rows, Failure> {
    let Subject { algorithm: (algorithm, file), clients, .. } = subject;
    let cases = setup.cases(file, &[], clients)?;
    let goals = |case: &Case| case.program.checks.iter().map(|check| Goal::Property(check.property.clone())).collect();
    let aims: Vec<Aim<'_>> = cases.iter().map(|case| Aim { case, goals: goals(case) }).collect();
    let task = Task { aims: &aims, model: &model(mode), all: false, weights: &[] };
    let report = repair(&task, &setup.runner(), &())?.report;
    let known = report.verdict != "unknown" && report.orders.as_ref().is_none_or(|orders| orders.droppable.is_some());
    let cells = vec![
        (*algorithm).to_owned(),
        clients.join(", "),
        mode.to_owned(),
        report.verdict.to_owned(),
        list(&added(&report)),
        report.orders.as_ref().map_or("-".to_owned(), dropped),
        format!("{:.2} s", report.seconds),
    ];
    Ok(Rows::one(cells, report.reason.into_iter().collect(), known))
}

fn added(report: &FencesReport) -> Vec<String> {
    let first = report.sets.first().into_iter().flatten();
    first.filter_map(|info| info.order.clone()).collect()
}

fn dropped(orders: &OrdersReport) -> String {
    orders.droppable.as_ref().map_or("unknown".to_owned(), |orders| list(orders))
}

fn list(orders: &[String]) -> String {
    if orders.is_empty() { "none".to_owned() } else { orders.join(", ") }
}
