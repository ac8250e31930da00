//! One test of one file: its serial observations, and whether a model shows others (CheckFence, section 3.2).
//!
//! **Invariant:** as for `cyrano check`: an observation counts as wrong only if all serial ones are known, and a violation leaves this file only after
//! the reference interpreter has agreed to it.

use std::collections::BTreeSet;
use std::time::Duration;

use cyrano_engine::{Limits, Query, Question, Verdict, Violation};
use cyrano_ir::Property;
use cyrano_symbolic::{Symbolic, SymbolicStats};
use cyrano_trace::Trace;

use super::workers;
use crate::args::{ColorChoice, TestArgs};
use crate::failure::{self, Failure};
use crate::program::Loaded;
use crate::source::{self, Source};
use crate::{c, interrupt, models, proof};

/// A test as a program, and the limits of whatever is asked about it.
pub struct Subject {
    loaded: Loaded,
    limits: Limits,
    /// The engine.
    pub engine: Symbolic,
}

/// The observations of serial executions.
pub struct Mined {
    /// They.
    pub observations: BTreeSet<Vec<i128>>,
    /// Why there may be more.
    pub incomplete: Option<String>,
    /// What it cost.
    pub stats: SymbolicStats,
}

/// What came of a check.
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, where the verdict alone does not say it.
    pub reason: Option<String>,
    /// The execution behind a violation.
    pub trace: Option<Trace>,
    /// What it cost, without mining.
    pub stats: SymbolicStats,
}

impl Checked {
    /// Whether the question is settled.
    pub fn decided(&self) -> bool {
        matches!(self.verdict, Verdict::Verified | Verdict::Violated)
    }

    /// The words about it: the reason, or what the execution shows.
    pub fn words(&self) -> Vec<String> {
        let shown = self.trace.as_ref().map(|trace| trace.explanation.sentence.clone());
        self.reason.iter().cloned().chain(shown).collect()
    }
}

/// The library's file of this name.
pub fn library(file: &str) -> Result<Source, Failure> {
    source::program(&format!("lib:datatypes/{file}.c"))
}

impl Subject {
    /// A test of a file; all that is asked has to be answered within this time from now.
    pub fn new(source: Source, test: &str, timeout: Duration) -> Result<Self, Failure> {
        let missing = format!("{}: there is no test `{test}`", source.name);
        let wanted = TestArgs { test: vec![test.to_owned()], ..TestArgs::default() };
        let loaded = c::load(source, &[], &wanted, ColorChoice::Never)?;
        let loaded = loaded.into_iter().next().ok_or_else(|| Failure::input(missing))?;
        let limits = Limits { cancel: interrupt::install()?, ..Limits::default() };
        let memory = limits.memory / workers() as u64;
        let limits = Limits { memory, ..limits }.with_timeout(Some(timeout));
        Ok(Self { loaded, limits, engine: Symbolic::default() })
    }

    /// Gives what is asked from now on this much time.
    pub fn renew(&mut self, timeout: Duration) {
        self.limits = self.limits.clone().with_timeout(Some(timeout));
    }

    /// The observations of serial executions.
    pub fn mine(&self) -> Result<Mined, Failure> {
        let serial = models::resolve("serial", ColorChoice::Never)?;
        let query = Query { program: &self.loaded.program, model: &serial, question: Question::Outcomes };
        let (answer, stats) = self.engine.ask_with_stats(query, &self.limits, &());
        let incomplete = (answer.verdict != Verdict::Verified).then(|| {
            let reason = answer.reason.unwrap_or_else(|| answer.verdict.name().to_owned());
            format!("not all serial observations are known: {reason}")
        });
        Ok(Mined { observations: answer.outcomes, incomplete, stats })
    }

    /// Whether a model shows an observation that is not among these, or an error.
    pub fn check(&self, mined: &Mined, model: &str) -> Result<Checked, Failure> {
        let model = models::resolve(model, ColorChoice::Never)?;
        let property = Property::Observations(mined.observations.clone());
        let program = &self.loaded.program;
        let query = Query { program, model: &model, question: Question::Holds(&property) };
        let (answer, stats) = self.engine.ask_with_stats(query, &self.limits, &());
        let rests_on_missing = matches!(answer.violation, Some(Violation::Observation { .. }));
        if let Some(why) = mined.incomplete.as_ref().filter(|_| rests_on_missing) {
            return Ok(Checked { verdict: Verdict::Unknown, reason: Some(why.clone()), trace: None, stats });
        }
        let proof = proof::proof(program, &property, &model, &answer, Some(&self.limits)).map_err(|why| {
            let text = format!("symbolic answered `observations` on {} for {}, but {why}", model.name, self.name());
            Failure::Internal(failure::bug(&text))
        })?;
        let violation = answer.violation.as_ref();
        let trace = proof.map(|proof| proof::trace(&self.loaded, program, &property, &model, violation, &proof));
        Ok(Checked { verdict: answer.verdict, reason: answer.reason, trace, stats })
    }

    fn name(&self) -> &str {
        &self.loaded.source.name
    }
}
