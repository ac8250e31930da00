//! A trace whose names are markup, quotes, line breaks and control characters.

#![allow(dead_code, reason = "each test file uses its part")]

use cyrano_engine::Verdict;
use cyrano_report::CheckReport;
use cyrano_trace::Trace;

use crate::data::{report, transactional};

/// What no format may take for its own.
pub const NASTY: &str = "<b x='y'>\"&amp;\n\u{1b}]]>\\N#;:--end";

/// The trace.
pub fn hostile() -> Trace {
    let mut trace = transactional();
    let nasty = |text: &mut String| *text = format!("{NASTY}{text}");
    nasty(&mut trace.program.file);
    nasty(&mut trace.model.name);
    nasty(&mut trace.explanation.sentence);
    nasty(&mut trace.property.criterion);
    trace.program.source = format!("{NASTY}\n").repeat(40);
    for thread in &mut trace.threads {
        nasty(&mut thread.name);
    }
    for transaction in &mut trace.transactions {
        nasty(&mut transaction.name);
        nasty(&mut transaction.thread);
    }
    for step in &mut trace.steps {
        nasty(&mut step.thread);
        nasty(&mut step.text);
        step.location.iter_mut().for_each(nasty);
        step.transaction.iter_mut().for_each(nasty);
        step.words.iter_mut().for_each(nasty);
    }
    trace
}

/// A violation with these names.
pub fn hostile_report() -> CheckReport {
    let trace = hostile();
    let mut check = report(Verdict::Violated, NASTY, NASTY, Some(trace));
    check.file = format!("dir/{NASTY}.c");
    check.test = Some(NASTY.to_owned());
    check.reason = Some(NASTY.to_owned());
    check
}
