//! Why a model does not allow an execution: the condition that fails, and the steps between events that show it.
//!
//! A step of a defined relation is taken apart along its definition, down to the relations that executions come with; `rf^-1 ; co` is called `fr`. What only
//! filters (`loc`, `int`, products, complements, `[S]`) leaves no step.

use std::cell::Cell;

use super::eval::Judge;
use super::graph::{Found, Graph};
use super::matrix::Matrix;
use super::plan::{Base, Node, NodeId, Test};

/// A step from one event to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// From this event.
    pub from: usize,
    /// By this relation.
    pub relation: &'static str,
    /// To this one.
    pub to: usize,
}

/// Why an execution is not allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// The name of the condition.
    pub axiom: String,
    /// Its place among the conditions.
    pub number: usize,
    /// The steps that show it: a cycle, or what should not be there; none if it cannot be shown by steps.
    pub steps: Vec<Step>,
}

/// Definitions within definitions are followed this far.
const DEPTH: usize = 64;

/// How many expressions are tried: with several ways to each of them, there are more ways than anybody can wait for.
const TRIES: u32 = 100_000;

impl Judge<'_> {
    /// The first condition that an execution does not pass; for a judge who has seen no other execution.
    pub fn objects(&mut self, graph: &Graph) -> Option<Objection> {
        if self.allows(graph) {
            return None;
        }
        // What belongs to a stage that was not reached has no value yet.
        let known = |node: NodeId| match &self.values[node as usize] {
            Found::Relation(relation) => relation.len() == graph.events.len(),
            Found::Set(set) => !set.is_empty(),
        };
        let fails = |number: &usize| {
            let axiom = &self.plan.axioms[*number];
            !axiom.flag && known(axiom.of) && !self.holds(*number)
        };
        let number = (0..self.plan.axioms.len()).find(fails)?;
        let axiom = &self.plan.axioms[number];
        let steps = match &self.values[axiom.of as usize] {
            Found::Relation(relation) => self.shown(relation, axiom.of, axiom.test),
            Found::Set(_) => Vec::new(),
        };
        Some(Objection { axiom: axiom.name.clone(), number, steps })
    }

    fn shown(&self, relation: &Matrix, of: NodeId, test: Test) -> Vec<Step> {
        let pairs: Vec<(usize, usize)> = match test {
            Test::Acyclic => {
                let cycle = relation.cycle().unwrap_or_default();
                let next = cycle.iter().cycle().skip(1).take(cycle.len());
                cycle.iter().copied().zip(next.copied()).collect()
            }
            Test::Irreflexive => {
                let own = (0..relation.len()).find(|one| relation.contains(*one, *one));
                own.map(|one| (one, one)).into_iter().collect()
            }
            Test::Empty => relation.iter().next().into_iter().collect(),
        };
        let tries = Cell::new(TRIES);
        let explained = pairs.into_iter().map(|(from, to)| match self.plan.nodes[of as usize] {
            // Both sides say something: `rmw & (fre ; coe)`.
            Node::Inter(a, b) if test == Test::Empty => {
                let sides = [a, b].into_iter().filter_map(|side| self.steps(side, from, to, 0, &tries));
                Some(sides.flatten().collect())
            }
            _ => self.steps(of, from, to, 0, &tries),
        });
        explained.collect::<Option<Vec<Vec<Step>>>>().unwrap_or_default().concat()
    }

    /// The steps behind a pair of a relation; nothing if it only filters, or cannot be taken apart.
    fn steps(&self, node: NodeId, from: usize, to: usize, depth: usize, tries: &Cell<u32>) -> Option<Vec<Step>> {
        let has = |node: NodeId| self.relation(node).contains(from, to);
        let again = |node: NodeId, from: usize, to: usize| self.steps(node, from, to, depth + 1, tries);
        let one = |relation: &'static str| Some(vec![Step { from, relation, to }]);
        if depth > DEPTH || tries.get() == 0 {
            return None;
        }
        tries.set(tries.get() - 1);
        match self.plan.nodes[node as usize] {
            Node::Base(base) => base_name(base).and_then(one).or_else(|| (base == Base::Identity).then(Vec::new)),
            Node::Seq(a, b) if self.plan.is_from_read(&Node::Seq(a, b)) => one("fr"),
            Node::Seq(a, b) => {
                let between =
                    |middle: &usize| self.relation(a).contains(from, *middle) && self.relation(b).contains(*middle, to);
                (0..self.relation(a).len()).filter(between).find_map(|middle| {
                    let (first, second) = (again(a, from, middle)?, again(b, middle, to)?);
                    Some([first, second].concat())
                })
            }
            Node::Union(a, b) => [a, b].into_iter().filter(|side| has(*side)).find_map(|side| again(side, from, to)),
            Node::Inter(a, b) => again(a, from, to).or_else(|| again(b, from, to)),
            Node::Diff(a, _) => again(a, from, to),
            Node::Inverse(a) => {
                let back = again(a, to, from)?;
                let turned = back.into_iter().rev().map(|step| turned(&step)).collect::<Option<Vec<Step>>>();
                turned.or_else(|| one("..."))
            }
            Node::Optional(a) | Node::Star(a) if from == to && !has_pair(self, a, from, to) => Some(Vec::new()),
            Node::Optional(a) => again(a, from, to),
            Node::Plus(a) | Node::Star(a) => {
                let way = way(self.relation(a), from, to)?;
                let steps = way.windows(2).map(|pair| again(a, pair[0], pair[1]));
                Some(steps.collect::<Option<Vec<_>>>()?.concat())
            }
            Node::Diagonal(_) => Some(Vec::new()),
            Node::Fixpoint(group, of) | Node::Sofar(group, of) => {
                again(self.plan.groups[group as usize].bodies[of as usize], from, to)
            }
            Node::Empty(_) | Node::Complement(_) | Node::Product(..) | Node::Domain(_) | Node::Range(_) => None,
        }
    }
}

fn has_pair(judge: &Judge<'_>, node: NodeId, from: usize, to: usize) -> bool {
    judge.relation(node).contains(from, to)
}

/// A step backwards has a name of its own, if it has one.
fn turned(step: &Step) -> Option<Step> {
    let relation = match step.relation {
        "rf" => "rf^-1",
        "co" => "co^-1",
        "fr" => "fr^-1",
        "po" => "po^-1",
        _ => return None,
    };
    Some(Step { from: step.to, relation, to: step.from })
}

/// The name of a relation that leaves a step.
fn base_name(base: Base) -> Option<&'static str> {
    Some(match base {
        Base::ProgramOrder => "po",
        Base::Address => "addr",
        Base::Data => "data",
        Base::Control => "ctrl",
        Base::Compared => "casdep",
        Base::ReadsFrom => "rf",
        Base::Coherence => "co",
        Base::Amo | Base::Exclusive => "rmw",
        Base::RcuSection => "rcu-rscs",
        _ => return None,
    })
}

/// A shortest way of at least one step.
fn way(relation: &Matrix, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; relation.len()];
    let mut todo = std::collections::VecDeque::from([from]);
    while let Some(at) = todo.pop_front() {
        for next in 0..relation.len() {
            if before[next].is_some() || !relation.contains(at, next) {
                continue;
            }
            before[next] = Some(at);
            if next == to {
                let mut way = vec![to];
                let mut at = at;
                while at != from {
                    way.push(at);
                    at = before[at]?;
                }
                way.push(from);
                way.reverse();
                return Some(way);
            }
            todo.push_back(next);
        }
    }
    None
}
