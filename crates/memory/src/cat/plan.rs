//! A model that has been checked: expressions over the events of an execution, each once, and conditions on them.
//!
//! **Invariant:** an operand has a smaller number than what it is an operand of, but for the results of recursive definitions, which stand behind their
//! bodies; so everything can be computed in the order of the numbers.

use cyrano_ir::{Fence, FenceName, FenceSet, Span, Tags};

/// The number of an expression.
pub type NodeId = u32;

/// What an expression denotes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A set of events.
    Set,
    /// A relation between events.
    Relation,
}

impl Type {
    /// The word used in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Set => "a set",
            Self::Relation => "a relation",
        }
    }
}

/// What executions come with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// All events.
    Events,
    /// Those that read.
    Reads,
    /// Those that write.
    Writes,
    /// Fences.
    Fences,
    /// The events of a read-modify-write, also of one that writes nothing; halves of two instructions are not among them.
    Rmws,
    /// The writes that give memory what it holds at first.
    Initial,
    /// The last write to each location.
    Final,
    /// Those with one of these tags.
    Tagged(Tags),
    /// Fences of this name.
    Named(FenceName),
    /// Fences that are named by the pairs that they order, of one of these kinds.
    Kinds(FenceSet),
    /// Fences, whatever their name, that order pairs of one of these kinds where pairs are reordered.
    Ordering(FenceSet),
    /// Each event with itself.
    Identity,
    /// Program order; the read of a read-modify-write before its write.
    ProgramOrder,
    /// From a read to an access whose address was computed from it.
    Address,
    /// From a read to a write whose value was computed from it.
    Data,
    /// Those of the address dependencies that do not go through a condition which only selects one of two values, as of Arm's `CSEL`, or through the success of
    /// a compare-and-swap.
    DirectAddress,
    /// The same of data dependencies.
    DirectData,
    /// From a read to what comes behind a branch that it decided.
    Control,
    /// From a read to the read of a compare-and-swap that compares with what was computed from it.
    Compared,
    /// From a write to the reads that see it.
    ReadsFrom,
    /// From a write to the later ones to its location.
    Coherence,
    /// Between accesses to one location.
    SameLocation,
    /// Between events of one thread.
    SameThread,
    /// From the read of a read-modify-write to its write, if it is one instruction.
    Amo,
    /// The same if it is two.
    Exclusive,
    /// From the beginning of an outermost critical section of RCU to its end.
    RcuSection,
}

impl Base {
    /// What it denotes.
    pub fn ty(self) -> Type {
        match self {
            Self::Events
            | Self::Reads
            | Self::Writes
            | Self::Fences
            | Self::Rmws
            | Self::Initial
            | Self::Final
            | Self::Tagged(_)
            | Self::Named(_)
            | Self::Kinds(_)
            | Self::Ordering(_) => Type::Set,
            _ => Type::Relation,
        }
    }

    /// When it is known.
    pub fn level(self) -> Level {
        match self {
            Self::ReadsFrom => Level::ReadsFrom,
            Self::Coherence | Self::Final => Level::Coherence,
            _ => Level::Events,
        }
    }
}

/// What has to be known of an execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// The events of each thread.
    Events,
    /// Also which write each read sees.
    ReadsFrom,
    /// Also in which order writes hit each location.
    Coherence,
}

/// An expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// What executions come with.
    Base(Base),
    /// Nothing.
    Empty(Type),
    /// In either.
    Union(NodeId, NodeId),
    /// In both.
    Inter(NodeId, NodeId),
    /// Only in the first.
    Diff(NodeId, NodeId),
    /// Not in it.
    Complement(NodeId),
    /// One after the other.
    Seq(NodeId, NodeId),
    /// Turned around.
    Inverse(NodeId),
    /// Or nothing.
    Optional(NodeId),
    /// At least once.
    Plus(NodeId),
    /// Any number of times.
    Star(NodeId),
    /// All pairs.
    Product(NodeId, NodeId),
    /// Each with itself.
    Diagonal(NodeId),
    /// What is first in a pair.
    Domain(NodeId),
    /// What is second in a pair.
    Range(NodeId),
    /// While a recursive definition is computed: so far, this one of this group.
    Sofar(u32, u32),
    /// The result: this one of this group.
    Fixpoint(u32, u32),
}

impl Node {
    /// Its operands.
    pub fn operands(self) -> impl Iterator<Item = NodeId> {
        let (first, second) = match self {
            Self::Base(_) | Self::Empty(_) | Self::Sofar(..) | Self::Fixpoint(..) => (None, None),
            Self::Union(a, b) | Self::Inter(a, b) | Self::Diff(a, b) | Self::Seq(a, b) | Self::Product(a, b) => {
                (Some(a), Some(b))
            }
            Self::Complement(a)
            | Self::Inverse(a)
            | Self::Optional(a)
            | Self::Plus(a)
            | Self::Star(a)
            | Self::Diagonal(a)
            | Self::Domain(a)
            | Self::Range(a) => (Some(a), None),
        };
        first.into_iter().chain(second)
    }
}

/// What is demanded of a set or a relation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Test {
    /// No way leads back to where it starts.
    Acyclic,
    /// Nothing is paired with itself.
    Irreflexive,
    /// There is nothing in it.
    Empty,
}

impl Test {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Self::Acyclic => "acyclic",
            Self::Irreflexive => "irreflexive",
            Self::Empty => "empty",
        }
    }
}

/// A condition on executions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    /// Its name, given or made up.
    pub name: String,
    /// Whether it forbids nothing, and is only told when it holds.
    pub flag: bool,
    /// Whether the test must fail.
    pub negated: bool,
    /// The test.
    pub test: Test,
    /// Of what.
    pub of: NodeId,
    /// Where it stands.
    pub span: Span,
}

/// Definitions that see one another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// The bodies.
    pub bodies: Vec<NodeId>,
    /// All expressions that have to be computed again in each round, ascending.
    pub open: Vec<NodeId>,
}

/// A model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// The expressions.
    pub nodes: Vec<Node>,
    /// What each denotes.
    pub types: Vec<Type>,
    /// What has to be known for each.
    pub levels: Vec<Level>,
    /// Recursive definitions.
    pub groups: Vec<Group>,
    /// The conditions.
    pub axioms: Vec<Axiom>,
    /// What happens before what, if the text says so ([`HAPPENS_BEFORE`]).
    pub happens_before: Option<NodeId>,
    /// The tags that it says something about.
    pub tags: Tags,
    /// The names of fences that it says something about.
    pub fences: Vec<FenceName>,
    /// The kinds of fences that it says something about.
    pub kinds: FenceSet,
    /// The kinds of pairs for which it says something about every fence that orders them.
    pub ordering: FenceSet,
}

/// The flag that models raise when a program has a data race.
pub const DATA_RACE: &str = "data-race";

/// The relation by which a model says which accesses are sure to come before an object is freed, and which after it was allocated.
pub const HAPPENS_BEFORE: &str = "happens-before";

impl Plan {
    /// The number of the flag that is raised when a program has a data race, if there is one that names two accesses.
    pub fn data_race(&self) -> Option<usize> {
        let races = |axiom: &Axiom| axiom.flag && axiom.negated && axiom.test == Test::Empty && axiom.name == DATA_RACE;
        let number = self.axioms.iter().position(races)?;
        (self.types[self.axioms[number].of as usize] == Type::Relation).then_some(number)
    }

    /// Whether it follows from one of the conditions that program order between accesses to one location agrees with communication: that no read sees a later
    /// write of its own thread (`po ; rf` has no cycle), that a thread's writes to a location hit it in order (`po ; co`), and that no read sees a write which an
    /// earlier one of its own thread has overwritten (`po ; fr`). That is what `acyclic po-loc | rf | co | fr` and `irreflexive hb ; eco` say.
    pub fn is_coherent(&self) -> bool {
        let program_order = |node: NodeId| self.includes(node, &|node| self.is_po_loc(node));
        self.axioms.iter().filter(|axiom| !axiom.flag && !axiom.negated).any(|axiom| match axiom.test {
            Test::Acyclic => self.communicates(axiom.of) && program_order(axiom.of),
            Test::Irreflexive => match self.nodes[axiom.of as usize] {
                Node::Seq(first, second) => program_order(first) && self.communicates(second),
                _ => false,
            },
            Test::Empty => false,
        })
    }

    /// Whether it follows from one of the conditions that program order between accesses to one location has no cycle with any way of communication:
    /// `acyclic po-loc | rf | co | fr`, or `irreflexive hb ; eco` with an `eco` that has `(rf | co | fr)+`.
    pub fn is_uniproc(&self) -> bool {
        let program_order = |node: NodeId| self.includes(node, &|node| self.is_po_loc(node));
        let all_ways = |node: NodeId| {
            let closed = |node: &Node| matches!(*node, Node::Plus(of) | Node::Star(of) if self.communicates(of));
            self.includes(node, &closed)
        };
        self.axioms.iter().filter(|axiom| !axiom.flag && !axiom.negated).any(|axiom| match axiom.test {
            Test::Acyclic => self.communicates(axiom.of) && program_order(axiom.of),
            Test::Irreflexive => match self.nodes[axiom.of as usize] {
                Node::Seq(first, second) => program_order(first) && all_ways(second),
                _ => false,
            },
            Test::Empty => false,
        })
    }

    /// Whether it follows from one of the conditions that `po | rf` has no cycle, so that no value comes out of thin air.
    pub fn has_no_circles(&self) -> bool {
        let of = |node: NodeId, leaf: Base| self.includes(node, &|node| *node == Node::Base(leaf));
        let demands = self.axioms.iter().filter(|axiom| !axiom.flag && !axiom.negated && axiom.test == Test::Acyclic);
        demands.into_iter().any(|axiom| of(axiom.of, Base::ProgramOrder) && of(axiom.of, Base::ReadsFrom))
    }

    /// Whether dependencies that go into a value directly are told apart.
    pub fn tells_direct(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Base(Base::DirectAddress | Base::DirectData)))
    }

    /// Whether a relation has `rf`, `co` and `fr`.
    fn communicates(&self, node: NodeId) -> bool {
        let of = |leaf| self.includes(node, &|node| *node == Node::Base(leaf));
        of(Base::ReadsFrom) && of(Base::Coherence) && self.includes(node, &|node| self.is_from_read(node))
    }

    /// Whether one of the conditions is `empty rmw & (fre ; coe)`, or the same without `ext`, for an `rmw` that has this base.
    pub fn is_atomic(&self, base: Base) -> bool {
        let outside = |node: NodeId, is: &dyn Fn(&Node) -> bool| {
            let ext = |node: NodeId| matches!(self.nodes[node as usize], Node::Complement(of) if self.is_base(of, Base::SameThread));
            let own = |node: NodeId| is(&self.nodes[node as usize]);
            own(node) || matches!(self.nodes[node as usize], Node::Inter(a, b) if own(a) && ext(b) || ext(a) && own(b))
        };
        let between = |node: NodeId| match self.nodes[node as usize] {
            Node::Seq(fr, co) => {
                outside(fr, &|node| self.is_from_read(node))
                    && outside(co, &|node| *node == Node::Base(Base::Coherence))
            }
            _ => false,
        };
        let updates = |node: NodeId| self.includes(node, &|node| *node == Node::Base(base));
        self.axioms.iter().filter(|axiom| !axiom.flag && !axiom.negated && axiom.test == Test::Empty).any(|axiom| {
            matches!(self.nodes[axiom.of as usize], Node::Inter(a, b) if updates(a) && between(b) || between(a) && updates(b))
        })
    }

    /// Whether a relation has all pairs of some relation, as its text shows.
    fn includes(&self, node: NodeId, is: &dyn Fn(&Node) -> bool) -> bool {
        let (mut todo, mut seen) = (vec![node], vec![false; self.nodes.len()]);
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            let node = self.nodes[at as usize];
            if is(&node) {
                return true;
            }
            if let Node::Union(..) | Node::Plus(_) | Node::Star(_) | Node::Optional(_) = node {
                todo.extend(node.operands());
            }
        }
        false
    }

    fn is_base(&self, node: NodeId, base: Base) -> bool {
        self.nodes[node as usize] == Node::Base(base)
    }

    fn is_po_loc(&self, node: &Node) -> bool {
        let both = |a, b| self.is_base(a, Base::ProgramOrder) && self.is_base(b, Base::SameLocation);
        match *node {
            Node::Base(base) => base == Base::ProgramOrder,
            Node::Inter(a, b) => both(a, b) || both(b, a),
            _ => false,
        }
    }

    pub(super) fn is_from_read(&self, node: &Node) -> bool {
        let Node::Seq(a, b) = *node else { return false };
        let inverse = matches!(self.nodes[a as usize], Node::Inverse(rf) if self.is_base(rf, Base::ReadsFrom));
        inverse && self.is_base(b, Base::Coherence)
    }

    /// Whether it says something about a fence.
    pub fn knows(&self, fence: Fence) -> bool {
        let ordered = fence.kinds().is_some_and(|kinds| self.ordering.contains(kinds));
        ordered
            || match fence {
                Fence::Kinds(kinds) => self.kinds.contains(kinds),
                Fence::Named { name, .. } => self.fences.contains(&name),
            }
    }
}
