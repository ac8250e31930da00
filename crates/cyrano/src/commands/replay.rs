//! `cyrano replay`: a saved trace is confirmed again, from nothing but itself.

use cyrano_report::{ReplayReport, replay_json, replay_text};
use cyrano_trace::{Parts, Trace};

use crate::args::{Format, ReplayArgs};
use crate::failure::Failure;
use crate::run::VERSION;
use crate::source::{self, Source};
use crate::{console, program};

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.trace)?;
    let unusable = |error| Failure::input(format!("{}: this trace cannot be used: {error}", saved.name));
    let trace = Trace::parse(&saved.text).map_err(unusable)?;
    let set: Vec<(String, i64)> = trace.program.set.clone().into_iter().collect();
    let text = trace.program.source.clone();
    let source = Source { name: trace.program.file.clone(), text, dir: None };
    let loaded = program::compile_saved(source, &set, trace.program.test.as_ref(), args.output.color)?;
    let model = trace.memory_model().map_err(unusable)?;
    let property = trace.find_property(&loaded.program).map_err(unusable)?;
    let loaded = loaded.for_question(Some(&property));
    let violation = trace.find_violation(&loaded.program).map_err(unusable)?;
    let execution = trace.execution().map_err(unusable)?;
    let confirmed = cyrano_interp::confirm(&loaded.program, &model, &property, violation.as_ref(), &execution);
    let report = match confirmed {
        Ok(replayed) => {
            let parts = Parts {
                version: &trace.tool.version,
                file: &loaded.source.name,
                source: &loaded.source.text,
                set: &set,
                test: loaded.test.as_ref(),
                program: &loaded.program,
                model: &model,
                property: &property,
                violation: violation.as_ref(),
                execution: &execution,
                replayed: &replayed,
            };
            let again = Trace::build(&parts);
            let misfit = trace.first_difference(&again);
            ReplayReport { trace: again, misfit }
        }
        Err(misfit) => ReplayReport { trace, misfit: Some(misfit.to_string()) },
    };
    let text = match args.output.format {
        Format::Json => replay_json(&report, VERSION),
        Format::Text => replay_text(&report, !args.output.quiet, console::style(&args.output)),
    };
    console::print(&text)?;
    Ok(u8::from(report.misfit.is_some()))
}
