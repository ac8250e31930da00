//! Axiom 2: fences as nodes of the memory order.
//!
//! Each kind of a fence is a node between the accesses before and after it. Nodes of the same kind are chained. Going back from an access, or from a fence, the first fence that is
//! surely executed with it stands for all before that one.

use cyrano_ir::{AccessKind, FenceSet};
use cyrano_memory::Model;

use crate::event::{Item, Run};
use crate::gates::Gates;
use crate::graph::{Graph, Node};
use crate::lit::{Lit, TRUE};
use crate::order::keeps_always;

/// Whether the model keeps everything in order that a fence of this kind is about.
pub(crate) fn is_kept(model: &Model, kind: FenceSet) -> bool {
    let simple = [AccessKind::Load, AccessKind::Store];
    let mut first = simple.into_iter().filter(|k| FenceSet::from_first(*k).contains(kind));
    let second = |k: &AccessKind| FenceSet::from_second(*k).contains(kind);
    first.all(|first| simple.iter().filter(|k| second(k)).all(|second| keeps_always(model, first, *second)))
}

/// Lays the edges of some fences.
pub(crate) struct Fences<'a> {
    pub(crate) run: &'a Run,
    pub(crate) nodes: &'a [Node],
    pub(crate) graph: &'a mut Graph,
    pub(crate) gates: &'a mut Gates,
    /// For fences that may be there or not, the literal that says that they are, and the variables that are added.
    pub(crate) selector: Option<(Lit, &'a mut Vec<u32>)>,
}

impl Fences<'_> {
    /// The fences of one kind in one thread; `fence` tells where an item is one of them and executed.
    pub(crate) fn lay(&mut self, items: &[Item], kind: FenceSet, fence: &dyn Fn(&Item) -> Option<Lit>) {
        let run = self.run;
        let mut passed: Vec<(Lit, Node)> = Vec::new();
        // The accesses that no fence seen so far surely stands after.
        let mut waiting: Vec<usize> = Vec::new();
        for item in items {
            if let Some(guard) = fence(item) {
                let node = self.graph.node();
                self.after(&passed, guard, node);
                for access in &waiting {
                    self.edge([run.events[*access].guard, guard], self.nodes[*access], node);
                }
                waiting.retain(|access| !self.gates.implies(run.events[*access].guard, guard));
                passed.push((guard, node));
            }
            if let Item::Access(access) = item {
                let event = &run.events[*access];
                if FenceSet::from_second(event.kind).contains(kind) {
                    self.after(&passed, event.guard, self.nodes[*access]);
                }
                if FenceSet::from_first(event.kind).contains(kind) {
                    waiting.push(*access);
                }
            }
        }
    }

    /// Edges from the fences that were passed.
    fn after(&mut self, passed: &[(Lit, Node)], guard: Lit, node: Node) {
        for (fence, at) in passed.iter().rev() {
            self.edge([*fence, guard], *at, node);
            if self.gates.implies(guard, *fence) {
                break;
            }
        }
    }

    /// An edge where both ends are executed and the fences are there.
    fn edge(&mut self, [one, other]: [Lit; 2], from: Node, to: Node) {
        let Some((selector, added)) = &mut self.selector else {
            let both = self.gates.and(one, other);
            return self.graph.edge(both, from, to);
        };
        if self.gates.implies(one, !other) || self.gates.implies(other, !one) {
            return;
        }
        if [one, other] == [TRUE, TRUE] {
            return self.graph.edge(*selector, from, to);
        }
        let lit = self.gates.fresh();
        added.push(lit.var());
        match (self.gates.implies(other, one), self.gates.implies(one, other)) {
            (true, _) => self.gates.clause(&[!*selector, !other, lit]),
            (_, true) => self.gates.clause(&[!*selector, !one, lit]),
            _ => self.gates.clause(&[!*selector, !one, !other, lit]),
        }
        self.graph.edge(lit, from, to);
    }
}
