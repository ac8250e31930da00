//! The forms in which states are stored: bytes ([`mod@codec`]), or tuples of the numbers of their parts ([`mod@parts`], [`mod@walk`]).
//!
//! **Invariant:** within one search, two states are equal exactly if their stored forms are.

pub(crate) mod codec;
pub(crate) mod memo;
pub(crate) mod parts;
pub(crate) mod walk;
