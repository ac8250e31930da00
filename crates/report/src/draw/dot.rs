//! A trace as a graph for Graphviz: one node for each access, one cluster for each thread.
//!
//! `po` is program order within a thread, `rf` leads from a store to the loads that took their value from it, `mo` is memory order. An
//! access that was never performed is a dashed node; one that was overtaken has a heavy border.

use cyrano_trace::{ReadFrom, Step, Trace};

use crate::draw::lanes::{effect, line};
use crate::draw::rows::{Drawing, Row, one_line, statement};

/// The trace in the DOT language.
pub fn trace_dot(trace: &Trace) -> String {
    let drawing = Drawing::new(trace);
    let rows = drawing.rows();
    let mut out = String::from("digraph trace {\n");
    out.push_str("  graph [rankdir=TB, labelloc=t, fontname=\"monospace\", label=");
    out.push_str(&quoted(&[&drawing.heading(), &trace.explanation.sentence]));
    out.push_str("];\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    for (lane, name) in drawing.lanes.iter().enumerate() {
        cluster(&mut out, lane, name, &rows);
    }
    edges(&mut out, &drawing, &rows);
    out.push_str("}\n");
    out
}

fn cluster(out: &mut String, lane: usize, name: &str, rows: &[Row<'_>]) {
    out.push_str(&format!("  subgraph cluster_{lane} {{\n    label={};\n", quoted(&[name])));
    for (at, row) in rows.iter().enumerate() {
        match row {
            Row::Step { lane: own, step, late } if *own == lane => {
                let transaction = step.transaction.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
                let place =
                    step.label.clone().unwrap_or_else(|| format!("line {}", line(step.line, step.used.as_ref())));
                let title = format!("{}. {place}: {}{transaction}", step.n, statement(step));
                let style = if *late { ", penwidth=2" } else { "" };
                out.push_str(&format!("    s{} [label={}{style}];\n", step.n, quoted(&[&title, &effect(step)])));
            }
            Row::Deferred { lane: own, deferred } if *own == lane && deferred.performed.is_none() => {
                let title = format!("{}: {}", deferred.at(), deferred.text);
                out.push_str(&format!("    d{at} [label={}, style=dashed];\n", quoted(&[&title, "not performed"])));
            }
            _ => {}
        }
    }
    out.push_str("  }\n");
}

fn edges(out: &mut String, drawing: &Drawing<'_>, rows: &[Row<'_>]) {
    let steps: Vec<&Step> = drawing.steps().collect();
    for pair in steps.windows(2) {
        out.push_str(&format!("  s{} -> s{} [label=\"mo\", style=dotted, color=gray40];\n", pair[0].n, pair[1].n));
    }
    for name in &drawing.lanes {
        let mut own: Vec<&Step> = steps.iter().copied().filter(|step| step.thread == *name).collect();
        own.sort_by_key(|step| step.po);
        for pair in own.windows(2) {
            let (a, b) = (pair[0].n, pair[1].n);
            let reordered = if a > b { ", style=dashed, color=red3" } else { "" };
            out.push_str(&format!("  s{a} -> s{b} [label=\"po\", constraint=false{reordered}];\n"));
        }
    }
    for step in steps {
        if let Some(ReadFrom::Step { n }) = &step.source {
            let n = drawing.shown(*n);
            out.push_str(&format!("  s{n} -> s{} [label=\"rf\", constraint=false, color=blue3];\n", step.n));
        }
    }
    // A deferred access that is never performed stands before the next step of its lane.
    for (at, row) in rows.iter().enumerate() {
        let Row::Deferred { lane, deferred } = row else { continue };
        let next = rows[at..].iter().find_map(|row| match row {
            Row::Step { lane: own, step, .. } if own == lane => Some(step.n),
            _ => None,
        });
        if let (None, Some(n)) = (deferred.performed, next) {
            out.push_str(&format!("  d{at} -> s{n} [label=\"po\", style=dashed, color=red3];\n"));
        }
    }
}

/// A quoted string of several lines.
pub(super) fn quoted(lines: &[&str]) -> String {
    let escape = |line: &&str| one_line(line).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", lines.iter().map(escape).collect::<Vec<_>>().join("\\n"))
}
