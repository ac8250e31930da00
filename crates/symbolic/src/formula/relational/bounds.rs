//! What every expression of a model must and may contain, whatever the execution.
//!
//! **Invariant:** where both events of a pair are executed, a pair that the expression must contain is in it, and one that it may not contain is not. The bounds of
//! base relations are those of their literals; operators pass bounds on, `\` and `~` crosswise; recursive definitions start from nothing, as they do for one execution, and
//! both of their bounds grow until they stay. A composition must contain a pair only if an event between the two is certainly executed.

use cyrano_memory::cat::{Base, Bits, Found, Matrix, Node, NodeId, Plan, Type};

use super::events::{Events, exclusive};
use super::faults::Fault;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// What an expression must and may contain.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Bound {
    pub(super) must: Found,
    pub(super) may: Found,
}

/// The bounds of all expressions.
pub(super) struct Bounds {
    pub(super) all: Vec<Bound>,
    /// The literals of base relations and sets, by expression: those that are not constant.
    pub(super) base: Vec<rustc_hash::FxHashMap<(u32, u32), Lit>>,
    /// Pairs of which the first cannot be executed without the second.
    pub(super) implied: Matrix,
    /// Pairs that can be executed together.
    together: Matrix,
    events: usize,
}

pub(super) fn relation(found: &Found) -> &Matrix {
    match found {
        Found::Relation(relation) => relation,
        Found::Set(_) => unreachable!("types have been checked"),
    }
}

pub(super) fn set(found: &Found) -> &Bits {
    match found {
        Found::Set(set) => set,
        Found::Relation(_) => unreachable!("types have been checked"),
    }
}

impl Bounds {
    /// Computes them.
    pub(super) fn new(plan: &Plan, guards: &[Lit], events: &mut Events<'_>, gates: &mut Gates) -> Self {
        let count = guards.len();
        let threads: Vec<_> = events.parts.iter().map(|part| part.thread).collect();
        let near = |a: usize, b: usize| threads[a] == threads[b] || guards[b] == TRUE;
        let implied = Matrix::filter(count, |a, b| a == b || near(a, b) && gates.implies(guards[a], guards[b]));
        let together =
            Matrix::filter(count, |a, b| threads[a] != threads[b] || !exclusive(gates, guards[a], guards[b]));
        let nothing = |ty: Type| match ty {
            Type::Set => Found::Set(Bits::new(count)),
            Type::Relation => Found::Relation(Matrix::new(count)),
        };
        let all = plan.types.iter().map(|ty| Bound { must: nothing(*ty), may: nothing(*ty) }).collect();
        let base = vec![Default::default(); plan.nodes.len()];
        let mut this = Self { all, base, implied, together, events: count };
        for node in 0..plan.nodes.len() {
            match plan.nodes[node] {
                Node::Base(base) => this.leaf(node, base, events, gates),
                Node::Sofar(..) => {}
                Node::Fixpoint(group, number) => {
                    if number == 0 {
                        this.fixpoint(plan, group);
                    }
                    let body = plan.groups[group as usize].bodies[number as usize];
                    this.all[node] = this.all[body as usize].clone();
                }
                _ if plan.groups.iter().any(|group| group.open.binary_search(&(node as NodeId)).is_ok()) => {}
                other => this.all[node] = this.compute(plan, node, other),
            }
        }
        this
    }

    fn leaf(&mut self, node: usize, base: Base, events: &Events<'_>, gates: &mut Gates) {
        let mut literals = rustc_hash::FxHashMap::default();
        if base.ty() == Type::Set {
            let lits: Vec<Lit> = (0..self.events).map(|part| events.member(base, part, gates)).collect();
            for (part, lit) in lits.iter().enumerate().filter(|(_, lit)| **lit != TRUE && **lit != FALSE) {
                literals.insert((part as u32, part as u32), *lit);
            }
            let must = Found::Set(Bits::filter(self.events, |part| lits[part] == TRUE));
            let may = Found::Set(Bits::filter(self.events, |part| lits[part] != FALSE));
            self.all[node] = Bound { must, may };
        } else {
            let (mut must, mut may) = (Matrix::new(self.events), Matrix::new(self.events));
            for (from, to, lit) in events.pairs(base, gates) {
                if lit == FALSE || !self.together.contains(from, to) {
                    continue;
                }
                may.insert(from, to);
                if lit == TRUE {
                    must.insert(from, to);
                } else {
                    literals.insert((from as u32, to as u32), lit);
                }
            }
            self.all[node] = Bound { must: Found::Relation(must), may: Found::Relation(may) };
        }
        self.base[node] = literals;
    }

    /// Rounds until nothing is added.
    fn fixpoint(&mut self, plan: &Plan, group: u32) {
        let group = &plan.groups[group as usize];
        loop {
            let mut grown = false;
            for node in group.open.iter().map(|node| *node as usize) {
                let bound = match plan.nodes[node] {
                    Node::Sofar(_, number) => self.all[group.bodies[number as usize] as usize].clone(),
                    other => self.compute(plan, node, other),
                };
                grown |= bound != self.all[node];
                self.all[node] = bound;
            }
            if !grown {
                return;
            }
        }
    }

    fn must(&self, node: NodeId) -> &Found {
        &self.all[node as usize].must
    }

    fn may(&self, node: NodeId) -> &Found {
        &self.all[node as usize].may
    }

    fn compute(&self, plan: &Plan, at: usize, node: Node) -> Bound {
        let is_set = plan.types[at] == Type::Set;
        let both = |a: &Found, b: &Found, sets: fn(&Bits, &Bits) -> Bits, relations: fn(&Matrix, &Matrix) -> Matrix| {
            if is_set { Found::Set(sets(set(a), set(b))) } else { Found::Relation(relations(relation(a), relation(b))) }
        };
        let (must, may) = match node {
            Node::Union(a, b) => (
                both(self.must(a), self.must(b), Bits::union, Matrix::union),
                both(self.may(a), self.may(b), Bits::union, Matrix::union),
            ),
            Node::Inter(a, b) => (
                both(self.must(a), self.must(b), Bits::inter, Matrix::inter),
                both(self.may(a), self.may(b), Bits::inter, Matrix::inter),
            ),
            Node::Diff(a, b) => {
                let taken = if Fault::StraightBounds.is_on() { self.may(b) } else { self.must(b) };
                (
                    both(self.must(a), self.may(b), Bits::diff, Matrix::diff),
                    both(self.may(a), taken, Bits::diff, Matrix::diff),
                )
            }
            Node::Complement(a) if is_set => {
                (Found::Set(set(self.may(a)).complement()), Found::Set(set(self.must(a)).complement()))
            }
            Node::Complement(a) => (
                Found::Relation(relation(self.may(a)).complement()),
                Found::Relation(relation(self.must(a)).complement()),
            ),
            Node::Seq(a, b) => (
                Found::Relation(self.certain(relation(self.must(a)), relation(self.must(b)))),
                Found::Relation(relation(self.may(a)).seq(relation(self.may(b)))),
            ),
            Node::Inverse(a) => self.each(a, Matrix::inverse),
            Node::Optional(a) => self.each(a, |relation| relation.clone().reflexive()),
            Node::Plus(a) => (
                Found::Relation(self.closure(relation(self.must(a)))),
                Found::Relation(relation(self.may(a)).clone().closure()),
            ),
            Node::Star(a) => (
                Found::Relation(self.closure(relation(self.must(a))).reflexive()),
                Found::Relation(relation(self.may(a)).clone().closure().reflexive()),
            ),
            Node::Product(a, b) => (
                Found::Relation(Matrix::product(set(self.must(a)), set(self.must(b)))),
                Found::Relation(Matrix::product(set(self.may(a)), set(self.may(b)))),
            ),
            Node::Diagonal(a) => (
                Found::Relation(Matrix::diagonal(set(self.must(a)))),
                Found::Relation(Matrix::diagonal(set(self.may(a)))),
            ),
            Node::Domain(a) => (
                Found::Set(relation(self.must(a)).inter(&self.implied).domain()),
                Found::Set(relation(self.may(a)).domain()),
            ),
            Node::Range(a) => (
                Found::Set(relation(self.must(a)).inter(&self.implied.inverse()).range()),
                Found::Set(relation(self.may(a)).range()),
            ),
            Node::Base(_) | Node::Empty(_) | Node::Sofar(..) | Node::Fixpoint(..) => return self.all[at].clone(),
        };
        if is_set { Bound { must, may } } else { self.possible(must, may) }
    }

    /// Without pairs that are never executed together.
    fn possible(&self, must: Found, may: Found) -> Bound {
        let within = |found: Found| Found::Relation(relation(&found).inter(&self.together));
        Bound { must: within(must), may: within(may) }
    }

    fn each(&self, a: NodeId, op: impl Fn(&Matrix) -> Matrix) -> (Found, Found) {
        (Found::Relation(op(relation(self.must(a)))), Found::Relation(op(relation(self.may(a)))))
    }

    /// A composition through events that are executed wherever one of the ends is.
    fn certain(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let first = a.inter(&self.implied).seq(b);
        first.union(&a.seq(&b.inter(&self.implied.inverse())))
    }

    fn closure(&self, a: &Matrix) -> Matrix {
        let mut all = a.clone();
        loop {
            let more = all.union(&self.certain(&all, &all));
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// A relation without pairs of `must` that others make up for: one leads to an event that is certainly executed, and from there another one on.
    pub(super) fn reduced(&self, may: &Matrix, must: &Matrix) -> Matrix {
        if must.is_acyclic() { may.diff(&self.certain(must, must)) } else { may.clone() }
    }
}
