//! Questions to a solver: lazy unrolling, many questions to one solver, and from its models back to executions.

pub(crate) mod acyclic;
pub(crate) mod ask;
pub(crate) mod decode;
pub(crate) mod export;
pub(crate) mod histories;
pub(crate) mod lasso;
pub(crate) mod reached;
pub(crate) mod refute;
pub(crate) mod relations;
pub(crate) mod session;
pub(crate) mod solver;
