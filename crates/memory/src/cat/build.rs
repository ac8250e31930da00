//! Expressions while a plan is made: each once, with its type, when it is known, and whether it belongs to a definition that is still open.

use std::collections::HashMap;

use cyrano_ir::{FenceSet, Tags};

use super::ast::Infix;
use super::compile::Value;
use super::names;
use super::plan::{Base, Group, Level, Node, NodeId, Plan, Type};

/// A plan in the making.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) plan: Plan,
    known: HashMap<(Node, Type), NodeId>,
    /// For each expression the recursive definitions of which it uses what they have so far.
    open: Vec<Option<u32>>,
    /// What the text speaks of by a name that every model has.
    pub(super) mentioned: Vec<NodeId>,
}

impl Builder {
    /// The expression.
    pub(super) fn node(&mut self, node: Node, ty: Type) -> NodeId {
        if let Some(known) = self.known.get(&(node, ty)) {
            return *known;
        }
        let id = self.plan.nodes.len() as NodeId;
        let level = match node {
            Node::Base(base) => base.level(),
            _ => node.operands().map(|of| self.plan.levels[of as usize]).max().unwrap_or(Level::Events),
        };
        let open = match node {
            Node::Sofar(group, _) => Some(group),
            _ => node.operands().find_map(|of| self.open[of as usize]),
        };
        self.known.insert((node, ty), id);
        self.plan.nodes.push(node);
        self.plan.types.push(ty);
        self.plan.levels.push(level);
        self.open.push(open);
        id
    }

    /// What executions come with.
    pub(super) fn base(&mut self, base: Base) -> NodeId {
        self.node(Node::Base(base), base.ty())
    }

    /// The expression as a value.
    pub(super) fn made(&mut self, node: Node, ty: Type) -> Value {
        Value::Node(self.node(node, ty))
    }

    /// What an expression denotes.
    pub(super) fn ty(&self, node: NodeId) -> Type {
        self.plan.types[node as usize]
    }

    /// Whether it uses what a recursive definition has so far.
    pub(super) fn is_open(&self, node: NodeId) -> bool {
        self.open[node as usize].is_some()
    }

    /// A value as an expression of this type.
    pub(super) fn body(&mut self, value: Value, ty: Type) -> NodeId {
        match value {
            Value::Node(node) => node,
            _ => self.node(Node::Empty(ty), ty),
        }
    }

    /// Everything else.
    pub(super) fn complement(&mut self, value: Value) -> Value {
        let node = self.body(value, Type::Relation);
        self.made(Node::Complement(node), self.ty(node))
    }

    /// Two values with an operator between them; none if one is a set and the other a relation.
    pub(super) fn join(&mut self, infix: Infix, left: Value, right: Value) -> Option<Value> {
        let (Value::Node(a), Value::Node(b)) = (left, right) else {
            return Some(match (infix, left, right) {
                (Infix::Union, Value::Nothing, other) | (Infix::Union | Infix::Diff, other, Value::Nothing) => other,
                _ => Value::Nothing,
            });
        };
        let (ty, other) = (self.ty(a), self.ty(b));
        let (node, ty) = match infix {
            _ if ty != other => return None,
            Infix::Union => (Node::Union(a, b), ty),
            Infix::Inter => (Node::Inter(a, b), ty),
            Infix::Diff => (Node::Diff(a, b), ty),
            Infix::Seq => (Node::Seq(a, b), ty),
            Infix::Product if ty == Type::Relation => return None,
            Infix::Product => (Node::Product(a, b), Type::Relation),
        };
        Some(self.made(node, ty))
    }

    /// Begins definitions that see one another.
    pub(super) fn open(&mut self) -> u32 {
        self.plan.groups.push(Group::default());
        (self.plan.groups.len() - 1) as u32
    }

    /// Ends them; what they define.
    pub(super) fn close(&mut self, group: u32, bodies: Vec<NodeId>, types: &[Type]) -> Vec<NodeId> {
        let level = bodies.iter().map(|body| self.plan.levels[*body as usize]).max().unwrap_or(Level::Events);
        let open = (0..).zip(&self.open).filter(|(_, of)| **of == Some(group)).map(|(node, _)| node);
        let open: Vec<NodeId> = open.collect();
        let results = (0..).zip(types).map(|(number, ty)| {
            let result = self.node(Node::Fixpoint(group, number), *ty);
            self.plan.levels[result as usize] = level;
            result
        });
        let results = results.collect();
        for node in &open {
            self.plan.levels[*node as usize] = level;
        }
        self.plan.groups[group as usize] = Group { bodies, open };
        results
    }

    /// The plan, without what no condition needs nor this relation, and with what the text speaks of.
    pub(super) fn finish(mut self, happens_before: Option<NodeId>) -> Plan {
        self.speaks_of();
        self.plan.happens_before = happens_before;
        let mut needed = vec![false; self.plan.nodes.len()];
        let mut todo: Vec<NodeId> = self.plan.axioms.iter().map(|axiom| axiom.of).chain(happens_before).collect();
        let results: Vec<(NodeId, u32)> = self.results().collect();
        while let Some(node) = todo.pop() {
            if std::mem::replace(&mut needed[node as usize], true) {
                continue;
            }
            let node = self.plan.nodes[node as usize];
            todo.extend(node.operands());
            if let Node::Fixpoint(group, _) | Node::Sofar(group, _) = node {
                let all = &self.plan.groups[group as usize];
                todo.extend(&all.bodies);
                // What an open expression has so far is kept where it is made, so all of them are needed.
                todo.extend(results.iter().filter(|(_, of)| *of == group).map(|(node, _)| *node));
            }
        }
        self.renumber(&needed)
    }

    fn results(&self) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        (0..).zip(&self.plan.nodes).filter_map(|(id, node)| match node {
            Node::Fixpoint(group, _) | Node::Sofar(group, _) => Some((id, *group)),
            _ => None,
        })
    }

    /// Notes the tags and fences behind the names of the text.
    fn speaks_of(&mut self) {
        let mut seen = vec![false; self.plan.nodes.len()];
        let mut todo = std::mem::take(&mut self.mentioned);
        let (mut tags, mut fences) = (Tags::default(), Vec::new());
        let (mut kinds, mut ordering) = (FenceSet::NONE, FenceSet::NONE);
        let (mut all_fences, mut pairs) = (false, false);
        while let Some(node) = todo.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            match self.plan.nodes[node as usize] {
                Node::Base(Base::Tagged(more)) => tags |= more,
                Node::Base(Base::Kinds(more)) => kinds |= more,
                Node::Base(Base::Ordering(more)) => ordering |= more,
                Node::Base(Base::Named(name)) => fences.push(name),
                Node::Base(Base::Fences) => all_fences = true,
                Node::Base(Base::Amo | Base::Exclusive) => pairs = true,
                other => todo.extend(other.operands()),
            }
        }
        if pairs {
            // These words say which read-modify-writes there are, not what they order.
            tags |= Tags::EXCLUSIVE | Tags::NORETURN;
        }
        if all_fences && tags.meets(Tags::ACQUIRE | Tags::RELEASE | Tags::SEQ_CST) {
            fences.extend(names::tagged_fences());
        }
        (self.plan.tags, self.plan.fences) = (tags, names::with_families(&fences));
        (self.plan.kinds, self.plan.ordering) = (kinds, ordering);
    }

    fn renumber(self, needed: &[bool]) -> Plan {
        let old = self.plan;
        let kept: Vec<usize> = (0..old.nodes.len()).filter(|node| needed[*node]).collect();
        let mut new = vec![0; old.nodes.len()];
        kept.iter().enumerate().for_each(|(number, node)| new[*node] = number as NodeId);
        let moved = |node: NodeId| new[node as usize];
        let node = |id: &usize| match old.nodes[*id] {
            Node::Union(a, b) => Node::Union(moved(a), moved(b)),
            Node::Inter(a, b) => Node::Inter(moved(a), moved(b)),
            Node::Diff(a, b) => Node::Diff(moved(a), moved(b)),
            Node::Seq(a, b) => Node::Seq(moved(a), moved(b)),
            Node::Product(a, b) => Node::Product(moved(a), moved(b)),
            Node::Complement(a) => Node::Complement(moved(a)),
            Node::Inverse(a) => Node::Inverse(moved(a)),
            Node::Optional(a) => Node::Optional(moved(a)),
            Node::Plus(a) => Node::Plus(moved(a)),
            Node::Star(a) => Node::Star(moved(a)),
            Node::Diagonal(a) => Node::Diagonal(moved(a)),
            Node::Domain(a) => Node::Domain(moved(a)),
            Node::Range(a) => Node::Range(moved(a)),
            leaf @ (Node::Base(_) | Node::Empty(_) | Node::Sofar(..) | Node::Fixpoint(..)) => leaf,
        };
        let of_group = |group: &Group| Group {
            bodies: group.bodies.iter().map(|body| moved(*body)).collect(),
            open: group.open.iter().filter(|node| needed[**node as usize]).map(|node| moved(*node)).collect(),
        };
        Plan {
            nodes: kept.iter().map(node).collect(),
            types: kept.iter().map(|id| old.types[*id]).collect(),
            levels: kept.iter().map(|id| old.levels[*id]).collect(),
            groups: old.groups.iter().map(of_group).collect(),
            axioms: old
                .axioms
                .into_iter()
                .map(|axiom| super::plan::Axiom { of: new[axiom.of as usize], ..axiom })
                .collect(),
            happens_before: old.happens_before.map(moved),
            ..old
        }
    }
}
