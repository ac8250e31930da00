//! Which accesses of an algorithm stay in order, and which orders could be declared.

pub(crate) mod candidates;
pub(crate) mod layout;
pub(crate) mod probe;
