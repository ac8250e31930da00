//! The tests, for checking and for blessing.

use crate::tidy;

/// Everything that has to pass.
pub fn run_tests(environment: &[(&str, &str)]) -> anyhow::Result<()> {
    crate::run("cargo", &["test", "--workspace", "--locked"], environment)
}

/// Tidy, then all tests.
pub fn run() -> anyhow::Result<()> {
    tidy::run()?;
    run_tests(&[])
}

/// Accepts what the snapshots show.
pub fn bless() -> anyhow::Result<()> {
    run_tests(&[("UPDATE_EXPECT", "1")])
}
