//! Searches with the kernels compiled for this machine find what the explorer finds: verdicts, numbers of states and transitions, depths.

mod common;

use common::{Instance, case, cases, compare, files, of_text, tiny};
use cyrano_engine::Engine;
use cyrano_gpu::Settings;

/// Every model of `benches/spin`, small.
const MODELS: [Instance; 12] = [
    ("benches/spin/acquire1.rml", "sc", &[("N", 3), ("ROUNDS", 2)]),
    ("benches/spin/acquire1_instrumented.rml", "sc", &[("N", 3), ("ROUNDS", 2)]),
    ("benches/spin/acquire2.rml", "sc", &[("N", 2), ("ROUNDS", 2), ("LINES", 5)]),
    ("benches/spin/acquire2_instrumented.rml", "sc", &[("N", 2), ("ROUNDS", 2), ("LINES", 5)]),
    ("benches/spin/bluetooth.rml", "sc", &[("N", 2), ("ROUNDS", 2)]),
    ("benches/spin/bluetooth_instrumented.rml", "sc", &[("N", 2), ("ROUNDS", 2)]),
    ("benches/spin/mcrt.rml", "sc", &[("N", 2), ("VARS", 2), ("OPS", 1)]),
    ("benches/spin/mcs.rml", "sc", &[("N", 3)]),
    ("benches/spin/peterson.rml", "sc", &[("N", 3)]),
    ("benches/spin/philosophers.rml", "sc", &[("N", 6)]),
    ("benches/spin/transaction.rml", "sc", &[("N", 2), ("ROUNDS", 2)]),
    ("benches/spin/transaction_instrumented.rml", "sc", &[("N", 2), ("ROUNDS", 2)]),
];

#[test]
fn every_model_of_the_benchmarks_agrees() {
    let (mut again, mut grown, mut relaid) = (0, 0, 0);
    for instance in MODELS {
        let case = case(instance);
        for (settings, threads) in [(tiny(), 3), (Settings::default(), 1)] {
            let Some(told) = compare(&case, settings, threads) else { return };
            let told = told.unwrap_or_else(|why| panic!("{}: {why}", case.name));
            (again, grown, relaid) = (again + told.again, grown + told.grown, relaid + told.relaid);
        }
    }
    assert!(again > 1000 && grown > 20 && relaid > 10, "{again} again, {grown} grown, {relaid} relaid");
}

/// Every check of the litmus tests: assertions, conditions at the end, observations, invariants, right and wrong.
#[test]
fn every_check_of_the_litmus_tests_agrees() {
    let (mut done, mut refused) = (0, 0);
    for (at, file) in files("library/litmus", ".rml").iter().enumerate() {
        for case in cases(file, ["tso", "pso", "sc", "rmo"][at % 4]) {
            if !common::explorer().runs(&case.program, &case.model) {
                continue;
            }
            match compare(&case, tiny(), 2) {
                Some(Ok(_)) => done += 1,
                Some(Err(_)) => refused += 1,
                None => return,
            }
        }
    }
    println!("{done} agree, {refused} were refused");
    assert!(done > 150 && refused < done / 2, "{done} agree, {refused} were refused");
}

/// States that get more bits, and more words, on the way.
#[test]
fn states_of_every_width_agree() {
    let mut words = std::collections::BTreeSet::new();
    for pad in [1, 30, 44, 90, 150, 220] {
        let text = "const P = 1; threads { shared x, f, pad[P]; local r; \
            thread q { local i; i := 0; loop { pad[i] := 1; i := i + 1; if i == P { break; } } } \
            thread p[2] { loop { atomic { r := x; x := (r * 3 + 1) % 211; } f := 1; f := 0; } } } \
            check assertions on sc;";
        let case = of_text("growing", text, "sc", &[("P", pad)]);
        let Some(told) = compare(&case, tiny(), 2) else { return };
        words.insert(told.expect("it is for devices").words);
    }
    assert!(words.len() >= 4, "{words:?}");
}

#[test]
fn what_goes_wrong_is_found_by_a_shortest_way() {
    let wrong: [(&str, &str); 4] = [
        ("threads { shared x; thread p { assert 1 = 2; x := 1 } } check assertions;", "at once"),
        (
            "threads { shared x; local r; thread p[3] { r := x; x := r + 1; r := x; assert r < 3, \"all\"; } } \
             check assertions on sc;",
            "an assertion",
        ),
        (
            "threads { shared a, b; local r; \
             thread p { atomic { r := a; assume r == 0; a := 1; } atomic { r := b; assume r == 0; b := 1; } } \
             thread q { atomic { r := b; assume r == 0; b := 1; } atomic { r := a; assume r == 0; a := 1; } } } \
             check assertions on sc;",
            "a deadlock",
        ),
        (
            "threads { shared x, y; thread p { x := 1; y := 1; } thread q { local r, s; r := y; s := x; } } \
             check exists (q.r == 1 && q.s == 1);",
            "a witness",
        ),
    ];
    for (text, what) in wrong {
        let case = of_text(what, text, "tso", &[]);
        for settings in [tiny(), Settings::default()] {
            let Some(told) = compare(&case, settings, 2) else { return };
            told.unwrap_or_else(|why| panic!("{what}: {why}"));
        }
    }
}

/// Criteria that listen, timestamps that are ranked, renamings: the transactional memories of the library, right ones and wrong ones.
#[test]
fn transactional_memories_agree() {
    let memories: [Instance; 9] = [
        ("library/stm/tl2.rml", "sc", &[("threads", 2), ("vars", 1)]),
        ("library/stm/tl2.rml", "pso", &[("threads", 2), ("vars", 1)]),
        ("library/stm/norec.rml", "sc", &[("threads", 2), ("vars", 1)]),
        ("library/stm/dstm.rml", "tso", &[("threads", 2), ("vars", 1)]),
        ("library/stm/mcrt.rml", "sc", &[("threads", 2), ("vars", 2)]),
        ("library/stm/global_ticket.rml", "tso", &[]),
        ("library/stm/dstm_bug_steal_active.rml", "sc", &[]),
        ("library/stm/mcrt_bug_one_phase.rml", "sc", &[]),
        ("library/litmus/timestamp_gap.rml", "sc", &[]),
    ];
    let mut done = 0;
    for instance in memories {
        let case = case(instance);
        match compare(&case, tiny(), 2) {
            Some(Ok(told)) => {
                println!("{}: {told:?}", case.name);
                done += 1;
            }
            Some(Err(why)) => println!("{}: {why}", case.name),
            None => return,
        }
    }
    assert!(done >= 7, "{done} agree");
}
