//! Objects that can be freed: a header word, then the words that it guards, up to the next gap or header.
//!
//! A header ([`Ty::Header`]) holds [`ALIVE`] or [`FREED`]. Every access to a word behind it also looks at it, at the access's own place in the memory
//! order; that look is part of the access and no access of its own (axiom 10 of `cyrano_memory`).
//!
//! - An access to a word of a freed object is an error, [`EvalError::Freed`].
//! - A *store* to a header frees the object: it finds the header [`ALIVE`], or the object is freed twice ([`EvalError::DoubleFree`]).
//! - A *read-modify-write* of a header is for whoever makes the object alive again, and is not checked.
//!
//! These errors stop nobody: like an overflow in memory they make the execution a wrong one.

use crate::access::AccessKind;
use crate::expr::EvalError;
use crate::ids::LocId;
use crate::program::{Program, Ty};

/// What the header of an object holds that may be accessed.
pub const ALIVE: i128 = 0;

/// What the header of a freed object holds.
pub const FREED: i128 = 1;

impl Program {
    /// Whether it has objects that can be freed.
    pub fn has_headers(&self) -> bool {
        self.locations.iter().any(|location| location.ty == Ty::Header)
    }

    /// The header of the object that a word belongs to, if that can be freed; a header belongs to its own object.
    pub fn header(&self, loc: LocId) -> Option<LocId> {
        let words = self.locations[..=loc.index()].iter().rposition(|word| matches!(word.ty, Ty::Gap | Ty::Header))?;
        (self.locations[words].ty == Ty::Header).then(|| LocId::new(words))
    }

    /// The header that an access has to find [`ALIVE`], if any.
    pub fn guard(&self, loc: LocId, kind: AccessKind) -> Option<LocId> {
        if kind == AccessKind::Mark {
            return None;
        }
        let header = self.header(loc)?;
        (header != loc || kind == AccessKind::Store).then_some(header)
    }

    /// What goes wrong if that header is not [`ALIVE`].
    pub fn guard_error(&self, loc: LocId) -> EvalError {
        if self.location(loc).ty == Ty::Header { EvalError::DoubleFree } else { EvalError::Freed }
    }

    /// Whether one of two words is the header of the object that the other belongs to.
    pub fn is_tied(&self, one: LocId, other: LocId) -> bool {
        let is_header = |loc: LocId| self.location(loc).ty == Ty::Header;
        (is_header(one) || is_header(other)) && self.header(one) == self.header(other)
    }
}
