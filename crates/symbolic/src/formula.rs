//! From what execution left behind to a formula and a graph: the axioms of `cyrano_memory` as clauses and edges.

pub(crate) mod cubic;
pub(crate) mod encode;
pub(crate) mod fence;
pub(crate) mod gates;
pub(crate) mod graph;
pub(crate) mod hang;
pub(crate) mod lit;
pub(crate) mod optional;
pub(crate) mod order;
pub(crate) mod outcomes;
pub(crate) mod relational;
pub(crate) mod smt;
pub(crate) mod swap;
pub(crate) mod symmetry;
pub(crate) mod values;
