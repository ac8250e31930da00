//! What a model is: its name, the family that it belongs to, and that family's parameters.
//!
//! There are two families: models that reorder pairs of accesses in one total order ([`Reordering`]), and models that constrain relations between the events
//! of an execution, written in cat ([`Cat`]). Whoever asks for the parameters of one family has asked before whether the model belongs to it: questions are
//! made by `cyrano_engine::Query::new`, and engines say in `supports` which family they take.

use cyrano_ir::{AccessKind, Fence, FenceSet, OwnOrder, Program, Tags};

use crate::cas::CasPairs;
use crate::cat::Cat;

/// The kinds of accesses.
const KINDS: [AccessKind; 3] = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw];

/// A memory model; the crate's documentation has the axioms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Its name on the command line.
    pub name: String,
    /// What it is, in a few sentences.
    pub summary: String,
    /// Which executions it allows.
    pub definition: Definition,
}

/// How a model says which executions it allows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Definition {
    /// By a total order of all accesses that keeps some pairs of the program order.
    Reordering(Reordering),
    /// By axioms about relations between the events of an execution.
    Relational(Cat),
}

/// The parameters of the axioms in the crate's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reordering {
    /// Kept pairs of accesses to different addresses.
    pub different: FenceSet,
    /// Kept pairs of accesses to the same address; always has load-store and store-store.
    pub same: FenceSet,
    /// Kept pairs of a read-modify-write and another access to different addresses; without them, those in which its load or its store would be
    /// kept.
    pub cas: Option<CasPairs>,
    /// Whether a thread's own earlier stores are visible to its loads before they are performed.
    pub forwarding: bool,
    /// Which dependencies are kept.
    pub dependencies: Dependencies,
    /// Whether whole operations are consecutive in the memory order.
    pub serial: bool,
    /// Whether the program says itself which of its accesses stay in order (`Program::orders`), and nothing else does.
    pub own_order: bool,
}

/// Which dependencies a model keeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dependencies {
    /// From a load to an access whose written value was computed from it.
    pub data: bool,
    /// From a load to an access whose address was computed from it.
    pub address: bool,
    /// From a load to the accesses behind a branch that it decided.
    pub control: Control,
}

/// What a control dependency orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// Nothing.
    None,
    /// Every later access that writes.
    Stores,
    /// Every later access.
    All,
}

impl Dependencies {
    /// None is kept.
    pub const NONE: Self = Self { data: false, address: false, control: Control::None };
    /// All are kept.
    pub const ALL: Self = Self { data: true, address: true, control: Control::All };
}

impl Model {
    /// A model that reorders pairs.
    pub fn new(name: impl Into<String>, summary: impl Into<String>, parameters: Reordering) -> Self {
        Self { name: name.into(), summary: summary.into(), definition: Definition::Reordering(parameters) }
    }

    /// A model about relations.
    pub fn from_cat(name: impl Into<String>, summary: impl Into<String>, cat: Cat) -> Self {
        Self { name: name.into(), summary: summary.into(), definition: Definition::Relational(cat) }
    }

    /// Its parameters as a model that reorders pairs. Of a model about relations nobody asks for them.
    #[inline]
    pub fn reordering(&self) -> &Reordering {
        match &self.definition {
            Definition::Reordering(parameters) => parameters,
            Definition::Relational(_) => panic!("`{}` is a model about relations", self.name),
        }
    }

    /// Its axioms, if it is a model about relations.
    #[inline]
    pub fn cat(&self) -> Option<&Cat> {
        match &self.definition {
            Definition::Reordering(_) => None,
            Definition::Relational(cat) => Some(cat),
        }
    }

    /// Whether the program says itself which of its accesses stay in order, and nothing else does.
    #[inline]
    pub fn has_own_order(&self) -> bool {
        matches!(&self.definition, Definition::Reordering(parameters) if parameters.own_order)
    }

    /// The tags that mean something under it.
    pub fn known_tags(&self) -> Tags {
        match &self.definition {
            Definition::Reordering(parameters) => parameters.known_tags(),
            Definition::Relational(cat) => cat.plan().tags,
        }
    }

    /// Whether a fence means something under it.
    pub fn knows(&self, fence: Fence) -> bool {
        match &self.definition {
            Definition::Reordering(_) => fence.kinds().is_some(),
            Definition::Relational(cat) => cat.plan().knows(fence),
        }
    }

    /// The program's own order, if this is a model that follows it (axiom 9).
    pub fn own_order<'p>(&self, program: &'p Program) -> Option<&'p OwnOrder> {
        program.own_order(&self.name).filter(|_| self.has_own_order())
    }
}

impl Reordering {
    /// Whether a store comes after the loads that decided that it is executed, for whoever sees the store.
    ///
    /// Dependencies say so for whoever reads the store, also if it is forwarded (axiom 5). Keeping all loads before later stores is
    /// enough as well: what a forwarded value was computed from precedes, in program order, the store that passes the value on.
    pub fn branches_order_stores(&self) -> bool {
        self.keeps_loads_before_stores()
            || self.control_orders(AccessKind::Store) && self.dependencies.data && self.dependencies.address
    }

    /// Nothing but what every model keeps: CheckFence's Relaxed.
    pub const RELAXED: Self = Self {
        different: FenceSet::NONE,
        same: FenceSet::from_bits(FenceSet::LS.bits() | FenceSet::SS.bits()),
        cas: None,
        forwarding: true,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: false,
    };

    /// Every pair is kept.
    pub const IN_ORDER: Self =
        Self { different: FenceSet::FULL, same: FenceSet::FULL, forwarding: false, ..Self::RELAXED };

    /// Whether two accesses in program order stay in that order (axiom 1), by kind and by address.
    #[inline]
    pub fn keeps(&self, first: AccessKind, second: AccessKind, same_address: bool) -> bool {
        if same_address {
            first == AccessKind::Rmw && !self.own_order || self.same.orders(first, second)
        } else {
            let listed = self.cas.filter(|_| first == AccessKind::Rmw || second == AccessKind::Rmw);
            listed.map_or_else(|| self.different.orders(first, second), |pairs| pairs.has(first, second))
        }
    }

    /// Whether whatever reads stays before whatever writes later, to whatever address.
    fn keeps_loads_before_stores(&self) -> bool {
        let kinds = |test: fn(AccessKind) -> bool| KINDS.into_iter().filter(move |kind| test(*kind));
        kinds(AccessKind::reads).all(|first| kinds(AccessKind::writes).all(|second| self.keeps(first, second, false)))
    }

    /// The kinds of fences that order a pair which is not kept anyway.
    pub fn relaxed(&self) -> FenceSet {
        let mut relaxed = FenceSet::FULL.without(self.same & self.different);
        for (first, second) in KINDS.into_iter().flat_map(|first| KINDS.map(|second| (first, second))) {
            if self.cas.is_some() && !self.keeps(first, second, false) {
                relaxed |= FenceSet::from_first(first) & FenceSet::from_second(second);
            }
        }
        relaxed
    }

    /// Whether everything after an access of this kind stays after it, whatever its kind and address.
    #[inline]
    pub fn keeps_all_after(&self, first: AccessKind) -> bool {
        KINDS.into_iter().all(|second| self.keeps(first, second, true) && self.keeps(first, second, false))
    }

    /// The tags that ask for no more order than the model gives to every access, so that they mean nothing beyond it.
    pub fn known_tags(&self) -> Tags {
        let both = |first, second| self.keeps(first, second, true) && self.keeps(first, second, false);
        let every = |test: fn(AccessKind) -> bool| KINDS.into_iter().filter(move |kind| test(*kind));
        let after_reads = every(AccessKind::reads).all(|first| self.keeps_all_after(first));
        let before_writes = every(AccessKind::writes).all(|second| KINDS.into_iter().all(|first| both(first, second)));
        let mut known = Tags::ATOMIC | Tags::NORETURN | Tags::LOCK;
        if after_reads {
            known |= Tags::ACQUIRE | Tags::ACQUIRE_PC | Tags::CONSUME;
        }
        if before_writes {
            known |= Tags::RELEASE;
        }
        if KINDS.into_iter().all(|first| self.keeps_all_after(first)) {
            known |= Tags::SEQ_CST | Tags::FULL;
        }
        known
    }

    /// Whether a thread may be past these fences with an access of this kind before them that is not performed: some later access might overtake it.
    #[inline]
    pub fn may_be_outstanding(&self, first: AccessKind, fences: FenceSet) -> bool {
        let kept = |second| self.keeps(first, second, true) && self.keeps(first, second, false);
        KINDS.into_iter().any(|second| !kept(second) && !fences.orders(first, second))
    }

    /// Whether a control dependency orders an access of this kind.
    #[inline]
    pub fn control_orders(&self, second: AccessKind) -> bool {
        match self.dependencies.control {
            Control::None => false,
            Control::Stores => second.writes(),
            Control::All => true,
        }
    }

    /// Whether axiom 7 (no value out of thin air) has to be checked on its own, because order and dependencies do not imply it.
    pub fn may_invent_values(&self) -> bool {
        if self.own_order {
            return true;
        }
        let dependencies = self.dependencies.data && self.dependencies.address;
        !self.keeps_loads_before_stores() && !dependencies
    }
}
