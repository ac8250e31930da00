//! Random tests that try the same cases every time.
//!
//! A test that tries other cases on each run is green by luck. So the seed is fixed, and a failure is kept beside the test
//! (`TEST.regressions`) and tried first from then on. For other cases set `PROPTEST_RNG_SEED`; the long runs of this crate's binary take a seed, too.

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

/// Whether there is time for everything: `cargo xtask ci --long` sets `CYRANO_LONG`; set to nothing it is not set.
pub fn long() -> bool {
    std::env::var_os("CYRANO_LONG").is_some_and(|value| !value.is_empty())
}

/// So many cases, from a fixed seed.
pub fn pinned(cases: u32) -> Config {
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as _);
    let config = Config { cases, max_shrink_iters: 1000, failure_persistence, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// The same for a test that runs its cases itself; `source` is its `file!()`, beside which failures are kept.
pub fn runner(cases: u32, source: &'static str) -> TestRunner {
    TestRunner::new(Config { source_file: Some(source), ..pinned(cases) })
}
