//! From a cycle of stored states back to an execution: the stem, then several rounds.
//!
//! As for every witness the states are computed again in full, without renumbered timestamps ([`crate::search::witness`]); of the successors of each, the one is
//! taken that is the same step to the same stored state. Renumbered states that are equal can do the same (see `timestamps`), so
//! that every round can be walked again from where the last one ended.

use cyrano_engine::{Execution, Extent};

use super::cycles::Cycle;
use super::graph::{Edge, Graph};
use crate::search::witness::PathReplay;
use crate::semantics::machine::Machine;
use crate::semantics::state::State;

/// How many rounds an execution shows.
pub(crate) const ROUNDS: usize = 3;

/// An execution that goes to a cycle and around it; how much of it is the stem, and how much one round.
pub(crate) fn execution(m: &Machine<'_>, graph: &Graph, cycle: &Cycle) -> (Execution, Extent, Extent) {
    let mut walk = PathReplay::new(m);
    let path = graph.path(cycle.start);
    let mut state = walk.follow(None, |walk, step| walk.leads_to(step, graph.bytes(path[0])));
    for pair in path.windows(2) {
        let found = graph.edges(pair[0]).iter().find(|edge| edge.to == pair[1]);
        let edge = found.expect("every node but the first was found by an edge");
        state = follow(&mut walk, graph, &state, edge);
    }
    let stem = extent(&walk.execution);
    for _ in 0..ROUNDS {
        for edge in &cycle.edges {
            state = follow(&mut walk, graph, &state, edge);
        }
    }
    let all = extent(&walk.execution);
    let part = |all: usize, stem: usize| (all - stem) / ROUNDS;
    let choices = all.choices.iter().zip(&stem.choices).map(|(all, stem)| part(*all, *stem)).collect();
    let round = Extent { steps: part(all.steps, stem.steps), choices };
    (walk.execution, stem, round)
}

/// Takes the step that an edge stands for.
fn follow(walk: &mut PathReplay<'_>, graph: &Graph, state: &State, edge: &Edge) -> State {
    walk.follow(Some(state), |walk, step| {
        let same = step.thread == usize::from(edge.thread) && step.ended == edge.ended && step.event.is_none();
        same && walk.leads_to(step, graph.bytes(edge.to))
    })
}

fn extent(execution: &Execution) -> Extent {
    Extent { steps: execution.order.len(), choices: execution.choices.iter().map(Vec::len).collect() }
}
