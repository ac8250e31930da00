//! Searches in files find what the explorer finds in memory: verdicts, numbers of states and transitions, depths, lengths of executions.

mod common;

use std::collections::BTreeSet;

use common::{Case, INSTANCES, case, explorer, facts, files, growing, length, limits, of_text, philosophers, search};
use cyrano_engine::{Answer, Engine, Verdict};
use cyrano_explore::Space;

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

/// Packed states are the same states, also those that need more bits, or more words, than anybody thought at first.
#[test]
fn packed_states_are_the_same_states() {
    let mut wider = 0;
    for pad in 36..50 {
        let case = growing(pad);
        let expected = case.in_memory(1);
        assert!(expected.stats.states > 10_000, "{:?}", expected.stats);
        let (explore, limits) = (explorer(), limits(1 << 30, 1));
        let space = Space::new(case.query(), &explore, &limits).expect("it has levels");
        let packing = space.packing().expect("steps depend on little");
        let mut walker = packing.walker();
        let (mut seen, mut work) = (BTreeSet::new(), Vec::new());
        walker.initial(|state| work.push(state.to_vec()));
        let words = work[0].len().div_ceil(8);
        while let Some(state) = work.pop() {
            if seen.insert(state.clone()) {
                assert_eq!(walker.expand(&state, |next| work.push(next.to_vec())), None);
            }
        }
        wider += usize::from(seen.iter().any(|state| state.len() > 8 * words));
        assert_eq!(seen.len() as u64, expected.stats.states, "{pad}");
        assert_eq!(walker.summary().transitions, expected.stats.transitions, "{pad}");
        let plain: BTreeSet<Vec<u8>> = seen.iter().map(|state| packing.unpack(state).expect("it is one")).collect();
        assert_eq!(plain.len(), seen.len(), "{pad}");
    }
    assert!(wider > 0, "some get more words");
}

#[test]
fn packed_states_are_the_same_states_in_files() {
    for case in [philosophers(7), growing(44)] {
        let expected = case.in_memory(1);
        compare(&case, &expected, false, 1 << 30, 2);
        compare(&case, &expected, true, 3 << 19, 1);
        compare(&case, &expected, true, 3 << 19, 2);
    }
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let found = search(dir.path(), true, false, 60.0).run(philosophers(6).query(), &limits(1 << 20, 1), &());
    assert_eq!(found.map(|answer| answer.verdict).ok(), Some(Verdict::Verified));
    assert!(files(dir.path()).iter().any(|file| file.ends_with("parts")), "they are packed");
}

#[test]
fn every_check_of_the_litmus_tests_has_the_same_answer() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/litmus");
    let entries = std::fs::read_dir(folder).expect("the library is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".rml"));
    names.sort();
    let mut checks = 0;
    for (at, name) in names.iter().enumerate() {
        let first = case(&format!("litmus/{name}"), ["tso", "pso", "rmo"][at % 3], &[]);
        if !explorer().runs(&first.program, &first.model) {
            continue;
        }
        for check in &first.program.checks {
            let (name, program) = (name.clone(), first.program.clone());
            let case = Case { name, program, model: first.model.clone(), property: check.property.clone() };
            compare(&case, &case.in_memory(1), true, TINY, 1);
            checks += 1;
        }
    }
    assert!(checks > 150, "{checks} checks");
}

#[test]
fn what_goes_wrong_before_the_first_access_is_found() {
    let text = "threads { shared x; thread p { assert 1 = 2; x := 1 } } check assertions;";
    let case = of_text("at_once.rml", text, "sc", &[]);
    let expected = case.in_memory(1);
    assert_eq!(expected.verdict, Verdict::Violated);
    compare(&case, &expected, true, TINY, 1);
}

/// Timestamps that are too close together make the search start again; here in the middle of it, after checkpoints.
#[test]
fn wider_gaps_between_timestamps_start_the_search_again() {
    let case = case("litmus/timestamp_gap.rml", "sc", &[]);
    let expected = case.in_memory(1);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let found = search(dir.path(), true, false, 0.0).run(case.query(), &limits(TINY, 1), &()).expect("it can run");
    assert_eq!(facts(&found), facts(&expected));
    let manifest = std::fs::read_to_string(dir.path().join("manifest")).expect("there is a checkpoint");
    assert!(manifest.contains("\nwidened "), "{manifest}");
    let again = search(dir.path(), true, true, 0.0).run(case.query(), &limits(TINY, 1), &()).expect("it is complete");
    assert_eq!(facts(&again), facts(&expected));
}

/// Version numbers keep their parity in files as well: the reader never takes two words of different versions, unless it forgets to ask for it.
#[test]
fn versions_keep_their_parity() {
    let text = "threads { shared v: timestamp, x, y;
      thread w { loop { fetch_add(v, 1); x := 1; y := 1; x := 0; y := 0; fetch_add(v, 1); } }
      thread r { local s: timestamp, t: timestamp, a, b;
        loop { s := v; a := x; b := y; t := v; assert s % 2 == 1 || s != t || a == b; } } }
      check assertions;";
    for (text, verdict) in [(text.to_owned(), Verdict::Verified), (text.replace("% 2", "% 1"), Verdict::Violated)] {
        let case = of_text("parity.rml", &text, "sc", &[]);
        let expected = case.in_memory(1);
        assert_eq!(expected.verdict, verdict);
        compare(&case, &expected, true, TINY, 1);
    }
}
