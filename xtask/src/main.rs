//! Chores of this repository: `cargo xtask tidy|bless|ci|bench|dist|suites`.
//!
//! `ci` is exactly what continuous integration runs and what the README calls the test command.

mod bench;
mod ci;
mod dist;
mod suites;
mod tidy;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask tidy     formatting, lints, and the rules of ARCHITECTURE.md that a program can check
cargo xtask bless    run the tests and accept what their snapshots show now; look at the diff afterwards
cargo xtask ci       everything: tidy, then all tests; with --long many more random programs and kills (hours)
cargo xtask bench    Cyrano beside Spin: counts, speed, memory; `bench --help` has the options
cargo xtask dist     what is handed out: program, archive, Debian package, checksums, list of materials; `dist --help`
cargo xtask suites   a folder of litmus tests and a table of verdicts: what is decided, what differs (docs/suites.md)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(),
        ["bless"] => ci::bless(),
        ["ci"] => ci::run(false),
        ["ci", "--long"] => ci::run(true),
        ["bench", ref rest @ ..] => bench::run(rest),
        ["dist", ref rest @ ..] => dist::run(rest),
        ["suites", ref rest @ ..] => suites::run(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map(PathBuf::from).unwrap_or(manifest)
}

/// For commands that build all at once: what helps to build a part again later only takes time.
const AT_ONCE: (&str, &str) = ("CARGO_INCREMENTAL", "0");

/// Runs a command in the root and insists on success.
fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
    eprintln!("+ {program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).envs([AT_ONCE]).envs(environment.iter().copied()).current_dir(root());
    let status = command.status()?;
    anyhow::ensure!(status.success(), "`{program} {}` failed", arguments.join(" "));
    Ok(())
}
