//! The whole library: header verdicts, agreement of the engines, growth along the models, reductions on and off.

use cyrano_conformance::{compare_with, corpus, limits, outcomes_grow};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::Program;
use cyrano_memory::Model;

/// Runs `test` on every library program and reports every file that fails it. Adds up what the tests compared.
fn for_each(test: impl Fn(&corpus::Entry, &Program) -> Result<usize, String> + Sync) -> usize {
    let mut entries = corpus::entries().expect("the library can be read");
    entries.retain(|entry| entry.path.parent().is_some_and(|p| p.ends_with("litmus")));
    assert!(entries.len() >= 40, "the library has shrunk to {} files", entries.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let name = entry.path.file_name().expect("a file name").to_string_lossy();
                    let result = match cyrano_rml::compile(&entry.source, &name, &[]) {
                        Ok(program) => test(entry, &program),
                        Err(error) => Err(format!("does not compile: {error:?}")),
                    };
                    match result {
                        Ok(count) => _ = compared.fetch_add(count, std::sync::atomic::Ordering::Relaxed),
                        Err(error) => failures.lock().expect("no test panics").push(format!("{name}: {error}")),
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no test panics");
    failures.sort();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let compared = compared.into_inner();
    println!("{compared} compared");
    compared
}

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
    let decided = for_each(|entry, program| {
        let mut decided = 0;
        for expectation in entry.expectations.iter().filter(|e| e.verdict != "skip") {
            let model = cyrano_memory::named(&expectation.model).ok_or(format!("no model {}", expectation.model))?;
            let (verdict, engine) = verdict(program, &model);
            let left_open = matches!(verdict, Verdict::Unknown | Verdict::Bounded) && engine == "interp";
            if verdict.name() != expectation.verdict && !left_open {
                let expected = &expectation.verdict;
                return Err(format!("{}: header says {expected}, {engine} says {}", model.name, verdict.name()));
            }
            decided += usize::from(!left_open);
            if let Some(count) = expectation.outcomes {
                let query = Query::new(program, &model, Question::Outcomes).expect("a question");
                let answer = Interp.ask(query, &short(), &());
                let found = answer.outcomes.len();
                if found > count || answer.verdict == Verdict::Verified && found < count {
                    return Err(format!("{}: header says {count} outcomes, there are {found}", model.name));
                }
            }
        }
        Ok(decided)
    });
    assert!(decided >= 1040, "only {decided} promises were decided");
}

#[test]
fn every_header_names_every_model() {
    for_each(|entry, _| {
        for model in cyrano_memory::all() {
            if !entry.expectations.iter().any(|e| e.model == model.name) {
                return Err(format!("says nothing about {}", model.name));
            }
        }
        Ok(0)
    });
}

#[test]
fn engines_agree() {
    let compared = for_each(|_, program| compare_with(program, &Explore::default(), &short).map_err(|d| d.to_string()));
    assert!(compared >= 2650, "only {compared} questions were answered by both");
}

#[test]
fn outcomes_grow_along_the_models() {
    let compared = for_each(|_, program| outcomes_grow(program, &short).map_err(|d| d.to_string()));
    assert!(compared >= 840, "only {compared} pairs of models were compared");
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { timestamps: false, ..on },
    ];
    let compared = for_each(|_, program| {
        let mut compared = 0;
        for explore in &off {
            if program.has_timestamps() && !explore.timestamps {
                // Without ranking a clock in a loop makes infinitely many states; the limits stop it without a verdict.
                continue;
            }
            compared += compare_with(program, explore, &short).map_err(|d| format!("{explore:?}: {d}"))?;
        }
        Ok(compared)
    });
    assert!(compared >= 7900, "only {compared} questions were answered by both");
}
