//! Fair cycles: strongly connected components of a part of the graph, and short cycles through one of them.
//!
//! A [`Want`] says which nodes and edges a cycle may use and which kinds of edges it has to contain. A cycle that satisfies it
//! exists exactly if some strongly connected component of the part of the graph that may be used has, for every kind, an edge with
//! both ends in the component: within a component one can go from each of these edges to the next and back to the start.

use cyrano_ir::TxEvent;
use rustc_hash::FxHashMap;

use super::graph::{Edge, Graph, MOST_THREADS, Threads};

/// What the search needs for each node.
pub(crate) const PER_NODE: usize = 4 * size_of::<u32>();

/// How many places a cycle is started from before the shortest one is taken.
const MOST_STARTS: usize = 256;

/// A round is easier to read if it starts where no transaction is under way: worth so many steps for each of them.
const FOR_EACH_OPEN: usize = 4;

const NONE: u32 = u32::MAX;

/// What a thread does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It ends transactions.
    Ends,
    /// It aborts and does not commit.
    Aborts,
    /// It takes steps, all within one command.
    Waits,
    /// It stands at an atomic section that is closed.
    Blocked,
    /// It takes no step.
    Still,
    /// The same, with no transaction under way.
    Idle,
}

/// A kind of cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    roles: [Role; MOST_THREADS],
    /// The threads that have no transaction under way, those that are blocked, and those that have something to do.
    idle: Threads,
    blocked: Threads,
    moving: Threads,
}

impl Want {
    pub fn new(given: &[Role]) -> Self {
        let mut roles = [Role::Still; MOST_THREADS];
        roles[..given.len()].copy_from_slice(given);
        let with = |wanted: &[Role]| {
            let threads = roles.iter().enumerate().filter(|(_, role)| wanted.contains(role));
            threads.fold(0, |set: Threads, (thread, _)| set | 1 << thread)
        };
        let moving = with(&[Role::Ends, Role::Aborts, Role::Waits]);
        Self { roles, idle: with(&[Role::Idle]), blocked: with(&[Role::Blocked]), moving }
    }

    fn node(&self, graph: &Graph, node: u32) -> bool {
        graph.busy(node) & self.idle == 0 && graph.blocked(node) & self.blocked == self.blocked
    }

    fn edge(&self, edge: &Edge) -> bool {
        match self.roles[usize::from(edge.thread)] {
            Role::Ends => true,
            Role::Aborts => edge.ended != Some(TxEvent::Commit),
            Role::Waits => edge.ended.is_none() && !edge.choice,
            Role::Blocked | Role::Still | Role::Idle => false,
        }
    }

    /// The thread that does what it has to do in this step, as a set.
    fn has(&self, edge: &Edge) -> Threads {
        let does = match self.roles[usize::from(edge.thread)] {
            Role::Ends => edge.ended.is_some(),
            Role::Aborts => edge.ended == Some(TxEvent::Abort),
            Role::Waits => true,
            Role::Blocked | Role::Still | Role::Idle => false,
        };
        Threads::from(does) << edge.thread
    }

    fn successors<'g>(&self, graph: &'g Graph, node: u32) -> impl Iterator<Item = Edge> + use<'g> {
        let want = *self;
        graph.edges(node).iter().copied().filter(move |edge| want.edge(edge) && want.node(graph, edge.to))
    }
}

/// A cycle: where it starts and its edges. Without edges, a thread is blocked there for ever.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    pub start: u32,
    pub edges: Vec<Edge>,
}

/// A short cycle of this kind that is near an initial state, if there is any.
pub(crate) fn find(graph: &Graph, want: &Want) -> Option<Cycle> {
    let nodes = 0..graph.len() as u32;
    if want.moving == 0 {
        let start = { nodes }.find(|node| want.node(graph, *node))?;
        return Some(Cycle { start, edges: Vec::new() });
    }
    let components = Components::of(graph, want);
    let good = components.satisfying(graph, want);
    let starts = nodes.filter(|node| good.get(components.of[*node as usize] as usize) == Some(&true));
    let mut best: Option<(usize, Cycle)> = None;
    for start in starts.take(MOST_STARTS) {
        let busy = graph.busy(start).count_ones() as usize;
        let before = graph.path(start).len() - 1 + busy * FOR_EACH_OPEN;
        let limit = best.as_ref().map_or(usize::MAX, |(effort, _)| effort.saturating_sub(before));
        if let Some(edges) = shortest(graph, want, start, limit) {
            best = Some((before + edges.len(), Cycle { start, edges }));
        }
    }
    best.map(|(_, cycle)| cycle)
}

/// A node, and the threads that have done what they have to do on the way there.
type Met = (u32, Threads);

/// The shortest cycle through `start` that has everything, if it is shorter than `limit`.
fn shortest(graph: &Graph, want: &Want, start: u32, limit: usize) -> Option<Vec<Edge>> {
    let mut from: FxHashMap<Met, (Met, Edge)> = FxHashMap::default();
    let mut level = vec![(start, 0)];
    let mut length = 0;
    while !level.is_empty() && length + 1 < limit {
        let mut next = Vec::new();
        for (node, has) in level {
            for edge in want.successors(graph, node) {
                let reached = (edge.to, has | want.has(&edge));
                if let std::collections::hash_map::Entry::Vacant(slot) = from.entry(reached) {
                    slot.insert(((node, has), edge));
                    next.push(reached);
                }
                if reached == (start, want.moving) {
                    return Some(unwind(&from, start, reached));
                }
            }
        }
        level = next;
        length += 1;
    }
    None
}

/// The edges from the start, where nothing has been met yet, to the end.
fn unwind(from: &FxHashMap<Met, (Met, Edge)>, start: u32, end: Met) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut current = end;
    while let Some((before, edge)) = from.get(&current) {
        edges.push(*edge);
        current = *before;
        if current == (start, 0) {
            break;
        }
    }
    edges.reverse();
    edges
}

/// Strongly connected components.
struct Components {
    /// For each node its component; [`NONE`] if it may not be used.
    of: Vec<u32>,
    count: usize,
}

impl Components {
    /// Tarjan's algorithm, with a stack of its own.
    fn of(graph: &Graph, want: &Want) -> Self {
        let mut tarjan = Tarjan {
            graph,
            want,
            index: vec![NONE; graph.len()],
            low: vec![NONE; graph.len()],
            stack: Vec::new(),
            calls: Vec::new(),
            visited: 0,
            found: Self { of: vec![NONE; graph.len()], count: 0 },
        };
        for root in 0..graph.len() as u32 {
            if tarjan.index[root as usize] == NONE && want.node(graph, root) {
                tarjan.visit(root);
            }
        }
        tarjan.found
    }

    /// For each component, whether it has an edge of every kind.
    fn satisfying(&self, graph: &Graph, want: &Want) -> Vec<bool> {
        let mut has: Vec<Threads> = vec![0; self.count];
        for node in 0..graph.len() as u32 {
            let own = self.of[node as usize];
            if own == NONE {
                continue;
            }
            let inside = want.successors(graph, node).filter(|edge| self.of[edge.to as usize] == own);
            inside.for_each(|edge| has[own as usize] |= want.has(&edge));
        }
        has.into_iter().map(|has| has == want.moving).collect()
    }
}

struct Tarjan<'g> {
    graph: &'g Graph,
    want: &'g Want,
    index: Vec<u32>,
    low: Vec<u32>,
    stack: Vec<u32>,
    /// The nodes being visited, each with the number of its next edge.
    calls: Vec<(u32, usize)>,
    visited: u32,
    found: Components,
}

impl Tarjan<'_> {
    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.visited;
        self.low[node as usize] = self.visited;
        self.visited += 1;
        self.stack.push(node);
        self.calls.push((node, 0));
    }

    fn visit(&mut self, root: u32) {
        self.enter(root);
        while let Some((node, next)) = self.calls.last_mut() {
            let (node, edge) = (*node, self.graph.edges(*node).get(*next).copied());
            *next += 1;
            match edge {
                None => self.leave(node),
                Some(edge) if !self.want.edge(&edge) || !self.want.node(self.graph, edge.to) => {}
                Some(Edge { to, .. }) if self.index[to as usize] == NONE => self.enter(to),
                Some(Edge { to, .. }) => {
                    if self.found.of[to as usize] == NONE {
                        self.lower(node, self.index[to as usize]);
                    }
                }
            }
        }
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = &mut self.low[node as usize];
        *low = (*low).min(to);
    }

    fn leave(&mut self, node: u32) {
        self.calls.pop();
        let low = self.low[node as usize];
        if let Some((caller, _)) = self.calls.last() {
            self.lower(*caller, low);
        }
        if low == self.index[node as usize] {
            while let Some(member) = self.stack.pop() {
                self.found.of[member as usize] = self.found.count as u32;
                if member == node {
                    break;
                }
            }
            self.found.count += 1;
        }
    }
}
