//! Exclusive pairs: a load-exclusive, and a store-exclusive that may fail whatever it finds.
//!
//! Whether a store-exclusive succeeds is a choice. **Argument.** The search needs that an event can always be added in the maximal way ([`crate::search`]). A thread that fails
//! writes nothing, which every model allows; success may be forbidden, as somebody has written in between. So to fail is the first choice, which is the maximal one. A
//! choice of success does not go in a revisit, and nor does its write, which is added right after it; where that write stands is for the model's text to say.

use cyrano_ir::{Access, Op};

use super::{Next, Runner, Writing};
use crate::code::Code;
use crate::rows::EventId;

/// What a store-exclusive leaves in its register.
pub(super) const SUCCEEDS: i128 = 0;
pub(crate) const FAILS: i128 = 1;

impl Runner {
    /// Whether it chooses if a store-exclusive succeeds.
    pub(crate) fn tries(&self, code: &Code<'_>) -> bool {
        matches!(code.op(self.frame().pc), Op::Access(_))
    }

    /// Whether a store-exclusive can succeed: the last exclusive access was a load of its location.
    pub(super) fn is_reserved(&self, code: &Code<'_>, access: &Access) -> bool {
        let loc = access.addr.location(code.program, self.registers(code));
        self.frame().exclusive.is_some_and(|(_, reserved)| loc == Ok(reserved))
    }

    /// Its store-exclusive succeeds, so that its write comes next, or fails.
    pub(super) fn attempt(&mut self, code: &Code<'_>, event: EventId, access: &Access, status: i128) {
        let reserved = self.frame().exclusive.filter(|_| status == SUCCEEDS);
        let registers = self.registers(code);
        let value = access.stored().and_then(|set| set.value(registers).ok());
        self.push(code, event);
        self.frame_mut().exclusive = None;
        // Both were computed before, without an error.
        let _ = access.dst.as_ref().map_or(Ok(()), |dst| self.set(code, dst, status));
        match reserved.zip(value) {
            None => self.go_on(code),
            Some(((half, loc), value)) => {
                let tags = self.said(code, loc, access.tags, false);
                let frame = self.frame_mut();
                (frame.pending, frame.head) = (true, None);
                frame.next = Next::Write(Writing { loc, value, tags, half: Some(half), own: true, silent: false });
            }
        }
    }
}
