//! The question that every engine is asked, and the answer it gives.
//!
//! Engines know this crate and not each other. It holds no algorithm: a [`Query`] goes in, an [`Answer`] comes out, and an
//! answer that claims a violation carries an [`Execution`] that the reference interpreter can replay.
//!
//! **Invariant:** an engine that cannot decide a query exactly either refuses beforehand ([`Engine::supports`]) or says so in its
//! verdict; it never approximates quietly. Why is data ([`Refusal`], [`Cause`]), so that nobody has to read it from a text.

mod answer;
mod blocks;
mod cause;
pub mod configuration;
pub mod counts;
mod execution;
pub mod history;
mod lasso;
mod limits;
pub mod lts;
pub mod moments;
mod noted;
mod one_order;
mod query;
mod refusal;
mod relations;
pub mod rerun;
pub mod vacuity;
pub mod values;

pub use answer::{Answer, BlockProof, Blocked, Racing, Stats, Verdict, Violation};
pub use blocks::{Difference, Obstacle, SerialRun, SerialUnit};
pub use cause::{Cause, limit_reason};
pub use configuration::Configuration;
pub use execution::{Access, Execution, Overtaking, Replayed, Source, StepFacts, ThreadEnd};
pub use lasso::{Extent, Fate, Lasso, client_choices};
pub use limits::{Counters, Limits, Stop, Watch};
pub use noted::{Cut, Noted, decided};
pub use one_order::{is_update, one_order};
pub use query::{Query, Question, lacks};
pub use refusal::{EveryNumber, Inexact, Lack, Refusal, Subject};
pub use relations::{Event, Relations};

use cyrano_ir::Program;
use cyrano_memory::Model;

/// An engine.
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Whether it answers this question, and exactly. What it takes here it may still have to give up for want of time or memory.
    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal>;

    /// Whether it gives the outcomes of a program under a model.
    fn runs(&self, program: &Program, model: &Model) -> bool {
        Query::new(program, model, Question::Outcomes).is_ok_and(|query| self.supports(&query).is_ok())
    }

    /// Answers the query within the limits, telling `watch` how it is getting on.
    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer;
}
