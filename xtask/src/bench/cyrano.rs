//! Cyrano: the program that is measured, how it is asked, and what it answers.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::measure::Run;
use super::models::{Constants, folder};
use super::process::{self, Finished, limited, run, succeed};

/// The reductions that stay on when there are to be none: they are what makes a step and a state, see `benches/spin/README.md`.
///
/// Remembered steps are no reduction: the states are the same.
const GRAIN: &[&str] = &["dead-registers", "macro-steps", "remembered-steps"];

/// The program and the reductions that it has.
pub struct Cyrano {
    program: PathBuf,
    reductions: Vec<String>,
}

/// How it is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Whether its reductions are on.
    pub reduced: bool,
    /// With how many threads; otherwise as it comes.
    pub workers: Option<usize>,
    /// How many seconds of processor time it may take.
    pub seconds: Option<u32>,
}

impl Asked {
    /// No reductions, one core.
    pub const PLAIN: Self = Self { reduced: false, workers: Some(1), seconds: None };
    /// As it comes.
    pub const BEST: Self = Self { reduced: true, workers: None, seconds: None };
}

impl Cyrano {
    /// The program that `CYRANO` names, or a fresh build of the profile `dist`.
    pub fn provide() -> anyhow::Result<Self> {
        let program = match std::env::var_os("CYRANO") {
            Some(named) if PathBuf::from(&named).components().count() > 1 => std::path::absolute(PathBuf::from(named))?,
            Some(named) => PathBuf::from(named),
            None => build()?,
        };
        let mut command = Command::new(&program);
        command.args(["check", "--help"]);
        let help = succeed(command).context("the program to be measured")?.out;
        let reductions = listed(&help);
        ensure!(!reductions.is_empty(), "`check --help` lists no values of --no-reduction:\n{help}");
        Ok(Self { program, reductions })
    }

    fn command(&self, model: &str, constants: &Constants, asked: Asked) -> Command {
        let mut command = limited(&self.program, asked.seconds);
        command.arg("check").arg(folder().join(format!("{model}.rml")));
        command.args([
            "--criterion",
            "assertions",
            "--model",
            "sc",
            "--engine",
            "explore",
            "--quiet",
            "--format",
            "json",
        ]);
        let off = self.reductions.iter().filter(|name| !asked.reduced && !GRAIN.contains(&name.as_str()));
        command.args(off.flat_map(|name| ["--no-reduction", name]));
        if let Some(workers) = asked.workers {
            command.args(["--workers", &workers.to_string()]);
        }
        command.args(constants.iter().flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]));
        command
    }

    /// One run; nothing if it needs more than the limits.
    pub fn try_run(&self, model: &str, constants: &Constants, asked: Asked) -> anyhow::Result<Option<Run>> {
        read(run(self.command(model, constants, asked))?, asked).with_context(|| format!("{model}, Cyrano"))
    }

    /// One run without limits.
    pub fn run(&self, model: &str, constants: &Constants, asked: Asked) -> anyhow::Result<Run> {
        self.try_run(model, constants, asked)?.with_context(|| format!("{model}: Cyrano did not finish"))
    }

    /// Two runs at the same time; the seconds until both are done.
    pub fn run_twice(&self, model: &str, constants: &Constants, asked: Asked) -> anyhow::Result<f64> {
        let began = std::time::Instant::now();
        let command = || self.command(model, constants, asked);
        let both = [process::start(command())?, process::start(command())?];
        let done = both.map(process::Started::finish);
        let seconds = began.elapsed().as_secs_f64();
        for done in done {
            read(done?, asked)?.with_context(|| format!("{model}: Cyrano did not finish"))?;
        }
        Ok(seconds)
    }
}

fn build() -> anyhow::Result<PathBuf> {
    crate::run("cargo", &["build", "--profile", "dist", "--locked", "--package", "cyrano"], &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(crate::root().join(target).join("dist").join("cyrano"))
}

/// The values of `--no-reduction`, as the help lists them: `- NAME: …` up to the next empty line; but for `all`, which would take away the grain, too.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim).skip_while(|line| !line.starts_with("--no-reduction"));
    let values =
        lines.skip_while(|line| !line.starts_with("Possible values:")).skip(1).take_while(|line| !line.is_empty());
    let names = values.filter_map(|line| line.strip_prefix("- ")?.split(':').next());
    names.filter(|name| *name != "all").map(str::to_owned).collect()
}

fn read(done: Finished, asked: Asked) -> anyhow::Result<Option<Run>> {
    if done.code.is_none() && asked.seconds.is_some() {
        return Ok(None);
    }
    let report: Value = serde_json::from_str(&done.out)
        .with_context(|| format!("exit code {:?}\n{}{}", done.code, done.out, done.err))?;
    let check = &report["checks"][0];
    match check["verdict"].as_str() {
        Some("verified") => {}
        Some("unknown") if asked.seconds.is_some() => return Ok(None),
        verdict => bail!("the verdict is {verdict:?}: {}", check["reason"]),
    }
    let reductions = check["reductions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let more: Vec<&str> = reductions.iter().filter_map(Value::as_str).filter(|name| !GRAIN.contains(name)).collect();
    ensure!(asked.reduced || more.is_empty(), "reductions in effect that should be off: {}", more.join(", "));
    let count = |field: &str| check[field].as_u64().with_context(|| format!("no `{field}` in the report"));
    let bytes = count("peak_bytes")? as f64;
    Ok(Some(Run { states: count("states")?, transitions: count("transitions")?, bytes, usage: done.usage }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::process::Usage;

    #[test]
    fn reductions_are_read_from_the_help() {
        let help = "      --engine <E>\n\n          Possible values:\n          - auto: takes one\n\n      --no-reduction <NAME>\n          \
                    Off\n\n          Possible values:\n          - movers:   Atomic blocks whose steps\n            move\n          \
                    - ample: Some\n          - all: All of these\n\n      --other\n          - nothing: here\n";
        assert_eq!(listed(help), ["movers", "ample"]);
        assert!(listed("--quiet").is_empty());
    }

    fn answer(verdict: &str, reduction: &str, asked: Asked) -> anyhow::Result<Option<Run>> {
        let out = format!(
            r#"{{"checks":[{{"verdict":"{verdict}","reductions":["macro-steps","{reduction}"],"states":5,"transitions":7,"peak_bytes":9}}]}}"#
        );
        read(Finished { code: Some(0), out, err: String::new(), usage: Usage::default() }, asked)
    }

    #[test]
    fn only_a_verdict_counts_and_only_with_the_reductions_that_were_asked_for() {
        let run = answer("verified", "dead-registers", Asked::PLAIN).expect("is fine").expect("finished");
        assert_eq!((run.states, run.transitions, run.bytes), (5, 7, 9.0));
        assert!(answer("verified", "movers", Asked::PLAIN).is_err());
        assert!(answer("verified", "movers", Asked::BEST).is_ok());
        assert!(answer("violated", "movers", Asked::BEST).is_err());
        assert!(answer("unknown", "movers", Asked::BEST).is_err());
        let limited = Asked { seconds: Some(3), ..Asked::BEST };
        assert!(answer("unknown", "movers", limited).expect("is fine").is_none());
    }
}
