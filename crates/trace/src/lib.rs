//! One execution, told so that a person can follow it and a program can replay it.
//!
//! A [`Trace`] is self-contained: it carries the source text, the constants that were set and the parameters of the memory model, so
//! that it can be replayed on another machine, years later, without the files it came from (schema `cyrano.trace/1`).
//!
//! **Invariant:** a trace is built only from facts that a replay established ([`cyrano_engine::Replayed`]); this crate adds names,
//! places in the source and words, and decides nothing itself.
//!
//! This crate knows neither engines nor output formats other than its own schema.

mod calls;
mod cut;
mod explain;
mod fit;
mod lasso;
mod lines;
mod minimise;
mod model;
pub mod number;
mod pointers;
mod record;
mod relations;
mod rerun;
mod restore;
mod schema;
mod shape;
mod timeline;
mod told;
mod transactions;
mod waits;

pub use explain::{join, no_witness, shown};
pub use fit::{Misfit, Version};
pub use minimise::{Effort, Minimised, minimise, minimise_until};
pub use record::{Parts, told_registers};
pub use restore::TraceError;
pub use schema::{
    Awaited, BaseCall, BlockedInfo, Conflict, DependencyInfo, End, Explanation, InRound, LassoInfo, ModelInfo,
    NamedValue, OperationInfo, Overtaken, PartedLocation, PartedRegister, ProgramInfo, PropertyInfo, RacingInfo,
    ReadFrom, RegisterChange, Relations, SCHEMA, SCHEMAS, Segment, SerialUnitInfo, Shape, StandingInfo, Step, TestInfo,
    ThreadInfo, Tool, Trace, TransactionInfo, UsedPlace, ViolationInfo, Wait,
};
pub use transactions::{explain_history, size_of};
