//! What programs do: states, steps, and the order in which deferred accesses are performed.
//!
//! **Invariant:** there is one step function ([`mod@step`]), which every search, proof and witness uses; criteria and reductions listen to
//! it or change the form of states, and never decide what a step does.

mod access;
pub(crate) mod declared;
pub(crate) mod drain;
pub(crate) mod events;
pub(crate) mod guards;
pub(crate) mod local;
pub(crate) mod machine;
mod notes;
pub(crate) mod queue;
pub(crate) mod section;
pub(crate) mod setup;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod stepping;
pub(crate) mod successors;
