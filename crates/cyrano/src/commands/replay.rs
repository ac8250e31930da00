//! `cyrano replay`: a saved trace is confirmed again, from nothing but itself; then, if the user asks, against a later version of its
//! program.

use cyrano_report::{replay_html, replay_json, replay_text};
use cyrano_trace::Trace;

use crate::again::Own;
use crate::args::{Format, ReplayArgs};
use crate::failure::{BAD_INPUT, Failure};
use crate::outputs::Outputs;
use crate::run::VERSION;
use crate::{console, source, traces};

/// The exit code for a trace that fits its own program but not the later one.
const NO_LONGER: u8 = 1;

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.trace)?;
    let unusable = |error| Failure::input(format!("{}: this trace cannot be used: {error}", saved.name));
    let trace = Trace::parse(&saved.text).map_err(unusable)?;
    let own = Own::restore(trace, args.output.color, &unusable)?;
    args.source.iter().for_each(|name| source::is_input(name.as_ref()));
    let outputs = Outputs::new(&args.output);
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, None, &args.drawings)?;
    let mut report = own.replay();
    let mut exit = if report.misfit.is_some() { BAD_INPUT } else { 0 };
    if let (Some(name), 0) = (&args.source, exit) {
        report = own.replay_against(name, args.output.color)?;
        exit = if report.misfit.is_some() { NO_LONGER } else { 0 };
    } else if exit == 0 {
        mention_changes(&own.trace, args);
    }
    let text = match args.output.format {
        other @ (Format::Sarif | Format::Junit) => return Err(other.is_for_verdicts()),
        Format::Json => replay_json(&report, VERSION),
        Format::Text => replay_text(&report, !args.output.quiet, console::style(&args.output)),
    };
    outputs.print(&text);
    super::view::save(&outputs, args.html.as_deref(), || replay_html(&report, VERSION));
    traces::write(&outputs, &[&report.trace], None, &args.drawings, &args.output);
    Ok(outputs.exit(exit))
}

/// Says that the file has changed since, if it has.
fn mention_changes(trace: &Trace, args: &ReplayArgs) {
    let name = &trace.program.file;
    let Ok(now) = source::program(name) else { return };
    if now.text != trace.program.source {
        let text = format!("note: {name} is no longer the program of this trace; --source {name} replays against it");
        console::note(&args.output, &text);
    }
}
