//! From a cycle of stored states back to an execution: the stem, then several rounds.
//!
//! As for every witness the states are computed again in full, without renumbered timestamps; of the successors of each, the one is
//! taken that is the same step to the same stored state. Renumbered states that are equal can do the same (see `timestamps`), so
//! that every round can be walked again from where the last one ended.

use cyrano_engine::{Execution, Extent};
use cyrano_ir::dataflow::Names;

use super::cycles::Cycle;
use super::graph::{Edge, Freshness, Graph, Threads, busy_after, is_fresh, stored};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

/// How many rounds an execution shows.
pub(crate) const ROUNDS: usize = 3;

/// An execution that goes to a cycle and around it; how much of it is the stem, and how much one round.
pub(crate) fn execution(m: &Machine<'_>, names: &Names, graph: &Graph, cycle: &Cycle) -> (Execution, Extent, Extent) {
    let threads = m.threads.len();
    let mut walk = Walk {
        m,
        names,
        graph,
        stepper: Stepper::new(m),
        out: Successors::default(),
        execution: Execution { order: Vec::new(), choices: vec![Vec::new(); threads] },
        busy: 0,
    };
    let path = graph.path(cycle.start);
    let mut state = walk.first(path[0]);
    for pair in path.windows(2) {
        let found = graph.edges(pair[0]).iter().find(|edge| edge.to == pair[1]);
        let edge = *found.expect("every node but the first was found by an edge");
        state = walk.follow(&state, pair[0], edge);
    }
    let stem = walk.extent();
    for _ in 0..ROUNDS {
        let mut node = cycle.start;
        for edge in &cycle.edges {
            state = walk.follow(&state, node, *edge);
            node = edge.to;
        }
    }
    let all = walk.extent();
    let part = |all: usize, stem: usize| (all - stem) / ROUNDS;
    let choices = all.choices.iter().zip(&stem.choices).map(|(all, stem)| part(*all, *stem)).collect();
    let round = Extent { steps: part(all.steps, stem.steps), choices };
    (walk.execution, stem, round)
}

struct Walk<'m> {
    m: &'m Machine<'m>,
    names: &'m Names,
    graph: &'m Graph,
    stepper: Stepper<'m>,
    out: Successors,
    execution: Execution,
    busy: Threads,
}

impl Walk<'_> {
    fn extent(&self) -> Extent {
        Extent { steps: self.execution.order.len(), choices: self.execution.choices.iter().map(Vec::len).collect() }
    }

    fn first(&mut self, node: u32) -> State {
        let mut out = std::mem::take(&mut self.out);
        self.stepper.initial(&mut out);
        let successor = out.iter_mut().find(|successor| self.leads_to(&successor.state, node));
        let state = self.take(successor.expect("a node without a parent is an initial one"));
        self.out = out;
        state
    }

    /// Takes the step that an edge stands for.
    fn follow(&mut self, state: &State, from: u32, edge: Edge) -> State {
        let mut out = std::mem::take(&mut self.out);
        self.stepper.successors(state, &mut out);
        let fits = |successor: &Successor| {
            let same = successor.thread == usize::from(edge.thread) && successor.ended == edge.ended;
            let busy = busy_after(self.busy, successor) == self.graph.busy[edge.to as usize];
            let fresh = is_fresh(self.m, self.names, state, successor) == Freshness::Fits;
            successor.event.is_none() && same && busy && fresh && self.leads_to(&successor.state, edge.to)
        };
        let found = out.iter_mut().find(|successor| fits(successor));
        let successor = found.unwrap_or_else(|| panic!("the step from node {from} is not there again"));
        let state = self.take(successor);
        self.out = out;
        state
    }

    fn take(&mut self, successor: &mut Successor) -> State {
        self.busy = busy_after(self.busy, successor);
        self.execution.order.extend(&successor.accesses);
        for (thread, value) in successor.choices.drain(..) {
            self.execution.choices[thread].push(value);
        }
        std::mem::take(&mut successor.state)
    }

    fn leads_to(&self, state: &State, node: u32) -> bool {
        let mut copy = state.clone();
        let mut bytes = Vec::new();
        stored(self.m, self.names, &mut copy, &mut Vec::new(), &mut bytes);
        bytes == self.graph.bytes(node)
    }
}
