//! Literals for pairs of an expression that it may but need not contain, made when they are asked for.
//!
//! **Invariant:** see [`super`]: a literal that is asked for *at least* holds if the pair is in the relation, one that is asked for *at most* holds only if it is. A base relation's literals are
//! both. Definitions that have one operand that matters have its literal.

use cyrano_memory::cat::{Matrix, Node, NodeId, Plan, Type};
use rustc_hash::FxHashMap;

use super::bounds::{Bounds, relation, set};
use super::faults::Fault;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A pair of an expression; a member of a set is a pair with itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    node: NodeId,
    from: u32,
    to: u32,
    at_least: bool,
}

/// Makes literals.
pub(super) struct Literals<'a> {
    pub(super) plan: &'a Plan,
    pub(super) bounds: Bounds,
    pub(super) guards: &'a [Lit],
    pub(super) gates: &'a mut Gates,
    known: FxHashMap<Key, Lit>,
    /// Literals whose meaning has not been said yet.
    todo: Vec<(Key, Lit)>,
    /// The pairs of a closure's operand that its definition goes through.
    steps: FxHashMap<NodeId, Matrix>,
}

impl<'a> Literals<'a> {
    /// No literals.
    pub(super) fn new(plan: &'a Plan, bounds: Bounds, guards: &'a [Lit], gates: &'a mut Gates) -> Self {
        let mut steps = FxHashMap::default();
        for node in &plan.nodes {
            if let Node::Plus(of) | Node::Star(of) = node {
                let bound = &bounds.all[*of as usize];
                let direct = bounds.reduced(relation(&bound.may), relation(&bound.must));
                steps.insert(*of, direct);
            }
        }
        Self { plan, bounds, guards, gates, known: FxHashMap::default(), todo: Vec::new(), steps }
    }

    /// Whether the expression may contain the pair.
    pub(super) fn may(&self, node: NodeId, from: usize, to: usize) -> bool {
        match self.plan.types[node as usize] {
            Type::Set => set(&self.bounds.all[node as usize].may).contains(from),
            Type::Relation => relation(&self.bounds.all[node as usize].may).contains(from, to),
        }
    }

    fn must(&self, node: NodeId, from: usize, to: usize) -> bool {
        match self.plan.types[node as usize] {
            Type::Set => set(&self.bounds.all[node as usize].must).contains(from),
            Type::Relation => relation(&self.bounds.all[node as usize].must).contains(from, to),
        }
    }

    /// The literal of a pair.
    pub(super) fn lit(&mut self, node: NodeId, from: usize, to: usize, at_least: bool) -> Lit {
        if !self.may(node, from, to) {
            return FALSE;
        }
        if self.must(node, from, to) {
            return TRUE;
        }
        if let Some(lit) = self.bounds.base[node as usize].get(&(from as u32, to as u32)) {
            return *lit;
        }
        match self.plan.nodes[node as usize] {
            Node::Union(a, b) if !self.may(b, from, to) => return self.lit(a, from, to, at_least),
            Node::Union(a, b) if !self.may(a, from, to) => return self.lit(b, from, to, at_least),
            Node::Inter(a, b) if self.must(b, from, to) => return self.lit(a, from, to, at_least),
            Node::Inter(a, b) if self.must(a, from, to) => return self.lit(b, from, to, at_least),
            Node::Diff(a, b) if !self.may(b, from, to) => return self.lit(a, from, to, at_least),
            Node::Complement(a) => return !self.lit(a, from, to, !at_least),
            Node::Inverse(a) => return self.lit(a, to, from, at_least),
            Node::Optional(a) => return self.lit(a, from, to, at_least),
            Node::Diagonal(a) => return self.lit(a, from, from, at_least),
            Node::Product(a, b) if self.must(b, to, to) => return self.lit(a, from, from, at_least),
            Node::Product(a, b) if self.must(a, from, from) => return self.lit(b, to, to, at_least),
            Node::Seq(a, b) if self.is_diagonal(a) && self.must(a, from, from) => {
                return self.lit(b, from, to, at_least);
            }
            Node::Seq(a, b) if self.is_diagonal(b) && self.must(b, to, to) => return self.lit(a, from, to, at_least),
            _ => {}
        }
        let node = self.definition(node);
        let key = Key { node, from: from as u32, to: to as u32, at_least };
        if let Some(lit) = self.known.get(&key) {
            return *lit;
        }
        let lit = self.gates.fresh();
        self.known.insert(key, lit);
        self.todo.push((key, lit));
        lit
    }

    fn is_diagonal(&self, node: NodeId) -> bool {
        matches!(self.plan.nodes[node as usize], Node::Diagonal(_))
    }

    /// One number for a recursive definition's result and what it has so far, and for a closure with and without `id`.
    fn definition(&self, node: NodeId) -> NodeId {
        let same = |other: &Node| match (self.plan.nodes[node as usize], *other) {
            (Node::Sofar(g, n), Node::Fixpoint(h, m)) => (g, n) == (h, m),
            _ => false,
        };
        match self.plan.nodes[node as usize] {
            Node::Sofar(..) => self.plan.nodes.iter().position(same).map_or(node, |at| at as NodeId),
            _ => node,
        }
    }

    /// Says what all literals mean that were asked for.
    pub(super) fn finish(&mut self) {
        while let Some((key, lit)) = self.todo.pop() {
            let (from, to) = (key.from as usize, key.to as usize);
            for way in self.ways(key.node, from, to, key.at_least) {
                // One way is a conjunction; the definition is the disjunction of all.
                if key.at_least {
                    let clause: Vec<Lit> = way.iter().map(|part| !*part).chain([lit]).collect();
                    self.gates.clause(&clause);
                }
            }
            if !key.at_least {
                self.at_most(key, lit);
            }
        }
    }

    fn at_most(&mut self, key: Key, lit: Lit) {
        let mut one = vec![!lit];
        for way in self.ways(key.node, key.from as usize, key.to as usize, false) {
            match way[..] {
                [] => return,
                [only] => one.push(only),
                _ => {
                    let chosen = self.gates.fresh();
                    way.iter().for_each(|part| self.gates.clause(&[!chosen, *part]));
                    one.push(chosen);
                }
            }
        }
        self.gates.clause(&one);
    }

    /// The ways in which a pair comes about.
    fn ways(&mut self, node: NodeId, from: usize, to: usize, at_least: bool) -> Vec<Vec<Lit>> {
        let events = self.guards.len();
        match self.plan.nodes[node as usize] {
            Node::Union(a, b) => {
                vec![vec![self.lit(a, from, to, at_least)], vec![self.lit(b, from, to, at_least)]]
            }
            Node::Inter(a, b) => vec![vec![self.lit(a, from, to, at_least), self.lit(b, from, to, at_least)]],
            Node::Diff(a, b) => vec![vec![self.lit(a, from, to, at_least), !self.lit(b, from, to, !at_least)]],
            Node::Product(a, b) => vec![vec![self.lit(a, from, from, at_least), self.lit(b, to, to, at_least)]],
            Node::Seq(a, b) => {
                let between = (0..events).filter(|at| self.may(a, from, *at) && self.may(b, *at, to));
                let between: Vec<usize> = between.collect();
                let way = |this: &mut Self, at: usize| {
                    vec![this.lit(a, from, at, at_least), this.lit(b, at, to, at_least), this.there(at, from, to)]
                };
                between.into_iter().map(|at| way(self, at)).collect()
            }
            Node::Plus(a) | Node::Star(a) => self.closure(node, a, from, to, at_least),
            Node::Domain(a) => {
                let others: Vec<usize> = (0..events).filter(|at| self.may(a, from, *at)).collect();
                let way =
                    |this: &mut Self, at: usize| vec![this.lit(a, from, at, at_least), this.there(at, from, from)];
                others.into_iter().map(|at| way(self, at)).collect()
            }
            Node::Range(a) => {
                let others: Vec<usize> = (0..events).filter(|at| self.may(a, *at, to)).collect();
                let way = |this: &mut Self, at: usize| vec![this.lit(a, at, to, at_least), this.there(at, to, to)];
                others.into_iter().map(|at| way(self, at)).collect()
            }
            Node::Fixpoint(group, number) | Node::Sofar(group, number) => {
                let body = self.plan.groups[group as usize].bodies[number as usize];
                vec![vec![self.lit(body, from, to, at_least)]]
            }
            Node::Complement(_)
            | Node::Inverse(_)
            | Node::Optional(_)
            | Node::Diagonal(_)
            | Node::Base(_)
            | Node::Empty(_) => Vec::new(),
        }
    }

    /// One step, or one step and the closure from there.
    fn closure(&mut self, node: NodeId, of: NodeId, from: usize, to: usize, at_least: bool) -> Vec<Vec<Lit>> {
        let steps = &self.steps[&of];
        let between = (0..self.guards.len()).filter(|at| *at != from && *at != to);
        let between = between.filter(|at| steps.contains(from, *at) && self.may(node, *at, to));
        let between: Vec<usize> = between.filter(|_| !Fault::OneStep.is_on()).collect();
        let direct = steps.contains(from, to) || self.may(of, from, to);
        let mut ways = Vec::new();
        if direct {
            ways.push(vec![self.lit(of, from, to, at_least)]);
        }
        for at in between {
            let way =
                vec![self.lit(of, from, at, at_least), self.lit(node, at, to, at_least), self.there(at, from, to)];
            ways.push(way);
        }
        ways
    }

    /// The guard of an event between two others, unless one of them implies it.
    fn there(&self, at: usize, from: usize, to: usize) -> Lit {
        let implied = &self.bounds.implied;
        let implied = implied.contains(from, at) || implied.contains(to, at) || Fault::NobodyBetween.is_on();
        if implied { TRUE } else { self.guards[at] }
    }

    /// The literal that holds where a pair is in a relation and both are executed, at least or at most.
    pub(super) fn executed(&mut self, lit: Lit, from: usize, to: usize, at_least: bool) -> Lit {
        let mut parts = vec![lit, self.guards[from], self.guards[to]];
        parts.retain(|part| *part != TRUE);
        if parts.contains(&FALSE) {
            return FALSE;
        }
        parts.dedup();
        match parts[..] {
            [] => TRUE,
            [only] => only,
            _ if lit == TRUE => self.gates.and(self.guards[from], self.guards[to]),
            _ => {
                let both = self.gates.fresh();
                if at_least {
                    let clause: Vec<Lit> = parts.iter().map(|part| !*part).chain([both]).collect();
                    self.gates.clause(&clause);
                } else {
                    parts.iter().for_each(|part| self.gates.clause(&[!both, *part]));
                }
                both
            }
        }
    }
}
