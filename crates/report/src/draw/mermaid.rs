//! A trace as a Mermaid sequence diagram, which code hosts draw inside pull requests.
//!
//! Threads talk to memory: a store is an arrow to it, a load one back. What was performed out of program order is a note.
//! Characters that mean something to Mermaid, to HTML or to Markdown are written as Mermaid's numeric entities, so that no name of a
//! checked program is ever markup.

use cyrano_trace::Trace;

use crate::draw::lanes::{effect, line};
use crate::draw::rows::{Drawing, Row, one_line};

/// The trace as a sequence diagram, without a fence of backticks around it.
pub fn trace_mermaid(trace: &Trace) -> String {
    let drawing = Drawing::new(trace);
    let mut out = String::from("sequenceDiagram\n");
    for (lane, name) in drawing.lanes.iter().enumerate() {
        out.push_str(&format!("  participant t{lane} as {}\n", escape(name)));
    }
    out.push_str("  participant m as memory\n");
    if let Some(last) = drawing.lanes.len().checked_sub(1) {
        out.push_str(&format!("  Note over t0,t{last}: {}\n", escape(&drawing.heading())));
    }
    for row in drawing.rows() {
        match row {
            Row::Again => out.push_str("  Note over m: again and again\n"),
            Row::Open { lane, block } => {
                let text = format!("begin of {}", drawing.blocks[block].label);
                out.push_str(&format!("  Note over t{lane}: {}\n", escape(&text)));
            }
            Row::Call { lane, call } => {
                out.push_str(&format!("  Note over t{lane}: {}\n", escape(&drawing.calls[call].label)));
            }
            Row::Deferred { lane, deferred } => {
                let until = deferred.performed.map_or("not performed".to_owned(), |n| format!("performed in {n}"));
                let text = format!("{}: {} is deferred, {until}", deferred.at(), deferred.text);
                out.push_str(&format!("  Note over t{lane}: {}\n", escape(&text)));
            }
            Row::Step { lane, step, late } => {
                let late = if late { " (late)" } else { "" };
                let what =
                    step.call.as_ref().map_or_else(|| effect(step), |call| format!("{} {}", call.text, effect(step)));
                let place =
                    step.label.clone().unwrap_or_else(|| format!("line {}", line(step.line, step.used.as_ref())));
                let text = escape(&format!("{}. {}{late}, {place}", step.n, what.trim_end()));
                let arrow = match step.kind.as_str() {
                    "load" => format!("m-->>t{lane}"),
                    "event" => format!("Note over t{lane}"),
                    _ => format!("t{lane}->>m"),
                };
                out.push_str(&format!("  {arrow}: {text}\n"));
            }
        }
    }
    let last = drawing.lanes.len().saturating_sub(1);
    let over = if drawing.lanes.is_empty() { "m".to_owned() } else { format!("t0,t{last}") };
    out.push_str(&format!("  Note over {over}: {}\n", escape(&trace.explanation.sentence)));
    out
}

/// Letters, digits and harmless signs stay; everything else is a numeric entity.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).trim().chars() {
        match c {
            c if c.is_alphanumeric() => out.push(c),
            ' ' | '.' | ',' | '(' | ')' | '[' | ']' | '=' | '→' | '←' | '…' | '\'' => out.push(c),
            c => out.push_str(&format!("#{};", c as u32)),
        }
    }
    if out.is_empty() { "#32;".to_owned() } else { out }
}
