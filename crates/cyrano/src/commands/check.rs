//! `cyrano check`.

use cyrano_engine::Verdict;
use cyrano_report::{CheckReport, checks_html, checks_json, checks_junit, checks_sarif, checks_text};
use cyrano_trace::Trace;

use crate::args::{CheckArgs, Format};
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::progress::Meter;
use crate::run::{Runner, VERSION};
use crate::select::{Selected, select};
use crate::specification::Specification;
use crate::{atomicity, console, models, traces};

/// A program to check, and what its observations are compared with.
struct Subject {
    loaded: Loaded,
    specification: Specification,
    atomicity: atomicity::Lazy,
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
    let exit = super::exit_code(reports.iter().map(|report| report.verdict));
    let text = match args.output.format {
        Format::Json => checks_json(&reports, VERSION),
        Format::Sarif => checks_sarif(&reports, exit, VERSION),
        Format::Junit => checks_junit(&reports),
        Format::Text => checks_text(&reports, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    let shown: Vec<&Trace> = reports.iter().filter_map(|report| report.trace.as_ref()).collect();
    super::view::save(args.html.as_deref(), &args.output, || checks_html(&reports, VERSION))?;
    traces::write(&shown, args.save_trace.as_deref(), &args.drawings, &args.output)?;
    Ok(exit)
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
        Ok(Subject { loaded, specification, atomicity: Default::default() })
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
    let Subject { loaded, specification, atomicity } = subject;
    match selected {
        Selected::Run(property, model) => runner.check(loaded, property, model, &meter.watch(job)),
        Selected::Observations(model) => specification.check(runner, loaded, model, &meter.watch(job)),
        Selected::Atomicity(model) => atomicity.of(loaded)?.check(runner, model, &meter.watch(job)),
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
            blocks: Vec::new(),
            clauses: None,
            stats: None,
            reductions: Vec::new(),
            trace: None,
            minimised: None,
            explanation: None,
        }),
    }
}
