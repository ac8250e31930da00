//! The reference semantics: slow, and obviously right.
//!
//! It follows the definition in the documentation of `cyrano_memory` axiom by axiom and shares no code with the fast
//! engines, so that it can judge them. Ways to use it:
//!
//! - [`Interp`] is an engine: it enumerates what each thread can do alone (`local`), combines one trace per thread (`combine`)
//!   and looks for memory orders that explain the values (`search`, over `order`).
//! - For models about relations it enumerates events and relations instead (`relational`).
//! - [`replay`] re-runs one recorded execution and checks each step against the same axioms (`order` again); [`confirm`]
//!   also checks the claim that comes with it. Every violation passes through here before anybody sees it.
//!
//! **Invariant:** nothing is approximated quietly. A loop that was cut off makes the verdict `bounded`, more than 64 accesses
//! in one execution make it `unknown`.
//!
//! This crate knows neither the fast engines nor the front ends.

mod ask;
mod blocks;
mod combine;
mod confirm;
mod error;
mod eval;
mod goals;
mod happens;
mod issue;
mod lasso;
mod local;
mod machine;
mod meter;
mod moments;
mod observations;
mod order;
mod relational;
mod replay;
mod search;
mod set;
pub mod steps;
#[cfg(test)]
mod tests;
mod trace;
mod values;

pub use ask::Interp;
pub use confirm::confirm;
pub use error::ReplayError;
pub use relational::{Drawn, Seen, all_executions, executions};
pub use replay::replay;
