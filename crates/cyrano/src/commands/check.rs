//! `cyrano check`.

use cyrano_engine::Verdict;
use cyrano_explore::Explore;
use cyrano_report::{CheckReport, Results, RunReport, checks_html};
use cyrano_trace::Trace;

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::large::Large;
use crate::outputs::Outputs;
use crate::program::{self, Loaded};
use crate::progress::Meter;
use crate::run::{Runner, VERSION};
use crate::select::{Selected, select};
use crate::shard::Inputs;
use crate::specification::Specification;
use crate::{atomicity, cluster, models, source, traces};

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
    let (subjects, mut jobs) = gather(args)?;
    let shard = args.shard.map(|shard| Ok(shard.report(jobs.len(), inputs(args, &subjects, &jobs)?))).transpose()?;
    if let Some(shard) = args.shard {
        jobs = shard.part(jobs);
    }
    let large = Large::wanted(&args.large, &args.run, jobs.len())?;
    let outputs = outputs(args)?;
    let runner = Runner::new(&args.run, jobs.len())?.with_large(large);
    let join = |explore: &Explore, workers: usize| {
        let inputs = || inputs(args, &subjects, &jobs);
        cluster::join(&args.cluster, &args.run, &args.output, explore, workers, inputs)
    };
    let runner = runner.in_cluster(join)?;
    let meter = Meter::new(jobs.len(), &args.run, &args.output);
    let reports = runner.map(&jobs, |at, job| {
        let report = one(&runner, &subjects[job.subject], &job.selected, &meter, at);
        let states = report.as_ref().ok().and_then(|report| report.stats).map_or(0, |stats| stats.states);
        meter.done(at, states);
        report
    });
    meter.finish();
    let reports = reports?;
    let report = RunReport { results: Results::Checks(&reports), version: VERSION, shard: shard.as_ref() };
    let exit = super::exit_code_of(&report, false);
    if let Some(cluster) = runner.cluster() {
        cluster::conclude(cluster, reports.iter().map(|report| report.verdict), &args.output);
        if cluster.process() > 0 {
            return Ok(exit);
        }
    }
    outputs.print(&super::render(&report, exit, &args.output, false));
    let shown: Vec<&Trace> = reports.iter().filter_map(|report| report.trace.as_ref()).collect();
    super::view::save(&outputs, args.html.as_deref(), || checks_html(&reports, VERSION));
    traces::write(&outputs, &shown, args.save_trace.as_deref(), &args.drawings, &args.output);
    Ok(outputs.exit(exit))
}

/// The files that the run will write.
fn outputs(args: &CheckArgs) -> Result<Outputs, Failure> {
    [&args.cluster.cluster, &args.cluster.cluster_key].into_iter().flatten().for_each(|path| source::is_input(path));
    let outputs = Outputs::new(&args.output);
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, args.save_trace.as_deref(), &args.drawings)?;
    Ok(outputs)
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

/// What the checks depend on.
fn inputs(args: &CheckArgs, subjects: &[Subject], jobs: &[Job]) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::default();
    for Subject { loaded, .. } in subjects {
        let file = &loaded.source.name;
        inputs.add(file, &loaded.source.text);
        if let Some(test) = &loaded.test {
            inputs.add(file, &test.name);
            inputs.add(file, &test.tests);
            test.includes.values().for_each(|text| inputs.add(file, text));
        }
    }
    for job in jobs {
        // The model with all its parameters: it may come from a file.
        inputs.add(&subjects[job.subject].loaded.source.name, &format!("{:?}", job.selected));
    }
    if let Some(reference) = &args.reference {
        inputs.add(reference, &source::program(reference)?.text);
    }
    Ok(inputs)
}

/// The programs of a file: one, or one for each test.
fn subjects_of(args: &CheckArgs, name: &str) -> Result<Vec<Subject>, Failure> {
    let color = args.output.color;
    let tests = args.tests.compared_with(args.reference.as_deref());
    let loaded = program::load_all(name, &args.run.set, &tests, color)?;
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
            caveats: Vec::new(),
            specification: None,
            clients: None,
            blocks: Vec::new(),
            unreached: Vec::new(),
            clauses: None,
            stats: None,
            reductions: Vec::new(),
            trace: None,
            minimised: None,
            explanation: None,
        }),
    }
}
