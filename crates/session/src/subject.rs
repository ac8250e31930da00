//! A case with what its observations and final states are compared with, each found out when it is first needed.

use std::sync::OnceLock;

use cyrano_criteria::table::Claim;
use cyrano_engine::{Verdict, Watch};
use cyrano_ir::{Property, Structure};
use cyrano_memory::Model;
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

    /// What a check asks, of one program under one model; `Err` says why it is no such question.
    pub fn property<'a>(
        &self,
        runner: &Runner,
        selected: &'a Selected,
        watch: &dyn Watch,
    ) -> Result<(Property, &'a Model), String> {
        match selected {
            Selected::Run(Claim::Observations, model) => {
                Ok((self.specification.property(runner, &self.case, watch)?, model))
            }
            Selected::Run(Claim::Atomicity, _) => {
                Err("`atomicity` compares two programs: write operations and check `observations`".into())
            }
            Selected::Run(claim, model) => {
                Ok((Property::all_of(claim).pop().expect("all that is claimed is known"), model))
            }
            Selected::Nothing { reason, .. } => Err(reason.clone()),
            Selected::Refused { reason, .. } => Err(reason.to_string()),
        }
    }

    /// The blocks of the case, one at a time.
    pub(crate) fn atomicity(&self) -> &Atomicity {
        self.atomicity.get_or_init(|| Atomicity::new(&self.case))
    }

    /// Does a check.
    pub fn check(&self, runner: &Runner, selected: &Selected, watch: &dyn Watch) -> Result<CheckReport, Failure> {
        match selected {
            Selected::Run(claim, model) if !self.case.program.families.is_empty() => {
                // Which claims these can be was found out when they were selected.
                let property = Property::all_of(claim).pop().expect("all that is claimed is known");
                runner.check_every_number(&self.case, &property, model, watch)
            }
            Selected::Run(Claim::Observations, model) => self.specification.check(runner, &self.case, model, watch),
            Selected::Run(Claim::Atomicity, model) => self.atomicity().check(runner, model, watch),
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
            Selected::Refused { criterion, model, reason } => Ok(CheckReport {
                model: Some(model.name.clone()),
                verdict: Verdict::Unknown,
                reason: Some(reason.to_string()),
                ..self.case.report(criterion)
            }),
        }
    }
}
