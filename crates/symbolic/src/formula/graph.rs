//! A graph whose edges are present where their literals hold, and which has to be acyclic.
//!
//! This is the only thing that the memory order becomes: the solver's theory (`acyclic`) or a set of clauses (`cubic`) keeps cycles out.

use rustc_hash::FxHashMap;

use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node(pub(crate) u32);

impl Node {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge, present where its literal holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Edge {
    pub(crate) lit: Lit,
    pub(crate) from: Node,
    pub(crate) to: Node,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: u32,
    pub(crate) edges: Vec<Edge>,
    /// The literal that puts the first node of a pair before the second.
    pairs: FxHashMap<(Node, Node), Lit>,
}

impl Graph {
    /// A graph without edges.
    pub(crate) fn with_nodes(nodes: u32) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// A new node.
    pub(crate) fn node(&mut self) -> Node {
        self.nodes += 1;
        Node(self.nodes - 1)
    }

    /// An edge where the literal holds.
    pub(crate) fn edge(&mut self, lit: Lit, from: Node, to: Node) {
        if lit != FALSE && from != to {
            self.edges.push(Edge { lit, from, to });
        }
    }

    /// The literal that says that one node is before another. Either it or its negation is an edge.
    pub(crate) fn before(&mut self, gates: &mut Gates, first: Node, second: Node) -> Lit {
        let flip = first > second;
        let (a, b) = if flip { (second, first) } else { (first, second) };
        let lit = match self.pairs.get(&(a, b)) {
            Some(lit) => *lit,
            None => {
                let lit = gates.fresh();
                self.pairs.insert((a, b), lit);
                self.edge(lit, a, b);
                self.edge(!lit, b, a);
                lit
            }
        };
        if flip { !lit } else { lit }
    }

    /// The literal that puts the first node before the second, if they have one.
    pub(crate) fn pair(&self, first: Node, second: Node) -> Option<Lit> {
        let forward = self.pairs.get(&(first, second)).copied();
        forward.or_else(|| self.pairs.get(&(second, first)).map(|lit| !*lit))
    }

    /// The strongly connected component of each node, as if all edges were present.
    pub(crate) fn components(&self) -> Vec<usize> {
        components(self)
    }

    /// The number of pairs with a literal.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Takes over another graph as a part without edges to this one.
    pub(crate) fn append(&mut self, other: Self) {
        let shift = |node: Node| Node(node.0 + self.nodes);
        let moved = other.edges.iter().map(|edge| Edge { lit: edge.lit, from: shift(edge.from), to: shift(edge.to) });
        let moved: Vec<Edge> = moved.collect();
        self.edges.extend(moved);
        self.nodes += other.nodes;
    }

    /// An order of the nodes that all edges of an assignment agree with; `prefer` chooses among those that may come next.
    pub(crate) fn sorted(&self, holds: impl Fn(Lit) -> bool, group: impl Fn(Node) -> usize) -> Option<Vec<Node>> {
        let nodes = self.nodes as usize;
        let mut waiting = vec![0u32; nodes];
        let mut next: Vec<Vec<Node>> = vec![Vec::new(); nodes];
        for edge in self.edges.iter().filter(|edge| edge.lit == TRUE || holds(edge.lit)) {
            waiting[edge.to.index()] += 1;
            next[edge.from.index()].push(edge.to);
        }
        let mut ready: Vec<Node> = (0..self.nodes).map(Node).filter(|node| waiting[node.index()] == 0).collect();
        let mut order = Vec::with_capacity(nodes);
        let mut last = usize::MAX;
        while !ready.is_empty() {
            let at = ready.iter().position(|node| group(*node) == last).unwrap_or(0);
            let node = ready.remove(at);
            last = group(node);
            order.push(node);
            for to in &next[node.index()] {
                waiting[to.index()] -= 1;
                if waiting[to.index()] == 0 {
                    ready.push(*to);
                }
            }
        }
        (order.len() == nodes).then_some(order)
    }
}

/// The strongly connected component of each node, by two depth-first searches.
fn components(graph: &Graph) -> Vec<usize> {
    let nodes = graph.nodes as usize;
    let (mut next, mut last) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for edge in &graph.edges {
        next[edge.from.index()].push(edge.to.index());
        last[edge.to.index()].push(edge.from.index());
    }
    let mut finished = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    for root in 0..nodes {
        visit(root, &next, &mut seen, &mut |node| finished.push(node));
    }
    let mut component = vec![usize::MAX; nodes];
    let mut seen = vec![false; nodes];
    for root in finished.into_iter().rev() {
        visit(root, &last, &mut seen, &mut |node| component[node] = root);
    }
    component
}

/// Visits what can be reached and has not been, each node after all that it leads to.
fn visit(root: usize, next: &[Vec<usize>], seen: &mut [bool], leave: &mut impl FnMut(usize)) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let mut path = vec![(root, 0)];
    while let Some((node, at)) = path.pop() {
        match next[node].get(at) {
            None => leave(node),
            Some(to) => {
                path.push((node, at + 1));
                if !std::mem::replace(&mut seen[*to], true) {
                    path.push((*to, 0));
                }
            }
        }
    }
}
