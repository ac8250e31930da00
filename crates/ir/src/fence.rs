//! Fences: by what they order, or by the name that a machine or a language has for them.
//!
//! An X-Y fence orders every access of kind X before it with every access of kind Y after it (CheckFence, section 3.1). A fence with a name means what the
//! model says; [`FenceName::kinds`] is what it means to models that reorder pairs, where it means anything to them.

use std::fmt;
use std::ops::BitAnd;

use crate::access::{AccessKind, Tags};
use crate::ids::LocId;
use crate::op::Op;
use crate::words::word_set;

/// A fence as an instruction names it. What the name means is the model's to say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// It is named by what it orders: one of the four kinds or a union of them.
    Kinds(FenceSet),
    /// An instruction or a function of this name.
    Named {
        /// The name.
        name: FenceName,
        /// The location that it is about, if it is about one: the domain of a `synchronize_srcu`.
        at: Option<LocId>,
    },
}

impl Fence {
    /// The fence with this name, about no location.
    pub fn named(name: &str) -> Option<Self> {
        Some(Self::Named { name: FenceName::from_name(name)?, at: None })
    }

    /// The same for a fence that stands by itself: no part of a lock, of RCU or of an atomic operation.
    pub fn alone(name: &str) -> Option<Self> {
        let alone = |fence: &Self| fence.kinds().is_some() || matches!(name, "isb" | "isync");
        Self::named(name).filter(alone)
    }

    /// The pairs that it orders under a model that reorders pairs; none if it is not for such models.
    #[inline]
    pub fn kinds(self) -> Option<FenceSet> {
        match self {
            Self::Kinds(set) => Some(set),
            Self::Named { name, .. } => name.kinds(),
        }
    }

    /// The same for whoever was asked about the program: a question about a fence without pairs is refused beforehand.
    #[inline]
    pub fn pairs(self) -> FenceSet {
        self.kinds().expect("nobody is asked about a fence that does not order pairs under a model that reorders them")
    }

    /// What the name of a fence of C11 says about it, as of an access.
    pub fn tags(self) -> Tags {
        let Self::Named { name, .. } = self else { return Tags::default() };
        let Some(order) = name.name().strip_prefix("thread_fence.") else { return Tags::default() };
        Tags::ATOMIC
            | match order {
                "acq_rel" => Tags::ACQUIRE | Tags::RELEASE,
                order => Tags::from_name(order).unwrap_or_default(),
            }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kinds(kinds) => kinds.fmt(f),
            Self::Named { name, .. } => name.fmt(f),
        }
    }
}

/// The name of a fence, one of [`FenceName::all`].
///
/// | | names |
/// |---|---|
/// | x86 | `mfence`, `sfence`, `lfence` |
/// | Arm | `dmb.sy`, `dmb.ld`, `dmb.st`, `dmb.ish`, `dmb.ishld`, `dmb.ishst`, the same with `osh`; so for `dsb`; `isb` |
/// | RISC-V | `fence.r.w` and so on, with `r`, `w`, `rw` before and after; `fence.tso`, `fence.i` |
/// | Power | `sync`, `lwsync`, `eieio`, `isync` |
/// | C11 | `thread_fence.relaxed`, `.consume`, `.acquire`, `.release`, `.acq_rel`, `.seq_cst` |
/// | kernel | `smp_mb`, `smp_rmb`, `smp_wmb`, `smp_mb__before_atomic`, `smp_mb__after_atomic`, `smp_mb__after_spinlock`, `smp_mb__after_unlock_lock`, `smp_mb__after_srcu_read_unlock`, `barrier`, `rcu_read_lock`, `rcu_read_unlock`, `synchronize_rcu`, `synchronize_srcu` |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FenceName(u8);

/// The names, each with the pairs that it orders where pairs are reordered. Waiting for other threads, or refetching instructions, is no such thing.
const NAMES: &[(&str, Option<FenceSet>)] = {
    const FULL: Option<FenceSet> = Some(FenceSet::FULL);
    const NOTHING: Option<FenceSet> = Some(FenceSet::NONE);
    const LOADS: Option<FenceSet> = Some(FenceSet(FenceSet::LL.0 | FenceSet::LS.0));
    const STORES: Option<FenceSet> = Some(FenceSet::SS);
    const BEFORE_STORES: Option<FenceSet> = Some(FenceSet(FenceSet::LS.0 | FenceSet::SS.0));
    const BEFORE_LOADS: Option<FenceSet> = Some(FenceSet(FenceSet::LL.0 | FenceSet::SL.0));
    const AFTER_STORES: Option<FenceSet> = Some(FenceSet(FenceSet::SL.0 | FenceSet::SS.0));
    const ALL_BUT_SL: Option<FenceSet> = Some(FenceSet(FenceSet::FULL.0 & !FenceSet::SL.0));
    &[
        ("mfence", FULL),
        ("sfence", STORES),
        ("lfence", LOADS),
        ("dmb.sy", FULL),
        ("dmb.ld", LOADS),
        ("dmb.st", STORES),
        ("dmb.ish", FULL),
        ("dmb.ishld", LOADS),
        ("dmb.ishst", STORES),
        ("dmb.osh", FULL),
        ("dmb.oshld", LOADS),
        ("dmb.oshst", STORES),
        ("dsb.sy", FULL),
        ("dsb.ld", LOADS),
        ("dsb.st", STORES),
        ("dsb.ish", FULL),
        ("dsb.ishld", LOADS),
        ("dsb.ishst", STORES),
        ("dsb.osh", FULL),
        ("dsb.oshld", LOADS),
        ("dsb.oshst", STORES),
        ("isb", None),
        ("fence.r.r", Some(FenceSet::LL)),
        ("fence.r.w", Some(FenceSet::LS)),
        ("fence.r.rw", LOADS),
        ("fence.w.r", Some(FenceSet::SL)),
        ("fence.w.w", STORES),
        ("fence.w.rw", AFTER_STORES),
        ("fence.rw.r", BEFORE_LOADS),
        ("fence.rw.w", BEFORE_STORES),
        ("fence.rw.rw", FULL),
        ("fence.tso", ALL_BUT_SL),
        ("fence.i", None),
        ("sync", FULL),
        ("lwsync", ALL_BUT_SL),
        ("eieio", STORES),
        ("isync", None),
        ("thread_fence.relaxed", NOTHING),
        ("thread_fence.consume", LOADS),
        ("thread_fence.acquire", LOADS),
        ("thread_fence.release", BEFORE_STORES),
        ("thread_fence.acq_rel", ALL_BUT_SL),
        ("thread_fence.seq_cst", FULL),
        ("smp_mb", FULL),
        ("smp_rmb", Some(FenceSet::LL)),
        ("smp_wmb", STORES),
        ("smp_mb__before_atomic", None),
        ("smp_mb__after_atomic", None),
        ("smp_mb__after_spinlock", None),
        ("smp_mb__after_unlock_lock", None),
        ("smp_mb__after_srcu_read_unlock", None),
        ("barrier", NOTHING),
        ("rcu_read_lock", None),
        ("rcu_read_unlock", None),
        ("synchronize_rcu", None),
        ("synchronize_srcu", None),
    ]
};

impl FenceName {
    /// All of them.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..NAMES.len()).map(|number| Self(number as u8))
    }

    /// The one that is spelled like this.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|known| known.name() == name)
    }

    /// Its spelling.
    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0)].0
    }

    /// The pairs that it orders under a model that reorders pairs; none if it is not for such models.
    #[inline]
    pub fn kinds(self) -> Option<FenceSet> {
        NAMES[usize::from(self.0)].1
    }
}

impl fmt::Display for FenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for FenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Op {
    /// A fence of these kinds.
    pub fn fence(kinds: FenceSet) -> Self {
        Self::Fence(Fence::Kinds(kinds))
    }

    /// The fence of this name, about no location.
    pub fn named_fence(name: &str) -> Option<Self> {
        Fence::named(name).map(Self::Fence)
    }
}

word_set! {
    /// A union of the four fence kinds.
    FenceSet: u8, KINDS, "none",
    /// load-load.
    LL = 1, "load-load";
    /// load-store.
    LS = 2, "load-store";
    /// store-load.
    SL = 4, "store-load";
    /// store-store.
    SS = 8, "store-store";
}

impl FenceSet {
    /// No order at all.
    pub const NONE: Self = Self(0);
    /// All four: a full fence.
    pub const FULL: Self = Self(15);

    /// The bits, for compact encodings; see [`FenceSet::from_bits`].
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with these bits; bits beyond the four kinds are dropped.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::FULL.0)
    }

    /// The kinds whose first half is matched by an access of kind `first`.
    #[inline]
    pub fn from_first(first: AccessKind) -> Self {
        let mut set = Self::NONE;
        if first.reads() {
            set |= Self::LL | Self::LS;
        }
        if first.writes() {
            set |= Self::SL | Self::SS;
        }
        set
    }

    /// The kinds whose second half is matched by an access of kind `second`.
    #[inline]
    pub fn from_second(second: AccessKind) -> Self {
        let mut set = Self::NONE;
        if second.reads() {
            set |= Self::LL | Self::SL;
        }
        if second.writes() {
            set |= Self::LS | Self::SS;
        }
        set
    }

    /// Whether a fence of this set between `first` and `second` orders them.
    #[inline]
    pub fn orders(self, first: AccessKind, second: AccessKind) -> bool {
        self.0 & Self::from_first(first).0 & Self::from_second(second).0 != 0
    }
}

impl BitAnd for FenceSet {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Debug for FenceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fence({self})")
    }
}
