//! All executions, for whoever compares them with those of another engine.

use std::ops::ControlFlow;

use cyrano_engine::{Execution, Limits, Query, Stop};
use cyrano_memory::cat::Judge;

use super::goals::is_done;
use super::graph::Candidate;
use super::search::{self, Goal, Want};
use super::traces::{self, Trace};
use crate::meter::Meter;

struct All(Vec<Execution>);

impl Goal for All {
    fn wants(&self, combination: &[&Trace<'_>], _: bool) -> Want {
        if is_done(combination) { Want::All } else { Want::Nothing }
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, _: &Judge<'_>) -> ControlFlow<()> {
        self.0.push(candidate.execution());
        ControlFlow::Continue(())
    }
}

/// All executions in which every thread comes to its end, under a model about relations; none if the question is not for this engine.
pub fn all_executions(query: &Query<'_>, limits: &Limits) -> Option<Result<Vec<Execution>, Stop>> {
    let cat = query.model().cat()?;
    super::supports(query).ok()?;
    let mut meter = Meter::new(limits, &());
    let mut all = All(Vec::new());
    let threads = traces::traces(query.program(), cat.plan(), &mut meter);
    let ended = threads.and_then(|threads| search::pursue(query.program(), cat, threads, &mut all, &mut meter));
    Some(ended.map(|()| all.0))
}
