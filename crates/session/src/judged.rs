//! A criterion of one's own: which outcomes are right is decided by whoever asks.
//!
//! All outcomes are collected first; if one of them is wrong, an execution that ends with it is looked for and confirmed like any
//! other counterexample. Nothing is `verified` unless all outcomes are known.

use std::collections::BTreeMap;

use cyrano_engine::Watch;
use cyrano_ir::Quantifier;
use cyrano_memory::Model;
use cyrano_report::CheckReport;

use crate::case::Case;
use crate::failure::Failure;
use crate::outcomes::shows;
use crate::run::Runner;

/// The values of the observed variables at the end of an execution, by name.
pub type Outcome<'a> = BTreeMap<&'a str, i128>;

impl Runner {
    /// Checks that every outcome is one that `accepts` accepts; `criterion` is the name in the report.
    pub fn judge(
        &self,
        case: &Case,
        model: &Model,
        (criterion, accepts): (&str, &dyn Fn(&Outcome<'_>) -> bool),
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let found = self.outcomes(case, model, watch)?;
        let names = || found.columns.iter().map(String::as_str);
        let right = |values: &Vec<i128>| accepts(&names().zip(values.iter().copied()).collect());
        let Some(wrong) = found.outcomes.iter().find(|values| !right(values)) else {
            let (engine, engine_note, reason) = (found.engine, found.engine_note, found.reason);
            let (model, stats) = (Some(model.name.clone()), found.stats);
            let (verdict, report) = (found.verdict, case.report(criterion));
            return Ok(CheckReport { model, engine, engine_note, verdict, reason, stats, ..report });
        };
        let shown = self.check(case, &shows(&case.program, Quantifier::Never, wrong), model, watch)?;
        Ok(CheckReport { criterion: criterion.to_owned(), ..shown })
    }
}
