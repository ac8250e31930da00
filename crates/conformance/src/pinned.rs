//! Random tests that try the same cases every time.
//!
//! A test that tries other cases on each run is green by luck. So the seed is fixed, and a failure is kept beside the test
//! (`proptest-regressions/`) and tried first from then on. For other cases set `PROPTEST_RNG_SEED`; the long runs of this crate's binary take a seed, too.

use proptest::test_runner::{Config, RngSeed, TestRunner};

/// So many cases, from a fixed seed.
pub fn pinned(cases: u32) -> Config {
    let config = Config { cases, max_shrink_iters: 1000, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// The same for a test that runs its cases itself: a failure is shown and not kept, for the fixed seed brings it back.
pub fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..pinned(cases) })
}
