//! The library's software transactional memories: header verdicts, replayed counterexamples, reductions on and off.

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;

/// What an instance may take here; the larger ones are for `cyrano tables`.
const SECONDS: f64 = 6.0;

fn entries() -> Vec<(String, corpus::Entry)> {
    let all = corpus::entries().expect("the library can be read");
    let stms = all.into_iter().filter(|e| e.path.parent().is_some_and(|p| p.ends_with("stm")));
    stms.map(|e| (e.path.file_stem().expect("a file name").to_string_lossy().into_owned(), e)).collect()
}

fn compile(name: &str, entry: &corpus::Entry, vars: i128) -> Program {
    let set = [("vars".to_owned(), vars)];
    cyrano_rml::compile(&entry.source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

fn check(program: &Program, model: &Model, explore: &Explore) -> Answer {
    let property = Property::Transactions(TxCriterion::Opacity);
    let query = Query { program, model, question: Question::Holds(&property) };
    let answer = explore.ask(query, &limits(SECONDS, 1), &());
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        if let Err(error) = cyrano_interp::confirm(program, model, &property, violation, execution) {
            panic!("{} under {}: what is shown does not replay: {error}", program.name, model.name);
        }
    }
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

#[test]
fn headers_tell_the_truth() {
    let entries = entries();
    assert!(entries.len() >= 20, "the library has shrunk to {} memories", entries.len());
    for (name, entry) in entries {
        let program = compile(&name, &entry, 2);
        for expectation in entry.expectations.iter().filter(|e| e.verdict != "skip") {
            let model = cyrano_memory::named(&expectation.model).expect("a model");
            let found = check(&program, &model, &Explore::default()).verdict;
            // Under weak models an instance may take longer than a test should.
            let ran_out = found == Verdict::Unknown && (expectation.verdict == "verified" || model.name != "sc");
            assert!(ran_out || found.name() == expectation.verdict, "{name} under {}: {found:?}", model.name);
        }
    }
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { thread_symmetry: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { variable_symmetry: false, ..on.clone() },
        Explore { repeated_stores: false, ..on.clone() },
        Explore { dead_loads: false, ..on.clone() },
        Explore { sorted_stores: false, ..on.clone() },
    ];
    for (name, entry) in entries() {
        let program = compile(&name, &entry, 1);
        for model in ["sc", "tso", "pso", "rmo"].map(|name| cyrano_memory::named(name).expect("a model")) {
            let with = check(&program, &model, &on).verdict;
            for explore in &off {
                let without = check(&program, &model, explore).verdict;
                let decided = |verdict| matches!(verdict, Verdict::Verified | Verdict::Violated);
                let agree = with == without || !decided(with) || !decided(without);
                assert!(agree, "{name} under {}: {with:?}, but {without:?} with {explore:?}", model.name);
            }
        }
    }
}

/// Memories that treat their variables alike, so that the reduction applies, and their mutants.
#[test]
fn variable_symmetry_changes_nothing() {
    let on = Explore::default();
    let off = Explore { variable_symmetry: false, ..on.clone() };
    let mut used = 0;
    for (name, entry) in
        entries().into_iter().filter(|(name, _)| name.starts_with("global_lock") || name.starts_with("tml"))
    {
        let program = compile(&name, &entry, 2);
        for model in ["sc", "tso", "pso", "rmo"].map(|name| cyrano_memory::named(name).expect("a model")) {
            let (with, without) = (check(&program, &model, &on), check(&program, &model, &off));
            assert_eq!(with.verdict, without.verdict, "{name} under {}", model.name);
            if with.reductions.contains(&"variable-symmetry") && with.verdict == Verdict::Verified {
                used += 1;
                assert!(with.stats.states < without.stats.states, "{name} under {}: nothing saved", model.name);
            }
        }
    }
    assert!(used > 0, "the reduction is never used");
}
