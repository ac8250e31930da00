//! The forms in which states are stored: bytes ([`mod@codec`]), or tuples of the numbers of their parts ([`mod@dictionary`]), in memory
//! ([`mod@tuples`]) or kept in files and on other machines ([`mod@packing`]).
//!
//! **Invariant:** within one search, two states are equal exactly if their stored forms are.

pub(crate) mod codec;
mod copies;
pub(crate) mod dictionary;
mod event;
pub(crate) mod foreign;
mod forms;
mod hearing;
mod kept;
mod layout;
mod memo;
pub(crate) mod packing;
pub(crate) mod remembering;
pub(crate) mod taught;
mod touch;
pub(crate) mod tuples;
