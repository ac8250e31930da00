//! The memory order as clauses: a literal for every pair of nodes and transitivity for every triple (CheckFence, section 3.2.2).
//!
//! Used to cross-check the theory and to export whole problems. Nodes that no cycle can pass are left out.

use rustc_hash::FxHashMap;

use crate::formula::gates::Formula;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{Lit, TRUE};

/// Adds clauses that keep the graph acyclic.
pub(crate) fn encode(formula: &mut Formula, graph: &Graph) {
    let components = graph.components();
    let mut members: FxHashMap<usize, Vec<Node>> = FxHashMap::default();
    for node in (0..graph.nodes).map(Node) {
        members.entry(components[node.index()]).or_default().push(node);
    }
    let mut parts: Vec<Vec<Node>> = members.into_values().filter(|part| part.len() > 1).collect();
    parts.sort();
    let mut table: FxHashMap<(Node, Node), Lit> = FxHashMap::default();
    for part in &parts {
        for (at, first) in part.iter().enumerate() {
            for second in &part[at + 1..] {
                let lit = graph.pair(*first, *second).unwrap_or_else(|| formula.fresh());
                table.insert((*first, *second), lit);
                table.insert((*second, *first), !lit);
            }
        }
        for (at, a) in part.iter().enumerate() {
            for (then, b) in part.iter().enumerate().skip(at + 1) {
                for c in &part[then + 1..] {
                    let (ab, bc, ac) = (table[&(*a, *b)], table[&(*b, *c)], table[&(*a, *c)]);
                    formula.add(&[!ab, !bc, ac]);
                    formula.add(&[ab, bc, !ac]);
                }
            }
        }
    }
    for edge in &graph.edges {
        if let Some(before) = table.get(&(edge.from, edge.to)) {
            formula.add(&[if edge.lit == TRUE { !TRUE } else { !edge.lit }, *before]);
        }
    }
}

/// A formula in DIMACS form, with these literals as unit clauses.
pub(crate) fn dimacs(formula: &Formula, units: &[Lit]) -> String {
    use std::fmt::Write;
    let mut text = format!("p cnf {} {}\n", formula.vars, formula.len() + units.len());
    for clause in formula.clauses().chain(units.chunks(1)) {
        for lit in clause {
            let _ = write!(text, "{} ", lit.dimacs());
        }
        text.push_str("0\n");
    }
    text
}
