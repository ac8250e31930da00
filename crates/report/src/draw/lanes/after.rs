//! What follows the steps: what was reordered, where everybody ended, and why it matters.

use cyrano_trace::{Conflict, End, Explanation, NamedValue, Step, Trace, join, shown};

use cyrano_ir::{UNDEFINED, origin};

use crate::draw::lanes::words::short;
use crate::draw::rows::Drawing;
use crate::style::{Paint, Style, hang};
use crate::visible;

/// Between the two accesses of a sentence about a reordering.
const BEFORE: &str = " was performed before ";

/// An access that was overtaken, and the steps that overtook it.
struct Overtaken<'a> {
    thread: &'a str,
    po: u32,
    words: &'a str,
    by: Vec<&'a Step>,
}

/// Which accesses were performed late. What several steps overtook is said once.
pub(super) fn reorderings(out: &mut String, drawing: &Drawing<'_>, style: Style) {
    let mut all: Vec<Overtaken<'_>> = Vec::new();
    for step in drawing.steps() {
        let pairs = step.overtook.iter().zip(&step.words);
        for (overtaken, words) in pairs.filter(|(overtaken, _)| drawing.is_shown(step, overtaken)) {
            let known = all.iter_mut().find(|o| o.thread == step.thread && o.po == overtaken.po);
            let words = words.split_once(BEFORE).map_or(words.as_str(), |(_, that)| that);
            match known {
                Some(known) => known.by.push(step),
                None => all.push(Overtaken { thread: &step.thread, po: overtaken.po, words, by: vec![step] }),
            }
        }
    }
    if all.is_empty() {
        return;
    }
    out.push_str("\nReordered:\n");
    for group in all.chunk_by(|a, b| a.thread == b.thread && same_steps(&a.by, &b.by)) {
        if let [Overtaken { by, thread, po, .. }] = group
            && let [step] = by.as_slice()
        {
            let words =
                step.overtook.iter().zip(&step.words).find(|(o, _)| o.po == *po).map(|(_, words)| words.as_str());
            hang(out, &format!("  step {}, {thread}: ", step.n), words.unwrap_or_default(), style);
            continue;
        }
        let accesses: Vec<&str> = group.iter().map(|overtaken| overtaken.words).collect();
        let verb = if accesses.len() == 1 { "was" } else { "were" };
        let text = format!("{} {verb} overtaken by {}", join(&accesses), steps(&group[0].by));
        hang(out, &format!("  {}: ", group[0].thread), &text, style);
    }
}

fn same_steps(a: &[&Step], b: &[&Step]) -> bool {
    a.iter().map(|step| step.n).eq(b.iter().map(|step| step.n))
}

/// `step 4`, `steps 4 to 8`, `steps 4, 6 to 8`.
fn steps(steps: &[&Step]) -> String {
    let runs = steps.chunk_by(|a, b| b.n == a.n + 1).map(|run| match run {
        [one] => one.n.to_string(),
        [first, .., last] if run.len() > 2 => format!("{} to {}", first.n, last.n),
        several => several.iter().map(|step| step.n.to_string()).collect::<Vec<_>>().join(", "),
    });
    let noun = if steps.len() == 1 { "step" } else { "steps" };
    format!("{noun} {}", runs.collect::<Vec<_>>().join(", "))
}

/// Where everybody ended.
pub(super) fn ends(out: &mut String, trace: &Trace, style: Style) {
    out.push_str("\nAt the end:\n");
    for thread in &trace.threads {
        let mut text = match &thread.end {
            End::Done => "done".to_owned(),
            End::At { line, text, label, .. } => format!("at {}, `{text}`", place(trace, *line, label.as_deref())),
            End::Waiting { line, text, label, .. } => {
                format!("waits at {}, `{text}`", place(trace, *line, label.as_deref()))
            }
        };
        if !thread.registers.is_empty() {
            text.push_str(&format!("; {}", values(&thread.registers)));
        }
        if !thread.commands.is_empty() {
            text.push_str(&format!("; commands {}", thread.commands.join(", ")));
        }
        if thread.choices.len() > thread.commands.len() {
            let chosen: Vec<String> = thread.choices.iter().map(i128::to_string).collect();
            text.push_str(&format!("; chose {}", chosen.join(", ")));
        }
        hang(out, &format!("  {}: ", thread.name), &text, style);
    }
    // Words that nobody has written would only hide the others.
    let written = |v: &&NamedValue| v.value != Some(UNDEFINED) && !trace.helpers.contains(&v.name);
    let memory: Vec<NamedValue> = trace.memory.iter().filter(written).cloned().collect();
    if !memory.is_empty() {
        hang(out, "  memory: ", &values(&memory), style);
    }
    for (file, _) in origin::lines(&trace.program.source) {
        let used = trace.steps.iter().any(|step| step.used.as_ref().is_some_and(|used| used.file == file));
        if used {
            hang(out, "  lines of: ", &format!("{} is {}", short(&file), visible(&file)), style);
        }
    }
}

/// The events of transactions alone: a file for `cyrano history`, in one line.
pub(super) fn history(out: &mut String, trace: &Trace, style: Style) {
    if !trace.history.is_empty() {
        out.push_str("\nThe history alone, for `cyrano history`:\n");
        hang(out, "  ", &trace.history.join("; "), style);
    }
}

/// Where a statement stands: its label, or its line.
fn place(trace: &Trace, line: usize, label: Option<&str>) -> String {
    let files = origin::lines(&trace.program.source);
    let used = origin::found(&files, line).map(|(file, line)| format!("line {line} of {}", visible(file)));
    label.map_or_else(|| used.unwrap_or_else(|| format!("line {line}")), str::to_owned)
}

/// Why it matters.
pub(super) fn why(out: &mut String, trace: &Trace, style: Style) {
    out.push('\n');
    let mut lines = String::new();
    hang(&mut lines, "Why: ", &trace.explanation.sentence, style);
    for line in lines.lines() {
        style.line(out, Paint::Strong, line);
    }
    conflicts(out, "     ", &trace.explanation, "steps", style);
    for serial in &trace.explanation.nearest {
        hang(out, "     serial: ", &values(serial), style);
    }
}

/// The conflicts behind a cycle, one a line, each with the two events that show it.
pub(crate) fn conflicts(out: &mut String, indent: &str, explanation: &Explanation, events: &str, style: Style) {
    for conflict in &explanation.conflicts {
        let Conflict { first, second, steps, .. } = conflict;
        let about = conflict.variable.as_ref().map(|variable| format!(" of {variable}")).unwrap_or_default();
        let text = format!("{first} before {second}: {}{about}, {events} {} and {}", conflict.reason, steps.0, steps.1);
        hang(out, indent, &text, style);
    }
}

fn values(values: &[NamedValue]) -> String {
    let value = |v: &NamedValue| v.shown.clone().unwrap_or_else(|| v.value.map_or("?".to_owned(), shown));
    let one = |v: &NamedValue| format!("{} = {}", v.name, value(v));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}
