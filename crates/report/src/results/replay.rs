//! The result of replaying a saved trace.

use cyrano_trace::{Misfit, Trace};

use crate::draw::lanes::trace_text;
use crate::results::json::{document, object};
use crate::style::{Paint, Style, hang};

/// What became of a saved trace.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    /// The trace, rebuilt from the replay if that succeeded.
    pub trace: Trace,
    /// The later version of the program that it was replayed against, if it was not its own.
    pub against: Option<String>,
    /// Why it does not fit any more; `None` if it was confirmed.
    pub misfit: Option<Misfit>,
}

/// The result as one JSON object (`cyrano.replay/1`).
pub fn replay_json(report: &ReplayReport, version: &str) -> String {
    let members = object! {
        "confirmed": report.misfit.is_none(),
        "against": &report.against,
        "reason": report.misfit.as_ref().map(|misfit| &misfit.sentence),
        "misfit": &report.misfit,
        "trace": &report.trace,
    };
    document("cyrano.replay/1", version, members)
}

/// The result as text; `details` asks for the execution too.
pub fn replay_text(report: &ReplayReport, details: bool, style: Style) -> String {
    let mut out = String::new();
    let trace = &report.trace;
    let property = match &trace.property.condition {
        _ if trace.claims_nothing() => "steps taken by hand".to_owned(),
        Some(condition) => format!("{} ({condition})", trace.property.criterion),
        None => trace.property.criterion.clone(),
    };
    let heading = format!("{property} on {} ({})", trace.model.name, trace.program.file);
    let against = report.against.as_ref().map(|file| format!(" against {file}")).unwrap_or_default();
    let Some(misfit) = &report.misfit else {
        if details {
            out.push_str(&style.paint(Paint::Strong, &heading));
            out.push_str("\n\n");
            out.push_str(&trace_text(trace, style));
            out.push('\n');
        }
        let steps = trace.steps.len();
        hang(&mut out, "", &format!("confirmed{against}: {heading}, {steps} steps"), style);
        return out;
    };
    hang(&mut out, "", &format!("not confirmed{against}: {heading}"), style);
    match (&misfit.expected, &misfit.found, misfit.step) {
        (Some(expected), Some(found), Some(step)) => {
            let thread = misfit.thread.as_deref().unwrap_or("the thread");
            hang(&mut out, "  ", &format!("step {step} of {thread} is the first that does not fit"), style);
            hang(&mut out, "    recorded: ", expected, style);
            hang(&mut out, "    now:      ", found, style);
        }
        _ => hang(&mut out, "  ", &misfit.sentence, style),
    }
    out
}
