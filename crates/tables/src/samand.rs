//! The experiments of Samand (Lesani, Palsberg), sections 5 and 7, and what the paper could not ask: all clients of a size.
//!
//! **Invariant:** a sentence about the paper stands in a table only if the numbers of its row contradict the paper or explain it; it is
//! chosen when the row is made.

mod clients;
mod orders;
mod paper;

use cyrano_engine::Verdict;
use cyrano_report::CheckReport;
use cyrano_session::{EngineName, Failure, pool};

use super::{Made, Recipe, Rows, Setup, each, made, model};
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

fn patterns(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let header = ["algorithm", "client", "paper", "paper's time", "inorder", "declared", "literal", "in all"];
    let notes = [
        "The paper's tool runs out of order: its mode is `literal`; `declared` also keeps early returns and accesses of one object in order.",
        "The symbolic engine answers; the last column is the time of all three modes with compiling, confirming and shortening what was seen.",
    ];
    let rows = each(pool::processors(), &EXPERIMENTS, |experiment| pattern(setup, experiment))?;
    Ok(made(title, &header, rows, &notes))
}

fn pattern(setup: &Setup<'_>, experiment: &Experiment) -> Result<Rows, Failure> {
    let start = std::time::Instant::now();
    let cases = setup.cases(experiment.file, &[], &[experiment.client])?;
    let (mut seen, mut answers) = (Vec::new(), Vec::new());
    for mode in MODES {
        let mut reports = Vec::new();
        for case in &cases {
            for check in &case.program.checks {
                let runner = setup.runner().part(setup.timeout, Some(EngineName::Symbolic));
                reports.push(runner.check(case, &check.property, &model(mode), &())?);
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
    Ok(Rows::one(cells, difference(experiment, &seen).into_iter().collect(), known))
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
