//! Histories of memory events, judged by conflicts.

use cyrano_criteria::history::parse;
use cyrano_criteria::spec::named::named;
use cyrano_ir::TxCriterion;
use cyrano_report::{HistoryReport, Reason};
use cyrano_session::{Failure, Source};
use cyrano_trace::{explain_history, size_of};

use super::rejected;

/// The number of events, and what each criterion says; without criteria all of them are asked.
pub fn judge(source: &Source, criteria: &[TxCriterion]) -> Result<(usize, Vec<HistoryReport>), Failure> {
    let parsed = parse(&source.text).map_err(|errors| Failure::source(source, errors))?;
    let wanted = wanted(criteria)?;
    for criterion in &wanted {
        if let TxCriterion::Spec(spec) = criterion {
            named(spec.name(), size_of(&parsed.history)).map_err(Failure::input)?;
        }
    }
    let report = |criterion: &TxCriterion| {
        let wrong = explain_history(*criterion, &parsed.history, &parsed.names, &|event| event + 1);
        let rejected = wrong
            .map(|(at, explanation)| rejected(source, at, parsed.spans[at], Reason::Memory(Box::new(explanation))));
        HistoryReport { criterion: criterion.name().to_owned(), rejected, order: None }
    };
    Ok((parsed.history.len(), wanted.iter().map(report).collect()))
}

fn wanted(criteria: &[TxCriterion]) -> Result<Vec<TxCriterion>, Failure> {
    if criteria.is_empty() {
        return Ok(TxCriterion::BY_CONFLICTS.to_vec());
    }
    let unknown: Vec<&str> =
        criteria.iter().filter(|criterion| !criterion.is_about_memory()).map(|criterion| criterion.name()).collect();
    if unknown.is_empty() {
        return Ok(criteria.to_vec());
    }
    Err(Failure::input(format!(
        "histories of memory events are judged by conflicts, by opacity or strict-serializability; {} needs a `history values`",
        unknown.join(", ")
    )))
}
