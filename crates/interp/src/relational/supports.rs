//! Which programs the reference runs under models about relations.

use cyrano_engine::{Inexact, Query, Refusal, one_order};

/// Refuses what is about one order of all accesses.
pub(super) fn supports(query: &Query<'_>) -> Result<(), Refusal> {
    let knows_lives = query.model().cat().is_some_and(|cat| cat.plan().happens_before.is_some());
    match one_order(query.program(), knows_lives) {
        Some(what) => Err(Refusal::Inexact(Inexact::OneOrder { model: query.model().name.clone(), what })),
        None if query.program().setup.is_some() => {
            let what = "a setup thread";
            Err(Refusal::Inexact(Inexact::OneOrder { model: query.model().name.clone(), what }))
        }
        None => Ok(()),
    }
}
