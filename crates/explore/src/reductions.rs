//! Reductions: fewer states or steps with the same verdicts.
//!
//! **Invariant:** each file has the argument for its reduction, and each reduction can be switched off ([`crate::Explore`]).

pub(crate) mod ample;
pub(crate) mod canonicalise;
pub(crate) mod data;
pub(crate) mod exchanges;
pub(crate) mod in_order;
pub(crate) mod movers;
pub(crate) mod repeats;
pub(crate) mod stubborn;
pub(crate) mod symmetric_threads;
pub(crate) mod symmetry;
pub(crate) mod timestamps;
pub(crate) mod variables;
pub(crate) mod whole;
