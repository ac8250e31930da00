//! The execution behind an answer: confirmed, made small, and confirmed again.
//!
//! **Invariant:** an execution leaves this file only after `cyrano_interp::confirm` has agreed to it. Making it small may be ended by the
//! run's deadline or an interrupt; what is left then is as confirmed as the rest, only longer.

use cyrano_engine::{Answer, Execution, Limits, Replayed, Verdict, Violation};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_report::MinimisedReport;
use cyrano_trace::minimise_until;

/// A confirmed execution.
pub struct Proof {
    /// The execution.
    pub execution: Execution,
    /// What confirming it brought to light.
    pub replayed: Replayed,
    /// What making it small brought; none if nobody tried.
    pub minimised: Option<MinimisedReport>,
}

/// The confirmed execution behind an answer, minimised within these limits if there are any; `Err` says why the answer cannot be trusted.
pub fn proof(
    program: &Program,
    property: &Property,
    model: &Model,
    answer: &Answer,
    minimise: Option<&Limits>,
) -> Result<Option<Proof>, String> {
    let violation = answer.violation.as_ref();
    let shown = violation.is_none_or(|violation| *violation != Violation::NoWitness);
    let Some(execution) = &answer.execution else {
        let needs_one = answer.verdict == Verdict::Violated && shown;
        return if needs_one { Err("the violation came without an execution".to_owned()) } else { Ok(None) };
    };
    let confirm = |execution: &Execution| cyrano_interp::confirm(program, model, property, violation, execution);
    let refuted = |why: cyrano_interp::ReplayError| format!("the reference interpreter does not confirm it: {why}");
    let replayed = confirm(execution).map_err(refuted)?;
    let Some(limits) = minimise.filter(|_| execution.relations.is_none()) else {
        return Ok(Some(Proof { execution: execution.clone(), replayed, minimised: None }));
    };
    let small = minimise_until(execution, &|candidate| confirm(candidate).is_ok(), &|| limits.exceeded(0).is_some());
    let replayed = confirm(&small.execution).map_err(refuted)?;
    let minimised = Some(MinimisedReport { from: small.from, to: small.to, complete: small.complete });
    Ok(Some(Proof { execution: small.execution, replayed, minimised }))
}
