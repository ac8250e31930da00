//! Symbolic execution: from a program and bounds on its loops to guarded accesses (CheckFence, sections 3.2 to 3.4).

pub(crate) mod aliases;
pub(crate) mod arith;
pub(crate) mod eval;
pub(crate) mod event;
pub(crate) mod follow;
pub(crate) mod freed;
pub(crate) mod idle;
pub(crate) mod laps;
pub(crate) mod loops;
pub(crate) mod perform;
pub(crate) mod range;
pub(crate) mod related;
pub(crate) mod silent;
pub(crate) mod units;
pub(crate) mod unread;
pub(crate) mod value;
pub(crate) mod walk;
