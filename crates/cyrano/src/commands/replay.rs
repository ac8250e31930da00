//! `cyrano replay`: a saved trace is confirmed again, from nothing but itself; then, if the user asks, against a later version of its
//! program.

use cyrano_report::{replay_html, replay_json, replay_text};
use cyrano_session::replay::Own;
use cyrano_session::{Failure, VERSION};
use cyrano_trace::Trace;

use crate::args::ReplayArgs;
use crate::failure::BAD_INPUT;
use crate::outputs::Outputs;
use crate::{console, source, traces};

/// The exit code for a trace that fits its own program but not the later one.
const NO_LONGER: u8 = 1;

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.trace)?;
    let unusable = |error| Failure::input(format!("{}: this trace cannot be used: {error}", saved.name));
    let trace = Trace::parse(&saved.text).map_err(unusable)?;
    let own = Own::restore(trace, &unusable)?;
    args.source.iter().for_each(|name| source::is_input(name.as_ref()));
    let outputs = Outputs::new(&args.output);
    outputs.claim(super::view::HTML, args.html.as_deref())?;
    traces::claim(&outputs, None, &args.drawings)?;
    let mut report = own.replay();
    let mut exit = if report.misfit.is_some() { BAD_INPUT } else { 0 };
    if let (Some(name), 0) = (&args.source, exit) {
        report = own.replay_against(name, &source::Disk)?;
        exit = if report.misfit.is_some() { NO_LONGER } else { 0 };
    } else if exit == 0 {
        mention_changes(&own.trace, args);
    }
    outputs.plain(
        &args.output,
        || replay_json(&report, VERSION),
        |details, style| replay_text(&report, details, style),
    );
    super::view::save(&outputs, args.html.as_deref(), || replay_html(&report, VERSION));
    traces::write(&outputs, &[&report.trace], None, &args.drawings, &args.output);
    Ok(outputs.exit(exit))
}

/// Says that the file has changed since, if it has.
fn mention_changes(trace: &Trace, args: &ReplayArgs) {
    let name = &trace.program.file;
    let Ok(now) = cyrano_session::frontend::source(&source::Disk, name) else { return };
    if now.text != trace.program.source {
        let text = format!("note: {name} is no longer the program of this trace; --source {name} replays against it");
        console::note(&args.output, &text);
    }
}
