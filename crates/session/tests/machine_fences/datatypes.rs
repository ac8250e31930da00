//! Data types of the library under Arm and Power: the fences that are found are enough, and none can go.

use cyrano_engine::Verdict;
use cyrano_memory::named;
use cyrano_session::frontend::{Tests, Wanted};
use cyrano_session::repair::Repaired;
use cyrano_session::{Options, Runner, Subject, select};

use crate::{Memory, repaired};

fn read(name: &str) -> String {
    let path = format!("{}/../../library/datatypes/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the library has it")
}

fn tests(names: &[&str]) -> Tests {
    Tests::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

/// The verdicts of a data type's tests.
fn verdicts(name: &str, text: &str, model: &str, names: &[&str]) -> Vec<Verdict> {
    let files = files(name, text);
    let wanted = Wanted { tests: tests(names), ..Wanted::default() };
    let subjects = Subject::load(&files, "type.c", &[], &wanted, None).expect("it compiles");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let models = [named(model).expect("a model")];
    let check = |subject: &Subject| {
        let selected = select(&subject.case, &[], &models, &files).expect("there are checks");
        selected.iter().map(|check| subject.check(&runner, check, &()).expect("an answer").verdict).collect::<Vec<_>>()
    };
    subjects.iter().flat_map(check).collect()
}

fn files(name: &str, text: &str) -> Memory {
    let tests = format!("{name}.tests");
    Memory([("type.c".to_owned(), text.to_owned()), (tests.clone(), read(&tests))].into())
}

/// So many fences are found for these tests; with them the tests are verified, and without one of them some test is violated.
fn check(name: &str, names: &[&str], model: &str, expected: &[&str]) {
    let text = read(&format!("{name}_unfenced.c"));
    assert!(verdicts(name, &text, model, names).contains(&Verdict::Violated));
    let Repaired { report, text } = repaired(&files(name, &text), "type.c", model, tests(names), false);
    assert_eq!((report.verdict, report.minimal), ("repaired", true), "{name} {model} {:?}", report.reason);
    let kinds: Vec<&str> = report.sets[0].iter().map(|info| info.kind.as_str()).collect();
    assert_eq!(kinds, expected, "{name} {model}");
    let text = text.expect("fences to insert");
    let all = verdicts(name, &text, model, names);
    assert!(all.iter().all(|verdict| *verdict == Verdict::Verified), "{name} {model} {all:?}");
    let lines: Vec<&str> = text.lines().collect();
    let fences = (0..lines.len()).filter(|at| lines[*at].trim().starts_with("fence(\""));
    let fences: Vec<usize> = fences.collect();
    assert_eq!(fences.len(), expected.len());
    for fence in fences {
        let less = [&lines[..fence], &lines[fence + 1..]].concat().join("\n");
        assert!(verdicts(name, &less, model, names).contains(&Verdict::Violated), "{name} {model} line {fence}");
    }
}

#[test]
fn the_queue_of_michael_and_scott() {
    let names = ["T0", "Ti2", "T1", "Tpc2"];
    check("msn", &names, "armv8", &["dmb.ishst", "dmb.ishst", "dmb.ishst", "dmb.ishld", "dmb.ishld"]);
    check("msn", &["T0", "Ti2", "Tpc2"], "power", &["lwsync"; 3]);
}

#[test]
fn treibers_stack() {
    check("treiber", &["S0", "Si2", "Spc2"], "armv8", &["dmb.ishst"]);
    check("treiber", &["S0", "Si2", "Spc2"], "power", &["lwsync"]);
}

/// The owner and the thieves need full fences on both machines.
#[test]
fn the_deque_of_chase_and_lev() {
    let names: Vec<String> = read("chaselev.tests")
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.split(' ').next().map(str::to_owned))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    check("chaselev", &names, "armv8", &["dmb.ishst", "dmb.ish", "dmb.ish", "dmb.ishld"]);
    check("chaselev", &names, "power", &["lwsync", "sync", "sync", "lwsync"]);
}
