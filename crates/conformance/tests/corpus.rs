//! The whole library: header verdicts, agreement of the engines, growth along the models, reductions on and off.

use cyrano_conformance::compare::model;
use cyrano_conformance::{compare_with, corpus, limits, outcomes_grow};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::Program;
use cyrano_memory::Model;

/// Limits under which the interpreter decides every file without loops, and leaves the others soon.
fn short() -> Limits {
    limits(0.06, 1)
}

/// The worst verdict of the file's distinct properties under a model, by the engine that supports it.
fn verdict(program: &Program, model: &Model) -> (Verdict, &'static str) {
    let explore = Explore::default();
    let engine: &dyn Engine = if explore.runs(program, model) { &explore } else { &Interp };
    let verdicts = program.checks.iter().map(|check| {
        let query = Query::new(program, model, Question::Holds(&check.property)).expect("a question");
        engine.ask(query, &if engine.name() == "interp" { short() } else { limits(60.0, 1) }, &()).verdict
    });
    (verdicts.max_by_key(|v| v.gravity()).expect("a library file checks something"), engine.name())
}

#[test]
fn headers_tell_the_truth() {
    let decided = corpus::for_each_litmus(|entry, program| {
        for promise in entry.expectations.iter().filter(|promise| promise.verdict != "skip") {
            let Some(count) = promise.outcomes else { continue };
            let model = model(&promise.model);
            let query = Query::new(program, &model, Question::Outcomes).expect("a question");
            let answer = Interp.ask(query, &short(), &());
            let found = answer.outcomes.len();
            if found > count || answer.verdict == Verdict::Verified && found < count {
                return Err(format!("{}: header says {count} outcomes, there are {found}", model.name));
            }
        }
        corpus::kept(&entry.expectations, |promise| {
            let (verdict, engine) = verdict(program, &model(&promise.model));
            let left_open = matches!(verdict, Verdict::Unknown | Verdict::Bounded) && engine == "interp";
            (!left_open || verdict.name() == promise.verdict).then_some(verdict)
        })
    });
    assert!(decided >= 1040, "only {decided} promises were decided");
}

/// Invariants and races: what a file's checks give under a model, with reductions on and off; what is shown replays.
#[test]
fn headers_of_invariants_tell_the_truth() {
    let on = Explore::default();
    let off = Explore { macro_steps: false, ample_sets: false, remembered_steps: false, ..on.clone() };
    let entries = corpus::in_folder("invariants");
    assert!(entries.len() >= 10, "the library has shrunk to {} files", entries.len());
    let decided = corpus::for_each(&entries, |name, entry| {
        let program = cyrano_rml::compile(&entry.source, name, &[]).map_err(|error| format!("{error:?}"))?;
        corpus::kept(&entry.expectations, |promise| {
            let model = model(&promise.model);
            let default = |models: &[String]| models.is_empty() && model.name == "sc";
            let claimed = |models: &[String]| default(models) || models.contains(&model.name);
            let checks = program.checks.iter().filter(|check| claimed(&check.models));
            let verdicts = checks.map(|check| {
                let [one, other] = [&on, &off]
                    .map(|explore| corpus::judge(explore, &program, &model, &check.property, &limits(60.0, 1)).verdict);
                assert_eq!(one, other, "{name} under {}: {:?}", model.name, check.property);
                one
            });
            verdicts.max_by_key(|verdict| verdict.gravity())
        })
    });
    assert!(decided >= 20, "only {decided} promises were decided");
}

#[test]
fn every_header_names_every_model() {
    corpus::for_each_litmus(|entry, _| {
        for model in cyrano_memory::all() {
            if !entry.expectations.iter().any(|e| e.model == model.name) {
                return Err(format!("says nothing about {}", model.name));
            }
        }
        Ok(0)
    });
}

#[test]
fn outcomes_grow_along_the_models() {
    let compared = corpus::for_each_litmus(|_, program| outcomes_grow(program, &short).map_err(|d| d.to_string()));
    assert!(compared >= 840, "only {compared} pairs of models were compared");
}

#[test]
fn engines_agree_and_reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { timestamps: false, ..on.clone() },
    ];
    let compared = corpus::for_each_litmus(|_, program| {
        // Without ranking a clock in a loop makes infinitely many states; the limits stop it without a verdict.
        let off = off.iter().filter(|explore| explore.timestamps || !program.has_timestamps());
        let explorers: Vec<&dyn Engine> = [&on].into_iter().chain(off).map(|explore| explore as &dyn Engine).collect();
        compare_with(program, &explorers, &short).map_err(|d| d.to_string())
    });
    assert!(compared >= 10550, "only {compared} questions were answered by both");
}
