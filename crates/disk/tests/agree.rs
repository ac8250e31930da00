//! Searches in files find what the explorer finds in memory: verdicts, numbers of states and transitions, depths, lengths of executions.

mod common;

use common::{INSTANCES, Case, case, facts, length, limits, search};
use cyrano_engine::{Answer, Verdict};

/// Much less than any instance needs.
const TINY: u64 = 1 << 16;

fn compare(case: &Case, expected: &Answer, spill: bool, memory: u64, workers: usize) {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let found = search(dir.path(), spill, false, 60.0).run(case.query(), &limits(memory, workers), &());
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let what = format!("{} on {}, spill {spill}, {memory} bytes, {workers} workers", case.name, case.model.name);
    assert_eq!(facts(&found), facts(expected), "{what}");
    // Of several shortest paths another one may be shown, and a step can have more accesses than one: there is no length to compare but the depth.
    assert_eq!(length(&found).is_some(), length(expected).is_some(), "{what}");
    assert_eq!(found.violation.is_some(), expected.violation.is_some(), "{what}");
}

#[test]
fn memory_disk_and_two_workers_agree_with_the_explorer() {
    let mut violated = 0;
    for (file, model, set) in INSTANCES {
        let case = case(file, model, set);
        let expected = case.in_memory(1);
        println!("{file} {model}: {:?} {:?} {:?}", facts(&expected), length(&expected), expected.stats.states);
        violated += usize::from(expected.verdict == Verdict::Violated);
        compare(&case, &expected, false, 1 << 30, 1);
        compare(&case, &expected, false, 1 << 30, 2);
        compare(&case, &expected, true, TINY, 1);
        compare(&case, &expected, true, TINY, 2);
    }
    assert!(violated >= 3, "{violated} instances are wrong");
}
