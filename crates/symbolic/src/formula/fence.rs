//! Axiom 2: fences as nodes of the memory order.
//!
//! Each kind of a fence is a node between the accesses before and after it. Nodes of the same kind are chained. Going back from an access, or from a fence, the first fence that is
//! surely executed with it stands for all before that one.
//!
//! **Within a unit.** All accesses of an operation of a serial model are one node, and in program order there anyway. A fence between them that was one node would be before and after
//! that node: a cycle, and the executions would be gone. So it has two: `outer` comes after the accesses before the fence that are not of the unit, `all` after those and after the
//! unit. Accesses of the unit that follow the fence come after `outer`, other accesses after `all`. That is what axiom 2 asks for, and no more: the unit comes after what is
//! before the fence only if an access in it does.

use cyrano_ir::{AccessKind, FenceSet};
use cyrano_memory::Model;

use crate::execute::event::{Item, Run};
use crate::formula::gates::Gates;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{Lit, TRUE};
use crate::formula::order::keeps_always;

/// Whether the model keeps everything in order that a fence of this kind is about.
pub(crate) fn is_kept(model: &Model, kind: FenceSet) -> bool {
    let simple = [AccessKind::Load, AccessKind::Store];
    let mut first = simple.into_iter().filter(|k| FenceSet::from_first(*k).contains(kind));
    let second = |k: &AccessKind| FenceSet::from_second(*k).contains(kind);
    first.all(|first| simple.iter().filter(|k| second(k)).all(|second| keeps_always(model, first, *second)))
}

/// Where a fence is executed, and the unit that it stands in.
type Executed = (Lit, Option<usize>);

/// Lays the edges of some fences.
pub(crate) struct Fences<'a> {
    pub(crate) run: &'a Run,
    pub(crate) nodes: &'a [Node],
    pub(crate) graph: &'a mut Graph,
    pub(crate) gates: &'a mut Gates,
    /// For fences that may be there or not, the literal that says that they are, and the variables that are added.
    pub(crate) selector: Option<(Lit, &'a mut Vec<u32>)>,
}

/// A fence that was passed.
struct Passed {
    guard: Lit,
    unit: Option<usize>,
    /// After the accesses outside of its unit that are before it.
    outer: Node,
    /// After all accesses that are before it.
    all: Node,
}

impl Passed {
    /// Whether it stands within this unit.
    fn is_within(&self, unit: Option<usize>) -> bool {
        self.unit.is_some() && self.unit == unit
    }
}

impl Fences<'_> {
    /// The fences of one kind in one thread; `fence` tells where an item is one of them and executed, and in which unit.
    pub(crate) fn lay(&mut self, items: &[Item], kind: FenceSet, fence: &dyn Fn(&Item) -> Option<Executed>) {
        let run = self.run;
        let mut passed: Vec<Passed> = Vec::new();
        // The accesses that no fence seen so far surely stands after.
        let mut waiting: Vec<usize> = Vec::new();
        for item in items {
            if let Some((guard, unit)) = fence(item) {
                let this = self.node(guard, unit);
                self.chain(&passed, &this);
                for access in &waiting {
                    let event = &run.events[*access];
                    let to = if this.is_within(event.unit) { this.all } else { this.outer };
                    self.edge([event.guard, guard], self.nodes[*access], to);
                }
                waiting.retain(|access| !self.gates.implies(run.events[*access].guard, guard));
                passed.push(this);
            }
            if let Item::Access(access) = item {
                let event = &run.events[*access];
                if FenceSet::from_second(event.kind).contains(kind) {
                    self.after(&passed, event.guard, event.unit, self.nodes[*access]);
                }
                if FenceSet::from_first(event.kind).contains(kind) {
                    waiting.push(*access);
                }
            }
        }
    }

    /// The nodes of a fence.
    fn node(&mut self, guard: Lit, unit: Option<usize>) -> Passed {
        let outer = self.graph.node();
        let all = if unit.is_some() { self.graph.node() } else { outer };
        self.edge([guard, guard], outer, all);
        Passed { guard, unit, outer, all }
    }

    /// Edges from the fences that were passed to a fence.
    fn chain(&mut self, passed: &[Passed], to: &Passed) {
        for fence in passed.iter().rev() {
            if fence.is_within(to.unit) {
                self.edge([fence.guard, to.guard], fence.outer, to.outer);
                self.edge([fence.guard, to.guard], fence.all, to.all);
            } else {
                self.edge([fence.guard, to.guard], fence.all, to.outer);
            }
            if self.gates.implies(to.guard, fence.guard) {
                break;
            }
        }
    }

    /// Edges from the fences that were passed to an access.
    fn after(&mut self, passed: &[Passed], guard: Lit, unit: Option<usize>, node: Node) {
        for fence in passed.iter().rev() {
            let from = if fence.is_within(unit) { fence.outer } else { fence.all };
            self.edge([fence.guard, guard], from, node);
            if self.gates.implies(guard, fence.guard) {
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
        if from == to {
            return;
        }
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
