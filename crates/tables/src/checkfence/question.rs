//! One test of one file: its serial observations, and whether a model shows others (CheckFence, section 3.2).
//!
//! Serial observations are mined as `cyrano check` does it, by the explorer where that is cheap; or by formulas alone, as the paper does.
//!
//! **Invariant:** as for `cyrano check`: an observation counts as wrong only if all serial ones are known, and a violation leaves this file only after
//! the reference interpreter has agreed to it.

use std::collections::BTreeSet;
use std::time::Instant;

use cyrano_engine::{Answer, Limits, Question, Verdict, Violation};
use cyrano_ir::Property;
use cyrano_report::CheckReport;
use cyrano_session::frontend::{self, Tests, Wanted};
use cyrano_session::{Answered, Case, Failure, Runner, Source, bug, pool, proof};
use cyrano_symbolic::{Symbolic, SymbolicStats};
use cyrano_trace::Trace;

use super::Setup;
use crate::model;

/// A test as a program, and the limits of whatever is asked about it.
#[derive(Clone)]
pub struct Subject {
    case: Case,
    limits: Limits,
    runner: Runner,
    /// The engine.
    pub engine: Symbolic,
}

/// The observations of serial executions.
pub struct Mined {
    /// They.
    pub observations: BTreeSet<Vec<i128>>,
    /// Why there may be more.
    pub incomplete: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// How many clauses the formula had, if there was one.
    pub clauses: Option<u64>,
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

impl Mined {
    fn of(answer: Answer, clauses: Option<u64>, started: Instant) -> Self {
        let incomplete = (answer.verdict != Verdict::Verified).then(|| {
            let reason = answer.reason.map_or_else(|| answer.verdict.name().to_owned(), |cause| cause.to_string());
            format!("not all serial observations are known: {reason}")
        });
        Self { observations: answer.outcomes, incomplete, seconds: started.elapsed().as_secs_f64(), clauses }
    }
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
pub fn library(setup: &Setup<'_>, file: &str) -> Result<Source, Failure> {
    setup.files.open(&format!("lib:datatypes/{file}.c"))
}

impl Subject {
    /// A test of a file; all that is asked has to be answered within the time of a cell.
    pub fn new(source: Source, test: &str, setup: &Setup<'_>) -> Result<Self, Failure> {
        let wanted = Wanted { tests: Tests::Named(vec![test.to_owned()]), ..Wanted::default() };
        let mut cases = frontend::of(&source).cases(&source, &[], &wanted, setup.files)?;
        let missing = || Failure::input(format!("{}: there is no test `{test}`", source.name));
        let case = cases.pop().ok_or_else(missing)?;
        let limits = Limits { cancel: setup.options.cancel.clone(), ..Limits::default() };
        let memory = limits.memory / pool::processors() as u64;
        let limits = Limits { memory, ..limits }.with_timeout(Some(setup.timeout));
        Ok(Self { case, limits, runner: setup.runner(), engine: Symbolic::default() })
    }

    /// The same with the time of another cell.
    pub fn renewed(&self, setup: &Setup<'_>) -> Self {
        let limits = self.limits.clone().with_timeout(Some(setup.timeout));
        Self { limits, runner: setup.runner(), ..self.clone() }
    }

    /// The observations of serial executions.
    pub fn mine(&self) -> Result<Mined, Failure> {
        let started = Instant::now();
        let serial = model("serial");
        let Answered { answer, clauses, .. } = self.runner.mine(self.case.query(&serial, Question::Outcomes)?, &());
        Ok(Mined::of(answer, clauses, started))
    }

    /// The same by formulas alone (CheckFence, section 3.2).
    pub fn mine_by_formula(&self) -> Result<Mined, Failure> {
        let started = Instant::now();
        let serial = model("serial");
        let query = self.case.query(&serial, Question::Outcomes)?;
        let (answer, stats) = self.engine.ask_with_stats(query, &self.limits, &());
        Ok(Mined::of(answer, Some(stats.clauses), started))
    }

    /// A check by the engine of choice, as `cyrano check` does it.
    pub fn ask(&self, property: &Property, name: &str) -> Result<CheckReport, Failure> {
        self.runner.check(&self.case, property, &model(name), &())
    }

    /// Whether a model shows an observation that is not among these, or an error.
    pub fn check(&self, mined: &Mined, name: &str) -> Result<Checked, Failure> {
        let model = model(name);
        let property = Property::Observations(mined.observations.clone());
        let program = &self.case.program;
        let query = self.case.query(&model, Question::Holds(&property))?;
        let (answer, stats) = self.engine.ask_with_stats(query, &self.limits, &());
        let rests_on_missing = matches!(answer.violation, Some(Violation::Observation { .. }));
        if let Some(why) = mined.incomplete.as_ref().filter(|_| rests_on_missing) {
            return Ok(Checked { verdict: Verdict::Unknown, reason: Some(why.clone()), trace: None, stats });
        }
        let proof = proof::proof(program, &property, &model, &answer, Some(&self.limits)).map_err(|why| {
            let text =
                format!("symbolic answered `observations` on {} for {}, but {why}", model.name, self.case.source.name);
            Failure::Internal(bug(&text))
        })?;
        let violation = answer.violation.as_ref();
        let asked = (&property, &model);
        let trace = proof.map(|proof| self.case.trace(program, asked, violation, (&proof.execution, &proof.replayed)));
        Ok(Checked { verdict: answer.verdict, reason: answer.reason.map(|cause| cause.to_string()), trace, stats })
    }
}
