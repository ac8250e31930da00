//! Freed memory (axiom 10 of `cyrano_memory`): every access to an object that can be freed looks at its header when it is performed.
//!
//! Accesses of a thread to a header and to its object wait for each other ([`Machine::must_wait`]), so what an access finds in memory is what the
//! axiom lets it see; nothing is forwarded from a queue. The look is one more location that a step reads, for remembered steps and for ample sets.
//!
//! [`Machine::must_wait`]: crate::semantics::machine::Machine::must_wait

use cyrano_engine::Violation;
use cyrano_ir::guards::ALIVE;
use cyrano_ir::{AccessKind, LocId, Program};

use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::record_error;

/// For each location the header of its object; nothing in a program without headers.
pub(crate) struct Headers(Vec<Option<u32>>);

impl Headers {
    pub fn of(program: &Program) -> Self {
        if !program.has_headers() {
            return Self(Vec::new());
        }
        Self((0..program.locations.len()).map(|loc| program.header(LocId::new(loc)).map(|header| header.0)).collect())
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn header(&self, loc: u32) -> Option<u32> {
        self.0.get(loc as usize).copied().flatten()
    }

    /// The header that an access looks at.
    #[inline]
    pub fn guard(&self, loc: u32, kind: AccessKind) -> Option<u32> {
        self.header(loc).filter(|header| *header != loc || kind == AccessKind::Store)
    }

    /// Whether one of two locations is the header of the other's object.
    #[inline]
    pub fn are_tied(&self, one: u32, other: u32) -> bool {
        let header = self.header(one);
        header.is_some() && header == self.header(other) && (header == Some(one) || header == Some(other))
    }
}

impl Machine<'_> {
    /// Whether an access that is performed now finds its object freed; if so, that is noted.
    #[inline]
    pub(crate) fn check_freed(
        &self,
        state: &State,
        event: &mut Option<Violation>,
        access: (usize, u32),
        loc: u32,
        kind: AccessKind,
    ) {
        let Some(header) = self.headers.guard(loc, kind) else { return };
        if state.memory[header as usize] != ALIVE {
            let (thread, pc) = access;
            record_error(event, thread, pc, self.program.guard_error(LocId(loc)));
        }
    }
}
