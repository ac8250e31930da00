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

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let text = "program test\nlocation x = 0\nlocation g: gap = 0\nlocation h: header = 0\nlocation a = 0\nlocation b = 0\n\
                    location i: header = 0\nlocation c = 0\nlocation e: gap = 0\nlocation y = 0\n\
                    array words = x of 9\narray objects = x of 9 headers\n\
                    thread p\n  @0: store objects[2], 1\n  @1: halt\n";
        let program = crate::text::parse(text).expect("the program can be read");
        crate::verify(&program).expect("and is well formed");
        assert_eq!(
            crate::text::parse(&crate::text::print(&program)).as_ref(),
            Ok(&program),
            "it is written as it is read"
        );
        program
    }

    #[test]
    fn an_object_reaches_from_its_header_to_the_next_gap_or_header() {
        let program = program();
        let headers: Vec<_> = (0..9).map(|loc| program.header(LocId(loc)).map(|header| header.0)).collect();
        assert_eq!(headers, [None, None, Some(2), Some(2), Some(2), Some(5), Some(5), None, None]);
        assert!(program.is_tied(LocId(2), LocId(4)) && program.is_tied(LocId(3), LocId(2)));
        assert!(!program.is_tied(LocId(3), LocId(4)) && !program.is_tied(LocId(2), LocId(6)));
        assert!(!program.is_tied(LocId(0), LocId(8)));
    }

    #[test]
    fn stores_to_a_header_are_guarded_and_read_modify_writes_are_not() {
        let program = program();
        assert_eq!(program.guard(LocId(2), AccessKind::Store), Some(LocId(2)));
        assert_eq!(program.guard(LocId(2), AccessKind::Rmw), None);
        assert_eq!(program.guard(LocId(4), AccessKind::Rmw), Some(LocId(2)));
        assert_eq!(program.guard(LocId(8), AccessKind::Load), None);
    }

    #[test]
    fn headers_and_words_are_told_apart() {
        use crate::ids::ArrayId;
        let program = program();
        let element = |array, index| program.element(ArrayId(array), index);
        assert_eq!(element(1, 2), Ok(LocId(2)));
        assert_eq!(element(0, 3), Ok(LocId(3)));
        assert!(matches!(element(0, 2), Err(EvalError::BadPointer { .. })));
        for index in [-1, 0, 1, 3, 4, 7, 9] {
            assert_eq!(element(1, index), Err(EvalError::NotAllocated), "{index}");
        }
    }
}
