//! Long comparisons on random programs; see the crate's documentation.

use anyhow::{Context, bail};
use cyrano_conformance::dress::Dress;
use cyrano_conformance::generate::{Random, program};
use cyrano_conformance::{compare, corpus, limits, outcomes_grow};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, count, rest @ ..] = &arguments[..] else {
        bail!("usage: cyrano-conformance random COUNT [SEED]");
    };
    anyhow::ensure!(command == "random", "the only command is `random COUNT [SEED]`");
    let count: u32 = count.parse().context("COUNT is a number")?;
    let seed: u8 = rest.first().map_or(Ok(0), |s| s.parse()).context("SEED is a number up to 255")?;
    random(count, seed)
}

fn random(count: u32, seed: u8) -> anyhow::Result<()> {
    let config = Config { cases: count, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let rng = TestRng::from_seed(config.rng_algorithm, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
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

fn agree(random: &Random) -> Result<(), String> {
    let program = random.program();
    compare(&program).map_err(|d| d.to_string())?;
    outcomes_grow(&program, &|| limits(60.0, 3)).map_err(|d| d.to_string())
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
