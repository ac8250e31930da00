//! `cyrano outcomes`.

use cyrano_memory::Model;
use cyrano_report::{OutcomesReport, outcomes_json, outcomes_text};
use cyrano_session::{Case, Failure, VERSION, default_model, frontend};

use crate::args::OutcomesArgs;
use crate::outputs::Outputs;
use crate::source::Disk;
use crate::{models, progress};

/// Runs the command.
pub fn run(args: &OutcomesArgs) -> Result<u8, Failure> {
    let mut models = models::resolve_all(&args.run.model)?;
    if models.is_empty() {
        models.push(default_model());
    }
    let cases = frontend::cases(&Disk, &args.run.file(&args.file)?, &args.run.set, &args.tests.wanted(false))?;
    let jobs: Vec<(&Case, &Model)> =
        cases.iter().flat_map(|case| models.iter().map(move |model| (case, model))).collect();
    let runner = args.run.runner(jobs.len())?;
    let states = |report: &OutcomesReport| report.stats.map_or(0, |stats| stats.states);
    let reports = progress::map(&runner, &jobs, (&args.run, &args.output), states, |(case, model), watch| {
        runner.outcomes(case, model, watch)
    })?;
    let outputs = Outputs::new(&args.output);
    outputs.plain(
        &args.output,
        || outcomes_json(&reports, VERSION),
        |details, style| outcomes_text(&reports, details, style),
    );
    Ok(outputs.exit(super::exit_code(reports.iter().map(|report| report.verdict))))
}
