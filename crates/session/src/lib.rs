//! From a case and options to verdicts.
//!
//! A [`Case`] is a program with the source that it came from; a [`Runner`] decides which engine is asked what, in which order and within which
//! limits, and has every execution confirmed before anybody sees it. What a check needs beside its program is found out here, too: the
//! observations of serial executions ([`specification`]), atomic blocks one at a time ([`atomicity`]), how many clients of a size are wrong
//! ([`clients`]), and what carries opacity to every number of threads and variables ([`mod@reduction`]).
//!
//! **Invariants:** an execution leaves this crate only after the reference interpreter has agreed to it; nothing here reads files, prints or
//! parses arguments. What has to be read or kept goes through [`Files`] and [`Store`].

pub mod atomicity;
mod case;
mod certificates;
pub mod clients;
mod coverage;
pub mod distinguish;
mod failure;
pub mod frontend;
mod judged;
mod linearizability;
pub mod litmus;
pub mod models;
mod outcomes;
pub mod pool;
pub mod proof;
pub mod reduction;
pub mod repair;
pub mod replay;
mod run;
mod select;
mod shard;
mod source;
mod spec;
mod specification;
mod subject;

pub use case::Case;
pub use certificates::certify;
pub use failure::{Failure, bug};
pub use judged::Outcome;

pub use run::checking::lines;
pub use run::gpu::Gpu;
pub use run::large::Large;
pub use run::options::{EngineName, Options};
pub use run::reductions::{ALL, REDUCTIONS, Reduction, reduction};
pub use run::{Answered, Runner, unasked};
pub use select::{Selected, default_model, leave_out_nothing, select, select_fitting};
pub use shard::{Inputs, Shard};
pub use source::{Files, Source};
pub use specification::{Specification, Store};
pub use subject::Subject;

/// The version in reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
