//! Public suites of litmus tests with published verdicts, which are not part of this repository.
//!
//! A table has a line `path,0` or `path,1` for each test: whether its condition holds. Paths are those below the folder that is given. Tests that are not there are
//! counted and left out; a test that the table and Cyrano decide differently is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::root;

/// How many tests one process gets; a command line has an end.
const BATCH: usize = 1500;

const USAGE: &str =
    "cargo xtask suites FOLDER TABLE [--exclude TEXT] [-- options of `cyrano litmus`, such as --model FILE]";

/// What is to be run.
struct Suite<'a> {
    folder: &'a Path,
    expected: BTreeMap<String, bool>,
    options: Vec<&'a str>,
}

/// Runs the tests of a table, prints how they went.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let [folder, table, rest @ ..] = arguments else { anyhow::bail!("{USAGE}") };
    let (exclude, options) = match rest {
        ["--exclude", text, "--", options @ ..] => (Some(*text), options.to_vec()),
        ["--exclude", text] => (Some(*text), Vec::new()),
        ["--", options @ ..] => (None, options.to_vec()),
        [] => (None, Vec::new()),
        _ => anyhow::bail!("{USAGE}"),
    };
    let text = std::fs::read_to_string(table).with_context(|| format!("{table} cannot be read"))?;
    let folder = Path::new(folder);
    let wanted = |path: &str| exclude.is_none_or(|text| !path.contains(text));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let rows = lines.filter_map(|line| line.rsplit_once(',')).filter(|(path, _)| wanted(path));
    let (there, missing): (Vec<_>, Vec<_>) = rows.partition(|(path, _)| folder.join(path).exists());
    let expected = there.into_iter().map(|(path, verdict)| (path.to_owned(), verdict.trim() == "1")).collect();
    if !missing.is_empty() {
        println!("{} tests of the table are not there", missing.len());
    }
    Suite { folder, expected, options }.report()
}

impl Suite<'_> {
    fn report(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        let reports = self.reports()?;
        let seconds = began.elapsed().as_secs_f64();
        let holds = |path: &String| reports.get(path).and_then(|report| report["holds"].as_bool());
        let accepted = self.expected.keys().filter(|path| holds(path).is_some()).count();
        let differs = |(path, expected): &(&String, &bool)| holds(path) == Some(!**expected);
        let wrong: Vec<&String> = self.expected.iter().filter(differs).map(|(path, _)| path).collect();
        let run = self.expected.len();
        let share = 100.0 * accepted as f64 / run.max(1) as f64;
        let each = 1000.0 * seconds / run.max(1) as f64;
        println!("{run} tests, {accepted} decided ({share:.1} %), {} wrong, {each:.1} ms each", wrong.len());
        self.undecided(&reports);
        wrong.iter().for_each(|path| println!("  wrong: {path}"));
        anyhow::ensure!(wrong.is_empty(), "{} tests are decided differently", wrong.len());
        Ok(())
    }

    /// Why tests were not decided, and how many each.
    fn undecided(&self, reports: &BTreeMap<String, Value>) {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for path in self.expected.keys() {
            let Some(report) = reports.get(path).filter(|report| report["holds"].is_null()) else { continue };
            let reason = report["reason"].as_str().unwrap_or("no reason").lines().next().unwrap_or_default();
            let reason =
                reason.split_once(": ").filter(|(place, _)| place.starts_with("line ")).map_or(reason, |(_, why)| why);
            *reasons.entry(reason).or_default() += 1;
        }
        reasons.iter().for_each(|(reason, count)| println!("  {count} undecided: {reason}"));
    }

    /// What Cyrano says about each test.
    fn reports(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let paths: Vec<&String> = self.expected.keys().collect::<BTreeSet<_>>().into_iter().collect();
        let mut reports = BTreeMap::new();
        for batch in paths.chunks(BATCH) {
            let mut command = Command::new(root().join("target/release/cyrano"));
            command.args(["litmus", "--format", "json", "--quiet"]).args(&self.options).args(batch);
            let output =
                command.current_dir(self.folder).output().context("run `cargo build --release -p cyrano` first")?;
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            let mut document: Value = serde_json::from_slice(&output.stdout).context(errors)?;
            let tests = document["tests"].as_array_mut().map(std::mem::take).unwrap_or_default();
            reports.extend(tests.into_iter().map(|test| (test["file"].as_str().unwrap_or_default().to_owned(), test)));
        }
        Ok(reports)
    }
}
