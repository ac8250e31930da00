//! Which orders the algorithms need out of order so that the patterns stay away, and which of their own they could do without.

use cyrano_report::{FencesReport, OrdersReport, TableRow};

use super::paper::{CORE_DSTM, CORE_MCRT, FIXED_DSTM, FIXED_MCRT};
use super::{Made, load, made, model};
use crate::args::TablesArgs;
use crate::failure::Failure;
use crate::program::Loaded;
use crate::repair::{Case, Goal, Task, repair_orders};
use crate::run::Runner;

/// Algorithms with the patterns that they do not show in order.
const SUBJECTS: [((&str, &str), &[&str]); 6] = [
    (CORE_DSTM, &["P_WE", "P_WE2"]),
    (FIXED_DSTM, &["P_WS", "P_WE", "P_WE2"]),
    (CORE_MCRT, &["P_WS"]),
    (FIXED_MCRT, &["P_WS", "P_WE", "P_WE2"]),
    (("TL2", "lib:tm-objects/tl2.rml"), &["P_WS", "P_WE", "P_WE2"]),
    (("NOrec", "lib:tm-objects/norec.rml"), &["P_WS", "P_WE", "P_WE2"]),
];

/// The table.
pub fn needed(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let header = ["algorithm", "clients", "mode", "verdict", "orders to add", "declared but not needed", "time"];
    let notes = [
        "What is not needed for these clients may be needed for others: the last column is about the patterns alone.",
        "Every order that is to be added was shown to be needed by a counterexample without it.",
    ];
    let jobs: Vec<_> =
        SUBJECTS.iter().flat_map(|subject| ["declared", "literal"].map(|mode| (subject, mode))).collect();
    made(title, &header, &notes, &jobs, |((algorithm, clients), mode)| row(args, *algorithm, clients, mode))
}

fn row(
    args: &TablesArgs,
    (algorithm, file): (&str, &str),
    clients: &[&str],
    mode: &str,
) -> Result<(TableRow, bool), Failure> {
    let loaded = load(file, &[], clients)?;
    let goals =
        |loaded: &Loaded| loaded.program.checks.iter().map(|check| Goal::Property(check.property.clone())).collect();
    let cases: Vec<Case<'_>> = loaded.iter().map(|loaded| Case { loaded, goals: goals(loaded) }).collect();
    let task = Task { cases: &cases, model: &model(mode)?, all: false };
    let report = repair_orders(&task, &Runner::sequential(Some(args.timeout))?, &())?.report;
    let known = report.verdict != "unknown" && report.orders.as_ref().is_none_or(|orders| orders.droppable.is_some());
    let cells = vec![
        algorithm.to_owned(),
        clients.join(", "),
        mode.to_owned(),
        report.verdict.to_owned(),
        list(&added(&report)),
        report.orders.as_ref().map_or("-".to_owned(), dropped),
        format!("{:.2} s", report.seconds),
    ];
    Ok((TableRow { cells, notes: report.reason.into_iter().collect() }, known))
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
