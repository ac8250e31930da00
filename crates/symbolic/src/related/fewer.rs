//! Whether a model about relations allows every execution that has fewer events than one that it allows.
//!
//! That is what idle iterations rest on there (reduction `idle-iterations`, [`crate::execute::idle`]). Take an execution and leave out the reads, failed compare-and-swaps and fences of an
//! idle iteration, which nobody's register or address comes from any more. Who reads from whom, the order of writes, program order and dependencies between the other
//! events are what they were: a later access depended on the reads by control perhaps, and now depends on fewer. So *base* relations between the others are the same.
//! What a model makes of them can differ where it looks at an event in between that is gone. For each expression it is found out whether
//!
//! - it has no new pairs (*shrinks*): every operator passes that on, a difference if what is taken away is not less than before;
//! - it has no fewer pairs (*stays*): closures may have fewer, and so may compositions, unless what is in between is certainly left: one of the two ends, or a write; and domains,
//!   unless the other end is left with each element, as with the halves of a read-modify-write.
//!   An initial write that nobody else touches is gone, too, but then only products of sets lead to it, and with one of these nothing is claimed.
//!
//! A condition that something is acyclic, irreflexive or empty still holds if its expression shrinks. A model with another condition is not taken. Critical sections, whose ends
//! are matched to beginnings, are what they were, for a loop with such an end is not looked at.
//!
//! **Flags** that are raised by what is left stay raised if their expressions stay. What is left out may have raised one itself, which is known to be otherwise only where it is
//! known what a flag is about: under `rc11` and `lkmm` about pairs of accesses to one word, one of which is not marked. There a loop is looked at only if all that is accessed in it is
//! accessed by marked accesses everywhere.
//!
//! **Read-modify-writes** that write what they find, and that nobody reads who is left ([`crate::execute::unread`]), are left out with both halves. Then who reads from whom is still
//! what it was, and so are the rest of the order of writes, and final memory. A write in between is certainly left only if the step beside it says so: the read that sees it,
//! or the other half of its read-modify-write, is left. That is enough for all built-in models but `riscv`, which orders two reads of one word unless a write to it is in between in program
//! order ([`Lost::Updates`]).
//!
//! Other stores that find what they write ([`crate::execute::silent`]) count as changes here. No half of an exclusive pair is left out without the other: its write would be a change, and its read belongs to no store behind the iteration.

use cyrano_memory::cat::{Base, Node, NodeId, Plan, Test};

/// What is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    /// Reads and fences.
    Reads,
    /// Read-modify-writes as well, whose writes nobody sees who is left.
    Updates,
}

/// Whether a model allows what is left, and raises the same flags, as far as its text shows.
pub(super) fn may_lack(plan: &Plan, lost: Lost) -> bool {
    let fine = |test: Test| matches!(test, Test::Acyclic | Test::Irreflexive | Test::Empty);
    let fewer = Fewer::new(plan, lost);
    plan.axioms.iter().all(|axiom| match axiom.flag {
        true => axiom.negated && axiom.test == Test::Empty && fewer.stays[axiom.of as usize],
        false => !axiom.negated && fine(axiom.test) && fewer.shrinks[axiom.of as usize],
    })
}

/// What is known of each expression.
struct Fewer<'p> {
    plan: &'p Plan,
    lost: Lost,
    shrinks: Vec<bool>,
    stays: Vec<bool>,
    /// Whether a product of sets is part of it.
    product: Vec<bool>,
    kinds: Vec<Kinds>,
}

/// What the form of an expression says of its pairs. Of recursive definitions nothing is said.
#[derive(Clone, Copy, Default)]
struct Kinds {
    /// Of each pair one end is left if the other is: the second if the first is, and the first if the second is. So the write of a read, the other half of a
    /// read-modify-write.
    keeps: [bool; 2],
    /// All pairs end, or begin, with a write.
    writes: [bool; 2],
    /// Of a set: it has writes only.
    only_writes: bool,
}

/// The same backwards.
fn turned([forwards, backwards]: [bool; 2]) -> [bool; 2] {
    [backwards, forwards]
}

fn both(one: [bool; 2], other: [bool; 2]) -> [bool; 2] {
    [one[0] && other[0], one[1] && other[1]]
}

fn either(one: [bool; 2], other: [bool; 2]) -> [bool; 2] {
    [one[0] || other[0], one[1] || other[1]]
}

impl Kinds {
    /// Of an expression whose operands are known, as they stand before it.
    fn of(node: Node, known: &[Self]) -> Self {
        let of = |node: NodeId| known.get(node as usize).copied().unwrap_or_default();
        match node {
            Node::Base(Base::Amo | Base::Exclusive) => {
                Self { keeps: [true, true], writes: [true, false], ..Self::default() }
            }
            Node::Base(Base::ReadsFrom) => Self { keeps: [false, true], writes: [false, true], ..Self::default() },
            Node::Base(Base::Coherence) => Self { writes: [true, true], ..Self::default() },
            Node::Base(Base::Writes) => Self { only_writes: true, ..Self::default() },
            Node::Inverse(a) => Self { keeps: turned(of(a).keeps), writes: turned(of(a).writes), only_writes: false },
            Node::Diagonal(set) => Self { writes: [of(set).only_writes; 2], ..Self::default() },
            Node::Seq(a, b) => Self { writes: [of(b).writes[0], of(a).writes[1]], ..Self::default() },
            Node::Diff(a, _) => of(a),
            Node::Inter(a, b) => {
                let (a, b) = (of(a), of(b));
                let (keeps, writes) = (either(a.keeps, b.keeps), either(a.writes, b.writes));
                Self { keeps, writes, only_writes: a.only_writes || b.only_writes }
            }
            Node::Union(a, b) => {
                let (a, b) = (of(a), of(b));
                let (keeps, writes) = (both(a.keeps, b.keeps), both(a.writes, b.writes));
                Self { keeps, writes, only_writes: a.only_writes && b.only_writes }
            }
            _ => Self::default(),
        }
    }
}

impl<'p> Fewer<'p> {
    fn new(plan: &'p Plan, lost: Lost) -> Self {
        let count = plan.nodes.len();
        let (shrinks, stays, product) = (vec![true; count], vec![true; count], vec![false; count]);
        let mut kinds = Vec::with_capacity(count);
        plan.nodes.iter().for_each(|node| kinds.push(Kinds::of(*node, &kinds)));
        let mut this = Self { plan, lost, shrinks, stays, product, kinds };
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
            // What was written before becomes the last write.
            Node::Base(Base::Final) => (self.lost == Lost::Reads, true),
            Node::Diff(a, b) => (shrinks(a) && stays(b), stays(a) && shrinks(b)),
            Node::Complement(a) => (stays(a), shrinks(a)),
            Node::Plus(_) | Node::Star(_) => (operands(&shrinks), false),
            Node::Domain(a) => (shrinks(a), stays(a) && self.keeps(a, false)),
            Node::Range(a) => (shrinks(a), stays(a) && self.keeps(a, true)),
            Node::Seq(a, b) => (operands(&shrinks), operands(&stays) && self.meets_in_what_is_left(a, b)),
            Node::Sofar(group, number) | Node::Fixpoint(group, number) => {
                (shrinks(self.plan.groups[group as usize].bodies[number as usize]), false)
            }
            _ => (operands(&shrinks), operands(&stays)),
        };
        let product = matches!(node, Node::Product(..)) || node.operands().any(|of| self.product[of as usize]);
        (self.shrinks[at], self.stays[at], self.product[at]) = (new_shrinks, new_stays, product);
    }

    /// Whether what is between two steps is certainly left: an end of the pair, or a write.
    fn meets_in_what_is_left(&self, a: NodeId, b: NodeId) -> bool {
        let diagonal = |of: NodeId| matches!(self.plan.nodes[of as usize], Node::Diagonal(_));
        let products = self.product[a as usize] || self.product[b as usize];
        let left = match self.lost {
            Lost::Reads => self.leads_to_writes(a, false) || self.leads_to_writes(b, true),
            Lost::Updates => self.keeps(a, false) || self.keeps(b, true),
        };
        diagonal(a) || diagonal(b) || !products && left
    }

    /// Whether of each pair the second is left if the first one is, or with `backwards` the first if the second is.
    fn keeps(&self, of: NodeId, backwards: bool) -> bool {
        self.kinds[of as usize].keeps[usize::from(backwards)]
    }

    /// Whether all pairs end, or with `backwards` begin, with a write.
    fn leads_to_writes(&self, of: NodeId, backwards: bool) -> bool {
        self.kinds[of as usize].writes[usize::from(backwards)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(name: &str) -> Plan {
        let model = cyrano_memory::named(name).expect("a model");
        model.cat().expect("a model about relations").plan().clone()
    }

    #[test]
    fn built_in_models_allow_fewer_events() {
        for name in ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11", "imm", "armv8", "riscv", "power", "lkmm"] {
            assert!(may_lack(&plan_of(name), Lost::Reads), "{name}");
            assert_eq!(may_lack(&plan_of(name), Lost::Updates), name != "riscv", "{name}");
        }
    }

    /// All that keeps `riscv` from being one of them is its rule for two reads of one word.
    #[test]
    fn riscv_looks_for_a_write_between_two_reads() {
        let text = include_str!("../../../../library/models/riscv.cat");
        assert!(text.contains("(po-loc \\ between)"));
        let plan = |text: &str| cyrano_memory::cat::Cat::parse(text).expect("a model").plan().clone();
        assert!(!may_lack(&plan(text), Lost::Updates));
        assert!(may_lack(&plan(&text.replace("(po-loc \\ between)", "po-loc")), Lost::Updates));
    }

    #[test]
    fn what_is_taken_away_must_not_get_less() {
        let lacks = |text: &str, lost| may_lack(cyrano_memory::cat::Cat::parse(text).expect("a model").plan(), lost);
        let reads = |text: &str| lacks(text, Lost::Reads);
        assert!(reads("acyclic po | rf as a"));
        assert!(reads("acyclic (po \\ (po ; [W] ; po)) | rf as a"));
        assert!(!reads("acyclic (po \\ (po ; [R] ; po)) | rf as a"));
        assert!(!reads("acyclic (po \\ (po ; po)) | rf as a"));
        assert!(!reads("acyclic (po \\ (rf+)) | rf as a"));
        assert!(!reads("acyclic po & (domain(rf) * _) | ~(po ; po) as a"));
        let updates = |text: &str| lacks(text, Lost::Updates);
        assert!(updates("acyclic (po \\ (po ; rf)) | rf as a"));
        assert!(updates("acyclic (po \\ (rf^-1 ; co)) | rf as a"));
        assert!(updates("acyclic (po \\ (rmw ; po)) | rf as a"));
        assert!(!updates("acyclic (po \\ (po ; [W] ; po)) | rf as a"));
        assert!(!updates("acyclic (po \\ (rf ; po)) | rf as a"));
        assert!(!updates("acyclic (po \\ (co ; co)) | rf as a"));
        assert!(!updates("acyclic (po \\ (co ; rf ; po)) | rf as a"));
    }

    /// Each definition uses the one before twice: there are more ways through them than anybody can go.
    #[test]
    fn many_ways_are_not_all_gone() {
        let defined: String = (1..60).map(|n| format!("let a{n} = a{} | (co ; a{})\n", n - 1, n - 1)).collect();
        let text = format!("let a0 = co\n{defined}acyclic po \\ (a59 ; rf) as all");
        assert!(may_lack(cyrano_memory::cat::Cat::parse(&text).expect("a model").plan(), Lost::Reads));
    }

    #[test]
    fn flags_must_stay() {
        let lacks = |text: &str| may_lack(cyrano_memory::cat::Cat::parse(text).expect("a model").plan(), Lost::Reads);
        assert!(lacks("acyclic po | rf as a\nflag ~empty (W * M) \\ (po+) as f"));
        assert!(!lacks("acyclic po | rf as a\nflag ~empty (W * M) & (po+) as f"));
        assert!(!lacks("acyclic po | rf as a\nflag empty (W * M) as f"));
    }
}
