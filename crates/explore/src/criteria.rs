//! What is asked about the states and steps that a search visits: assertions, final states, criteria for transactions and atomic blocks,
//! progress and termination, and whether anything was exercised at all.

pub(crate) mod exercise;
pub(crate) mod hearing;
pub(crate) mod invariant;
pub(crate) mod judge;
mod operations;
pub(crate) mod progress;
pub(crate) mod races;
pub(crate) mod runs;
pub(crate) mod serial;
pub(crate) mod shadow;
pub(crate) mod structure;
pub(crate) mod termination;
pub(crate) mod values;
