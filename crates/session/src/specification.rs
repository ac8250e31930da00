//! Specifications that nobody has to write: the observations of a program's own serial executions (CheckFence, section 2.2).
//!
//! **Invariant:** an observation counts as wrong only if all serial ones are known. Where they are not, a verdict that rests on one
//! being missing is `unknown`; that all observations are among the known ones is `verified` either way.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Instant;

use cyrano_engine::{Query, Question, Verdict, Violation, Watch};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_report::{CheckReport, SpecificationReport};

use crate::case::Case;
use crate::failure::Failure;
use crate::run::checking::lines;
use crate::run::{Answered, Runner};

/// Where the observations of serial executions are kept from one run to the next. They depend on nothing but the program.
pub trait Store: Send + Sync {
    /// The observations of a program, if they are kept: all of them.
    fn get(&self, program: &Program) -> Option<BTreeSet<Vec<i128>>>;

    /// Keeps all observations of a program.
    fn put(&self, program: &Program, observations: &BTreeSet<Vec<i128>>);
}

/// What the observations of one program are compared with, mined when it is first needed.
#[derive(Default)]
pub struct Specification {
    /// The program that is run serially, if it is another one.
    pub reference: Option<Case>,
    mined: OnceLock<Mined>,
}

/// What was mined.
pub(crate) struct Mined {
    /// What serial executions show.
    pub(crate) allowed: BTreeSet<Vec<i128>>,
    /// Why there may be more.
    pub(crate) incomplete: Option<String>,
    /// Whether loops go on beyond every bound that was tried.
    endless: bool,
    pub(crate) report: SpecificationReport,
}

impl Specification {
    /// The specification that a program gives: another one with the same observables, or the one that is checked.
    pub fn of(reference: Option<Case>) -> Self {
        Self { reference, mined: OnceLock::new() }
    }

    fn mined(&self, runner: &Runner, case: &Case, watch: &dyn Watch) -> &Mined {
        self.mined.get_or_init(|| mine(runner, case, self.reference.as_ref(), watch))
    }

    /// The property that every observation is a serial one; `Err` says why not all of them are known.
    pub fn property(&self, runner: &Runner, case: &Case, watch: &dyn Watch) -> Result<Property, String> {
        let mined = self.mined(runner, case, watch);
        match &mined.incomplete {
            None => Ok(Property::Observations(mined.allowed.clone())),
            Some(why) => Err(why.clone()),
        }
    }

    /// Checks that every observation under a model is a serial one.
    pub fn check(
        &self,
        runner: &Runner,
        case: &Case,
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let mined = self.mined(runner, case, watch);
        let property = Property::Observations(mined.allowed.clone());
        // The loops that mining could not exhaust are there under every model.
        let mut report = if mined.endless {
            runner.without_exploring().check(case, &property, model, watch)?
        } else {
            runner.check(case, &property, model, watch)?
        };
        report.specification = Some(mined.report.clone());
        let missing = Violation::Observation { outcome: Vec::new() }.kind();
        let rests_on_it = report.explanation.as_ref().is_some_and(|explanation| explanation.kind == missing);
        if let Some(why) = mined.incomplete.as_ref().filter(|_| rests_on_it) {
            report.verdict = Verdict::Unknown;
            report.reason = Some(why.clone());
            report.trace = None;
            report.explanation = None;
        }
        Ok(report)
    }
}

/// What a program shows when it is run serially, or another one with the same observables.
pub(crate) fn mine(runner: &Runner, case: &Case, reference: Option<&Case>, watch: &dyn Watch) -> Mined {
    let source = reference.unwrap_or(case);
    let reference = reference.map(|reference| reference.source.name.clone());
    let started = Instant::now();
    if let Some(allowed) = runner.store.as_ref().and_then(|store| store.get(&source.program)) {
        let (observations, seconds) = (allowed.len(), started.elapsed().as_secs_f64());
        let report =
            SpecificationReport { reference, observations, complete: true, engine: None, cached: true, seconds };
        return Mined { allowed, incomplete: None, endless: false, report };
    }
    let serial = cyrano_memory::named("serial").expect("serial is a named model");
    // Nothing is reordered under this model, so every program has outcomes there.
    let query = Query::new(&source.program, &serial, Question::Outcomes)
        .unwrap_or_else(|why| unreachable!("{}: {why}", source.source.name));
    let Answered { engine, answer, .. } = runner.mine(query, watch);
    let complete = answer.verdict == Verdict::Verified;
    let endless = answer.verdict == Verdict::Bounded && !answer.places.is_empty();
    let incomplete = (!complete).then(|| {
        let reason = answer.reason.map_or_else(|| answer.verdict.name().to_owned(), |cause| cause.to_string());
        let lines = lines(source, &answer.places);
        format!("not all serial observations are known: {reason}{lines}")
    });
    if let Some(store) = runner.store.as_ref().filter(|_| complete) {
        store.put(&source.program, &answer.outcomes);
    }
    let report = SpecificationReport {
        reference,
        observations: answer.outcomes.len(),
        complete,
        engine,
        cached: false,
        seconds: answer.stats.seconds,
    };
    Mined { allowed: answer.outcomes, incomplete, endless, report }
}
