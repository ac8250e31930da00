//! The result of replaying a saved trace.

use cyrano_trace::{Tool, Trace};
use serde::Serialize;

use crate::json::{to_json, tool};
use crate::lanes::trace_text;
use crate::style::{Paint, Style, hang};

/// What became of a saved trace.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    /// The trace, rebuilt from the replay if that succeeded.
    pub trace: Trace,
    /// Why it does not fit any more; `None` if it was confirmed.
    pub misfit: Option<String>,
}

#[derive(Serialize)]
struct Replay<'a> {
    schema: &'static str,
    tool: Tool,
    confirmed: bool,
    reason: Option<&'a str>,
    trace: &'a Trace,
}

/// The result as one JSON object (`cyrano.replay/1`).
pub fn replay_json(report: &ReplayReport, version: &str) -> String {
    to_json(&Replay {
        schema: "cyrano.replay/1",
        tool: tool(version),
        confirmed: report.misfit.is_none(),
        reason: report.misfit.as_deref(),
        trace: &report.trace,
    })
}

/// The result as text; `details` asks for the execution too.
pub fn replay_text(report: &ReplayReport, details: bool, style: Style) -> String {
    let mut out = String::new();
    let trace = &report.trace;
    let property = match &trace.property.condition {
        Some(condition) => format!("{} ({condition})", trace.property.criterion),
        None => trace.property.criterion.clone(),
    };
    let heading = format!("{property} on {} ({})", trace.model.name, trace.program.file);
    match &report.misfit {
        None => {
            if details {
                out.push_str(&style.paint(Paint::Strong, &heading));
                out.push_str("\n\n");
                out.push_str(&trace_text(trace, style));
                out.push('\n');
            }
            hang(&mut out, "", &format!("confirmed: {heading}, {} steps", trace.steps.len()), style.columns());
        }
        Some(misfit) => {
            hang(&mut out, "", &format!("not confirmed: {heading}"), style.columns());
            hang(&mut out, "  ", misfit, style.columns());
        }
    }
    out
}
