//! The fences of each implementation beside what the paper prints (section 4.2, Fig. 9): those in the library's files, and those that synthesis finds.

use cyrano_report::{FenceInfo, TableRow};

use super::paper::FENCES;
use super::question::library;
use super::{Made, Rows, Setup, each, made, seconds};
use crate::model;
use cyrano_session::pool::processors;
use cyrano_session::repair::{Aim, Goal, Task, repair};
use cyrano_session::{Failure, Specification};

/// The kinds in the order of the columns.
const KINDS: [&str; 4] = ["store-store", "load-load", "load-store", "store-load"];

/// How many fences of each kind every file has.
pub fn counted(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let mut rows = Vec::new();
    for (file, printed, difference) in FENCES {
        let text = library(setup, file)?.text;
        let mut cells = vec![(*file).to_owned()];
        cells.extend(KINDS.iter().map(|kind| count(&text, kind).to_string()));
        cells.push((*printed).to_owned());
        rows.push(TableRow { cells, notes: difference.iter().map(|words| (*words).to_owned()).collect() });
    }
    let header: Vec<&str> = ["type"].into_iter().chain(KINDS).chain(["paper"]).collect();
    let notes = [
        "Counted in the library's files; fences within lock and unlock are part of these and not counted.",
        "Where the paper prints no numbers it says which failures it saw: a store-store fence before a node is linked and a load-load fence behind a pointer are needed everywhere, and no type needs the other two kinds.",
    ];
    Ok(made(title, &header, Rows { rows, complete: true }, &notes))
}

/// What is repaired: the type, the small tests that have to hold, and why the result is not what the paper prints.
struct Broken {
    name: &'static str,
    tests: &'static [&'static str],
    why: Option<&'static str>,
}

const BROKEN: [Broken; 5] = [
    Broken { name: "ms2", tests: &["T0", "T1", "Tpc2"], why: None },
    Broken {
        name: "msn",
        tests: &["T0", "T1", "Tpc2"],
        why: Some(
            "The paper has a store-store fence between the two cas of enqueue. A cas loads as well as stores, so a load-load fence there orders the two as well.",
        ),
    },
    Broken { name: "lazylist", tests: &["Sac", "Sar", "Saa"], why: None },
    Broken {
        name: "harris",
        tests: &["Sac", "Sar", "Saa"],
        why: Some("The fence between the two cas of remove is not needed by these tests but by Saacr."),
    },
    Broken { name: "treiber", tests: &["S0", "S1", "Spc2"], why: Some("The paper does not study this type.") },
];

/// The fences that synthesis finds for every type as published.
pub fn synthesised(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(processors(), &BROKEN, |broken| synthesise(setup, broken))?;
    let notes = [
        "Lines are those of the unfenced file. Minimal for these tests; larger tests can need more (`cyrano fence FILE --model relaxed` takes all of them).",
    ];
    Ok(made(title, &["type", "tests", "verdict", "time [s]", "fences", "paper"], rows, &notes))
}

fn synthesise(setup: &Setup<'_>, broken: &Broken) -> Result<Rows, Failure> {
    let file = format!("lib:datatypes/{}_unfenced.c", broken.name);
    let cases = setup.cases(&file, &[], broken.tests)?;
    let specifications: Vec<Specification> = cases.iter().map(|_| Specification::default()).collect();
    let aim = |(case, specification)| Aim { case, goals: vec![Goal::Observations(specification)] };
    let aims: Vec<Aim<'_>> = cases.iter().zip(&specifications).map(aim).collect();
    let task = Task { aims: &aims, model: &model("relaxed"), all: false, weights: &[] };
    let report = repair(&task, &setup.runner(), &())?.report;
    let complete = report.verdict != "unknown";
    let set = report.sets.first().map_or(&[][..], Vec::as_slice);
    let printed =
        FENCES.iter().find(|(name, ..)| *name == broken.name).map_or("not studied", |(_, printed, _)| printed);
    let cells = vec![
        broken.name.to_owned(),
        broken.tests.join(", "),
        report.verdict.to_owned(),
        seconds(report.seconds),
        if complete { kinds(set) } else { "-".to_owned() },
        printed.to_owned(),
    ];
    let places = set.iter().map(|fence| format!("{} after line {}", fence.kind, fence.line)).collect::<Vec<_>>();
    let places = (!places.is_empty()).then(|| format!("{}.", places.join(", ")));
    let differs = complete && !printed.starts_with(&kinds(set));
    let why = broken.why.filter(|_| differs).map(str::to_owned);
    let notes = report.reason.into_iter().chain(places).chain(why).collect();
    Ok(Rows::one(cells, notes, complete))
}

/// How many fences of each kind there are, in words.
fn kinds(set: &[FenceInfo]) -> String {
    let number = |kind: &&str| set.iter().filter(|fence| fence.kind.contains(*kind)).count();
    let counted = KINDS.iter().map(|kind| (kind, number(kind))).filter(|(_, number)| *number > 0);
    let words: Vec<String> = counted.map(|(kind, number)| format!("{number} {kind}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// How many statements of a C text are fences of this kind.
fn count(text: &str, kind: &str) -> usize {
    let statement = format!("fence(\"{kind}\");");
    text.lines().filter(|line| line.trim_start().starts_with(&statement)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_count() {
        let text = "// fence(\"load-load\");\n  fence(\"load-load\"); // one\nfence(\"store-store\");\n";
        assert_eq!(KINDS.map(|kind| count(text, kind)), [1, 1, 0, 0]);
    }

    #[test]
    fn msn_has_the_fences_of_the_paper() {
        let text = library(&crate::tests::setup(60), "msn").expect("the library has it").text;
        assert_eq!(KINDS.map(|kind| count(&text, kind)), [2, 5, 0, 0]);
    }
}
