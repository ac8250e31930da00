//! The library's atomic blocks: header verdicts, mutants, replayed counterexamples, reductions on and off, and the check without commit
//! points by every engine.

use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Difference, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::blocks::serial::{observed, serial};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;
use cyrano_trace::minimise;

const MODELS: [&str; 4] = ["sc", "tso", "pso", "rmo"];

fn source(name: &str) -> String {
    let path = corpus::folder().join("atomicity").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn compile(name: &str, source: &str) -> Program {
    cyrano_rml::compile(source, name, &[]).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

/// The explorer's answer; what it shows is confirmed.
fn judge(program: &Program, model: &Model, explore: &Explore) -> Answer {
    let property = Property::CommitAtomicity;
    // `acquire2` defers more than the usual bound, which the command line raises by itself.
    let deferred =
        if program.name.contains("acquire2") && model.name == "tso" { 60 } else { Limits::default().deferred };
    let answer = corpus::judge(explore, program, model, &property, &Limits { deferred, ..limits(120.0, 1) });
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

fn entries() -> Vec<(String, corpus::Entry)> {
    corpus::in_folder("atomicity")
}

#[test]
fn headers_tell_the_truth() {
    let entries = entries();
    assert!(entries.len() >= 9, "the library has shrunk to {} files", entries.len());
    corpus::for_each(&entries, |name, entry| {
        let program = compile(name, &entry.source);
        assert_eq!(entry.expectations.len(), MODELS.len(), "{name} says something about every model");
        corpus::kept(&entry.expectations, |promise| {
            Some(judge(&program, &model(&promise.model), &Explore::default()).verdict)
        })
    });
}

#[test]
fn headers_of_c_files_tell_the_truth() {
    let files = corpus::files("atomicity", "c");
    assert!(files.len() >= 2, "{files:?}");
    corpus::for_each(&files, |name, (path, source)| {
        let mut promises = corpus::promises(source).expect("a header");
        promises.retain(|promise| promise.model != "tests");
        // The explorer does not run pointers under rmo.
        assert!((3..=MODELS.len()).contains(&promises.len()), "{name}");
        let programs = corpus::c_programs(path, source, 2);
        assert!(!programs.is_empty(), "{name} has a small test");
        corpus::kept(&promises, |promise| {
            let model = model(&promise.model);
            let found = programs.iter().map(|(_, program)| judge(program, &model, &Explore::default()).verdict);
            found.max_by_key(|verdict| verdict.gravity())
        })
    });
}

/// A file with a mistake: what is replaced by what. Every one of them has to be found under sc.
#[test]
fn mutants_are_found() {
    let mutants = [
        ("acquire1.rml", "if r == 0 { break; }", "break;"),
        ("dekker.rml", "flag[self] := 1;", "skip;"),
        ("transaction.rml", "if now == old {", "if 1 == 1 {"),
        ("locked_counter.rml", "assume taken == 0;", "skip;"),
        // Commit points at the wrong place: too early for a call, too late for the stop.
        (
            "bluetooth.rml",
            "stopping := stoppingFlag;\n            commit;",
            "commit;\n            stopping := stoppingFlag;",
        ),
        (
            "bluetooth.rml",
            "commit;\n            decrement;\n            atomic { event := stoppingEvent; assume event == 1; }\n            stopped := 1;",
            "decrement;\n            atomic { event := stoppingEvent; assume event == 1; }\n            stopped := 1;\n            commit;",
        ),
    ];
    let mut survived = Vec::new();
    for (name, right, wrong) in mutants {
        let text = source(name);
        assert!(text.contains(right), "{name} has `{right}`");
        let program = compile(name, &text.replace(right, wrong));
        if judge(&program, &model("sc"), &Explore::default()).verdict != Verdict::Violated {
            survived.push(format!("{name}: `{wrong}`"));
        }
    }
    assert!(survived.is_empty(), "not found: {survived:?}");
}

#[test]
fn the_driver_goes_wrong_in_a_dozen_steps() {
    let program = compile("bluetooth_bug", &source("bluetooth_bug.rml"));
    let (sc, property) = (model("sc"), Property::CommitAtomicity);
    let answer = judge(&program, &sc, &Explore::default());
    let (violation, execution) = (answer.violation.as_ref(), answer.execution.as_ref().expect("it is violated"));
    let confirm = |execution: &_| cyrano_interp::confirm(&program, &sc, &property, violation, execution);
    let small = minimise(execution, &|candidate| confirm(candidate).is_ok());
    assert!(small.order.len() <= 12, "{} steps", small.order.len());
    let serial = confirm(&small).expect("it was accepted").serial.expect("it is about blocks");
    assert!(matches!(serial.difference, Difference::HandedOn { .. }), "only the result shows it: {serial:?}");
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { thread_symmetry: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { dead_loads: false, ..on.clone() },
        Explore { sorted_stores: false, ..on.clone() },
        Explore { movers: false, ..on.clone() },
    ];
    for (name, entry) in entries().into_iter().filter(|(name, _)| name != "acquire2") {
        // One writer of a sequence lock is enough here.
        let program = compile(&name, &entry.source.replace("WRITERS = 2", "WRITERS = 1"));
        for on_model in ["sc", "tso"].map(model) {
            let with = judge(&program, &on_model, &on).verdict;
            for explore in &off {
                let without = judge(&program, &on_model, explore).verdict;
                assert_eq!(with, without, "{name} under {}: {explore:?}", on_model.name);
            }
        }
    }
}

fn outcomes(engine: &dyn Engine, program: &Program, model: &Model) -> BTreeSet<Vec<i128>> {
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 4), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{} under {} by {}", program.name, model.name, engine.name());
    answer.outcomes
}

/// Without commit points: whether every final state is that of a serial order, by each engine.
#[test]
fn engines_agree_without_commit_points() {
    let expected = [
        ("bluetooth.rml", "sc", true),
        ("bluetooth.rml", "tso", true),
        ("bluetooth_bug.rml", "sc", false),
        ("unlocked_counter.rml", "sc", false),
        ("unlocked_counter.rml", "pso", false),
    ];
    let engines: [&dyn Engine; 3] = [&Explore::default(), &Symbolic::default(), &Interp];
    for (name, on, atomic) in expected {
        let program = observed(&compile(name, &source(name)));
        let reference = serial(&program);
        assert_eq!(cyrano_ir::verify(&program), Ok(()));
        assert_eq!(cyrano_ir::verify(&reference), Ok(()));
        for engine in engines {
            let allowed = outcomes(engine, &reference, &model("serial"));
            let found = outcomes(engine, &program, &model(on));
            assert!(allowed.is_subset(&found), "{name}: serial executions are executions");
            assert_eq!(found.is_subset(&allowed), atomic, "{name} under {on} by {}", engine.name());
        }
    }
}
