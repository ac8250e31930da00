//! The experiments of FOIL (Guerraoui, Henzinger, Singh), sections 3, 4.2, 6 and 8.

mod paper;
mod structure;

use std::collections::BTreeSet;

use cyrano_criteria::history::Size;
use cyrano_engine::{Question, Verdict};
use cyrano_report::{FenceInfo, TableRow, count};
use cyrano_session::repair::{Aim, Goal, Task, repair};
use cyrano_session::{Answered, Failure, pool};

use super::{Made, Recipe, Rows, Setup, decided, each, made, model, transactions};
use paper::{ALGORITHMS, Algorithm, FIG4, Printed};

/// All of them, in the paper's order.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 3: the specifications of opacity, 2 threads and 2 variables", make: specifications },
    Recipe { title: "Section 4.2: the outcomes of Fig. 4", make: outcomes },
    Recipe { title: "Table 2: opacity under sc, 2 threads and 2 variables", make: table2 },
    Recipe { title: "Table 3: minimal fences for opacity, 2 threads and 2 variables", make: table3 },
    Recipe { title: "Section 8: from 2 threads and 2 variables to any number", make: structure::section8 },
];

fn seconds(number: f64) -> String {
    format!("{number:.2} s")
}

/// The two automata, against each other and against the definition.
fn specifications(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let size = Size { threads: 2, vars: 2 };
    let cases = [
        ("foil-nondet", "foil-det", "155,000 and 46,000 states; equivalent; 2 h, 15 GB", SIZES),
        ("foil-det", "opacity", "the same, by Theorem 1", UNSOUND),
        ("foil-det-fixed", "opacity", "not in the paper", FIXED),
    ];
    let rows = each(1, &cases, |(left, right, paper, why)| {
        let report = setup.runner().compare_specifications(left, right, size, true)?;
        let answer = match report.equivalent {
            Some(true) => "equivalent",
            Some(false) => "different",
            None => "unknown",
        };
        let only = |name: &str, history: &Option<Vec<String>>| {
            history.as_ref().map(|events| format!("Only {name} has: {}.", events.join(", ")))
        };
        let mut notes: Vec<String> = report.reason.into_iter().collect();
        notes.extend(only(left, &report.left_only));
        notes.extend(only(right, &report.right_only));
        notes.push((*why).to_owned());
        let states = |number: usize| count(number as u64);
        let cells = vec![
            (*left).to_owned(),
            states(report.left_states),
            (*right).to_owned(),
            states(report.right_states),
            answer.to_owned(),
            seconds(report.seconds),
            (*paper).to_owned(),
        ];
        Ok(Rows::one(cells, notes, report.equivalent.is_some()))
    })?;
    Ok(made(title, &["left", "reached", "right", "reached", "languages", "time", "paper"], rows, &[]))
}

const SIZES: &str = "The paper does not say what it counted; our states keep every component of the printed tuples, also where it no longer matters.";
const UNSOUND: &str = "Theorem 1 does not hold: an abort forgets what the transaction read (and five smaller reasons, see docs/foil-specifications.md).";
const FIXED: &str = "A deterministic specification that is opacity, for two threads.";

fn outcomes(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let case = setup.case("lib:litmus/fig4.rml", &[])?;
    let mut expected: BTreeSet<Vec<i128>> = BTreeSet::new();
    let mut rows = Rows { rows: Vec::new(), complete: true };
    for (name, states, added) in FIG4 {
        expected.extend(added.iter().map(|values| values.to_vec()));
        let model = model(name);
        let query = case.query(&model, Question::Outcomes)?;
        let Answered { answer, .. } = setup.runner().ask(query, &());
        rows.complete &= answer.verdict == Verdict::Verified;
        let same = if answer.outcomes == expected { "yes" } else { "no" };
        let cells = [
            name.to_owned(),
            answer.outcomes.len().to_string(),
            expected.len().to_string(),
            same.to_owned(),
            count(answer.stats.states),
            states.to_owned(),
        ];
        let notes = answer.reason.map(|cause| cause.to_string()).into_iter().collect();
        rows.rows.push(TableRow { cells: cells.to_vec(), notes });
    }
    let header = ["model", "outcomes", "paper", "same set", "states", "paper's states"];
    let notes = [
        "The program is the printed one with the stores of 1 and the two tests that the print lost.",
        "States are counted otherwise: ours are those before a shared access, the paper's depend on details that it does not give.",
    ];
    Ok(made(title, &header, rows, &notes))
}

fn table2(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(1, &ALGORITHMS, |algorithm| {
        let case = setup.case(algorithm.file, &[])?;
        let report = setup.runner().check(&case, &transactions("opacity"), &model("sc"), &())?;
        let decided = decided(&report);
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
        Ok(Rows::one(cells.to_vec(), notes.collect(), decided))
    })?;
    let header = ["algorithm", "opacity", "states", "time", "opaque", "paper's states", "paper's time"];
    let notes = ["The paper's time is for the states alone, on a 2.8 GHz PC; checking inclusion took 1 to 3 s more."];
    Ok(made(title, &header, rows, &notes))
}

fn table3(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let cells: Vec<(&Algorithm, usize)> =
        ALGORITHMS.iter().flat_map(|algorithm| (0..algorithm.fences.len()).map(move |at| (algorithm, at))).collect();
    let rows = each(pool::processors(), &cells, |(algorithm, at)| fences(setup, algorithm, *at))?;
    let notes = [
        "The paper names the statement after which a fence stands; lines are those of the library's files.",
        "An sfence orders stores with stores, a load fence loads with loads.",
        "DSTM opens a variable in a section that looks at owner and status together; \"DSTM, words\" takes a step for each word, and only the cas that commits stands for more. Both need two fences under rmo, but in other places: in words the abort of an owner and the taking of its variable can be swapped.",
    ];
    Ok(made(title, &["algorithm", "model", "verdict", "time", "fences", "paper"], rows, &notes))
}

fn fences(setup: &Setup<'_>, algorithm: &Algorithm, at: usize) -> Result<Rows, Failure> {
    let Printed { model: name, text: printed, fences: expected } = &algorithm.fences[at];
    let case = setup.case(algorithm.file, &[])?;
    let goals = vec![Goal::Property(transactions("opacity"))];
    let task = Task { aims: &[Aim { case: &case, goals }], model: &model(name), all: false, weights: &[] };
    let report = repair(&task, &setup.runner(), &())?.report;
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
    Ok(Rows::one(cells, notes, decided))
}

fn tell(fence: &FenceInfo) -> String {
    let inside = fence.program.as_ref().map(|program| format!("{program} ")).unwrap_or_default();
    format!("{} {inside}{}", fence.kind, fence.line)
}
