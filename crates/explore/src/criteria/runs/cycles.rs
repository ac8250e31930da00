//! Fair cycles: components of a part of the graph that have all that is wanted, and short cycles through one of them.
//!
//! A [`Want`] says which nodes and edges a cycle may use and what it has to come by. A cycle that satisfies it exists exactly if some strongly
//! connected component of the part of the graph that may be used has an edge, and all that is wanted at its nodes and in its edges: within a
//! component one can go from each of these to the next and back to the start (emptiness of generalised Büchi automata).

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::components::Components;
use super::graph::{Edge, Graph};

/// What the search needs for each node.
pub(crate) const PER_NODE: usize = 4 * size_of::<u32>();

/// How many places a cycle is started from before the shortest one is taken.
const MOST_STARTS: usize = 256;

/// How many pairs of a node and what has been met there are looked at for the shortest cycle. If there are more, a cycle that goes from each thing to the
/// nearest of the rest has to do.
const MOST_MET: usize = 1 << 18;

/// What a path has come by, one bit each.
pub(crate) type Met = u64;

/// A kind of cycle.
pub(crate) trait Want {
    /// Whether it may use a node.
    fn node(&self, graph: &Graph, node: u32) -> bool;
    /// Whether it may use an edge between such nodes.
    fn edge(&self, edge: &Edge) -> bool;
    /// What is met at a node.
    fn at(&self, graph: &Graph, node: u32) -> Met;
    /// What is met on an edge.
    fn by(&self, edge: &Edge) -> Met;
    /// All that has to be met.
    fn all(&self) -> Met;
    /// How many steps it is worth to start somewhere else than at a node.
    fn cost(&self, _: &Graph, _node: u32) -> usize {
        0
    }
}

/// A cycle: where it starts and its edges. Without edges, a thread is blocked there for ever.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    pub start: u32,
    pub edges: Vec<Edge>,
}

/// Whether there is a cycle of this kind.
pub(crate) fn exists(graph: &Graph, want: &impl Want) -> bool {
    Components::of(graph, want).satisfying(graph, want).next().is_some()
}

/// A short cycle of this kind that is near an initial state, if there is any.
pub(crate) fn find<W: Want>(graph: &Graph, want: &W) -> Option<Cycle> {
    let components = Components::of(graph, want);
    let mut best: Option<(usize, Cycle)> = None;
    for start in components.satisfying(graph, want).take(MOST_STARTS) {
        let before = graph.path(start).len() - 1 + want.cost(graph, start);
        let limit = best.as_ref().map_or(usize::MAX, |(effort, _)| effort.saturating_sub(before));
        let round = Round { graph, want, components: &components, start };
        if let Some(edges) = round.short(limit) {
            best = Some((before + edges.len(), Cycle { start, edges }));
        }
    }
    best.map(|(_, cycle)| cycle)
}

/// A search for a cycle through one node of a component that has all that is wanted.
struct Round<'g, W> {
    graph: &'g Graph,
    want: &'g W,
    components: &'g Components,
    start: u32,
}

/// A node, and what was met on the way there.
type Place = (u32, Met);

impl<W: Want> Round<'_, W> {
    fn successors(&self, node: u32) -> impl Iterator<Item = &Edge> {
        self.components.inside(self.graph, self.want, node)
    }

    fn met(&self, before: Met, edge: &Edge) -> Met {
        before | self.want.by(edge) | self.want.at(self.graph, edge.to)
    }

    /// A cycle through the start that has everything, if there is one that is shorter than `limit`.
    fn short(&self, limit: usize) -> Option<Vec<Edge>> {
        let found = self.shortest(limit).unwrap_or_else(|TooMany| Some(self.greedy()));
        found.filter(|edges| edges.len() < limit)
    }

    /// The shortest one, if it is shorter than `limit`.
    fn shortest(&self, limit: usize) -> Result<Option<Vec<Edge>>, TooMany> {
        let first = (self.start, self.want.at(self.graph, self.start));
        let mut from: FxHashMap<Place, (Place, Edge)> = FxHashMap::default();
        let mut level = vec![first];
        let mut length = 0;
        while !level.is_empty() && length + 1 < limit {
            let mut next = Vec::new();
            for (node, met) in level {
                for edge in self.successors(node) {
                    let reached = (edge.to, self.met(met, edge));
                    if let Entry::Vacant(slot) = from.entry(reached) {
                        slot.insert(((node, met), *edge));
                        next.push(reached);
                    }
                    if reached == (self.start, self.want.all()) {
                        return Ok(Some(unwind(&from, first, reached)));
                    }
                }
            }
            if from.len() > MOST_MET {
                return Err(TooMany);
            }
            level = next;
            length += 1;
        }
        Ok(None)
    }

    /// One that goes to whatever is nearest of what is missing, and at last back to the start.
    fn greedy(&self) -> Vec<Edge> {
        let (mut node, mut met) = (self.start, self.want.at(self.graph, self.start));
        let mut edges: Vec<Edge> = Vec::new();
        while met != self.want.all() || edges.is_empty() || node != self.start {
            let complete = met == self.want.all();
            let arrived = |edge: &Edge| if complete { edge.to == self.start } else { self.met(met, edge) != met };
            let way = self.way(node, arrived);
            met = way.iter().fold(met, |met, edge| self.met(met, edge));
            node = way.last().map_or(node, |edge| edge.to);
            edges.extend(way);
        }
        edges
    }

    /// The shortest way from a node whose last edge is wanted; in a component that has everything there is one.
    fn way(&self, from: u32, wanted: impl Fn(&Edge) -> bool) -> Vec<Edge> {
        let mut before: FxHashMap<u32, (u32, Edge)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.successors(node) {
                if wanted(edge) {
                    let mut edges = vec![*edge];
                    let mut at = node;
                    while at != from {
                        let (earlier, edge) = before[&at];
                        edges.push(edge);
                        at = earlier;
                    }
                    edges.reverse();
                    return edges;
                }
                if edge.to != from && !before.contains_key(&edge.to) {
                    before.insert(edge.to, (node, *edge));
                    queue.push_back(edge.to);
                }
            }
        }
        unreachable!("a component that has everything has a way to it")
    }
}

/// There is too much to look at.
struct TooMany;

/// The edges from the start to the end.
fn unwind(from: &FxHashMap<Place, (Place, Edge)>, start: Place, end: Place) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut current = end;
    while let Some((before, edge)) = from.get(&current) {
        edges.push(*edge);
        current = *before;
        if current == start {
            break;
        }
    }
    edges.reverse();
    edges
}
