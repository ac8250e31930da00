//! Where somebody stands who steps through a program by hand, and what can be done there (`cyrano.stepping/1`).
//!
//! The steps so far are a trace like any other; an enabled step is told by the steps that it would add to that trace.

use cyrano_trace::{NamedValue, Step, Trace};
use serde::Serialize;

use crate::exchange::html::{Kind, page, title};
use crate::results::json::document_of;

/// Where somebody stands.
#[derive(Clone, Debug, Serialize)]
pub struct SteppingReport {
    /// The numbers of the steps taken.
    pub path: Vec<usize>,
    /// What is known about the place.
    pub state: SteppingState,
    /// The registers of each thread.
    pub registers: Vec<ThreadRegisters>,
    /// The values of the observed variables, once every thread is done.
    pub outcome: Vec<NamedValue>,
    /// The steps that can be taken.
    pub enabled: Vec<EnabledReport>,
    /// How many more there are.
    pub left_out: usize,
    /// Whether a thread has deferred as many accesses as it may.
    pub bounded: bool,
    /// The steps so far.
    pub trace: Trace,
    /// An execution that begins with them and replays on its own, where they alone do not: out of order, calls are under way.
    #[serde(skip)]
    pub whole: Option<Trace>,
}

/// What is known about a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppingState {
    /// There is a step to take.
    Open,
    /// Every thread has run to its end.
    Done,
    /// Something went wrong; the trace says what.
    Wrong,
    /// A thread stands at an assumption that does not hold.
    Stuck,
}

/// The registers of a thread at a place. Where the trace stops, a thread has run on only as far as this place says.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadRegisters {
    /// The thread's name.
    pub thread: String,
    /// Its registers; one without a value waits for a deferred load.
    pub values: Vec<NamedValue>,
}

/// A step that can be taken.
#[derive(Clone, Debug, Serialize)]
pub struct EnabledReport {
    /// The thread's name.
    pub thread: String,
    /// The line at which the thread stands.
    pub line: usize,
    /// The statement there.
    pub text: String,
    /// The values chosen in it.
    pub choices: Vec<i128>,
    /// The commands that a client of a transactional memory chooses in it.
    pub commands: Vec<String>,
    /// What it performs, as steps of the trace that it leads to.
    pub steps: Vec<Step>,
    /// What goes wrong in it, in a sentence.
    pub wrong: Option<String>,
}

/// The place as one JSON object (`cyrano.stepping/1`).
pub fn stepping_json(report: &SteppingReport, version: &str) -> String {
    document_of("cyrano.stepping/1", version, report)
}

/// The page on which steps are taken; it asks its server for `state` and `trace`, beside itself.
pub fn stepping_html(report: &SteppingReport, version: &str) -> String {
    let name = title(std::iter::once(report.trace.program.file.as_str()));
    page(&name, &stepping_json(report, version), &Kind::STEPPING)
}
