//! Sections 4.1 to 4.3: what goes wrong, each with the execution's own words.
//!
//! A typical failure is shown on the fenced file without the fences that are there against it, so that nothing else can be the cause. A fence is
//! recognised by the comment that stands beside it in the library.

use cyrano_trace::{Overtaken, Step, Trace};

use super::question::{Checked, Subject, library};
use super::{Made, Rows, Setup, each, made, seconds, strings};
use cyrano_session::pool::processors;
use cyrano_session::{Failure, Source};

/// How many reorderings are told of one execution.
const TOLD: usize = 2;

/// File, test, what the paper says about it.
const BUGS: [(&str, &str, &str); 6] = [
    ("snark_bug", "D0", "found quickly"),
    ("snark_bug", "Dq", "found in about an hour"),
    ("snark", "D0", "the correction is not in the paper"),
    ("snark", "Dq", "the correction is not in the paper"),
    ("lazylist_uninit", "Sac", "found"),
    ("lazylist", "Sac", "no failure"),
];

/// Smallest tests of Fig. 8 that show that fences are needed.
const UNFENCED: [(&str, &str); 5] = [
    ("ms2_unfenced", "T0"),
    ("msn_unfenced", "T0"),
    ("lazylist_unfenced", "Sac"),
    ("harris_unfenced", "Sac"),
    ("snark_unfenced", "D0"),
];

const INITIALISATION: &str = "incomplete initialisation";
const DEPENDENT: &str = "value-dependent loads";
const CAS: &str = "reordered cas";
const SEQUENCE: &str = "load sequence";

const FIELDS: &str = "sees its fields";
const POINTER: &str = "after the pointer to the node";

/// One failure of section 4.3.
struct Typical {
    failure: &'static str,
    file: &'static str,
    /// Part of the comment beside each fence that is taken out.
    against: &'static str,
    test: &'static str,
    paper: &'static str,
}

const fn shown(
    failure: &'static str,
    file: &'static str,
    against: &'static str,
    test: &'static str,
    paper: &'static str,
) -> Typical {
    Typical { failure, file, against, test, paper }
}

const TYPICAL: [Typical; 16] = [
    shown(INITIALISATION, "ms2", FIELDS, "T0", "seen"),
    shown(INITIALISATION, "msn", FIELDS, "T0", "seen (line 29)"),
    shown(INITIALISATION, "lazylist", FIELDS, "Sac", "seen"),
    shown(INITIALISATION, "harris", FIELDS, "Sac", "seen"),
    shown(INITIALISATION, "snark", FIELDS, "D0", "seen"),
    shown(DEPENDENT, "ms2", POINTER, "T0", "seen"),
    shown(DEPENDENT, "msn", POINTER, "T1", "seen (line 32)"),
    shown(DEPENDENT, "lazylist", POINTER, "Sac", "seen"),
    shown(DEPENDENT, "harris", POINTER, "Sac", "seen"),
    shown(DEPENDENT, "snark", POINTER, "D0", "seen"),
    shown(CAS, "msn", "a node that is not linked yet", "Tpc2", "seen (line 44)"),
    shown(CAS, "harris", "marked before it is unlinked", "Saacr", "not seen"),
    shown(SEQUENCE, "msn", "before and after next was loaded", "T1", "seen (line 34)"),
    shown(SEQUENCE, "msn", "tail is not behind head", "T1", "seen (line 53)"),
    shown(SEQUENCE, "msn", "the queue was empty when it was loaded", "T0", "seen (line 55)"),
    shown(SEQUENCE, "msn", "q->head had the same value before and after", "T1", "seen (line 57)"),
];

/// The bugs of section 4.1 and their corrections.
pub fn bugs(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(processors(), &BUGS, |(file, test, paper)| {
        let checked = check(library(setup, file)?, test, "sc", setup)?;
        Ok(row(vec![(*file).to_owned(), (*test).to_owned()], &checked, paper))
    })?;
    let notes = ["A test whose verdict is `verified` shows that the corrected file does not have the bug on it."];
    Ok(made(title, &["file", "test", "verdict", "time [s]", "paper"], rows, &notes))
}

/// Every type as published.
pub fn unfenced(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(processors(), &UNFENCED, |(file, test)| {
        let checked = check(library(setup, file)?, test, "relaxed", setup)?;
        Ok(row(vec![(*file).to_owned(), (*test).to_owned()], &checked, "needs fences"))
    })?;
    Ok(made(title, &["file", "test", "verdict", "time [s]", "paper"], rows, &[]))
}

/// The failures of section 4.3.
pub fn typical(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(processors(), &TYPICAL, |shown| {
        let (source, fences) = without(library(setup, shown.file)?, shown.against);
        let checked = check(source, shown.test, "relaxed", setup)?;
        let lines: Vec<String> = fences.iter().map(|fence| fence.line.to_string()).collect();
        let cells = strings(&[shown.failure, shown.file, &lines.join(", "), shown.test]);
        let mut rows = row(cells, &checked, shown.paper);
        let words = checked.trace.iter().flat_map(|trace| reorderings(trace, &fences));
        rows.rows.iter_mut().for_each(|row| row.notes.extend(words.clone()));
        Ok(rows)
    })?;
    let notes = [
        "Fences: the lines of the library's file whose fences were taken out; all others stand.",
        "The paper saw reordered cas operations and load sequences go wrong in msn only; its tests of harris do not show the need for the fence there, Saacr does.",
    ];
    Ok(made(title, &["failure", "type", "fences", "test", "verdict", "time [s]", "paper"], rows, &notes))
}

fn check(source: Source, test: &str, model: &str, setup: &Setup<'_>) -> Result<Checked, Failure> {
    let subject = Subject::new(source, test, setup)?;
    let mined = subject.mine()?;
    let mut checked = subject.check(&mined, model)?;
    checked.stats.seconds += mined.seconds;
    Ok(checked)
}

fn row(mut cells: Vec<String>, checked: &Checked, paper: &str) -> Rows {
    cells.extend([checked.verdict.name().to_owned(), seconds(checked.stats.seconds), paper.to_owned()]);
    Rows::one(cells, checked.words(), checked.decided())
}

/// A fence that was taken out.
struct Gone {
    line: usize,
    /// Whether it orders stores; else it orders loads.
    stores: bool,
}

/// The first words about accesses that overtook others across a fence that was taken out.
fn reorderings<'a>(trace: &'a Trace, gone: &'a [Gone]) -> impl Iterator<Item = String> + Clone + 'a {
    let across = |earlier: &Overtaken, later: &Step| {
        gone.iter().any(|fence| {
            let other = if fence.stores { "load" } else { "store" };
            (earlier.line..later.line).contains(&fence.line) && earlier.kind != other && later.kind != other
        })
    };
    let steps = trace.steps.iter().flat_map(|step| step.overtook.iter().zip(&step.words).map(move |told| (step, told)));
    let across = steps.filter(move |(step, (earlier, _))| across(earlier, step));
    across.map(|(_, (_, words))| format!("{words}.")).take(TOLD)
}

/// A source without the fences whose comments have this in them, and these. Lines keep their numbers.
fn without(mut source: Source, comment: &str) -> (Source, Vec<Gone>) {
    let is_out = |line: &str| line.trim_start().starts_with("fence(") && line.contains(comment);
    let lines = source.text.lines().zip(1..).filter(|(line, _)| is_out(line));
    let gone = lines.map(|(text, line)| Gone { line, stores: text.contains("\"store-store\"") }).collect();
    let kept: Vec<&str> = source.text.lines().map(|line| if is_out(line) { "" } else { line }).collect();
    source.text = kept.join("\n") + "\n";
    (source, gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_engine::Verdict;

    #[test]
    fn every_typical_failure_takes_fences_out() {
        let setup = crate::tests::setup(300);
        for shown in &TYPICAL {
            let source = library(&setup, shown.file).expect("the library has it");
            let before = source.text.lines().filter(|line| line.trim_start().starts_with("fence(")).count();
            let (source, gone) = without(source, shown.against);
            let after = source.text.lines().filter(|line| line.trim_start().starts_with("fence(")).count();
            assert!(!gone.is_empty(), "{} {}", shown.file, shown.against);
            assert_eq!(before - after, gone.len(), "{} {}", shown.file, shown.against);
        }
    }

    #[test]
    fn every_typical_failure_is_one_of_order() {
        let setup = crate::tests::setup(300);
        for shown in &TYPICAL {
            let (source, gone) = without(library(&setup, shown.file).expect("the library has it"), shown.against);
            let subject = Subject::new(source, shown.test, &setup).expect("a test");
            let checked = subject.check(&subject.mine().expect("an answer"), "relaxed").expect("an answer");
            let told = checked.trace.iter().flat_map(|trace| reorderings(trace, &gone)).count();
            assert_eq!(checked.verdict, Verdict::Violated, "{} {}", shown.file, shown.against);
            assert!(told > 0, "{} {}", shown.file, shown.against);
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "int a;\n  fence(\"load-load\"); // this one\nfence(\"load-load\"); // that one\n";
        let source = Source { name: "a.c".into(), text: text.into(), dir: None };
        let (source, gone) = without(source, "this");
        assert_eq!(gone.iter().map(|fence| (fence.line, fence.stores)).collect::<Vec<_>>(), [(2, false)]);
        assert_eq!(source.text, "int a;\n\nfence(\"load-load\"); // that one\n");
    }
}
