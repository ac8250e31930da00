//! Fences: by name, of which today's are the four X-Y kinds and their unions.
//!
//! An X-Y fence orders every access of kind X before it with every access of kind Y after it (CheckFence, section 3.1).

use std::fmt;
use std::ops::BitAnd;

use crate::access::AccessKind;
use crate::op::Op;
use crate::words::word_set;

/// A fence as an instruction names it. What the name means is the model's to say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// It is named by what it orders: one of the four kinds or a union of them.
    Kinds(FenceSet),
}

impl Fence {
    /// The pairs that it orders under a model that reorders pairs.
    #[inline]
    pub fn kinds(self) -> FenceSet {
        let Self::Kinds(set) = self;
        set
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kinds().fmt(f)
    }
}

impl Op {
    /// A fence of these kinds.
    pub fn fence(kinds: FenceSet) -> Self {
        Self::Fence(Fence::Kinds(kinds))
    }
}

word_set! {
    /// A union of the four fence kinds.
    FenceSet, KINDS, "none",
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
