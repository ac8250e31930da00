//! Models about relations: the symbolic engine against the reference, on the library, on generated cycles and on random programs with tags, fences and
//! exclusive accesses.

use std::cell::Cell;

use cyrano_conformance::generate::program;
use cyrano_conformance::pinned;
use cyrano_conformance::relations::{attire, engines_agree};
use cyrano_conformance::{corpus, limits};
use cyrano_litmus::generate::{Cycle, Relation, Target};
use proptest::prelude::*;
use proptest::test_runner::TestError;

#[test]
fn engines_agree_on_random_programs() {
    let cases = if pinned::long() { 20_000 } else { 400 };
    let models = cyrano_memory::relational();
    let compared = Cell::new(0);
    let random = (program(), attire(), 0..models.len());
    let result = pinned::runner(cases, file!()).run(&random, |(random, attire, model)| {
        let dressed = attire.put_on(random.program(), &models[model]);
        let agreed = engines_agree(&dressed, &models[model], &|| limits(0.5, 3));
        let new = agreed.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (random, attire, model))) => {
            let dressed = attire.put_on(random.program(), &models[model]);
            panic!("{reason}\n{}\n{}", random.shown(), cyrano_ir::text::print(&dressed))
        }
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{cases} programs, {} questions", compared.get());
    assert!(compared.get() >= cases as usize / 2, "only {} questions were answered by both", compared.get());
}

/// Compares under all models.
fn under_all(program: &cyrano_ir::Program) -> Result<usize, String> {
    let agree = |model| engines_agree(program, model, &|| limits(0.5, 2)).map_err(|error| error.to_string());
    cyrano_memory::relational().iter().map(agree).sum()
}

#[test]
fn engines_agree_on_the_library() {
    let compared = corpus::for_each_litmus(|_, program| under_all(program));
    println!("{compared} questions");
    assert!(compared >= 300, "only {compared} questions were answered by both");
}

#[test]
fn engines_agree_on_litmus_tests() {
    let compared = corpus::for_each(&corpus::files("herd", "litmus"), |_, (_, source)| {
        let test = cyrano_litmus::compile(source).map_err(|errors| format!("{errors:?}"))?;
        under_all(&test.program)
    });
    println!("{compared} questions");
    assert!(compared >= 90, "only {compared} questions were answered by both");
}

#[test]
fn engines_agree_on_cycles() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::Rml));
    relations.extend(Relation::dependencies(Target::Rml));
    let cycles = Cycle::all(&relations, 4, 4);
    // Every seventh of them, unless there is time.
    let step = if pinned::long() { 1 } else { 7 };
    let cycles: Vec<(String, Cycle)> = cycles.into_iter().step_by(step).map(|cycle| (cycle.name(), cycle)).collect();
    let compared = corpus::for_each(&cycles, |name, cycle| {
        let program = cyrano_rml::compile(&cycle.rml()?, name, &[]).map_err(|error| format!("{error:?}"))?;
        under_all(&program)
    });
    println!("{} cycles, {compared} questions", cycles.len());
    assert!(compared >= cycles.len(), "only {compared} questions were answered by both");
}
