//! The lane diagram: one column per thread, time downwards.
//!
//! A transaction is a block in its lane: its name above its first step, its end marked where it commits or aborts.
//! Where the lanes would become too narrow to read, the steps are stacked instead, each with its thread's name.

use cyrano_trace::{Conflict, End, Explanation, NamedValue, ReadFrom, Step, Trace, shown};

use cyrano_ir::UNDEFINED;

use crate::lasso;
use crate::style::{Paint, Style, hang, pad, pad_left, width, wrap};

/// A lane narrower than this is not worth having.
const MIN_LANE: usize = 26;

/// Between two lanes.
const RULE: &str = " │ ";

/// A whole trace: the steps, what was reordered, where everybody ended, and why it matters.
pub fn trace_text(trace: &Trace, style: Style) -> String {
    let mut out = String::new();
    let first_round = lasso::first_round(trace);
    let trace = first_round.as_ref().unwrap_or(trace);
    let names: Vec<&str> = trace
        .threads
        .iter()
        .map(|thread| thread.name.as_str())
        .filter(|name| trace.steps.iter().any(|step| step.thread == *name))
        .collect();
    let number = trace.steps.len().to_string().len();
    let room = style.columns().saturating_sub(number + 4);
    let rules = names.len().saturating_sub(1) * width(RULE);
    let lane = room.saturating_sub(rules) / names.len().max(1);
    if trace.steps.is_empty() {
        out.push_str("  no access is performed\n");
    } else if lane >= MIN_LANE {
        Lanes::new(trace, &names, lane, number).draw(&mut out, style);
    } else {
        stack(&mut out, trace, &names, number, style);
    }
    reorderings(&mut out, trace, style);
    if !lasso::commands(&mut out, trace, style) {
        ends(&mut out, trace, style);
    }
    out.push('\n');
    hang(&mut out, "Why: ", &trace.explanation.sentence, style.columns());
    conflicts(&mut out, "     ", &trace.explanation, "steps", style);
    for serial in &trace.explanation.nearest {
        hang(&mut out, "     serial: ", &values(serial), style.columns());
    }
    out
}

/// The conflicts behind a cycle, one a line, each with the two events that show it.
pub(crate) fn conflicts(out: &mut String, indent: &str, explanation: &Explanation, events: &str, style: Style) {
    for conflict in &explanation.conflicts {
        let Conflict { first, second, steps, .. } = conflict;
        let about = conflict.variable.as_ref().map(|variable| format!(" of {variable}")).unwrap_or_default();
        let text = format!("{first} before {second}: {}{about}, {events} {} and {}", conflict.reason, steps.0, steps.1);
        hang(out, indent, &text, style.columns());
    }
}

struct Lanes<'a> {
    trace: &'a Trace,
    names: &'a [&'a str],
    /// The width of each lane.
    lanes: Vec<usize>,
    /// Where effects start within each lane, if they stand beside the statements.
    beside: Option<Vec<usize>>,
    number: usize,
}

impl<'a> Lanes<'a> {
    fn new(trace: &'a Trace, names: &'a [&'a str], limit: usize, number: usize) -> Self {
        let widest = |name: &str, show: fn(&Step) -> String| {
            let steps = trace.steps.iter().filter(|step| step.thread == name);
            steps.map(|step| width(&show(step))).max().unwrap_or(0)
        };
        let titles: Vec<usize> = names.iter().map(|name| widest(name, title) + 2).collect();
        let effects: Vec<usize> = names.iter().map(|name| widest(name, effect)).collect();
        let fits = titles.iter().zip(&effects).all(|(title, effect)| title + effect <= limit);
        let needed = |at: usize| {
            let steps = if fits { titles[at] + effects[at] } else { titles[at].max(effects[at] + 4) };
            steps.max(width(names[at])).min(limit)
        };
        let lanes = (0..names.len()).map(needed).collect();
        Self { trace, names, lanes, beside: fits.then_some(titles), number }
    }

    fn draw(&self, out: &mut String, style: Style) {
        let cells =
            self.names.iter().zip(&self.lanes).map(|(name, lane)| style.paint(Paint::Strong, &pad(name, *lane)));
        self.line(out, "", &cells.collect::<Vec<_>>());
        for step in &self.trace.steps {
            if lasso::starts_round(self.trace, step) {
                out.push_str(lasso::AGAIN);
            }
            let lane = self.names.iter().position(|name| *name == step.thread);
            let lane = lane.expect("every step's thread has a lane");
            let opening = opens(self.trace, step).map(|name| (String::new(), format!("┌ {name}")));
            let mut lines = self.cell(step, lane);
            let before = step.n.checked_sub(2).and_then(|at| self.trace.steps.get(at));
            if lines.len() > 1
                && before.is_some_and(|before| before.thread == step.thread && title(before) == title(step))
            {
                // Several accesses of one statement.
                lines.remove(0);
            }
            let lines = lines.into_iter().enumerate();
            let lines = lines.map(|(at, text)| (if at == 0 { step.n.to_string() } else { String::new() }, text));
            for (number, text) in opening.into_iter().chain(lines) {
                let cells = self.lanes.iter().enumerate().map(|(other, columns)| {
                    let text = if other == lane { text.as_str() } else { "" };
                    pad(text, *columns)
                });
                self.line(out, &number, &cells.collect::<Vec<_>>());
            }
        }
    }

    fn line(&self, out: &mut String, number: &str, cells: &[String]) {
        let line = format!("  {}  {}", pad_left(number, self.number), cells.join(RULE));
        out.push_str(line.trim_end());
        out.push('\n');
    }

    fn cell(&self, step: &Step, lane: usize) -> Vec<String> {
        let columns = self.lanes[lane];
        match &self.beside {
            Some(starts) => vec![pad(&title(step), starts[lane]) + &effect(step)],
            None => {
                let mut lines = vec![clip(&title(step), columns)];
                let effects = wrap(&effect(step), columns.saturating_sub(4));
                let indent = if step.transaction.is_some() && !ends_transaction(step) { "┊   " } else { "    " };
                let effects = effects.iter().filter(|line| !line.is_empty());
                lines.extend(effects.map(|line| format!("{indent}{line}")));
                lines
            }
        }
    }
}

fn stack(out: &mut String, trace: &Trace, names: &[&str], number: usize, style: Style) {
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
    for step in &trace.steps {
        if lasso::starts_round(trace, step) {
            out.push_str(lasso::AGAIN);
        }
        let n = pad_left(&step.n.to_string(), number);
        let lead = format!("  {n}  {}  ", pad(&step.thread, name_width));
        if let Some(name) = opens(trace, step) {
            out.push_str(&format!("  {}  {}  ┌ {name}\n", pad_left("", number), pad(&step.thread, name_width)));
        }
        let both = format!("{lead}{}  {}", title(step), effect(step));
        if width(&both) <= style.columns() {
            out.push_str(&both);
            out.push('\n');
        } else {
            let room = style.columns().saturating_sub(width(&lead)).max(20);
            out.push_str(&format!("{lead}{}\n", clip(&title(step), room)));
            hang(out, &format!("{}    ", " ".repeat(width(&lead))), &effect(step), style.columns());
        }
    }
}

fn title(step: &Step) -> String {
    let bar = match &step.transaction {
        Some(_) if ends_transaction(step) => "└ ",
        Some(_) => "┊ ",
        None => "",
    };
    let text = if speaks(step) { step.event.as_deref().unwrap_or_default() } else { &step.text };
    format!("{bar}{}: {text}", step.line)
}

/// Whether it is a call of a transactional memory or a response.
fn speaks(step: &Step) -> bool {
    step.event.as_deref().is_some_and(|event| event.starts_with("call ") || event.starts_with("returns "))
}

/// The name of the transaction whose first step this is.
fn opens<'a>(trace: &'a Trace, step: &Step) -> Option<&'a str> {
    let mut own = trace.transactions.iter().filter(|transaction| transaction.first == step.n);
    own.next().map(|transaction| transaction.name.as_str())
}

fn ends_transaction(step: &Step) -> bool {
    matches!(step.event.as_deref(), Some("commit" | "abort" | "returns committed" | "returns aborted"))
}

/// `x ← 1`, `y → 0 (initial)`, `x → 0 (initial) ← 1`, `x ← 0 (rollback)`, `T1 commits`.
fn effect(step: &Step) -> String {
    let transaction = step.transaction.as_deref().unwrap_or("the transaction");
    match step.event.as_deref() {
        Some("commit") => return format!("{transaction} commits"),
        Some("abort") => return format!("{transaction} aborts"),
        Some(_) if speaks(step) => return String::new(),
        Some(_) => return "the read is finished".to_owned(),
        None => {}
    }
    let location = step.location.as_deref().unwrap_or("");
    let mut out = location.to_owned();
    if let Some(value) = step.read {
        out.push_str(&format!(" → {}", step.read_shown.clone().unwrap_or_else(|| shown(value))));
        match &step.source {
            Some(ReadFrom::Initial) => out.push_str(" (initial)"),
            Some(ReadFrom::Step { n }) => out.push_str(&format!(" (from {n})")),
            Some(ReadFrom::Forwarded { line, .. }) => {
                out.push_str(&format!(" (own store, line {line}, not yet performed)"));
            }
            None => {}
        }
    }
    let written = step.written.map(|value| step.written_shown.clone().unwrap_or_else(|| shown(value)));
    match written {
        Some(value) if step.read.is_some() => out.push_str(&format!(", {location} ← {value}")),
        Some(value) => out.push_str(&format!(" ← {value}")),
        None if step.kind == "read-modify-write" => out.push_str(", nothing written"),
        None => {}
    }
    if step.rollback {
        out.push_str(" (rollback)");
    }
    out
}

fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn reorderings(out: &mut String, trace: &Trace, style: Style) {
    if trace.steps.iter().all(|step| step.words.is_empty()) {
        return;
    }
    out.push_str("\nReordered:\n");
    for step in &trace.steps {
        for words in &step.words {
            hang(out, &format!("  step {}, {}: ", step.n, step.thread), words, style.columns());
        }
    }
}

fn ends(out: &mut String, trace: &Trace, style: Style) {
    out.push_str("\nAt the end:\n");
    for thread in &trace.threads {
        let mut text = match &thread.end {
            End::Done => "done".to_owned(),
            End::At { line, text, .. } => format!("at line {line}, `{text}`"),
            End::Waiting { line, text, .. } => format!("waits at line {line}, `{text}`"),
        };
        if !thread.registers.is_empty() {
            text.push_str(&format!("; {}", values(&thread.registers)));
        }
        if !thread.commands.is_empty() {
            text.push_str(&format!("; commands {}", thread.commands.join(", ")));
        }
        if thread.choices.len() > thread.commands.len() {
            let chosen: Vec<String> = thread.choices.iter().map(i64::to_string).collect();
            text.push_str(&format!("; chose {}", chosen.join(", ")));
        }
        hang(out, &format!("  {}: ", thread.name), &text, style.columns());
    }
    // Words that nobody has written would only hide the others.
    let written = |v: &&NamedValue| v.value != Some(UNDEFINED);
    let memory: Vec<NamedValue> = trace.memory.iter().filter(written).cloned().collect();
    if !memory.is_empty() {
        hang(out, "  memory: ", &values(&memory), style.columns());
    }
}

fn values(values: &[NamedValue]) -> String {
    let value = |v: &NamedValue| v.shown.clone().unwrap_or_else(|| v.value.map_or("?".to_owned(), shown));
    let one = |v: &NamedValue| format!("{} = {}", v.name, value(v));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}
