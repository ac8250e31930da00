//! The experiments of FOIL (Guerraoui, Henzinger, Singh), sections 3, 4.2 and 6.

mod paper;

use std::collections::BTreeSet;

use cyrano_criteria::history::Size;
use cyrano_engine::{Query, Question, Verdict};
use cyrano_ir::{Property, TxCriterion};
use cyrano_memory::Model;
use cyrano_report::{FenceInfo, TableReport, TableRow, count};

use super::{Made, Recipe};
use crate::args::{ColorChoice, TablesArgs};
use crate::commands::spec::comparison;
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::repair::{Case, Goal, Task, repair};
use crate::run::{Answered, Runner};
use crate::{models, pool};
use paper::{ALGORITHMS, Algorithm, FIG4, Printed};

/// All of them, in the paper's order.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 3: the specifications of opacity, 2 threads and 2 variables", make: specifications },
    Recipe { title: "Section 4.2: the outcomes of Fig. 4", make: outcomes },
    Recipe { title: "Table 2: opacity under sc, 2 threads and 2 variables", make: table2 },
    Recipe { title: "Table 3: minimal fences for opacity, 2 threads and 2 variables", make: table3 },
];

fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

fn load(name: &str) -> Result<Loaded, Failure> {
    program::load(name, &[], ColorChoice::Never)
}

fn model(name: &str) -> Result<Model, Failure> {
    models::resolve(name, ColorChoice::Never)
}

fn seconds(number: f64) -> String {
    format!("{number:.2} s")
}

/// The two automata, against each other and against the definition.
fn specifications(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let size = Size { threads: 2, vars: 2 };
    let cases = [
        ("foil-nondet", "foil-det", "155,000 and 46,000 states; equivalent; 2 h, 15 GB", SIZES),
        ("foil-det", "opacity", "the same, by Theorem 1", UNSOUND),
        ("foil-det-fixed", "opacity", "not in the paper", FIXED),
    ];
    let mut rows = Vec::new();
    let mut complete = true;
    for (left, right, paper, why) in cases {
        let report = comparison(left, right, size, &Runner::sequential(Some(args.timeout))?)?;
        let answer = match report.equivalent {
            Some(true) => "equivalent",
            Some(false) => "different",
            None => "unknown",
        };
        complete &= report.equivalent.is_some();
        let only = |name: &str, history: &Option<Vec<String>>| {
            history.as_ref().map(|events| format!("Only {name} has: {}.", events.join(", ")))
        };
        let mut notes: Vec<String> = report.reason.into_iter().collect();
        notes.extend(only(left, &report.left_only));
        notes.extend(only(right, &report.right_only));
        notes.push(why.to_owned());
        let states = |number: usize| count(number as u64);
        rows.push(TableRow {
            cells: vec![
                left.to_owned(),
                states(report.left_states),
                right.to_owned(),
                states(report.right_states),
                answer.to_owned(),
                seconds(report.seconds),
                paper.to_owned(),
            ],
            notes,
        });
    }
    let header = strings(["left", "reached", "right", "reached", "languages", "time", "paper"]);
    Ok(Made { report: TableReport { title: title.to_owned(), header, rows, notes: Vec::new() }, complete })
}

const SIZES: &str = "The paper does not say what it counted; our states keep every component of the printed tuples, also where it no longer matters.";
const UNSOUND: &str = "Theorem 1 does not hold: an abort forgets what the transaction read (and five smaller reasons, see docs/foil-specifications.md).";
const FIXED: &str = "A deterministic specification that is opacity, for two threads.";

fn outcomes(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let loaded = load("lib:litmus/fig4.rml")?;
    let mut expected: BTreeSet<Vec<i128>> = BTreeSet::new();
    let mut rows = Vec::new();
    let mut complete = true;
    for (name, states, added) in FIG4 {
        expected.extend(added.iter().map(|values| values.to_vec()));
        let model = model(name)?;
        let query = Query { program: &loaded.program, model: &model, question: Question::Outcomes };
        let Answered { answer, .. } = Runner::sequential(Some(args.timeout))?.ask(query, &());
        complete &= answer.verdict == Verdict::Verified;
        let same = if answer.outcomes == expected { "yes" } else { "no" };
        let cells = [
            name.to_owned(),
            answer.outcomes.len().to_string(),
            expected.len().to_string(),
            same.to_owned(),
            count(answer.stats.states),
            states.to_owned(),
        ];
        rows.push(TableRow { cells: cells.to_vec(), notes: answer.reason.into_iter().collect() });
    }
    let header = strings(["model", "outcomes", "paper", "same set", "states", "paper's states"]);
    let notes = strings([
        "The program is the printed one with the stores of 1 and the two tests that the print lost.",
        "States are counted otherwise: ours are those before a shared access, the paper's depend on details that it does not give.",
    ]);
    Ok(Made { report: TableReport { title: title.to_owned(), header, rows, notes }, complete })
}

fn table2(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let sc = model("sc")?;
    let mut rows = Vec::new();
    let mut complete = true;
    for algorithm in &ALGORITHMS {
        let loaded = load(algorithm.file)?;
        let property = Property::Transactions(TxCriterion::Opacity);
        let report = Runner::sequential(Some(args.timeout))?.check(&loaded, &property, &sc, &())?;
        let decided = matches!(report.verdict, Verdict::Verified | Verdict::Violated);
        complete &= decided;
        let stats = report.stats.unwrap_or_default();
        let cells = [
            algorithm.name.to_owned(),
            report.verdict.name().to_owned(),
            count(stats.states),
            seconds(stats.seconds),
            "yes".to_owned(),
            algorithm.states.to_owned(),
            algorithm.time.to_owned(),
        ];
        let why = decided.then(|| algorithm.why_states.to_owned());
        let notes = report.reason.into_iter().chain(report.explanation.map(|why| why.sentence)).chain(why);
        rows.push(TableRow { cells: cells.to_vec(), notes: notes.collect() });
    }
    let header = strings(["algorithm", "opacity", "states", "time", "opaque", "paper's states", "paper's time"]);
    let notes =
        strings(["The paper's time is for the states alone, on a 2.8 GHz PC; checking inclusion took 1 to 3 s more."]);
    Ok(Made { report: TableReport { title: title.to_owned(), header, rows, notes }, complete })
}

fn table3(args: &TablesArgs, title: &'static str) -> Result<Made, Failure> {
    let cells: Vec<(&Algorithm, usize)> =
        ALGORITHMS.iter().flat_map(|algorithm| (0..algorithm.fences.len()).map(move |at| (algorithm, at))).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = pool::map(workers, &cells, |_, (algorithm, at)| fences(args, algorithm, *at));
    let rows: Vec<(TableRow, bool)> = rows.into_iter().collect::<Result<_, Failure>>()?;
    let complete = rows.iter().all(|(_, decided)| *decided);
    let header = strings(["algorithm", "model", "verdict", "time", "fences", "paper"]);
    let rows = rows.into_iter().map(|(row, _)| row).collect();
    let notes = strings([
        "The paper names the statement after which a fence stands; lines are those of the library's files.",
        "An sfence orders stores with stores, a load fence loads with loads.",
    ]);
    Ok(Made { report: TableReport { title: title.to_owned(), header, rows, notes }, complete })
}

fn fences(args: &TablesArgs, algorithm: &Algorithm, at: usize) -> Result<(TableRow, bool), Failure> {
    let Printed { model: name, text: printed, fences: expected } = &algorithm.fences[at];
    let loaded = load(algorithm.file)?;
    let model = model(name)?;
    let goals = vec![Goal::Property(Property::Transactions(TxCriterion::Opacity))];
    let task = Task { cases: &[Case { loaded: &loaded, goals }], model: &model, all: false };
    let report = repair(&task, &Runner::sequential(Some(args.timeout))?, &())?.report;
    let decided = report.verdict != "unknown";
    let set = report.sets.first().map_or(&[][..], Vec::as_slice);
    let mut notes: Vec<String> = report.reason.iter().cloned().collect();
    for fence in set {
        notes.extend(fence.prevents.iter().map(|words| format!("Without {}: {words}", tell(fence))));
    }
    if decided {
        notes.extend(paper::differences(algorithm, set, expected));
    }
    let fences = if set.is_empty() { "none".to_owned() } else { set.len().to_string() };
    let cells = vec![
        algorithm.name.to_owned(),
        (*name).to_owned(),
        report.verdict.to_owned(),
        seconds(report.seconds),
        if decided { fences } else { "-".to_owned() },
        (*printed).to_owned(),
    ];
    Ok((TableRow { cells, notes }, decided))
}

fn tell(fence: &FenceInfo) -> String {
    let inside = fence.program.as_ref().map(|program| format!("{program} ")).unwrap_or_default();
    format!("{} {inside}{}", fence.kind, fence.line)
}
