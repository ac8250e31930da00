//! `cyrano check`.

use std::path::{Path, PathBuf};

use cyrano_engine::Verdict;
use cyrano_report::{CheckReport, checks_json, checks_text};
use cyrano_trace::Trace;

use crate::args::{CheckArgs, Format};
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::progress::Meter;
use crate::run::{Runner, VERSION};
use crate::select::{Selected, select};
use crate::specification::Specification;
use crate::{console, models};

/// A program to check, and what its observations are compared with.
struct Subject {
    loaded: Loaded,
    specification: Specification,
}

struct Job {
    subject: usize,
    selected: Selected,
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<u8, Failure> {
    let (subjects, jobs) = gather(args)?;
    let runner = Runner::new(&args.run, jobs.len())?;
    let meter = Meter::new(jobs.len(), &args.run, &args.output);
    let reports = runner.map(&jobs, |at, job| {
        let report = one(&runner, &subjects[job.subject], &job.selected, &meter, at);
        let states = report.as_ref().ok().and_then(|report| report.stats).map_or(0, |stats| stats.states);
        meter.done(at, states);
        report
    });
    meter.finish();
    let reports = reports?;
    let text = match args.output.format {
        Format::Json => checks_json(&reports, VERSION),
        Format::Text => checks_text(&reports, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    save(args, &reports)?;
    Ok(super::exit_code(reports.iter().map(|report| report.verdict)))
}

/// Compiles every file and selects its checks; whatever is wrong with any of them is said at once.
fn gather(args: &CheckArgs) -> Result<(Vec<Subject>, Vec<Job>), Failure> {
    let color = args.output.color;
    let models = models::resolve_all(&args.run.model, color)?;
    let mut subjects = Vec::new();
    let mut jobs = Vec::new();
    let mut errors = Vec::new();
    for name in &args.files {
        match subjects_of(args, name) {
            Ok(found) => {
                for subject in found {
                    match select(&subject.loaded, &args.criterion, &models, color) {
                        Ok(checks) => {
                            let job = |selected| Job { subject: subjects.len(), selected };
                            jobs.extend(checks.into_iter().map(job));
                            subjects.push(subject);
                        }
                        Err(failure) => errors.push(failure.message().to_owned()),
                    }
                }
            }
            Err(failure) => errors.push(failure.message().to_owned()),
        }
    }
    errors.dedup();
    if errors.is_empty() { Ok((subjects, jobs)) } else { Err(Failure::Input(errors.join("\n"))) }
}

/// The programs of a file: one, or one for each test.
fn subjects_of(args: &CheckArgs, name: &str) -> Result<Vec<Subject>, Failure> {
    let color = args.output.color;
    let loaded = program::load_all(name, &args.run.set, &args.tests, color)?;
    let subject = |loaded: Loaded| {
        let specification = match &args.reference {
            None => Specification::default(),
            Some(reference) => Specification::of(program::load_reference(reference, &loaded, color)?),
        };
        Ok(Subject { loaded, specification })
    };
    loaded.into_iter().map(subject).collect()
}

fn one(
    runner: &Runner,
    subject: &Subject,
    selected: &Selected,
    meter: &Meter,
    job: usize,
) -> Result<CheckReport, Failure> {
    let Subject { loaded, specification } = subject;
    match selected {
        Selected::Run(property, model) => runner.check(loaded, property, model, &meter.watch(job)),
        Selected::Observations(model) => specification.check(runner, loaded, model, &meter.watch(job)),
        Selected::Nothing { criterion, reason } => Ok(CheckReport {
            file: loaded.source.name.clone(),
            test: loaded.test_name(),
            model: None,
            criterion: (*criterion).to_owned(),
            property: None,
            set: loaded.set.iter().cloned().collect(),
            engine: None,
            engine_note: None,
            instance: loaded.instance(),
            verdict: Verdict::Vacuous,
            reason: Some(reason.clone()),
            specification: None,
            clients: None,
            clauses: None,
            stats: None,
            reductions: Vec::new(),
            trace: None,
            explanation: None,
        }),
    }
}

fn save(args: &CheckArgs, reports: &[CheckReport]) -> Result<(), Failure> {
    let Some(path) = &args.save_trace else { return Ok(()) };
    let traces: Vec<&Trace> = reports.iter().filter_map(|report| report.trace.as_ref()).collect();
    if traces.is_empty() {
        console::note(&args.output, "no trace to save: no check showed an execution");
    }
    for (at, trace) in traces.iter().enumerate() {
        let path = numbered(path, at + 1);
        let written = std::fs::write(&path, trace.to_json());
        written.map_err(|error| Failure::input(format!("{}: cannot be written: {error}", path.display())))?;
        console::note(&args.output, &format!("trace saved to {}", path.display()));
    }
    Ok(())
}

/// `bug.json`, then `bug-2.json`, `bug-3.json`, ….
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let stem = part(path.file_stem()).unwrap_or_default();
    let ending = part(path.extension()).map(|ending| format!(".{ending}")).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_traces_are_numbered() {
        let check = |path: &str, number: usize, expected: &str| {
            assert_eq!(numbered(Path::new(path), number), Path::new(expected));
        };
        check("d/bug.json", 1, "d/bug.json");
        check("d/bug.json", 2, "d/bug-2.json");
        check("bug", 3, "bug-3");
    }
}
