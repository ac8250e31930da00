//! Refuses programs that are about one order of all accesses.

use cyrano_engine::{Inexact, Query, Refusal, one_order};

/// Refuses what is about one order of all accesses.
pub(super) fn supports(query: &Query<'_>) -> Result<(), Refusal> {
    match one_order(query.program()) {
        Some(what) => Err(Refusal::Inexact(Inexact::OneOrder { model: query.model().name.clone(), what })),
        None => Ok(()),
    }
}
