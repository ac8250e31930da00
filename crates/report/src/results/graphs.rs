//! Executions as graphs: events in columns, relations between them, and the cycle that forbids one.

use serde::Serialize;

use crate::style::{Paint, Style, hang, pad, width};

/// An execution as a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct GraphReport {
    /// The names of the threads.
    pub threads: Vec<String>,
    /// The events of the threads, thread by thread in program order.
    pub events: Vec<GraphEvent>,
    /// The relations between them, by their names; what memory holds at first is called `init`.
    pub edges: Vec<GraphEdge>,
    /// Why the execution is not allowed, if it is not.
    pub forbidden: Option<GraphObjection>,
}

/// An event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GraphEvent {
    /// Its letter.
    pub id: String,
    /// The number of its thread.
    pub thread: usize,
    /// What it does: `W x=1`, `R y=0`, a fence's name.
    pub text: String,
}

/// A step from one event to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GraphEdge {
    /// The relation: `po`, `rf`, `co`, `fr`, `rmw`, `addr`, `data`, `ctrl`.
    pub relation: String,
    /// The letter of the first event.
    pub from: String,
    /// The letter of the second.
    pub to: String,
}

/// Why an execution is not allowed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GraphObjection {
    /// The model.
    pub model: String,
    /// The name of the condition that fails.
    pub axiom: String,
    /// The steps that show it.
    pub cycle: Vec<GraphEdge>,
}

impl GraphObjection {
    /// In one line: `forbidden by axiom external: a -po-> b -rf-> c`.
    pub fn sentence(&self) -> String {
        let mut steps = String::new();
        let mut at: Option<&str> = None;
        for edge in &self.cycle {
            if at != Some(&edge.from) {
                steps.push_str(if at.is_some() { ", " } else { "" });
                steps.push_str(&edge.from);
            }
            steps.push_str(&format!(" -{}-> {}", edge.relation, edge.to));
            at = Some(&edge.to);
        }
        let colon = if steps.is_empty() { "" } else { ": " };
        format!("forbidden by axiom {} of {}{colon}{steps}", self.axiom, self.model)
    }
}

impl GraphReport {
    /// Whether a step belongs to what forbids the execution.
    pub(crate) fn is_objected(&self, edge: &GraphEdge) -> bool {
        self.forbidden.as_ref().is_some_and(|why| why.cycle.contains(edge))
    }

    /// The relations in the order in which they are told, and of the objection those that are no pair of them.
    pub(crate) fn all_edges(&self) -> Vec<GraphEdge> {
        let more = self.forbidden.iter().flat_map(|why| &why.cycle).filter(|edge| !self.edges.contains(edge));
        let mut edges = self.edges.clone();
        for edge in more {
            if !edges.contains(edge) {
                edges.push(edge.clone());
            }
        }
        edges
    }

    /// The events of a thread.
    pub(crate) fn column(&self, thread: usize) -> impl Iterator<Item = &GraphEvent> {
        self.events.iter().filter(move |event| event.thread == thread)
    }
}

/// A graph as text: columns of events, a line for each relation, what forbids it.
pub(crate) fn graph_text(out: &mut String, title: &str, graph: &GraphReport, style: Style) {
    style.line(out, Paint::Strong, title);
    let columns: Vec<Vec<String>> = (0..graph.threads.len())
        .map(|thread| {
            let own = graph.column(thread).map(|event| format!("{}: {}", event.id, event.text));
            std::iter::once(graph.threads[thread].clone()).chain(own).collect()
        })
        .collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let cells = columns.iter().map(|column| {
            let wide = column.iter().map(|cell| width(cell)).max().unwrap_or(0);
            pad(column.get(row).map_or("", String::as_str), wide)
        });
        let line = format!("  {}", cells.collect::<Vec<_>>().join("   "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let mut relations: Vec<&str> = Vec::new();
    for edge in &graph.edges {
        if !relations.contains(&edge.relation.as_str()) {
            relations.push(&edge.relation);
        }
    }
    for relation in relations {
        let own = graph.edges.iter().filter(|edge| edge.relation == relation);
        let pairs: Vec<String> = own.map(|edge| format!("{}->{}", edge.from, edge.to)).collect();
        hang(out, &format!("  {relation:4} "), &pairs.join(" "), style);
    }
    if let Some(why) = &graph.forbidden {
        hang(out, "  ", &why.sentence(), style);
    }
}
