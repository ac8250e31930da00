//! What unrolls: constants are folded, quantifiers and loops unrolled, procedures and methods inlined.

pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod compact;
pub(crate) mod families;
pub(crate) mod fold;
pub(crate) mod loops;
pub(crate) mod method;
pub(crate) mod rounds;
pub(crate) mod share;
