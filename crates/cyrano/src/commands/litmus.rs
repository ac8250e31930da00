//! `cyrano litmus`: tests in herd's format, many at a time.

use std::collections::BTreeMap;
use std::path::Path;

use cyrano_engine::Verdict;
use cyrano_memory::Model;
use cyrano_report::{LitmusReport, Results, RunReport};
use cyrano_session::litmus::{Ask, Litmus};
use cyrano_session::{Failure, Inputs, Shard, Source, VERSION};

use super::litmus_graphs;
use crate::args::{LitmusArgs, LitmusCommand};
use crate::failure::{BAD_INPUT, INTERNAL};
use crate::outputs::Outputs;
use crate::{command_line, litmus, models, progress, source};

/// One test under one model.
type Job<'a> = (&'a Litmus, Model);

/// Runs the command.
pub fn run(args: &LitmusArgs) -> Result<u8, Failure> {
    if let Some(LitmusCommand::Generate(args)) = &args.command {
        return super::litmus_generate::run(args);
    }
    let chosen = models::resolve_all(&args.run.model)?;
    let expected = args.expect.as_deref().map(expectations).transpose()?.unwrap_or_default();
    let tests: Vec<Litmus> = litmus::gather(&args.paths)?.into_iter().map(Litmus::new).collect();
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for test in &tests {
        // A test of no known architecture is refused under whatever model.
        let default = || test.default_model().or_else(|| cyrano_memory::named("sc"));
        let default = chosen.is_empty().then(default).flatten();
        jobs.extend(chosen.iter().cloned().chain(default).map(|model| (test, model)));
    }
    jobs.iter().try_for_each(|(test, model)| test.require(model))?;
    let report = |shard: Shard| Ok(shard.report(jobs.len(), inputs(args, &jobs)?, command_line::now()));
    let shard = args.shard.map(report).transpose()?;
    if let Some(shard) = args.shard {
        jobs = shard.part(jobs);
    }
    let runner = args.run.runner(jobs.len())?;
    let outputs = Outputs::new(&args.output);
    litmus_graphs::claim(&outputs, args)?;
    let graphs = args.verbose || args.dot.is_some() || args.svg.is_some();
    let ask = Ask { timeout: args.test_timeout, compare: args.compare, graphs };
    let reports = progress::map(
        &runner,
        &jobs,
        (&args.run, &args.output),
        |_| 0,
        |(test, model), watch| {
            let mut report = test.run(&runner, model, ask, watch)?;
            if chosen.is_empty() && test.default_model().is_none() {
                report.model = "-".to_owned();
            }
            expect(&mut report, &expected);
            Ok(report)
        },
    )?;
    let report = RunReport { results: Results::Litmus(&reports), version: VERSION, shard: shard.as_ref() };
    let exit = super::exit_code_of(&report, false);
    litmus_graphs::write(&outputs, args, &reports);
    outputs.print(&super::render(&report, exit, &args.output, false));
    Ok(outputs.exit(exit))
}

/// What the results depend on.
fn inputs(args: &LitmusArgs, jobs: &[Job<'_>]) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::default();
    for (test, model) in jobs {
        let source = test.source();
        inputs.add(&source.name, &source.text);
        // The model with all its parameters: it may come from a file.
        inputs.add(&source.name, &format!("{model:?}"));
    }
    if let Some(path) = &args.expect {
        inputs.add(&path.display().to_string(), &source::file(path)?.text);
    }
    Ok(inputs)
}

/// The exit code of the results; `missing` ones are undecided.
pub fn exit_code(reports: &[LitmusReport], missing: bool) -> u8 {
    let any = |wanted: fn(&LitmusReport) -> bool| reports.iter().any(wanted);
    if any(|report| report.disagreement.is_some()) {
        INTERNAL
    } else if any(|report| report.differs) {
        Verdict::Violated.exit_code()
    } else if missing || any(|report| report.observation.is_none() && !report.refused && !report.vacuous) {
        Verdict::Unknown.exit_code()
    } else if any(|report| report.refused) {
        BAD_INPUT
    } else if any(|report| report.vacuous) {
        Verdict::Vacuous.exit_code()
    } else {
        0
    }
}

/// The expectations of a file, by name and perhaps model.
type Expected = BTreeMap<(String, Option<String>), String>;

/// Reads lines `name verdict` or `name model verdict`; herd's lines `Observation name verdict …` will do too.
fn expectations(path: &Path) -> Result<Expected, Failure> {
    let file = source::file(path)?;
    let mut expected = Expected::new();
    for (at, line) in file.text.lines().enumerate() {
        let plain = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let (name, model, verdict) = match words.as_slice() {
            [] => continue,
            ["Observation", name, verdict, ..] => (*name, None, *verdict),
            [name, verdict] => (*name, None, *verdict),
            [name, model, verdict] => (*name, Some((*model).to_owned()), *verdict),
            _ => return Err(bad_line(&file, at, "expected `name verdict`")),
        };
        if accepts(verdict, &LitmusReport::default()).is_none() {
            let known = "Never, Sometimes, Always, Allowed, Forbidden, Required, Ok, No, Refused or Vacuous";
            return Err(bad_line(&file, at, &format!("`{verdict}` is not a verdict; expected {known}")));
        }
        expected.insert((name.to_owned(), model), verdict.to_owned());
    }
    Ok(expected)
}

fn bad_line(file: &Source, at: usize, what: &str) -> Failure {
    Failure::input(format!("{}: line {}: {what}", file.name, at + 1))
}

/// Whether a verdict fits a result; nothing if it is not a verdict at all.
fn accepts(verdict: &str, report: &LitmusReport) -> Option<bool> {
    let observation = report.observation;
    Some(match verdict.to_ascii_lowercase().as_str() {
        "never" | "sometimes" | "always" => observation.is_some_and(|found| found.eq_ignore_ascii_case(verdict)),
        "allowed" | "allow" => matches!(observation, Some("Sometimes" | "Always")),
        "forbidden" | "forbid" => observation == Some("Never"),
        "required" | "require" => observation == Some("Always"),
        "ok" => report.holds == Some(true),
        "no" => report.holds == Some(false),
        "refused" => report.refused,
        "vacuous" => report.vacuous,
        _ => return None,
    })
}

fn expect(report: &mut LitmusReport, expected: &Expected) {
    let own = expected.get(&(report.name.clone(), Some(report.model.clone())));
    let Some(verdict) = own.or_else(|| expected.get(&(report.name.clone(), None))) else { return };
    report.expected = Some(verdict.clone());
    report.differs = accepts(verdict, report) == Some(false);
}
