//! The tests, for checking and for blessing.

use crate::tidy;

/// Everything that has to pass.
pub fn run_tests(environment: &[(&str, &str)]) -> anyhow::Result<()> {
    crate::run("cargo", &["test", "--workspace", "--locked"], environment)
}

/// The report page in a browser, with the program that the tests built.
fn run_viewer_tests() -> anyhow::Result<()> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let cyrano = crate::root().join(target).join("debug").join("cyrano");
    crate::run("viewer/test.sh", &[], &[("CYRANO", &cyrano.to_string_lossy())])
}

/// Tidy, then all tests.
pub fn run() -> anyhow::Result<()> {
    tidy::run()?;
    run_tests(&[])?;
    run_viewer_tests()
}

/// Accepts what the snapshots show.
pub fn bless() -> anyhow::Result<()> {
    run_tests(&[("UPDATE_EXPECT", "1")])
}
