//! The question that every engine is asked, and the answer it gives.
//!
//! Engines know this crate and not each other. It holds no algorithm: a [`Query`] goes in, an [`Answer`] comes out, and an
//! answer that claims a violation carries an [`Execution`] that the reference interpreter can replay.
//!
//! **Invariant:** an engine that cannot decide a query exactly either refuses beforehand ([`Engine::supports`]) or says so in its
//! verdict; it never approximates quietly.

mod answer;
mod blocks;
mod execution;
pub mod history;
mod lasso;
mod limits;
pub mod vacuity;
pub mod values;

pub use answer::{Answer, BEYOND_LIMIT, BlockProof, Blocked, Stats, Verdict, Violation, limit_reason};
pub use blocks::{Difference, Obstacle, SerialRun, SerialUnit};
pub use execution::{Access, Execution, Overtaking, Replayed, Source, StepFacts, ThreadEnd};
pub use lasso::{Extent, Fate, Lasso, client_choices};
pub use limits::{Limits, Progress, Stop, Watch};

use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The program.
    pub program: &'a Program,
    /// The memory model.
    pub model: &'a Model,
    /// What to find out.
    pub question: Question<'a>,
}

/// What to find out about the executions of a program.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// Does the property hold?
    Holds(&'a Property),
    /// Which valuations of the observed variables can a final state have?
    Outcomes,
}

/// Why an engine cannot run a program under a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What stands in the way.
    pub reason: String,
    /// The name of an engine that can.
    pub instead: &'static str,
}

/// Axiom 9: a program without an order for the model cannot be run under it, by any engine.
pub fn has_own_order(program: &Program, model: &Model) -> Result<(), Refusal> {
    if !model.own_order || program.own_order(&model.name).is_some() {
        return Ok(());
    }
    let reason =
        format!("{} is for algorithms that say themselves which of their statements stay in order", model.name);
    Err(Refusal { reason, instead: "none" })
}

/// An engine.
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Whether it is exact for this program and model.
    fn supports(&self, program: &Program, model: &Model) -> Result<(), Refusal>;

    /// Answers the query within the limits, telling `watch` how it is getting on.
    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer;
}
