//! Accesses to shared memory: one form for loads, stores and read-modify-writes.
//!
//! An [`Access`] has an address, a place for what it reads, a [`Change`] for what it writes, and [`Tags`].
//!
//! **Invariant** (checked by the [verifier](mod@crate::verify)): a load has a place and no change, a store sets a value and has no place unless it is
//! exclusive, a read-modify-write has a change. [`Op::load`], [`Op::store`], [`Op::store_exclusive`] and [`Op::rmw`] make nothing else.
//!
//! # How machines and languages say it
//!
//! What the tags mean is the model's to say; this is how front ends use them. An access without tags is an ordinary one: a plain instruction of a machine,
//! a non-atomic access of a language.
//!
//! | | tags |
//! |---|---|
//! | Arm `LDAR`, `STLR`, `LDAPR` | `acquire`, `release`, `acquire_pc` |
//! | Arm `LDXR`, `STXR`; `LDAXR`, `STLXR`; RISC-V `lr`, `sc`; Power `lwarx`, `stwcx.` | `exclusive`, with `acquire` or `release` |
//! | RISC-V `.aq`, `.rl`, `.aqrl` | `acquire`, `release`, both; on one read-modify-write for an AMO |
//! | C11 `memory_order_relaxed`, `…_consume`, `…_acquire`, `…_release`, `…_acq_rel`, `…_seq_cst` | `atomic`, with nothing, `consume`, `acquire`, `release`, both, `seq_cst` |
//! | C11 `atomic_compare_exchange_…(…, success, failure)` | those of `success`; those of `failure` in [`Access::failed`] |
//! | kernel `READ_ONCE`, `WRITE_ONCE`, `smp_load_acquire`, `smp_store_release` | `atomic`, with nothing, nothing, `acquire`, `release` |
//! | kernel `xchg_relaxed`, `xchg_acquire`, `xchg_release`, `xchg` | `atomic`, with nothing, `acquire`, `release`, `full` |
//! | kernel `atomic_inc` and others without a value; Arm `STADD` | `noreturn`, and `atomic` in the kernel |
//! | kernel `spin_lock`, `spin_unlock` | a read-modify-write with `atomic acquire lock`, a store with `atomic release lock` |
//! | kernel `srcu_read_lock`, `srcu_read_unlock` | a load and a store with `srcu`; the store writes what the load gave |
//!
//! Dependencies are syntactic: whatever register an expression names, it depends on, whatever its value (`r ^ r`, `r & 0`); so front ends of machines must not
//! fold such expressions. A branch, and an `assume`, is a control dependency of everything after it.
//!
//! A read-modify-write for which there is no [`Change`] is an atomic section with one load and at most one store, both to one address: what is between
//! them may compute and decide as it likes.

use std::fmt;

use crate::expr::EvalError;
use crate::ids::{ArrayId, LocId};
use crate::op::Op;
use crate::program::{LocalExpr, Place};
use crate::words::word_set;

/// What an access does to memory. A read-modify-write does both at one point of the memory order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// Reads only.
    Load,
    /// Writes only.
    Store,
    /// Reads and writes at once. A failed compare-and-swap is still one of these.
    Rmw,
    /// Does nothing to memory but has a place in the memory order: an event of a transaction.
    Mark,
}

impl AccessKind {
    /// Whether the access reads.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Rmw)
    }

    /// Whether the access writes.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Rmw)
    }

    /// The word used in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Rmw => "read-modify-write",
            Self::Mark => "event",
        }
    }
}

/// A shared address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Addr {
    /// A fixed location.
    Fixed(LocId),
    /// An element of a shared array.
    Indexed {
        /// The array.
        array: ArrayId,
        /// Which element.
        index: LocalExpr,
    },
}

/// A load, a store or a read-modify-write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Which of the three.
    pub kind: AccessKind,
    /// What is read or written.
    pub addr: Addr,
    /// Where the value goes that was read, if anywhere. A read-modify-write reads the **old** value; a store that is exclusive gives 0 here if it
    /// succeeds, and 1 if it fails and writes nothing.
    pub dst: Option<Place>,
    /// What is written, if anything.
    pub change: Option<Change>,
    /// What else is said about it.
    pub tags: Tags,
    /// What is said instead about a compare-and-swap that writes nothing; without it, the same.
    pub failed: Option<Tags>,
}

/// What an access writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// The value.
    Set(LocalExpr),
    /// `new` if the old value equals `expected`, else nothing.
    Cas {
        /// What the location must hold.
        expected: LocalExpr,
        /// What is written then.
        new: LocalExpr,
    },
    /// The old value plus this one.
    Add(LocalExpr),
}

impl Change {
    /// The expressions it evaluates.
    pub fn operands(&self) -> Vec<&LocalExpr> {
        match self {
            Self::Set(value) | Self::Add(value) => vec![value],
            Self::Cas { expected, new } => vec![expected, new],
        }
    }

    /// The expressions it evaluates, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut LocalExpr> {
        match self {
            Self::Set(value) | Self::Add(value) => vec![value],
            Self::Cas { expected, new } => vec![expected, new],
        }
    }

    /// What is written over `old`, if anything; all operands are evaluated, in their order, whatever comes of it.
    #[inline]
    pub fn apply<E: From<EvalError>>(
        &self,
        old: i128,
        mut value: impl FnMut(&LocalExpr) -> Result<i128, E>,
    ) -> Result<Option<i128>, E> {
        Ok(match self {
            Self::Set(set) => Some(value(set)?),
            Self::Cas { expected, new } => {
                let (expected, new) = (value(expected)?, value(new)?);
                (old == expected).then_some(new)
            }
            Self::Add(more) => Some(old.checked_add(value(more)?).ok_or(EvalError::Overflow)?),
        })
    }
}

impl Access {
    /// The expressions it evaluates besides address and destination index.
    pub fn operands(&self) -> Vec<&LocalExpr> {
        self.change.as_ref().map(Change::operands).unwrap_or_default()
    }

    /// The value that it writes whatever was there: of a store, or of an exchange.
    pub fn set(&self) -> Option<&LocalExpr> {
        match &self.change {
            Some(Change::Set(value)) => Some(value),
            _ => None,
        }
    }

    /// The value of a store.
    pub fn stored(&self) -> Option<&LocalExpr> {
        self.set().filter(|_| self.kind == AccessKind::Store)
    }

    /// What a read-modify-write does.
    pub fn modifies(&self) -> Option<&Change> {
        self.change.as_ref().filter(|_| self.kind == AccessKind::Rmw)
    }

    /// What is wrong with its parts, if anything; see the module doc.
    pub(crate) fn problem(&self) -> Option<String> {
        let fits = match self.kind {
            AccessKind::Load => self.dst.is_some() && self.change.is_none(),
            AccessKind::Store => self.set().is_some() && (self.dst.is_none() || self.tags.contains(Tags::EXCLUSIVE)),
            AccessKind::Rmw => self.change.is_some(),
            AccessKind::Mark => false,
        };
        let noun = self.kind.noun();
        let swaps = matches!(self.change, Some(Change::Cas { .. })) && self.kind == AccessKind::Rmw;
        match self.unfit() {
            _ if !fits => Some(format!("the parts of this access are not those of a {noun}")),
            _ if self.failed.is_some() && !swaps => Some(format!("a {noun} that swaps nothing cannot fail to")),
            Some((_, name)) => Some(format!("a {noun} cannot be `{name}`")),
            None => None,
        }
    }

    /// A tag that cannot be said of it. One that is exclusive is half of a read-modify-write and may have tags of either half.
    fn unfit(&self) -> Option<(Tags, &'static str)> {
        let kind = if self.tags.contains(Tags::EXCLUSIVE) { AccessKind::Rmw } else { self.kind };
        let exclusive = |tag| tag == Tags::EXCLUSIVE && self.kind == AccessKind::Rmw;
        let rollback = |tag| tag == Tags::ROLLBACK && self.kind != AccessKind::Store;
        let fits = |tag: Tags| !exclusive(tag) && !rollback(tag) && tag.fit(kind);
        let said = self.tags | self.failed.unwrap_or_default();
        Tags::ALL.into_iter().find(|(tag, ..)| said.contains(*tag) && !fits(*tag))
    }
}

word_set! {
    /// What is said about an access besides what it does. What the words mean is the model's to say; a model that knows a word not at all
    /// cannot be asked about a program that uses it.
    Tags: u16, ALL, "",
    /// A store that undoes earlier stores of its transaction. To memory it is a store like any other.
    ROLLBACK = 1, "rollback";
    /// Orders what it reads before later accesses.
    ACQUIRE = 2, "acquire";
    /// Orders earlier accesses before what it writes.
    RELEASE = 4, "release";
    /// Is in one order with all others that have this tag.
    SEQ_CST = 8, "seq_cst";
    /// Orders what it reads before later accesses that depend on it.
    CONSUME = 16, "consume";
    /// Like `acquire`, but an earlier `release` to another address may be overtaken (Arm's AcquirePC).
    ACQUIRE_PC = 32, "acquire_pc";
    /// The language calls it atomic, or marks it (`READ_ONCE`): it races with nothing that is atomic, too. Orders nothing by itself.
    ATOMIC = 64, "atomic";
    /// A load that begins, or a store that ends, a read-modify-write of two instructions; the store may fail.
    EXCLUSIVE = 128, "exclusive";
    /// A read-modify-write whose old value nobody gets.
    NORETURN = 256, "noreturn";
    /// Orders all earlier accesses before all later ones.
    FULL = 512, "full";
    /// A read-modify-write that takes a lock, or a store that gives it back.
    LOCK = 1024, "lock";
    /// A load that enters, or a store that leaves, a critical section of sleepable RCU; the location is the section's domain.
    SRCU = 2048, "srcu";
    /// Synchronises threads, so that it takes part in no data race with others like it. To memory it is nothing.
    SYNC = 4096, "sync";
    /// A store-exclusive whose status depends on the store, as on RISC-V: what depends on the status depends on it.
    SUCCESS = 8192, "success";
}

impl Tags {
    /// Those that mean something to memory.
    #[inline]
    pub fn orders(self) -> Self {
        self.without(Self::ROLLBACK | Self::SYNC | Self::SUCCESS)
    }

    /// Whether each of them can be said of an access that reads or writes like this.
    fn fit(self, kind: AccessKind) -> bool {
        let reads = Self::ACQUIRE | Self::ACQUIRE_PC | Self::CONSUME;
        (kind.reads() || !self.meets(reads)) && (kind.writes() || !self.contains(Self::RELEASE))
    }
}

impl fmt::Debug for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tags({self})")
    }
}

impl Op {
    /// `dst := shared`.
    pub fn load(dst: Place, addr: Addr) -> Self {
        let tags = Tags::default();
        Self::Access(Access { kind: AccessKind::Load, addr, dst: Some(dst), change: None, tags, failed: None })
    }

    /// `shared := value`.
    pub fn store(addr: Addr, value: LocalExpr) -> Self {
        let (change, tags) = (Some(Change::Set(value)), Tags::default());
        Self::Access(Access { kind: AccessKind::Store, addr, dst: None, change, tags, failed: None })
    }

    /// `shared := value` if the last exclusive access before it in its thread is a load of the same address, and not always then; `status` receives 0 if
    /// it succeeds, and 1 if it fails and writes nothing.
    pub fn store_exclusive(status: Option<Place>, addr: Addr, value: LocalExpr) -> Self {
        let (change, tags) = (Some(Change::Set(value)), Tags::EXCLUSIVE);
        Self::Access(Access { kind: AccessKind::Store, addr, dst: status, change, tags, failed: None })
    }

    /// An atomic read-modify-write; `dst` receives the old value.
    pub fn rmw(dst: Option<Place>, addr: Addr, change: Change) -> Self {
        let tags = Tags::default();
        Self::Access(Access { kind: AccessKind::Rmw, addr, dst, change: Some(change), tags, failed: None })
    }

    /// The same access with these tags as well; of another operation itself.
    #[must_use]
    pub fn tagged(mut self, tags: Tags) -> Self {
        if let Self::Access(access) = &mut self {
            access.tags |= tags;
        }
        self
    }

    /// The same compare-and-swap with these tags if it writes nothing; of another operation itself.
    #[must_use]
    pub fn failing(mut self, tags: Tags) -> Self {
        if let Self::Access(access) = &mut self {
            access.failed = Some(tags);
        }
        self
    }

    /// The access to shared memory, if it is one.
    #[inline]
    pub fn access(&self) -> Option<&Access> {
        match self {
            Self::Access(access) => Some(access),
            _ => None,
        }
    }

    /// The access to shared memory, to be changed, if it is one.
    #[inline]
    pub fn access_mut(&mut self) -> Option<&mut Access> {
        match self {
            Self::Access(access) => Some(access),
            _ => None,
        }
    }

    /// What it writes to shared memory, if anything.
    #[inline]
    pub fn change(&self) -> Option<&Change> {
        self.access()?.change.as_ref()
    }

    /// Whether it is an access with this tag.
    #[inline]
    pub fn has_tag(&self, tag: Tags) -> bool {
        self.access().is_some_and(|access| access.tags.contains(tag))
    }
}
