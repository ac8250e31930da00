//! Long comparisons on random programs; see the crate's documentation.

use anyhow::{Context, bail};
use cyrano_conformance::dress::Dress;
use cyrano_conformance::generate::{Random, program, units};
use cyrano_conformance::models::model;
use cyrano_conformance::random_c::agree::{Effort, MODELS, Tally};
use cyrano_conformance::random_c::{self, random_c};
use cyrano_conformance::{compare, corpus, limits, outcomes_grow};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};

const USAGE: &str = "usage: cyrano-conformance random COUNT [SEED], random-c COUNT [SEED] for C programs, or units COUNT [SEED] for sections and operations under users' models";

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
        _ => bail!("{USAGE}"),
    }
}

fn runner(count: u32, seed: u8) -> TestRunner {
    let config = Config { cases: count, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let rng = TestRng::from_seed(config.rng_algorithm, &[seed; 32]);
    TestRunner::new_with_rng(config, rng)
}

fn random(count: u32, seed: u8) -> anyhow::Result<()> {
    let mut runner = runner(count, seed);
    let done = std::cell::Cell::new(0u32);
    let result = runner.run(&program(), |program| {
        done.set(done.get() + 1);
        if done.get().is_multiple_of(1000) {
            eprintln!("{} programs", done.get());
        }
        agree(&program).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {
            println!("{count} random programs: interp and explore agree, outcome sets grow along the models");
            Ok(())
        }
        Err(TestError::Fail(reason, program)) => keep(&program, &reason.to_string(), seed),
        Err(TestError::Abort(reason)) => bail!("gave up: {reason}"),
    }
}

/// Random C programs; a failure is printed as C and its test.
fn c_programs(count: u32, seed: u8) -> anyhow::Result<()> {
    let effort = Effort { slow: &|| limits(5.0, 3), fast: &|| limits(60.0, 3), models: MODELS };
    let done = std::cell::Cell::new((0u32, Tally::default()));
    let result = runner(count, seed).run(&random_c(12), |random| {
        let program = random.program().map_err(TestCaseError::fail)?;
        let new = random_c::agree::agree(&program, &effort).map_err(|d| TestCaseError::fail(d.to_string()))?;
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
            println!("{count} random C programs: the engines agree; {:?}", done.get().1);
            Ok(())
        }
        Err(TestError::Fail(reason, program)) => bail!("{reason}\n{}", program.shown()),
        Err(TestError::Abort(reason)) => bail!("gave up: {reason}"),
    }
}

/// Programs of sections and operations; a failure is printed.
fn unit_programs(count: u32, seed: u8) -> anyhow::Result<()> {
    let effort = Effort { slow: &|| limits(0.2, 3), fast: &|| limits(5.0, 3), models: MODELS };
    let done = std::cell::Cell::new((0u32, Tally::default()));
    let result = runner(count, seed).run(&(units(), model()), |(random, model)| {
        let program = random.program();
        let fail = |disagreement: cyrano_conformance::Disagreement| TestCaseError::fail(disagreement.to_string());
        let mut new = random_c::agree::agree(&program, &effort).map_err(fail)?;
        new.add(random_c::agree::agree_under(&program, &model, &effort).map_err(fail)?);
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
            println!("{count} programs of units: the engines agree; {:?}", done.get().1);
            Ok(())
        }
        Err(TestError::Fail(reason, (random, model))) => bail!("{reason}\n{}\n{model:?}", random.shown()),
        Err(TestError::Abort(reason)) => bail!("gave up: {reason}"),
    }
}

fn agree(random: &Random) -> Result<(), String> {
    let program = random.program();
    compare(&program).map_err(|d| d.to_string())?;
    outcomes_grow(&program, &|| limits(60.0, 3)).map(|_| ()).map_err(|d| d.to_string())
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
