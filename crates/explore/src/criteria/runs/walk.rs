//! From a cycle of stored states back to an execution: the stem, then several rounds.
//!
//! As for every witness the states are computed again in full, without renumbered timestamps ([`crate::search::witness`]); of the successors of each, the one is
//! taken that is the same step to the same stored state. Renumbered states that are equal can do the same (see `timestamps`), so
//! that every round can be walked again from where the last one ended.
//!
//! The stem goes on for some rounds if accesses are deferred when the cycle is reached, until the last of them is performed. From then on what is deferred
//! was issued in rounds, at the same places of each, for queues change in the same way in all of them; so the rounds that are shown perform the same instructions.

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
    // What is deferred here may come from other instructions than in later rounds. Each round performs the oldest of it.
    let reached: Vec<u32> = state.threads.iter().map(|thread| thread.issued).collect();
    let most: usize = state.threads.iter().map(|thread| thread.queue.len()).sum();
    for _ in 0..most {
        if defers_from_before(&state, &reached) {
            state = around(&mut walk, graph, state, cycle);
        }
    }
    if m.own_order.is_some() {
        // Each thread that moves is in a region that it entered in a round.
        state = around(&mut walk, graph, state, cycle);
    }
    let stem = extent(&walk, &state, m.own_order.is_some());
    for _ in 0..ROUNDS {
        state = around(&mut walk, graph, state, cycle);
    }
    let all = extent(&walk, &state, m.own_order.is_some());
    let part = |all: usize, stem: usize| (all - stem) / ROUNDS;
    let parts = |all: &[usize], stem: &[usize]| all.iter().zip(stem).map(|(all, stem)| part(*all, *stem)).collect();
    let round = Extent {
        steps: part(all.steps, stem.steps),
        choices: parts(&all.choices, &stem.choices),
        issued: parts(&all.issued, &stem.issued),
    };
    if m.own_order.is_some() {
        // Where accesses are performed ahead of the text, what comes then shows that they are executed: as after every round another round first.
        state = around(&mut walk, graph, state, cycle);
    }
    (walk.finish(state), stem, round)
}

/// Goes around once.
fn around(walk: &mut PathReplay<'_>, graph: &Graph, state: State, cycle: &Cycle) -> State {
    cycle.edges.iter().fold(state, |state, edge| follow(walk, graph, &state, edge))
}

/// Whether an access is still deferred that is one of the first so many of its thread.
fn defers_from_before(state: &State, first: &[u32]) -> bool {
    let mut threads = state.threads.iter().zip(first);
    threads.any(|(thread, first)| thread.queue.iter().any(|entry| entry.access().is_some() && entry.index < *first))
}

/// Takes the step that an edge stands for.
fn follow(walk: &mut PathReplay<'_>, graph: &Graph, state: &State, edge: &Edge) -> State {
    walk.follow(Some(state), |walk, step| edge.is_like(step) && walk.leads_to(step, graph.bytes(edge.to)))
}

/// How much of an execution has happened, and how many accesses each thread has issued by then.
fn extent(walk: &PathReplay<'_>, state: &State, out_of_order: bool) -> Extent {
    let issued = state.threads.iter().map(|thread| thread.issued as usize);
    Extent {
        steps: walk.execution.order.len(),
        choices: walk.choices_made(),
        issued: if out_of_order { Vec::new() } else { issued.collect() },
    }
}
