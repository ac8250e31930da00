//! Which accesses of an algorithm stay in order.

pub(crate) mod layout;
pub(crate) mod probe;
