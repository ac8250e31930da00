//! The tests, for checking and for blessing.
//!
//! `cargo test` runs one program of tests after the other, and each ends with its longest test while the other processors wait. Here as many programs run
//! at once as there are processors, each with one thread, those that take longest first.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::{root, tidy};

/// Programs of tests that take long, the longest first.
const LONG: [&str; 15] = [
    "stm",
    "algorithms",
    "language",
    "corpus",
    "definitions",
    "resume",
    "idle",
    "search",
    "cluster_resume",
    "agreement",
    "random",
    "stm_values",
    "datatypes",
    "cyrano_faulty",
    "sweeps",
];

/// What `--long` sets: how many random cases, how often searches are killed, how long all histories are.
const MORE: [(&str, &str); 3] = [("CYRANO_SYMBOLIC_CASES", "2000"), ("CYRANO_KILLS", "30"), ("CYRANO_LONG", "1")];

/// Random programs of each kind that `--long` compares.
const PROGRAMS: [[&str; 2]; 3] = [["random", "20000"], ["random-c", "2000"], ["units", "2000"]];

/// A program of tests.
struct Tests {
    name: String,
    program: PathBuf,
    folder: PathBuf,
}

/// Tidy, then all tests; with `long` also many more random programs.
pub fn run(long: bool) -> anyhow::Result<()> {
    tidy::run()?;
    package()?;
    run_tests(if long { &MORE } else { &[] })?;
    run_viewer_tests()?;
    run_editor_tests()?;
    if long {
        for [kind, count] in PROGRAMS {
            crate::run("cargo", &["run", "--release", "--package", "cyrano-conformance", "--", kind, count], &[])?;
        }
    }
    Ok(())
}

/// Packs every crate that can be published; those that are for this repository alone cannot. Building from the packages is left to `cargo package` itself.
fn package() -> anyhow::Result<()> {
    let own = ["cyrano-benches", "cyrano-conformance", "cyrano-faulty", "xtask"];
    let excluded = own.iter().flat_map(|name| ["--exclude", name]);
    let options = ["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty", "--locked"];
    crate::run("cargo", &options.into_iter().chain(excluded).collect::<Vec<_>>(), &[])
}

/// Accepts what the snapshots show.
pub fn bless() -> anyhow::Result<()> {
    run_tests(&[("UPDATE_EXPECT", "1")])
}

/// Builds all tests, runs them, and the examples of the documentation.
fn run_tests(environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut tests = build()?;
    let rank = |name: &str| LONG.iter().position(|long| *long == name).unwrap_or(LONG.len());
    tests.sort_by_key(|tests| rank(&tests.name));
    let (count, started) = (tests.len(), Instant::now());
    let processors = std::thread::available_parallelism()?.get();
    let (queue, failures) = (Mutex::new(VecDeque::from(tests)), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some(tests) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    if let Err(error) = one(&tests, environment)
                        && let Ok(mut failures) = failures.lock()
                    {
                        failures.push(format!("{}: {error:#}", tests.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    anyhow::ensure!(failures.is_empty(), "{} of {count} programs failed:\n{}", failures.len(), failures.join("\n"));
    eprintln!("{count} programs of tests passed in {:.0} s", started.elapsed().as_secs_f64());
    crate::run("cargo", &["test", "--workspace", "--locked", "--doc"], environment)
}

/// Builds the tests of the workspace.
fn build() -> anyhow::Result<Vec<Tests>> {
    let arguments = ["test", "--workspace", "--locked", "--no-run", "--message-format", "json-render-diagnostics"];
    eprintln!("+ cargo {}", arguments.join(" "));
    let mut cargo = Command::new("cargo");
    let built = cargo.args(arguments).envs([crate::AT_ONCE]).current_dir(root()).stderr(Stdio::inherit()).output()?;
    anyhow::ensure!(built.status.success(), "the tests do not build");
    let lines = String::from_utf8(built.stdout)?;
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // The examples of the library assert what they show.
    let of_library = |manifest: &str| manifest.ends_with("crates/cyrano/Cargo.toml");
    let shows = |message: &Value| {
        message["target"]["kind"][0] == "example" && message["manifest_path"].as_str().is_some_and(of_library)
    };
    let runs = |message: &Value| message["profile"]["test"] == true || shows(message);
    let tests = messages.filter(runs).filter_map(|message| {
        Some(Tests {
            name: message["target"]["name"].as_str()?.to_owned(),
            program: message["executable"].as_str()?.into(),
            folder: PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned(),
        })
    });
    Ok(tests.collect())
}

/// Runs one program of tests; what it says is shown when it fails.
fn one(tests: &Tests, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut command = Command::new(&tests.program);
    command.arg("--test-threads=1").current_dir(&tests.folder).env("CARGO_MANIFEST_DIR", &tests.folder);
    let output = command.envs(environment.iter().copied()).output().context("it cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let result = text.lines().rev().find_map(|line| line.strip_prefix("test result: ")).unwrap_or("no result");
    let passed = result.split(';').next().unwrap_or(result);
    eprintln!("{:6.1} s  {} ({passed})", started.elapsed().as_secs_f64(), tests.name);
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.starts_with("skipped:")).for_each(|line| eprintln!("          {line}"));
    if !output.status.success() {
        eprintln!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
        anyhow::bail!("{}", output.status);
    }
    Ok(())
}

/// The report page in a browser, with the program that the tests built.
fn run_viewer_tests() -> anyhow::Result<()> {
    crate::run("viewer/test.sh", &[], &[("CYRANO", &built())])
}

/// The language server, with that program and the client library that editors use.
fn run_editor_tests() -> anyhow::Result<()> {
    crate::run("editors/test.sh", &[], &[("CYRANO", &built())])
}

/// The program that the tests built.
fn built() -> String {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    root().join(target).join("debug").join("cyrano").to_string_lossy().into_owned()
}
