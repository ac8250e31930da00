//! An execution as a graph of events for Graphviz: one cluster for each thread, one labelled edge for each pair of a relation.

use crate::draw::dot::quoted;
use crate::results::graphs::{GraphEdge, GraphReport};

/// The colour of a relation, in pictures of every kind.
pub(crate) fn color(relation: &str) -> &'static str {
    match relation {
        "rf" | "rf^-1" => "#a3211a",
        "co" | "co^-1" => "#0b5cad",
        "fr" | "fr^-1" => "#9a5b00",
        "po" | "po^-1" => "#59636e",
        _ => "#3d6b2e",
    }
}

/// The colour of the steps that forbid an execution; they are drawn thick, too.
pub(crate) const FORBIDS: &str = "#c8008f";

/// The graph in the DOT language.
pub fn graph_dot(title: &str, graph: &GraphReport) -> String {
    let why = graph.forbidden.as_ref().map(|why| why.sentence()).unwrap_or_default();
    let mut out = String::from("digraph execution {\n");
    let lines: Vec<&str> = [title, &why].into_iter().filter(|line| !line.is_empty()).collect();
    out.push_str(&format!("  graph [labelloc=t, fontname=\"monospace\", label={}];\n", quoted(&lines)));
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    for (thread, name) in graph.threads.iter().enumerate() {
        out.push_str(&format!("  subgraph cluster_{thread} {{\n    label={};\n", quoted(&[name])));
        for event in graph.column(thread) {
            out.push_str(&format!(
                "    {} [label={}];\n",
                event.id,
                quoted(&[&format!("{}: {}", event.id, event.text)])
            ));
        }
        out.push_str("  }\n");
    }
    for edge in graph.all_edges() {
        out.push_str(&line(graph, &edge));
    }
    out.push_str("}\n");
    out
}

fn line(graph: &GraphReport, edge: &GraphEdge) -> String {
    let mut own = String::new();
    if edge.from == "init" {
        // What memory holds at first is a point of its own for each read.
        own = format!("  init_{} [shape=point];\n", edge.to);
    }
    let from = if edge.from == "init" { format!("init_{}", edge.to) } else { edge.from.clone() };
    let (color, more) = match graph.is_objected(edge) {
        true => (FORBIDS, ", penwidth=2.5"),
        false => (color(&edge.relation), ""),
    };
    let rank = if edge.relation == "po" { "" } else { ", constraint=false" };
    let label = quoted(&[&edge.relation]);
    format!("{own}  {from} -> {} [label={label}, color=\"{color}\", fontcolor=\"{color}\"{more}{rank}];\n", edge.to)
}
