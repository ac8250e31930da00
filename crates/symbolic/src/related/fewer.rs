//! Whether a model about relations allows every execution that has fewer reads and fences than one that it allows.
//!
//! That is what idle iterations rest on there (reduction `idle-iterations`, [`crate::execute::idle`]). Take an execution and leave out the reads, failed compare-and-swaps and fences of an
//! idle iteration, which nobody's register or address comes from any more. Who reads from whom, the order of writes, program order and dependencies between the other
//! events are what they were: a later access depended on the reads by control perhaps, and now depends on fewer. So *base* relations between the others are the same.
//! What a model makes of them can differ where it looks at an event in between that is gone. For each expression it is found out whether
//!
//! - it has no new pairs (*shrinks*): every operator passes that on, a difference if what is taken away is not less than before;
//! - it has no fewer pairs (*stays*): closures and domains may have fewer, and so may compositions, unless what is in between is a write, or one of the two ends.
//!   An initial write that nobody else touches is gone, too, but then only products of sets lead to it, and with one of these nothing is claimed.
//!
//! A condition that something is acyclic, irreflexive or empty still holds if its expression shrinks. A model with another condition, with critical sections, whose ends are
//! matched to beginnings, or with flags, which the reads that were left out may have raised, is not taken.
//!
//! Stores that find what they write ([`crate::execute::silent`]) are writes that others may see, and count as changes here; loops with exclusive accesses are left alone, for
//! a store after the loop may belong to a load in it.

use cyrano_memory::cat::{Base, Node, NodeId, Plan, Test};

/// Whether it does, as far as its text shows.
pub(crate) fn may_lack_reads(plan: &Plan) -> bool {
    let fine = |test: Test| matches!(test, Test::Acyclic | Test::Irreflexive | Test::Empty);
    let lacks = Fewer::new(plan);
    plan.axioms
        .iter()
        .all(|axiom| !axiom.flag && !axiom.negated && fine(axiom.test) && lacks.shrinks[axiom.of as usize])
}

/// What is known of each expression.
struct Fewer<'p> {
    plan: &'p Plan,
    shrinks: Vec<bool>,
    stays: Vec<bool>,
    /// Whether a product of sets is part of it.
    product: Vec<bool>,
}

impl<'p> Fewer<'p> {
    fn new(plan: &'p Plan) -> Self {
        let count = plan.nodes.len();
        let (shrinks, stays, product) = (vec![true; count], vec![true; count], vec![false; count]);
        let mut this = Self { plan, shrinks, stays, product };
        // Recursive definitions shrink if that follows from their doing so; all else follows from operands.
        loop {
            let before = (this.shrinks.clone(), this.stays.clone(), this.product.clone());
            for node in 0..count {
                this.look(node);
            }
            if before == (this.shrinks.clone(), this.stays.clone(), this.product.clone()) {
                return this;
            }
        }
    }

    fn look(&mut self, at: usize) {
        let node = self.plan.nodes[at];
        let shrinks = |of: NodeId| self.shrinks[of as usize];
        let stays = |of: NodeId| self.stays[of as usize];
        let operands = |test: &dyn Fn(NodeId) -> bool| node.operands().all(test);
        let (new_shrinks, new_stays) = match node {
            Node::Base(Base::RcuSection) => (false, false),
            Node::Diff(a, b) => (shrinks(a) && stays(b), stays(a) && shrinks(b)),
            Node::Complement(a) => (stays(a), shrinks(a)),
            Node::Plus(_) | Node::Star(_) | Node::Domain(_) | Node::Range(_) => (operands(&shrinks), false),
            Node::Seq(a, b) => (operands(&shrinks), operands(&stays) && self.meets_in_writes(a, b)),
            Node::Sofar(group, number) | Node::Fixpoint(group, number) => {
                (shrinks(self.plan.groups[group as usize].bodies[number as usize]), false)
            }
            _ => (operands(&shrinks), operands(&stays)),
        };
        let product = matches!(node, Node::Product(..)) || node.operands().any(|of| self.product[of as usize]);
        (self.shrinks[at], self.stays[at], self.product[at]) = (new_shrinks, new_stays, product);
    }

    /// Whether what is between two steps is certainly left: an end of the pair, or a write.
    fn meets_in_writes(&self, a: NodeId, b: NodeId) -> bool {
        let diagonal = |of: NodeId| matches!(self.plan.nodes[of as usize], Node::Diagonal(_));
        let products = self.product[a as usize] || self.product[b as usize];
        diagonal(a) || diagonal(b) || !products && (self.leads_to_writes(a, false) || self.leads_to_writes(b, true))
    }

    /// Whether all pairs end, or with `backwards` begin, with a write.
    fn leads_to_writes(&self, of: NodeId, backwards: bool) -> bool {
        match self.plan.nodes[of as usize] {
            Node::Base(Base::Coherence) => true,
            Node::Base(Base::Amo | Base::Exclusive) => !backwards,
            Node::Base(Base::ReadsFrom) => backwards,
            Node::Diagonal(set) => self.has_writes_only(set),
            Node::Inverse(a) => self.leads_to_writes(a, !backwards),
            Node::Seq(a, b) => self.leads_to_writes(if backwards { a } else { b }, backwards),
            Node::Diff(a, _) => self.leads_to_writes(a, backwards),
            Node::Inter(a, b) => self.leads_to_writes(a, backwards) || self.leads_to_writes(b, backwards),
            Node::Union(a, b) => self.leads_to_writes(a, backwards) && self.leads_to_writes(b, backwards),
            _ => false,
        }
    }

    fn has_writes_only(&self, set: NodeId) -> bool {
        match self.plan.nodes[set as usize] {
            Node::Base(Base::Writes) => true,
            Node::Inter(a, b) => self.has_writes_only(a) || self.has_writes_only(b),
            Node::Diff(a, _) => self.has_writes_only(a),
            Node::Union(a, b) => self.has_writes_only(a) && self.has_writes_only(b),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_without_flags_may_lack_reads() {
        let lacks = |name: &str| {
            let model = cyrano_memory::named(name).expect("a model");
            may_lack_reads(model.cat().expect("a model about relations").plan())
        };
        for name in ["cat:sc", "cat:tso", "cat:pso", "ra", "imm", "armv8", "riscv", "power"] {
            assert!(lacks(name), "{name}");
        }
        assert!(!lacks("rc11") && !lacks("lkmm"));
    }

    #[test]
    fn what_is_taken_away_must_not_get_less() {
        let lacks = |text: &str| may_lack_reads(cyrano_memory::cat::Cat::parse(text).expect("a model").plan());
        assert!(lacks("acyclic po | rf as a"));
        assert!(lacks("acyclic (po \\ (po ; [W] ; po)) | rf as a"));
        assert!(!lacks("acyclic (po \\ (po ; [R] ; po)) | rf as a"));
        assert!(!lacks("acyclic (po \\ (po ; po)) | rf as a"));
        assert!(!lacks("acyclic (po \\ (rf+)) | rf as a"));
        assert!(!lacks("acyclic po & (domain(rf) * _) | ~(po ; po) as a"));
    }
}
