//! What the automata for two threads have in common.
//!
//! The paper writes its algorithms from the view of the thread that moves, `t`, and the other one, `u`; so do we.

use std::fmt;

use crate::history::Size;

/// What becomes of an aborted transaction's reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aborts {
    /// They are forgotten, as both algorithms are printed. That accepts histories that are not opaque.
    Forgotten,
    /// They prohibit the other thread's stores exactly as the reads of a committed transaction do.
    Remembered,
}

/// The automata are for two threads and at most eight variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnsupportedSize(pub Size);

impl fmt::Display for UnsupportedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { threads, vars } = self.0;
        write!(f, "{threads} threads and {vars} variables: it is for two threads and at most eight variables")
    }
}

impl std::error::Error for UnsupportedSize {}

pub(super) fn supported(size: Size) -> Result<Size, UnsupportedSize> {
    if size.threads == 2 && size.vars <= 8 { Ok(size) } else { Err(UnsupportedSize(size)) }
}

/// The thread that moves, and the other one.
pub(super) fn lanes<L>(lanes: &mut [L; 2], moving: u8) -> (&mut L, &mut L) {
    let [first, second] = lanes;
    if moving == 0 { (first, second) } else { (second, first) }
}

/// The set of one variable.
pub(super) fn bit(v: u8) -> u8 {
    1 << v
}

pub(super) fn reject_if(rejected: bool) -> Option<()> {
    (!rejected).then_some(())
}
