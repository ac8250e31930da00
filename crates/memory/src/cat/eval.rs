//! Whether a model allows an execution.
//!
//! Executions are judged in three stages, as more of them becomes known ([`Level`]): many share their events, and many of these share who reads from whom. What
//! is known at a stage is computed once for all that share it, and a condition that fails there rules all of them out.

use super::graph::{Found, Graph};
use super::matrix::{Bits, Matrix};
use super::plan::{Level, Node, NodeId, Plan, Test, Type};

/// A step of the work of a stage.
#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(NodeId),
    /// Definitions that see one another.
    Group(u32),
    /// The condition of this number.
    Check(usize),
}

/// Judges executions by a plan.
#[derive(Clone, Debug)]
pub struct Judge<'p> {
    pub(super) plan: &'p Plan,
    stages: [Vec<Step>; 3],
    pub(super) values: Vec<Found>,
}

impl<'p> Judge<'p> {
    /// A judge who has seen nothing.
    pub fn new(plan: &'p Plan) -> Self {
        let mut schedule = Schedule { plan, stages: Default::default(), done: vec![false; plan.nodes.len()] };
        let (flags, axioms): (Vec<usize>, Vec<usize>) =
            (0..plan.axioms.len()).partition(|number| plan.axioms[*number].flag);
        for number in axioms.into_iter().chain(flags) {
            schedule.axiom(number);
        }
        plan.happens_before.into_iter().for_each(|node| schedule.node(node));
        let empty = Found::Set(Bits::new(0));
        Self { plan, stages: schedule.stages, values: vec![empty; plan.nodes.len()] }
    }

    /// Whether the execution passes the conditions that need this much of it; earlier stages have been passed with the same events.
    pub fn passes(&mut self, graph: &Graph, level: Level) -> bool {
        let steps = std::mem::take(&mut self.stages[level as usize]);
        let passed = steps.iter().all(|step| match *step {
            Step::Compute(node) => {
                self.values[node as usize] = self.compute(graph, node);
                true
            }
            Step::Group(group) => {
                self.fixpoint(graph, group);
                true
            }
            Step::Check(number) => self.plan.axioms[number].flag || self.holds(number),
        });
        self.stages[level as usize] = steps;
        passed
    }

    /// Whether the execution passes all conditions.
    pub fn allows(&mut self, graph: &Graph) -> bool {
        [Level::Events, Level::ReadsFrom, Level::Coherence].into_iter().all(|level| self.passes(graph, level))
    }

    /// Of an execution that passed all stages, the flags that it raises.
    pub fn flags(&self) -> impl Iterator<Item = &'p str> + '_ {
        let flags = self.plan.axioms.iter().enumerate().filter(|(number, axiom)| axiom.flag && self.holds(*number));
        flags.map(|(_, axiom)| axiom.name.as_str())
    }

    /// Whether an execution of which only the events are known, and which passed that stage, may still raise a flag. A flag `~empty r` is not raised whoever reads
    /// from whom if `r` is an intersection, a sequence or a difference of what is empty already.
    pub fn may_flag(&self) -> bool {
        let mut empty = Vec::with_capacity(self.plan.nodes.len());
        for (id, node) in self.plan.nodes.iter().enumerate() {
            let is = |node: NodeId| empty.get(node as usize).copied().unwrap_or(false);
            let known = self.plan.levels[id] == Level::Events;
            empty.push(match *node {
                _ if known => self.is_empty(id as NodeId),
                Node::Inter(a, b) | Node::Seq(a, b) | Node::Product(a, b) => is(a) || is(b),
                Node::Union(a, b) => is(a) && is(b),
                Node::Diff(a, _) => is(a),
                Node::Inverse(a) | Node::Plus(a) | Node::Diagonal(a) | Node::Domain(a) | Node::Range(a) => is(a),
                _ => false,
            });
        }
        let never = |axiom: &super::plan::Axiom| axiom.negated && axiom.test == Test::Empty && empty[axiom.of as usize];
        self.plan.axioms.iter().any(|axiom| axiom.flag && !never(axiom))
    }

    fn is_empty(&self, node: NodeId) -> bool {
        match &self.values[node as usize] {
            Found::Set(set) => set.is_empty(),
            Found::Relation(relation) => relation.iter().next().is_none(),
        }
    }

    /// Of an execution that passed all stages, two accesses that race, if the model knows races.
    pub fn race(&self) -> Option<(usize, usize)> {
        self.races().next()
    }

    /// All such pairs.
    pub fn races(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let axiom = self.plan.data_race().map(|number| &self.plan.axioms[number]);
        axiom.into_iter().flat_map(|axiom| self.relation(axiom.of).iter())
    }

    /// Of an execution that passed all stages, what happens before what, if the model says so.
    pub fn happens_before(&self) -> Option<&Matrix> {
        self.plan.happens_before.map(|node| self.relation(node))
    }

    /// The first condition that an execution does not pass, and the events that show it: a cycle, or what should not be there.
    pub fn objection(&mut self, graph: &Graph) -> Option<(&'p str, Vec<usize>)> {
        if self.allows(graph) {
            return None;
        }
        let number =
            (0..self.plan.axioms.len()).find(|number| !self.plan.axioms[*number].flag && !self.holds(*number))?;
        let axiom = &self.plan.axioms[number];
        let shown = match (&self.values[axiom.of as usize], axiom.test) {
            (Found::Relation(relation), Test::Acyclic) => relation.cycle(),
            (Found::Relation(relation), Test::Irreflexive) => {
                (0..relation.len()).find(|one| relation.contains(*one, *one)).map(|one| vec![one])
            }
            (Found::Relation(relation), Test::Empty) => relation.iter().next().map(|(from, to)| vec![from, to]),
            (Found::Set(set), _) => set.iter().next().map(|one| vec![one]),
        };
        Some((&axiom.name, shown.unwrap_or_default()))
    }

    pub(super) fn holds(&self, number: usize) -> bool {
        let axiom = &self.plan.axioms[number];
        let passed = match (&self.values[axiom.of as usize], axiom.test) {
            (Found::Relation(relation), Test::Acyclic) => relation.is_acyclic(),
            (Found::Relation(relation), Test::Irreflexive) => relation.is_irreflexive(),
            (Found::Relation(relation), Test::Empty) => relation.is_empty(),
            (Found::Set(set), _) => set.is_empty(),
        };
        passed != axiom.negated
    }

    pub(super) fn set(&self, node: NodeId) -> &Bits {
        match &self.values[node as usize] {
            Found::Set(set) => set,
            Found::Relation(_) => unreachable!("types have been checked"),
        }
    }

    /// What an expression denotes, once it was computed.
    #[cfg(test)]
    pub(super) fn value(&self, node: NodeId) -> &Found {
        &self.values[node as usize]
    }

    pub(super) fn relation(&self, node: NodeId) -> &Matrix {
        match &self.values[node as usize] {
            Found::Relation(relation) => relation,
            Found::Set(_) => unreachable!("types have been checked"),
        }
    }

    fn compute(&self, graph: &Graph, node: NodeId) -> Found {
        use Found::{Relation, Set};
        let is_set = self.plan.types[node as usize] == Type::Set;
        let both = |a, b, sets: fn(&Bits, &Bits) -> Bits, relations: fn(&Matrix, &Matrix) -> Matrix| match is_set {
            true => Set(sets(self.set(a), self.set(b))),
            false => Relation(relations(self.relation(a), self.relation(b))),
        };
        match self.plan.nodes[node as usize] {
            Node::Base(base) => graph.base(base),
            Node::Empty(_) => self.nothing(graph, node),
            Node::Union(a, b) => both(a, b, Bits::union, Matrix::union),
            Node::Inter(a, b) => both(a, b, Bits::inter, Matrix::inter),
            Node::Diff(a, b) => both(a, b, Bits::diff, Matrix::diff),
            Node::Complement(a) if is_set => Set(self.set(a).complement()),
            Node::Complement(a) => Relation(self.relation(a).complement()),
            Node::Seq(a, b) => Relation(self.relation(a).seq(self.relation(b))),
            Node::Inverse(a) => Relation(self.relation(a).inverse()),
            Node::Optional(a) => Relation(self.relation(a).clone().reflexive()),
            Node::Plus(a) => Relation(self.relation(a).clone().closure()),
            Node::Star(a) => Relation(self.relation(a).clone().closure().reflexive()),
            Node::Product(a, b) => Relation(Matrix::product(self.set(a), self.set(b))),
            Node::Diagonal(a) => Relation(Matrix::diagonal(self.set(a))),
            Node::Domain(a) => Set(self.relation(a).domain()),
            Node::Range(a) => Set(self.relation(a).range()),
            Node::Fixpoint(group, number) => {
                self.values[self.plan.groups[group as usize].bodies[number as usize] as usize].clone()
            }
            Node::Sofar(..) => self.values[node as usize].clone(),
        }
    }

    fn nothing(&self, graph: &Graph, node: NodeId) -> Found {
        match self.plan.types[node as usize] {
            Type::Set => Found::Set(Bits::new(graph.events.len())),
            Type::Relation => Found::Relation(Matrix::new(graph.events.len())),
        }
    }

    /// Starts from nothing, and goes on until nothing is added.
    fn fixpoint(&mut self, graph: &Graph, group: u32) {
        let group = &self.plan.groups[group as usize];
        let so_far = |node: &&NodeId| matches!(self.plan.nodes[**node as usize], Node::Sofar(..));
        let (so_far, open): (Vec<NodeId>, Vec<NodeId>) = group.open.iter().partition(so_far);
        for node in &so_far {
            self.values[*node as usize] = self.nothing(graph, *node);
        }
        loop {
            for node in &open {
                self.values[*node as usize] = self.compute(graph, *node);
            }
            let mut grown = false;
            for node in &so_far {
                let Node::Sofar(_, number) = self.plan.nodes[*node as usize] else { continue };
                let body = self.values[group.bodies[number as usize] as usize].clone();
                grown |= body != self.values[*node as usize];
                self.values[*node as usize] = body;
            }
            if !grown {
                return;
            }
        }
    }
}

/// Work by stages: what the first condition needs, the first condition, what else the second one needs, and so on.
struct Schedule<'p> {
    plan: &'p Plan,
    stages: [Vec<Step>; 3],
    done: Vec<bool>,
}

impl Schedule<'_> {
    fn axiom(&mut self, number: usize) {
        let of = self.plan.axioms[number].of;
        self.node(of);
        self.push(of, Step::Check(number));
    }

    fn push(&mut self, node: NodeId, step: Step) {
        self.stages[self.plan.levels[node as usize] as usize].push(step);
    }

    /// Operands first. They have smaller numbers, so that a list of what is needed, in order, will do; recursion could be deep.
    fn node(&mut self, root: NodeId) {
        let mut needed = Vec::new();
        let mut todo = vec![root];
        while let Some(node) = todo.pop() {
            if std::mem::replace(&mut self.done[node as usize], true) {
                continue;
            }
            needed.push(node);
            match self.plan.nodes[node as usize] {
                Node::Fixpoint(number, _) | Node::Sofar(number, _) => {
                    let group = &self.plan.groups[number as usize];
                    todo.extend(group.bodies.iter().chain(&group.open));
                    let first = self.plan.nodes.iter().position(|other| *other == Node::Fixpoint(number, 0));
                    todo.extend(first.map(|first| first as NodeId));
                }
                other => todo.extend(other.operands()),
            }
        }
        needed.sort_unstable();
        for node in needed {
            let open = |group: &super::plan::Group| group.open.binary_search(&node).is_ok();
            match self.plan.nodes[node as usize] {
                Node::Fixpoint(group, 0) => {
                    self.push(node, Step::Group(group));
                    self.push(node, Step::Compute(node));
                }
                _ if self.plan.groups.iter().any(open) => {}
                _ => self.push(node, Step::Compute(node)),
            }
        }
    }
}
