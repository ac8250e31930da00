//! Objects that can be freed: a header word, then the words that it guards, up to the next gap or header.
//!
//! A header ([`Ty::Header`]) holds [`ALIVE`] or [`FREED`]. Every access to a word behind it also looks at it, at the access's own place in the memory
//! order; that look is part of the access and no access of its own (axiom 10 of `cyrano_memory`).
//!
//! - An access to a word of a freed object is an error, [`EvalError::Freed`].
//! - A *store* to a header frees the object: it finds the header [`ALIVE`], or the object is freed twice ([`EvalError::DoubleFree`]).
//! - A *read-modify-write* of a header is for whoever makes the object alive again, and is not checked.
//!
//! **Without one memory order** there are happens-before and the order of the writes to a header, which divides an object's life into lives. An access is right in a
//! life if the write that began it happens before the access, and the access before the store that ended it, if there is one ([`misses`]); so an access that races
//! with a free is wrong. A free releases, and who makes an object alive again acquires ([`header_tags`]): the standard says that a deallocation synchronises with the
//! next allocation of the same memory (C17 7.22.3). The section that does that, and makes all words undefined, is its read-modify-write and then its stores ([`Program::revives`]): whoever
//! comes between them does not happen after them and is wrong in any case.
//!
//! These errors stop nobody: like an overflow in memory they make the execution a wrong one.

use crate::access::{Access, AccessKind, Addr, Tags};
use crate::dataflow::successors;
use crate::expr::EvalError;
use crate::ids::{InstrId, LocId};
use crate::op::Op;
use crate::program::{Program, Thread, Ty};

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

    /// Whether an access is to headers only.
    fn is_to_header(&self, addr: &Addr) -> bool {
        match addr {
            Addr::Fixed(loc) => self.location(*loc).ty == Ty::Header,
            Addr::Indexed { array, .. } => self.arrays[array.index()].headers,
        }
    }

    /// Whether a section does nothing but make an object alive again: a read-modify-write of a header, and then stores to words.
    pub fn revives(&self, thread: &Thread, begin: InstrId) -> bool {
        let mut seen = Vec::new();
        let mut todo = vec![(InstrId(begin.0 + 1), false)];
        while let Some((at, alive)) = todo.pop() {
            if seen.contains(&(at, alive)) {
                continue;
            }
            seen.push((at, alive));
            let op = &thread.code[at.index()].op;
            let fits = |access: &Access| match alive {
                false => access.kind == AccessKind::Rmw && self.is_to_header(&access.addr),
                true => access.kind == AccessKind::Store && !self.is_to_header(&access.addr),
            };
            match op {
                Op::AtomicEnd if alive => continue,
                Op::Access(access) if fits(access) => {}
                Op::Assign { .. } | Op::Branch { .. } | Op::Jump(_) => {}
                _ => return false,
            }
            let next = alive || op.access().is_some();
            for to in successors(op, at) {
                if to <= at {
                    return false;
                }
                todo.push((to, next));
            }
        }
        true
    }
}

/// What is said of accesses to headers where there is no one order of all accesses.
pub fn header_tags(kind: AccessKind) -> Tags {
    Tags::ATOMIC | if kind == AccessKind::Store { Tags::RELEASE } else { Tags::ACQUIRE }
}

/// Whether an access to an object is in none of its lives. These are told by the writes to its header in their order, the initial one first: whether each says
/// [`ALIVE`], happens before the access, and happens after it.
pub fn misses(mut writes: impl Iterator<Item = (bool, bool, bool)>) -> bool {
    let mut begun = false;
    let in_life = |(alive, before, after): (bool, bool, bool)| {
        let lives = begun && after;
        begun = alive && before;
        lives
    };
    let found = writes.by_ref().any(in_life);
    !found && !begun
}
