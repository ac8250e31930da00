//! What questions about whole runs share: the graph of all states, its components, cycles in them, and the way back to an execution.

pub(crate) mod components;
pub(crate) mod cycles;
pub(crate) mod graph;
pub(crate) mod walk;
