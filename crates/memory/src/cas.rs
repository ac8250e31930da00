//! The pairs of accesses of which one is a read-modify-write (FOIL's `cas`, section 4).
//!
//! They matter for accesses to different addresses only. To one address every model keeps all of them: what a read-modify-write
//! writes has to follow earlier loads and stores of its thread, and is known only once it is performed.

use std::fmt;

use cyrano_ir::AccessKind;

use AccessKind::{Load, Rmw, Store};

/// The pairs with their names; a pair is the bit of its place.
const PAIRS: [(AccessKind, AccessKind, &str); 5] = [
    (Load, Rmw, "load-cas"),
    (Store, Rmw, "store-cas"),
    (Rmw, Load, "cas-load"),
    (Rmw, Store, "cas-store"),
    (Rmw, Rmw, "cas-cas"),
];

/// A set of these pairs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CasPairs(u8);

impl CasPairs {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(0b1_1111);

    /// Those with these names; `Err` has the first word that is not one.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        names.into_iter().try_fold(Self::NONE, |set, name| {
            let place = PAIRS.iter().position(|(_, _, known)| *known == name).ok_or(name)?;
            Ok(Self(set.0 | 1 << place))
        })
    }

    /// Their names.
    pub fn names(self) -> Vec<&'static str> {
        let kept = PAIRS.iter().enumerate().filter(|(place, _)| self.0 & 1 << place != 0);
        kept.map(|(_, (_, _, name))| *name).collect()
    }

    /// Whether this pair is one of them.
    #[inline]
    pub fn has(self, first: AccessKind, second: AccessKind) -> bool {
        let place = PAIRS.iter().position(|(one, other, _)| (*one, *other) == (first, second));
        place.is_some_and(|place| self.0 & 1 << place != 0)
    }
}

impl fmt::Display for CasPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if *self == Self::NONE { "none".to_owned() } else { self.names().join(" ") })
    }
}
