//! A case with what its observations and final states are compared with, each found out when it is first needed.

use std::sync::OnceLock;

use cyrano_criteria::table::Claim;
use cyrano_engine::Watch;
use cyrano_ir::{Property, Structure};
use cyrano_report::CheckReport;

use crate::atomicity::Atomicity;
use crate::case::Case;
use crate::failure::Failure;
use crate::frontend::{self, Wanted};
use crate::reduction;
use crate::run::Runner;
use crate::select::Selected;
use crate::source::Files;
use crate::specification::Specification;

/// A case that is checked.
pub struct Subject {
    /// The case.
    pub case: Case,
    /// What its observations are compared with.
    pub specification: Specification,
    atomicity: OnceLock<Atomicity>,
}

impl Subject {
    /// The subjects of a file, compared with the serial executions of another one if a reference is named.
    pub fn load(
        files: &dyn Files,
        name: &str,
        set: &[(String, i128)],
        wanted: &Wanted,
        reference: Option<&str>,
    ) -> Result<Vec<Self>, Failure> {
        let subject = |case: Case| {
            let reference = reference.map(|name| case.reference(name, files)).transpose()?;
            Ok(Self { specification: Specification::of(reference), case, atomicity: OnceLock::new() })
        };
        frontend::cases(files, name, set, wanted)?.into_iter().map(subject).collect()
    }

    /// Does a check.
    pub fn check(&self, runner: &Runner, selected: &Selected, watch: &dyn Watch) -> Result<CheckReport, Failure> {
        match selected {
            Selected::Run(Claim::Observations, model) => self.specification.check(runner, &self.case, model, watch),
            Selected::Run(Claim::Atomicity, model) => {
                self.atomicity.get_or_init(|| Atomicity::new(&self.case)).check(runner, model, watch)
            }
            Selected::Run(Claim::Structure(Structure::Reduction), model) => {
                reduction::check(runner, &self.case, model, watch)
            }
            Selected::Run(claim, model) => {
                let property = Property::all_of(claim).pop().expect("all that is claimed is known");
                runner.check(&self.case, &property, model, watch)
            }
            Selected::Nothing { criterion, reason } => {
                Ok(CheckReport { reason: Some(reason.clone()), ..self.case.report(criterion) })
            }
        }
    }
}
