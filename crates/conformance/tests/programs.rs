//! Programs that the native language has no words for: setup threads, limits, pointers. The engines agree, with every reduction on
//! and off, and say what was worked out by hand.

use std::collections::BTreeSet;

use cyrano_conformance::{compare_with, corpus, limits, outcomes_grow};
use cyrano_engine::{Engine, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{EvalError, Program, Property, text};

fn program(name: &str) -> Program {
    let programs = corpus::ir_programs().expect("the programs can be read");
    programs.into_iter().find(|(other, _)| other == name).expect("there is such a program").1
}

#[test]
fn engines_agree() {
    let on = Explore::default();
    let variants = [
        on.clone(),
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { timestamps: false, ..on },
    ];
    for (name, program) in corpus::ir_programs().expect("the programs can be read") {
        assert_eq!(cyrano_ir::verify(&program), Ok(()), "{name}");
        assert_eq!(text::parse(&text::print(&program)).as_ref(), Ok(&program), "{name}");
        let explorers: Vec<&dyn Engine> = variants.iter().map(|explore| explore as &dyn Engine).collect();
        let compared = compare_with(&program, &explorers, &|| limits(60.0, 3));
        assert!(compared.is_ok(), "{name}: {}", compared.unwrap_err());
        let grow = outcomes_grow(&program, &|| limits(60.0, 3));
        assert!(grow.is_ok(), "{name}: {}", grow.unwrap_err());
    }
}

/// Asks both engines under these models; the verdict, the number of outcomes and what goes wrong are as expected.
#[track_caller]
fn check(name: &str, models: &[&str], verdict: Verdict, outcomes: usize, wrong: impl Fn(&Violation) -> bool) {
    let program = program(name);
    for model in models {
        let model = cyrano_memory::named(model).expect("a named model");
        for engine in [&Explore::default() as &dyn Engine, &Interp] {
            let ask = |question| {
                engine.ask(Query::new(&program, &model, question).expect("a question"), &limits(60.0, 3), &())
            };
            let answer = ask(Question::Holds(&Property::Assertions));
            let place = format!("{name} on {} by {}: {:?}", model.name, engine.name(), answer.violation);
            assert_eq!(answer.verdict, verdict, "{place}");
            assert_eq!(
                answer.violation.as_ref().map(&wrong),
                (verdict == Verdict::Violated).then_some(true),
                "{place}"
            );
            assert_eq!(ask(Question::Outcomes).outcomes.len(), outcomes, "{place}");
        }
    }
}

const EXACT: [&str; 4] = ["serial", "sc", "tso", "pso"];

#[test]
fn setups() {
    // The reader sees one of the two values of y and of x; under sc and tso a new x means a new y before it.
    check("setup", &["sc", "tso", "pso"], Verdict::Verified, 4, |_| false);
    check("setup", &["serial"], Verdict::Verified, 2, |_| false);
    check("setup_blocked", &EXACT, Verdict::Violated, 0, |violation| matches!(violation, Violation::Deadlock { .. }));
}

#[test]
fn limited_executions_are_left_out() {
    // Only if p allocates both of its objects first nobody is left out.
    check("limit", &EXACT, Verdict::Bounded, 1, |_| false);
    check("limit_not_deadlock", &EXACT, Verdict::Bounded, 0, |_| false);
}

#[test]
fn pointers_to_nothing() {
    let wrong = |violation: &Violation| {
        matches!(violation, Violation::Error { error: EvalError::BadPointer { .. } | EvalError::NullPointer, .. })
    };
    // r overwrites head if it finds null there; q finds null, the object or, where stores are reordered, one without contents.
    check("pointers", &["serial"], Verdict::Violated, 2, wrong);
    check("pointers", &["sc", "tso"], Verdict::Violated, 4, wrong);
    check("pointers", &["pso"], Verdict::Violated, 6, wrong);
}

/// Only a model that reorders stores lets a reader find the object before its contents.
#[test]
fn publication() {
    let mut program = program("pointers");
    program.threads.truncate(2);
    for (model, expected) in [("tso", vec![-1, 7]), ("pso", vec![i128::MIN, -1, 7])] {
        let model = cyrano_memory::named(model).expect("a named model");
        for engine in [&Explore::default() as &dyn Engine, &Interp] {
            let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
            let found: BTreeSet<i128> =
                engine.ask(query, &limits(60.0, 3), &()).outcomes.iter().map(|o| o[0]).collect();
            assert_eq!(found, expected.iter().copied().collect(), "{} by {}", model.name, engine.name());
        }
    }
}
