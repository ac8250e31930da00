//! The conditions of a model as clauses and graphs, and its flags.

use cyrano_memory::cat::{Axiom, Matrix, Node as CatNode, NodeId, Test, Type};

use super::bounds::relation;
use super::events::Events;
use super::faults::Fault;
use super::literals::Literals;
use super::{Relational, at_least};
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{FALSE, Lit};
use crate::formula::values::pruned;

/// Demands all conditions; the graph gets a part for each that demands acyclicity.
pub(super) fn encode(literals: &mut Literals<'_>, events: &Events<'_>, graph: &mut Graph, found: &mut Relational) {
    let plan = literals.plan;
    let race = plan.data_race();
    for (number, axiom) in plan.axioms.iter().enumerate() {
        if axiom.flag {
            let ways = shown(literals, axiom);
            if race == Some(number) {
                found.races = ways.iter().filter(|(a, b, _)| both_threads(events, *a, *b)).copied().collect();
            }
            let lits: Vec<Lit> = ways.into_iter().map(|(.., lit)| lit).collect();
            let raised = literals.gates.fresh();
            if axiom.negated {
                let clause: Vec<Lit> = lits.into_iter().chain([!raised]).collect();
                literals.gates.clause(&clause);
            } else {
                lits.into_iter().for_each(|lit| literals.gates.clause(&[!raised, !lit]));
            }
            found.flags.push((axiom.name.clone(), raised));
        } else if axiom.test == Test::Acyclic {
            graph.append(pruned(acyclic(literals, axiom.of)));
        } else {
            let lits: Vec<Lit> = shown(literals, axiom).into_iter().map(|(.., lit)| lit).collect();
            match axiom.negated {
                true => literals.gates.clause(&lits),
                false => lits.into_iter().for_each(|lit| literals.gates.clause(&[!lit])),
            }
        }
    }
}

fn both_threads(events: &Events<'_>, a: usize, b: usize) -> bool {
    events.parts[a].thread.is_some() && events.parts[b].thread.is_some()
}

/// What a condition that nothing is there, or nothing is paired with itself, finds; each with the literal that says so.
fn shown(literals: &mut Literals<'_>, axiom: &Axiom) -> Vec<(usize, usize, Lit)> {
    let (of, events) = (axiom.of, literals.guards.len());
    let alone = axiom.test == Test::Irreflexive || literals.plan.types[of as usize] == Type::Set;
    let mut all = Vec::new();
    for from in 0..events {
        for to in if alone { from..from + 1 } else { 0..events } {
            let at_least = at_least(axiom);
            let lit = literals.lit(of, from, to, at_least);
            if lit != FALSE {
                all.push((from, to, literals.executed(lit, from, to, at_least)));
            }
        }
    }
    all
}

/// A graph of the pairs of a relation that may be in a cycle. The operands of a union are relations of their own, and a closure has the cycles of its operand.
fn acyclic(literals: &mut Literals<'_>, of: NodeId) -> Graph {
    let mut operands = Vec::new();
    let mut todo = vec![of];
    while let Some(node) = todo.pop() {
        match literals.plan.nodes[node as usize] {
            CatNode::Union(a, _) if Fault::LackOperand.is_on() => todo.push(a),
            CatNode::Union(a, b) => todo.extend([a, b]),
            CatNode::Plus(a) => todo.push(a),
            _ if operands.contains(&node) => {}
            _ => operands.push(node),
        }
    }
    let events = literals.guards.len();
    let none = || Matrix::new(events);
    let all = |pick: &dyn Fn(NodeId) -> Matrix| operands.iter().fold(none(), |sum, node| sum.union(&pick(*node)));
    let bound = |node: NodeId| &literals.bounds.all[node as usize];
    let may = all(&|node| relation(&bound(node).may).clone());
    let must = all(&|node| relation(&bound(node).must).clone());
    let back = may.clone().closure();
    let needed = literals.bounds.reduced(&may, &must);
    let mut graph = Graph::with_nodes(u32::try_from(events).unwrap_or(u32::MAX));
    for node in operands {
        let pairs: Vec<(usize, usize)> = relation(&literals.bounds.all[node as usize].may)
            .iter()
            .filter(|(from, to)| needed.contains(*from, *to) && (from == to || back.contains(*to, *from)))
            .collect();
        for (from, to) in pairs {
            let lit = literals.lit(node, from, to, true);
            let lit = literals.executed(lit, from, to, true);
            if from == to {
                literals.gates.clause(&[!lit]);
            } else {
                graph.edge(lit, Node(from as u32), Node(to as u32));
            }
        }
    }
    graph
}
