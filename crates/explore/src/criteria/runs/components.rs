//! Strongly connected components of a part of the graph: Tarjan's algorithm, with a stack of its own.

use super::cycles::{Met, Want};
use super::graph::{Edge, Graph};

/// No number of a node or of a component.
pub(super) const NONE: u32 = u32::MAX;

/// Strongly connected components.
pub(super) struct Components {
    /// For each node its component; [`NONE`] if it may not be used.
    of: Vec<u32>,
    count: usize,
}

impl Components {
    pub fn of<W: Want>(graph: &Graph, want: &W) -> Self {
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

    /// The edges from a node that stay in its component.
    pub fn inside<'g, W: Want>(&'g self, graph: &'g Graph, want: &'g W, node: u32) -> impl Iterator<Item = &'g Edge> {
        let own = self.of[node as usize];
        graph.edges(node).iter().filter(move |edge| want.edge(edge) && self.of[edge.to as usize] == own)
    }

    /// The nodes of those components that have an edge, and in their edges and nodes all that a cycle has to have.
    pub fn satisfying<W: Want>(&self, graph: &Graph, want: &W) -> impl Iterator<Item = u32> {
        let mut has: Vec<(bool, Met)> = vec![(false, 0); self.count];
        for node in self.nodes() {
            let (moves, met) = &mut has[self.of[node as usize] as usize];
            *met |= want.at(graph, node);
            for edge in self.inside(graph, want, node) {
                *moves = true;
                *met |= want.by(edge);
            }
        }
        let good = move |node: &u32| has[self.of[*node as usize] as usize] == (true, want.all());
        self.nodes().filter(good)
    }

    /// The nodes that may be used.
    fn nodes(&self) -> impl Iterator<Item = u32> {
        (0..self.of.len() as u32).filter(|node| self.of[*node as usize] != NONE)
    }
}

struct Tarjan<'g, W> {
    graph: &'g Graph,
    want: &'g W,
    index: Vec<u32>,
    low: Vec<u32>,
    stack: Vec<u32>,
    /// The nodes being visited, each with the number of its next edge.
    calls: Vec<(u32, usize)>,
    visited: u32,
    found: Components,
}

impl<W: Want> Tarjan<'_, W> {
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
