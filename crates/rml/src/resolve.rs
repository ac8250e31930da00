//! What names stand for: constants, variables, kinds of values, calls.

pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod constants;
pub(crate) mod infer;
pub(crate) mod kinds;
pub(crate) mod names;
pub(crate) mod references;
pub(crate) mod typing;
