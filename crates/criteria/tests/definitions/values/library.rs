//! The histories of the library: what their headers promise, by the definitions and by the fast decision, and what is said about them.

use cyrano_criteria::criterion::TxCriterion;
use expect_test::expect_file;

use cyrano_criteria::values::{Parsed, Recorder, judge, oracle, order_in_words, parse};

/// Every history of the library with its text, sorted by name.
fn files() -> Vec<(String, String, Parsed)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/histories");
    let entries =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "history"))
        .map(|path| {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let parsed = parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            (name, text, parsed)
        })
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// What the header says about a criterion: `accepted`, or `rejected at N`.
fn promised(text: &str, criterion: TxCriterion) -> Option<&str> {
    let start = format!("#@ {}: ", criterion.name());
    text.lines().find_map(|line| line.strip_prefix(start.as_str()))
}

#[test]
fn headers_hold() {
    let files = files();
    assert!(files.len() >= 15, "the library has shrunk to {} histories", files.len());
    for (name, text, parsed) in files {
        for criterion in TxCriterion::ALL {
            let promise = promised(&text, criterion).unwrap_or_else(|| panic!("{name}: nothing about {criterion:?}"));
            let events = parsed.history.events().len();
            let first = if criterion.judges_prefixes() { 0 } else { events };
            let wrong = (first..=events).find(|end| !oracle::satisfies(criterion, &parsed.history, *end));
            let verdict = |at: Option<usize>| at.map_or("accepted".to_owned(), |at| format!("rejected at {at}"));
            assert_eq!(verdict(wrong), promise, "{name}, {criterion:?}, by definition");
            let judged = judge(criterion, &parsed.history, &parsed.names).err().map(|explanation| explanation.at + 1);
            assert_eq!(verdict(judged), promise, "{name}, {criterion:?}");
        }
    }
}

#[test]
fn the_paper_is_right_about_its_patterns() {
    for (name, _, parsed) in files().iter().filter(|(name, ..)| name.starts_with("h_")) {
        let whole = parsed.history.events().len();
        assert!(!oracle::satisfies(TxCriterion::Opacity, &parsed.history, whole), "{name} is final-state opaque");
        assert!(!oracle::accepts(TxCriterion::FinalStateOpacity, &parsed.history), "{name} is final-state opaque");
    }
}

#[test]
fn a_history_may_be_fine_as_a_whole_only() {
    let files = files();
    let (_, _, late) = files.iter().find(|(name, ..)| name == "late_commit").expect("the library has it");
    for criterion in TxCriterion::ALL {
        assert!(oracle::satisfies(criterion, &late.history, late.history.events().len()));
        assert_eq!(oracle::accepts(criterion, &late.history), !criterion.judges_prefixes(), "{criterion:?}");
    }
}

#[test]
fn what_is_said() {
    let mut said = String::new();
    for (name, _, parsed) in files() {
        said.push_str(&format!("{name}\n"));
        let mut recorder = Recorder::new(&parsed.history);
        parsed.history.events().iter().for_each(|event| {
            recorder.observe(event);
        });
        let order = |order: &[_]| order_in_words(order, recorder.digest(), &parsed.names);
        for criterion in TxCriterion::ALL {
            match judge(criterion, &parsed.history, &parsed.names) {
                Ok(found) => said.push_str(&format!("  {}: {}\n", criterion.name(), order(&found))),
                Err(explanation) => {
                    let kind = explanation.kind.name();
                    said.push_str(&format!("  {}: {kind}: {}\n", criterion.name(), explanation.sentence));
                    for attempt in &explanation.attempts {
                        let others = attempt.others;
                        said.push_str(&format!("    {}: {} (+{others})\n", order(&attempt.order), attempt.breaks));
                    }
                }
            }
        }
    }
    expect_file!["what_is_said.txt"].assert_eq(&said);
}
