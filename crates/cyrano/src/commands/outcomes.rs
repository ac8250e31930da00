//! `cyrano outcomes`.

use cyrano_engine::{Cause, Query, Question, Refusal, Verdict, vacuity};
use cyrano_memory::Model;
use cyrano_report::{OutcomesReport, outcomes_json, outcomes_text};

use crate::args::{Format, OutcomesArgs};
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::program::{self, Loaded};
use crate::progress::Meter;
use crate::run::{self, Answered, Runner, VERSION};
use crate::select::default_model;
use crate::{console, models};

/// Runs the command.
pub fn run(args: &OutcomesArgs) -> Result<u8, Failure> {
    let color = args.output.color;
    let mut models = models::resolve_all(&args.run.model, color)?;
    if models.is_empty() {
        models.push(default_model());
    }
    let loaded = program::load_all(&args.file, &args.run.set, &args.tests, color)?;
    let jobs: Vec<(&Loaded, &Model)> = loaded.iter().flat_map(|l| models.iter().map(move |model| (l, model))).collect();
    let runner = Runner::new(&args.run, jobs.len())?;
    let meter = Meter::new(jobs.len(), &args.run, &args.output);
    let reports = runner.map(&jobs, |at, (loaded, model)| {
        let report = one(&runner, loaded, model, &meter, at)?;
        meter.done(at, report.stats.map_or(0, |stats| stats.states));
        Ok(report)
    });
    meter.finish();
    let reports = reports?;
    let text = match args.output.format {
        other @ (Format::Sarif | Format::Junit) => return Err(other.is_for_verdicts()),
        Format::Json => outcomes_json(&reports, VERSION),
        Format::Text => outcomes_text(&reports, !args.output.quiet, console::style(&args.output)),
    };
    let outputs = Outputs::new(&args.output);
    outputs.print(&text);
    Ok(outputs.exit(super::exit_code(reports.iter().map(|report| report.verdict))))
}

fn one(runner: &Runner, loaded: &Loaded, model: &Model, meter: &Meter, job: usize) -> Result<OutcomesReport, Failure> {
    let loaded = &*loaded.for_question(None);
    let Answered { engine, note, mut answer, .. } = match Query::new(&loaded.program, model, Question::Outcomes) {
        // Other tests of the file may have outcomes under this model.
        Err(why @ Refusal::OnlyInOrder { .. }) => run::unasked(Cause::Refused(why)),
        _ => runner.ask(loaded.query(model, Question::Outcomes)?, &meter.watch(job)),
    };
    if answer.verdict == Verdict::Verified && answer.outcomes.is_empty() {
        answer.verdict = Verdict::Vacuous;
        answer.reason = Some(Cause::Nothing(vacuity::NO_END));
    }
    Ok(OutcomesReport {
        file: loaded.source.name.clone(),
        test: loaded.test_name(),
        model: model.name.clone(),
        stats: engine.is_some().then_some(answer.stats),
        engine,
        engine_note: note,
        verdict: answer.verdict,
        reason: answer.reason.map(|cause| cause.to_string()),
        columns: loaded.program.observed.iter().map(|observable| observable.name.clone()).collect(),
        outcomes: answer.outcomes,
    })
}
