//! Transactional memories with values: header verdicts, replayed counterexamples, reductions on and off, loops unrolled or not.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_symbolic::Symbolic;

/// What one question may take here.
const SECONDS: f64 = 60.0;

/// The files with their names.
fn entries() -> Vec<(String, corpus::Entry)> {
    corpus::named(corpus::with_values().expect("the library can be read"))
}

fn source(name: &str) -> String {
    let found = entries().into_iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("the library has no {name}")).1.source
}

fn compile(source: &str, set: &[(&str, i128)]) -> Program {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    cyrano_rml::compile(source, "stm", &set).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Asks, and has the reference interpreter confirm what is shown.
fn check(program: &Program, criterion: &str, explore: &Explore) -> Answer {
    let property = Property::Transactions(TxCriterion::from_name(criterion).expect("a criterion"));
    let answer = corpus::judge(explore, program, &model("sc"), &property, &limits(SECONDS, 4));
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

#[test]
fn headers_tell_the_truth() {
    let promises = corpus::for_each(&entries(), |_, entry| {
        corpus::kept(&entry.progress, |promise| {
            let mut words = promise.property.split_whitespace();
            let criterion = words.next().expect("a criterion");
            let set: Vec<(&str, i128)> = words
                .map(|word| word.split_once('=').expect("a constant"))
                .map(|(name, value)| (name, value.parse().expect("a number")))
                .collect();
            Some(check(&compile(&entry.source, &set), criterion, &Explore::default()).verdict)
        })
    });
    assert!(promises > 30, "the headers have shrunk to {promises} promises");
}

/// The symbolic engine on the smallest clients, with one restart of each transaction: it finds what the explorer finds there, and nothing else.
#[test]
fn a_second_engine_agrees() {
    let (mut bounded, mut violated) = (0, 0);
    for (name, entry) in entries() {
        let program = compile(&entry.source, &[("ops", 1), ("vars", 1), ("values", 1)]);
        for criterion in [TxCriterion::Opacity, TxCriterion::Serializability] {
            for model in [model("sc"), model("tso")] {
                let property = Property::Transactions(criterion);
                let ask = |engine: &dyn Engine| {
                    corpus::judge(engine, &program, &model, &property, &limits(SECONDS, 1)).verdict
                };
                let once = Symbolic { iterations: 1, ..Symbolic::default() };
                match (ask(&Explore::default()), ask(&once)) {
                    (Verdict::Violated, Verdict::Violated) => violated += 1,
                    (Verdict::Verified, Verdict::Bounded) => bounded += 1,
                    other => panic!("{name}, {} on {}: {other:?}", criterion.name(), model.name),
                }
            }
        }
    }
    assert!(bounded >= 10 && violated >= 2, "{bounded} bounded, {violated} violated");
}

const CRITERIA: [&str; 5] = [
    "serializability-by-block_timestamp",
    "serializability-by-commit",
    "serializability",
    "strict-serializability",
    "opacity",
];

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { merged_histories: false, ..on.clone() },
        Explore { client_symmetry: false, ..on.clone() },
    ];
    for (name, entry) in entries() {
        let program = compile(&entry.source, &[("ops", 1)]);
        for criterion in CRITERIA {
            let with = check(&program, criterion, &on);
            for explore in &off {
                let without = check(&program, criterion, explore);
                assert_eq!(with.verdict, without.verdict, "{name}, {criterion}: {explore:?}");
                let fewer = with.verdict != Verdict::Verified || with.stats.states <= without.stats.states;
                assert!(fewer, "{name}, {criterion}: a reduction that adds states: {explore:?}");
            }
        }
    }
}

/// Names are exchanged in all three ways, and each of them saves something.
#[test]
fn clients_that_differ_by_names_are_looked_at_once() {
    let program = compile(&source("mcrt_timestamps"), &[("ops", 1)]);
    assert!(program.interchangeable.threads && program.interchangeable.locations);
    assert_eq!(program.interchangeable.values, [1, 2]);
    let states = |program: &Program| check(program, "serializability", &Explore::default()).stats.states;
    let all = states(&program);
    for spoil in [
        |program: &mut Program| program.interchangeable.threads = false,
        |program: &mut Program| program.interchangeable.locations = false,
        |program: &mut Program| program.interchangeable.values.clear(),
    ] {
        let mut spoiled = program.clone();
        spoil(&mut spoiled);
        assert!(all < states(&spoiled), "nothing saved");
    }
}

/// A memory that goes through its variables in a fixed order, names a thread, or looks at a value is not symmetric in these.
#[test]
fn what_is_not_alike_is_not_exchanged() {
    let good = source("mcrt_timestamps");
    let fixed = good.replace("foreach d in 0..<vars { undo((a + d) % vars); }", "foreach d in 0..<vars { undo(d); }");
    assert_ne!(fixed, good);
    assert!(!compile(&fixed, &[]).interchangeable.locations);
    let named = good.replace("rs[a] := 1;", "if self == 0 then rs[a] := 1; rs[a] := 1;");
    assert!(!compile(&named, &[]).interchangeable.threads);
    let looked_at = good.replace("return r;", "if r == 1 then skip; return r;");
    assert!(compile(&looked_at, &[]).interchangeable.values.is_empty());
    assert!(compile(&looked_at, &[]).interchangeable.locations);
}

/// Where aborts take no timestamps, clocks do not grow without end, and both searches finish.
#[test]
fn ranked_and_unranked_timestamps_agree() {
    let off = Explore { timestamps: false, ..Explore::default() };
    let program = compile(&source("mcrt_timestamps_stale_abort"), &[("ops", 1)]);
    for criterion in CRITERIA {
        let (ranked, unranked) = (check(&program, criterion, &Explore::default()), check(&program, criterion, &off));
        assert_eq!(ranked.verdict, unranked.verdict, "{criterion}");
        assert_ne!(ranked.verdict, Verdict::Unknown, "{criterion}");
        assert!(ranked.stats.states <= unranked.stats.states, "{criterion}");
    }
}

/// The same memory with loops that run instead of being unrolled.
fn rolled(source: &str) -> String {
    let mut text = source.replace("local my: timestamp,", "local n, my: timestamp,");
    while let Some(at) = text.find("foreach d in 0..<vars { ") {
        let body = at + "foreach d in 0..<vars { ".len();
        let end = body + text[body..].find('}').expect("a body");
        let new = format!("n := 0; while n < vars {{ {} n := n + 1; }}", text[body..end].replace("a + d", "a + n"));
        text.replace_range(at..=end, &new);
    }
    text
}

#[test]
fn loops_may_be_unrolled_or_not() {
    for name in ["mcrt_timestamps", "mcrt_timestamps_no_lock_check"] {
        let unrolled = source(name);
        let rolled = rolled(&unrolled);
        assert!(rolled.contains("while n < vars"));
        for criterion in CRITERIA {
            let [a, b] = [&unrolled, &rolled]
                .map(|source| check(&compile(source, &[("ops", 1)]), criterion, &Explore::default()).verdict);
            assert_eq!(a, b, "{name}, {criterion}");
        }
    }
}

/// A memory without any protection, and one behind a lock: what the criteria say about them is known.
#[test]
fn simple_memories_are_judged() {
    let bare =
        "stm bare { data g[vars]; local r; read(a) { r := g[a]; return r } write(a, v) { g[a] := v; } end { commit } }";
    let locked = "stm locked {
        shared lock; data g[vars]; local mine, r;
        proc own { if mine == 0 { atomic { r := lock; assume r == 0; lock := 1; } mine := 1; } }
        read(a) { own; r := g[a]; return r }
        write(a, v) { own; g[a] := v; }
        end { mine := 0; lock := 0; commit }
    }";
    for criterion in &CRITERIA[1..] {
        let verdict =
            |source: &str, set: &[(&str, i128)]| check(&compile(source, set), criterion, &Explore::default()).verdict;
        assert_eq!(verdict(bare, &[("ops", 2)]), Verdict::Violated, "{criterion}");
        // The lock is free before the commit returns, so another one may return first.
        let right = if criterion.ends_with("by-commit") { Verdict::Violated } else { Verdict::Verified };
        for set in [&[("ops", 2), ("txns", 1)], &[("ops", 1), ("txns", 2)]] {
            assert_eq!(verdict(locked, set), right, "{criterion} with {set:?}");
        }
        assert_eq!(verdict(locked, &[("ops", 2), ("min_ops", 0)]), right, "{criterion}, early ends");
    }
}

/// A write that nobody reads is lost when its transaction is undone too late: only the memory at the end shows it.
#[test]
fn the_memory_at_the_end_counts() {
    let forgetful =
        "stm forgetful { data g[vars]; local r; read(a) { return 0 } write(a, v) { r := v; } end { commit } }";
    let program = compile(forgetful, &[("ops", 1)]);
    for criterion in &CRITERIA[1..] {
        assert_eq!(check(&program, criterion, &Explore::default()).verdict, Verdict::Violated, "{criterion}");
    }
}

/// What is right in every prefix is right at the end; what is wrong at the end was wrong before, or memory is.
#[test]
fn opacity_implies_final_state_opacity() {
    let mut decided = 0;
    for (name, entry) in entries() {
        let program = compile(&entry.source, &[("ops", 1)]);
        let [every, whole] =
            ["opacity", "final-state-opacity"].map(|criterion| check(&program, criterion, &Explore::default()).verdict);
        let right = |verdict| matches!(verdict, Verdict::Verified | Verdict::Bounded);
        assert!(every != Verdict::Verified || right(whole), "{name}: {whole:?}");
        assert!(whole != Verdict::Violated || every == Verdict::Violated, "{name}: {every:?}");
        decided += usize::from(matches!(whole, Verdict::Verified | Verdict::Violated));
    }
    assert!(decided >= 3, "{decided} decided");
}
