//! The result of checking a certificate (`cyrano.certify/1`).

use cyrano_certificate::{Checked, Found, Refused, Shown};
use serde::Serialize;

use crate::results::json::{document, object};
use crate::style::{Paint, Style, count, hang};

/// What became of a certificate.
#[derive(Clone, Debug)]
pub struct CertifyReport {
    /// The file of the certificate.
    pub name: String,
    /// The file that was checked.
    pub file: String,
    /// The test of that file, if it has tests.
    pub test: Option<String>,
    /// The constants that were given another value.
    pub set: Vec<(String, i128)>,
    /// What is claimed.
    pub criterion: String,
    /// The condition, where there is one.
    pub condition: Option<String>,
    /// The file whose serial executions its observations are compared with, if it is another one.
    pub reference: Option<String>,
    /// The model.
    pub model: String,
    /// Whether that is one that everybody has.
    pub built_in: bool,
    /// Whether a monitor of transactions is part of the states.
    pub monitored: bool,
    /// How many states or views the certificate has.
    pub states: usize,
    /// For every number of threads, how many members a view has.
    pub every_number: Option<usize>,
    /// How they were found.
    pub found: Found,
    /// What was checked, or why it is not accepted.
    pub checked: Result<Checked, Box<Refused>>,
    /// Seconds that the check took.
    pub seconds: f64,
}

impl CertifyReport {
    /// The words for what came of it.
    fn verdict(&self) -> &'static str {
        match &self.checked {
            Ok(_) => "accepted",
            Err(refused) if refused.stopped.is_some() => "unknown",
            Err(_) => "refused",
        }
    }

    /// The process exit code.
    pub fn exit_code(&self) -> u8 {
        match &self.checked {
            Ok(_) => 0,
            Err(refused) if refused.stopped.is_some() => 3,
            Err(_) => 1,
        }
    }

    fn heading(&self) -> String {
        let test = self.test.as_ref().map(|test| format!(", test {test}")).unwrap_or_default();
        let set: String = self.set.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        let condition = self.condition.as_ref().map(|condition| format!(" ({condition})")).unwrap_or_default();
        let model = if self.built_in { "" } else { ", a model of the certificate's own" };
        let every = self.every_number.map(|_| ", for every number of threads").unwrap_or_default();
        let reference = self.reference.as_ref().map(|file| format!(", compared with {file}")).unwrap_or_default();
        format!("{}{test}{set}: {}{condition}{reference} on {}{model}{every}", self.file, self.criterion, self.model)
    }
}

/// The result as one JSON object.
pub fn certify_json(report: &CertifyReport, version: &str) -> String {
    let checked = report.checked.as_ref().ok();
    let refused = report.checked.as_ref().err();
    let members = object! {
        "certificate": &report.name,
        "verdict": report.verdict(),
        "file": &report.file,
        "test": &report.test,
        "model": &report.model,
        "criterion": &report.criterion,
        "condition": &report.condition,
        "reference": &report.reference,
        "states": report.states,
        "every_number": report.every_number.map(|k| object! { "k": k }),
        "reached": checked.map(|checked| checked.reached),
        "steps": checked.map(|checked| checked.steps),
        "ended": checked.map(|checked| checked.ended),
        "seconds": report.seconds,
        "found": object! {
            "engine": &report.found.engine,
            "seconds": report.found.seconds,
            "states": report.found.states,
            "seconds_to_write": report.found.seconds_to_write,
        },
        "reason": refused.map(|refused| &refused.reason),
        "state": refused.and_then(|refused| refused.state.as_ref()).map(state_json),
        "step": refused.and_then(|refused| refused.step.as_ref()),
        "leads_to": refused.and_then(|refused| refused.leads_to.as_ref()).map(state_json),
    };
    document("cyrano.certify/1", version, members)
}

fn state_json(state: &Shown) -> impl Serialize {
    let threads = state.threads.iter().map(|thread| {
        object! {
            "name": &thread.name,
            "place": &thread.place,
            "registers": &thread.registers,
            "deferred": &thread.deferred,
        }
    });
    object! {
        "memory": &state.memory,
        "threads": threads.collect::<Vec<_>>(),
        "monitor": &state.monitor,
        "serial": &state.serial,
    }
}

/// The result as text; `details` asks for states too.
pub fn certify_text(report: &CertifyReport, details: bool, style: Style) -> String {
    let mut out = String::new();
    let verdict = report.verdict();
    let refused = match &report.checked {
        Ok(checked) => {
            let lead = format!("{}: ", style.paint(Paint::Good, verdict));
            hang(&mut out, "", &format!("{lead}{}", report.heading()), style);
            if details {
                accepted(&mut out, report, checked, style);
            }
            return out;
        }
        Err(refused) => refused,
    };
    let paint = if refused.stopped.is_some() { Paint::Unsure } else { Paint::Bad };
    hang(&mut out, "", &format!("{}: {}", style.paint(paint, verdict), report.heading()), style);
    hang(&mut out, "  ", &refused.reason, style);
    if details {
        refused.state.iter().for_each(|state| show(&mut out, "in the state", state, style));
        refused.step.iter().for_each(|step| hang(&mut out, "  by the step  ", step, style));
        let label = if refused.step.is_some() { "which leads to" } else { "that is" };
        refused.leads_to.iter().for_each(|state| show(&mut out, label, state, style));
    }
    out
}

fn accepted(out: &mut String, report: &CertifyReport, checked: &Checked, style: Style) {
    let numbers = |number: usize| count(number as u64);
    let unreached = match checked.states - checked.reached {
        0 => String::new(),
        more => format!(" ({} of them are not reached, and harmless)", numbers(more)),
    };
    let (states, steps) = (numbers(checked.states), count(checked.steps));
    let what = match report.every_number {
        Some(k) => format!(
            "{states} views of {k}, {steps} steps: the initial views are in the set, every step of members beside each other stays in it, and nothing in it is wrong"
        ),
        None => format!(
            "{states} states{unreached}, {steps} steps: the initial states are in the set, every step stays in it, and nothing in it is wrong"
        ),
    };
    hang(out, "  ", &what, style);
    let found = &report.found;
    let engine = if found.engine.is_empty() { "somebody" } else { &found.engine };
    let times = format!(
        "checked in {:.2} s; found by {engine} in {:.2} s with its reductions, written in {:.2} s without",
        report.seconds, found.seconds, found.seconds_to_write
    );
    hang(out, "  ", &times, style);
    let every = if report.every_number.is_some() { ", the argument about views" } else { "" };
    let monitor = if report.monitored { ", the monitor of transactions" } else { "" };
    let trust = format!(
        "trusted: the front end that read the source, the single steps of the reference interpreter{monitor}{every}; not the engine"
    );
    hang(out, "  ", &trust, style);
}

fn show(out: &mut String, label: &str, state: &Shown, style: Style) {
    hang(out, "  ", &format!("{label}:"), style);
    if !state.memory.is_empty() {
        hang(out, "    memory: ", &state.memory.join(", "), style);
    }
    for thread in &state.threads {
        let mut parts = vec![thread.place.clone()];
        parts.extend(thread.registers.iter().cloned());
        let deferred = match thread.deferred.is_empty() {
            true => String::new(),
            false => format!("; deferred: {}", thread.deferred.join(", ")),
        };
        hang(out, &format!("    {}: ", thread.name), &format!("{}{deferred}", parts.join(", ")), style);
    }
    if !state.monitor.is_empty() {
        hang(out, "    monitor: ", &state.monitor, style);
    }
    for memory in &state.serial {
        hang(out, "    serially: ", &memory.join(", "), style);
    }
}
