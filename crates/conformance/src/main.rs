//! Long comparisons on random programs; see the crate's documentation.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;

use anyhow::{Context, bail};
use cyrano_conformance::compare::CHAIN;
use cyrano_conformance::dress::Dress;
use cyrano_conformance::generate::{Random, program, units};
use cyrano_conformance::hangs::{Told, hangs_agree};
use cyrano_conformance::models::model;
use cyrano_conformance::random_c::random_c;
use cyrano_conformance::related::count::Table;
use cyrano_conformance::related::{Related, related, spinning};
use cyrano_conformance::twins::{TWINS, twins_agree};
use cyrano_conformance::{
    Disagreement, Effort, Tally, agree, agree_under, compare, corpus, limits, outcomes_grow, termination,
};
use cyrano_engine::Engine;
use cyrano_explore::Explore;
use cyrano_symbolic::Symbolic;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};

const USAGE: &str = "usage: cyrano-conformance random COUNT [SEED], random-c COUNT [SEED] for C programs, units COUNT [SEED] for sections and operations under users' models, related COUNT [SEED] for models about relations, hangs COUNT [SEED] for their threads that spin, twins COUNT [SEED] for those written down twice, or termination COUNT [SEED] for programs that may not end";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, count, rest @ ..] = &arguments[..] else {
        bail!("{USAGE}");
    };
    let count: u32 = count.parse().context("COUNT is a number")?;
    let seed: u8 = rest.first().map_or(Ok(0), |s| s.parse()).context("SEED is a number up to 255")?;
    match command.as_str() {
        "random" => random(count, seed),
        "random-c" => c_programs(count, seed),
        "units" => unit_programs(count, seed),
        "related" => related_programs(count as usize, seed),
        "hangs" => spinning_programs(count as usize, seed),
        "twins" => twin_programs(count as usize, seed),
        "termination" => endless_programs(count, seed),
        _ => bail!("{USAGE}"),
    }
}

/// Tries so many random cases and says how far it is; a failure, shrunk, goes to `fail` with its reason.
fn run<T: Debug>(
    count: u32,
    seed: u8,
    cases: &impl Strategy<Value = T>,
    test: impl Fn(&T) -> Result<Tally, String>,
    fail: impl FnOnce(&T, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let config = Config { cases: count, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let rng = TestRng::from_seed(config.rng_algorithm, &[seed; 32]);
    let done = Cell::new((0u32, Tally::default()));
    let result = TestRunner::new_with_rng(config, rng).run(cases, |case| {
        let new = test(&case).map_err(TestCaseError::fail)?;
        let (number, mut tally) = done.get();
        tally.add(new);
        done.set((number + 1, tally));
        if (number + 1).is_multiple_of(100) {
            eprintln!("{} programs: {tally:?}", number + 1);
        }
        Ok(())
    });
    match result {
        Ok(()) => {
            println!("{count} random programs: the engines agree; {:?}", done.get().1);
            Ok(())
        }
        Err(TestError::Fail(reason, case)) => fail(&case, &reason.to_string()),
        Err(TestError::Abort(reason)) => bail!("gave up: {reason}"),
    }
}

fn words(disagreement: Disagreement) -> String {
    disagreement.to_string()
}

/// Programs of the native language, dressed up; outcome sets grow along the models, too.
fn random(count: u32, seed: u8) -> anyhow::Result<()> {
    let test = |random: &Random| {
        let program = random.program();
        let compared = compare(&program).map_err(words)?;
        outcomes_grow(&program, &|| limits(60.0, 3)).map_err(words)?;
        Ok(Tally { compared, ..Tally::default() })
    };
    run(count, seed, &program(), test, |random, reason| keep(random, reason, seed))
}

/// Random C programs; a failure is printed as C and its test.
fn c_programs(count: u32, seed: u8) -> anyhow::Result<()> {
    let effort = Effort { slow: &|| limits(5.0, 3), fast: &|| limits(60.0, 3), models: &CHAIN };
    let test = |random: &cyrano_conformance::random_c::RandomC| agree(&random.program()?, &effort).map_err(words);
    run(count, seed, &random_c(12), test, |random, reason| bail!("{reason}\n{}", random.shown()))
}

/// Programs of sections and operations; a failure is printed.
fn unit_programs(count: u32, seed: u8) -> anyhow::Result<()> {
    let effort = Effort { slow: &|| limits(0.2, 3), fast: &|| limits(5.0, 3), models: &CHAIN };
    let test = |(random, model): &(Random, cyrano_memory::Model)| {
        let program = random.program();
        let mut new = agree(&program, &effort).map_err(words)?;
        new.add(agree_under(&program, model, &effort).map_err(words)?);
        Ok(new)
    };
    run(count, seed, &(units(), model()), test, |(random, model), reason| {
        bail!("{reason}\n{}\n{model:?}", random.shown())
    })
}

/// Programs for models about relations until so many were compared; the first failure is printed, shrunk.
fn related_programs(count: usize, seed: u8) -> anyhow::Result<()> {
    let table = RefCell::new(Table::new());
    let models = table.borrow().models().to_vec();
    let cases = related(9, models.len());
    for batch in 0.. {
        let test = |random: &Related| {
            let program = random.program(&models[random.model]);
            table.borrow_mut().add(&program, random.model, &|| limits(2.0, 3)).map_err(words)?;
            Ok(())
        };
        let failed = |random: &Related, reason: &str| bail!("{reason}\n{}", random.text(&models[random.model]));
        batch_of(1000, [seed, batch], &cases, test, failed)?;
        let table = table.borrow();
        eprintln!("{:?} compared", table.compared());
        let (all, least) = table.compared();
        if all >= count && least * 13 >= count || batch == u8::MAX {
            println!("{table}");
            return Ok(());
        }
    }
    Ok(())
}

/// Programs whose threads may spin for ever, under models about relations.
fn spinning_programs(count: usize, seed: u8) -> anyhow::Result<()> {
    let models = cyrano_memory::relational();
    let told = Cell::new(Told::default());
    let cases = spinning(5, models.len());
    for batch in 0..count.div_ceil(1000) {
        let test = |random: &Related| {
            let program = random.program(&models[random.model]);
            let symbolic = Symbolic { iterations: 2, ..Symbolic::default() };
            let new = hangs_agree(&symbolic, &program, &models[random.model], &|| limits(0.2, 2));
            let mut all = told.get();
            all.add(new.map_err(words)?);
            told.set(all);
            Ok(())
        };
        let failed = |random: &Related, reason: &str| bail!("{reason}\n{}", random.text(&models[random.model]));
        let at = u8::try_from(batch).context("COUNT is too large")?;
        batch_of(count.min(1000) as u32, [seed, at], &cases, test, failed)?;
        eprintln!("{} programs: {:?}", (batch + 1) * 1000, told.get());
    }
    println!("{:?}", told.get());
    Ok(())
}

/// Random programs under models and their twins until so many were compared under all three.
fn twin_programs(count: usize, seed: u8) -> anyhow::Result<()> {
    let (done, questions) = (Cell::new(0), Cell::new(0));
    for batch in 0..=u8::MAX {
        let test = |random: &Random| {
            let found = twins_agree(&random.program(), &|| limits(0.5, 3)).map_err(words)?;
            questions.set(questions.get() + found);
            done.set(done.get() + usize::from(found >= TWINS.len()));
            Ok(())
        };
        let failed = |random: &Random, reason: &str| bail!("{reason}\n{}", random.shown());
        batch_of(1000, [seed, batch], &program(), test, failed)?;
        eprintln!("{} of {}", done.get(), (usize::from(batch) + 1) * 1000);
        if done.get() >= count {
            let made = (usize::from(batch) + 1) * 1000;
            println!(
                "{made} programs, {} of them compared under all twins, {} questions: they agree",
                done.get(),
                questions.get()
            );
            return Ok(());
        }
    }
    bail!("only {} programs were compared", done.get())
}

/// Tries so many random cases; a failure, shrunk, goes to `fail` with its reason.
fn batch_of<T: Debug>(
    count: u32,
    [seed, batch]: [u8; 2],
    cases: &impl Strategy<Value = T>,
    test: impl Fn(&T) -> Result<(), String>,
    fail: impl FnOnce(&T, &str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let config = Config { cases: count, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let mut name = [seed; 32];
    name[1] = batch;
    let rng = TestRng::from_seed(config.rng_algorithm, &name);
    match TestRunner::new_with_rng(config, rng).run(cases, |case| test(&case).map_err(TestCaseError::fail)) {
        Ok(()) => Ok(()),
        Err(TestError::Fail(reason, case)) => fail(&case, &reason.to_string()),
        Err(TestError::Abort(reason)) => bail!("gave up: {reason}"),
    }
}

/// Programs that may not end, with the explorer in several shapes, each beside one that is a little smaller; failures are printed, shrunk.
fn endless_programs(count: u32, seed: u8) -> anyhow::Result<()> {
    let effort = termination::compare::Effort { states: 5_000, work: 0.5 };
    let on = Explore::default();
    let off = Explore { macro_steps: false, dead_registers: false, ..on.clone() };
    let explorers: [&dyn Engine; 2] = [&on, &off];
    let (mut all, mut failures) = (termination::compare::Compared::default(), 0);
    for number in 0..u64::from(count) {
        let name = u64::from(seed) << 32 | number;
        let tree = termination::random::tree(name);
        let smaller = tree.smaller();
        let less = smaller.get(name as usize % smaller.len().max(1)).filter(|_| number % 2 == 0).cloned();
        for tree in [Some(tree), less].into_iter().flatten() {
            match termination::compare::compare_tree(&tree, &explorers[..1 + usize::from(number % 4 == 0)], effort) {
                Ok(compared) => all.add(compared),
                Err(why) => {
                    failures += 1;
                    println!("program {name}: {why}");
                }
            }
        }
        if (number + 1).is_multiple_of(100) {
            eprintln!("{} programs: {all:?}", number + 1);
        }
    }
    anyhow::ensure!(failures == 0, "{failures} programs were judged wrongly");
    println!("{count} random programs: the explorer agrees with the definition; {all:?}");
    Ok(())
}

/// A shrunk failure becomes part of the corpus.
fn keep(random: &Random, reason: &str, seed: u8) -> anyhow::Result<()> {
    let first = reason.lines().next().unwrap_or_default();
    let text = format!(
        "// random {seed}: a shrunk random program on which the engines disagreed.\n// {first}\n{}",
        random.shown()
    );
    let name = format!("random_{seed}_{:08x}", text.len() * 2_654_435_761 % 0xffff_ffff);
    let path = match random.dress == Dress::default() {
        true => corpus::folder().join(format!("litmus/{name}.rml")),
        false => corpus::ir_folder().join(format!("{name}.ir")),
    };
    std::fs::write(&path, &text)?;
    bail!("{reason}\n{text}\nwritten to {}", path.display())
}
