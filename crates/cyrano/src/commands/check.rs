//! `cyrano check`.

use cyrano_certificate::print;
use cyrano_criteria::criterion::Progress;
use cyrano_criteria::table::Claim;
use cyrano_explore::Explore;
use cyrano_memory::Model;
use cyrano_report::{CheckReport, Results, RunReport, checks_html};
use cyrano_session::{
    Case, EngineName, Failure, Files, Inputs, Selected, Shard, Subject, VERSION, leave_out_nothing, select,
    select_fitting,
};
use cyrano_trace::Trace;

use crate::args::CheckArgs;
use crate::outputs::Outputs;
use crate::source::{self, Disk};
use crate::{cluster, command_line, console, models, progress, specs, traces};

/// The option for certificates.
const CERTIFICATE: &str = "--certificate";

/// The text of a certificate, or why there is none; nothing for an answer that needs none.
type Written = Option<Result<String, String>>;

/// What comes of a check.
type Checked = (CheckReport, Written);

struct Job {
    subject: usize,
    selected: Selected,
}

impl Job {
    /// What it asks about progress.
    fn progress(&self) -> &'static [Progress] {
        match self.selected {
            Selected::Run(Claim::Progress(progress), _) => progress,
            _ => &[],
        }
    }
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<u8, Failure> {
    let (subjects, mut jobs) = gather(args)?;
    let report = |shard: Shard| Ok(shard.report(jobs.len(), inputs(args, &subjects, &jobs)?, command_line::now()));
    let shard = args.shard.map(report).transpose()?;
    if let Some(shard) = args.shard {
        jobs = shard.part(jobs);
    }
    if args.part.is_some() && args.run.engine != Some(EngineName::Graphs) {
        return Err(Failure::input("--part is for --engine graphs: only executions are counted, not states"));
    }
    let large = args.large.wanted(&args.run, jobs.len())?;
    let outputs = outputs(args)?;
    let runner = args
        .run
        .runner(jobs.len())?
        .with_part(args.part)
        .with_large(large)
        .on_gpu(args.large.device(&args.run)?)
        .expecting(jobs.iter().flat_map(Job::progress).copied());
    let join = |explore: &Explore, workers: usize| {
        let inputs = || inputs(args, &subjects, &jobs);
        cluster::join(&args.cluster, &args.run, &args.output, explore, workers, inputs)
    };
    let runner = runner.in_cluster(join)?;
    let states = |(report, _): &Checked| report.stats.map_or(0, |stats| stats.states);
    let checked = progress::map(&runner, &jobs, (&args.run, &args.output), states, |job, watch| {
        let report = subjects[job.subject].check(&runner, &job.selected, watch)?;
        let certify = |_| subjects[job.subject].certificate(&runner, &job.selected, &report, watch);
        let certificate = args.certificate.as_ref().and_then(certify);
        Ok((report, certificate.map(|certificate| certificate.map(|certificate| print(&certificate)))))
    })?;
    let (reports, certificates): (Vec<_>, Vec<_>) = checked.into_iter().unzip();
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
    write_certificates(args, &outputs, &reports, &certificates);
    Ok(outputs.exit(exit))
}

/// The files that the run will write.
fn outputs(args: &CheckArgs) -> Result<Outputs, Failure> {
    [&args.cluster.cluster, &args.cluster.cluster_key].into_iter().flatten().for_each(|path| source::is_input(path));
    let outputs = Outputs::new(&args.output);
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, args.save_trace.as_deref(), &args.drawings)?;
    outputs.claim(CERTIFICATE, args.certificate.as_deref())?;
    Ok(outputs)
}

/// Writes the certificates, and says which verified answer has none and why.
fn write_certificates(args: &CheckArgs, outputs: &Outputs, reports: &[CheckReport], certificates: &[Written]) {
    let Some(path) = &args.certificate else { return };
    let mut number = 0;
    for (report, certificate) in reports.iter().zip(certificates) {
        match certificate {
            None => {}
            Some(Ok(text)) => {
                number += 1;
                outputs.save(CERTIFICATE, &traces::numbered(path, number), "certificate saved to", text);
            }
            Some(Err(why)) => {
                let test = report.test.as_ref().map(|test| format!(", test {test}")).unwrap_or_default();
                let model = report.model.as_ref().map(|model| format!(" on {model}")).unwrap_or_default();
                console::error(&format!(
                    "warning: no certificate of {}{model} for {}{test}: {why}",
                    report.criterion, report.file
                ));
            }
        }
    }
    if certificates.iter().all(Option::is_none) {
        console::note(&args.output, "no certificate to save: no check was verified");
    }
}

/// Compiles every file and selects its checks; whatever is wrong with any of them is said at once.
fn gather(args: &CheckArgs) -> Result<(Vec<Subject>, Vec<Job>), Failure> {
    let models = models::resolve_all(&args.run.model)?;
    let criteria = specs::resolve_all(&args.criterion)?;
    let reference = args.reference.as_deref();
    let wanted = args.tests.wanted_for(&criteria, reference.is_some());
    let files = args.run.files(&args.files)?;
    let loaded = files.iter().flat_map(|name| {
        let subjects = Subject::load(&Disk, name, &args.run.set, &wanted, reference);
        subjects.map_or_else(|failure| vec![Err(failure)], |subjects| subjects.into_iter().map(Ok).collect())
    });
    // It only says which engine would be asked.
    let anybody = args.run.runner(1)?;
    let selected = loaded.map(|subject| {
        let subject = subject?;
        let checks = if models::are_all(&args.run.model) {
            let (checks, others) = select_fitting(&anybody, &subject.case, &criteria, &models, &Disk)?;
            without(args, &subject.case, &others);
            checks
        } else {
            select(&subject.case, &criteria, &models, &Disk)?
        };
        Ok((checks, subject))
    });
    let (mut checks, subjects): (Vec<_>, Vec<_>) = Failure::all(selected)?.into_iter().unzip();
    let files: Vec<&str> = subjects.iter().map(|Subject { case, .. }| case.source.name.as_str()).collect();
    leave_out_nothing(&files, &mut checks);
    let numbered = checks.into_iter().enumerate();
    let jobs = numbered.flat_map(|(subject, checks)| checks.into_iter().map(move |selected| Job { subject, selected }));
    Ok((subjects, jobs.collect()))
}

/// Says on which of all models a file is not checked.
fn without(args: &CheckArgs, case: &Case, others: &[Model]) {
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|model| model.name.as_str()).collect();
        let of =
            case.test_name().map_or_else(|| case.source.name.clone(), |test| format!("{test} of {}", case.source.name));
        console::note(
            &args.output,
            &format!("{of} cannot be checked on {}; `--model NAME` says why", names.join(", ")),
        );
    }
}

/// What the checks depend on.
fn inputs(args: &CheckArgs, subjects: &[Subject], jobs: &[Job]) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::default();
    for Subject { case, .. } in subjects {
        let file = &case.source.name;
        inputs.add(file, &case.source.text);
        if let Some(test) = &case.test {
            inputs.add(file, &test.name);
            inputs.add(file, &test.tests);
            test.includes.values().for_each(|text| inputs.add(file, text));
        }
    }
    for job in jobs {
        // The model with all its parameters: it may come from a file.
        inputs.add(&subjects[job.subject].case.source.name, &format!("{:?}", job.selected));
    }
    if let Some(reference) = &args.reference {
        inputs.add(reference, &Disk.open(reference)?.text);
    }
    Ok(inputs)
}
