//! Choices of a thread: the values that it may take, and that it takes one.

use std::borrow::Cow;

use cyrano_ir::Op;

use super::Runner;
use super::pairs::{FAILS, SUCCEEDS};
use crate::code::Code;
use crate::rows::EventId;

impl Runner {
    /// The values that it may take next.
    pub(crate) fn values<'p>(&self, code: &Code<'p>) -> Cow<'p, [i128]> {
        let at = self.frame().pc;
        match code.op(at) {
            Op::Choose { from, .. } => code.names.values((code.thread, at), from, self.events.len()),
            Op::Access(access) => {
                Cow::Borrowed(if self.is_reserved(code, access) { &[FAILS, SUCCEEDS] } else { &[FAILS] })
            }
            _ => unreachable!("a thread that is to choose"),
        }
    }

    /// Its next choice is this event, and takes this value.
    pub(crate) fn choose(&mut self, code: &Code<'_>, event: EventId, value: i128) {
        let dst = match code.op(self.frame().pc) {
            Op::Choose { dst, .. } => dst,
            Op::Access(access) => return self.attempt(code, event, access, value),
            _ => unreachable!("a thread that is to choose"),
        };
        self.push(code, event);
        let head = self.frame().head.filter(|_| code.idles_by_choice);
        self.frame_mut().head = head;
        match self.set(code, dst, value) {
            Ok(()) => self.go_on(code),
            Err(error) => self.fail(error),
        }
    }
}
