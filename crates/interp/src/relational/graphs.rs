//! Executions as graphs of events, for those who want to see them: the ones that a model allows, or one that it does not, with its objection.

use std::ops::ControlFlow;

use cyrano_engine::{Limits, Stop};
use cyrano_ir::{Observable, Program};
use cyrano_memory::cat::{Cat, Graph, Judge, Objection};

use super::goals::{is_done, observes_memory, outcome};
use super::graph::Candidate;
use super::search::{Goal, Want, pursue};
use super::traces::{Trace, traces};
use crate::meter::Meter;

/// An execution.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its events and relations.
    pub graph: Graph,
    /// What each event reads or writes.
    pub values: Vec<i128>,
}

/// Executions that end as somebody wants.
#[derive(Clone, Debug)]
pub enum Seen {
    /// Those that the model allows; whether there may be more.
    Allowed(Vec<Drawn>, bool),
    /// It allows none; this one it forbids, for this reason. Without one, the program has none that ends like that, whatever the model.
    Forbidden(Option<Box<(Drawn, Objection)>>),
}

/// No more executions than this are looked at for one that is forbidden.
const MOST_FORBIDDEN: usize = 20_000;

/// The executions of a program whose outcome is `wanted`, at most so many; if the model allows none, one that it forbids. Of those the one is shown that fails
/// the latest of the model's conditions, by the shortest cycle: conditions that say little about a model tend to stand first.
pub fn executions(
    program: &Program,
    cat: &Cat,
    limits: &Limits,
    wanted: &dyn Fn(Vec<i128>) -> bool,
    most: usize,
) -> Result<Seen, Stop> {
    let mut meter = Meter::new(limits, &());
    let none = || Found { observed: &program.observed, wanted, most: most + 1, found: Vec::new(), objects: None };
    let mut allowed = none();
    pursue(program, cat, traces(program, cat.plan(), &mut meter)?, &mut allowed, &mut meter)?;
    let mut found: Vec<Drawn> = allowed.found.into_iter().map(|(drawn, _)| drawn).collect();
    if !found.is_empty() {
        let more = found.len() > most;
        found.truncate(most);
        return Ok(Seen::Allowed(found, more));
    }
    let anything = Cat::parse("empty 0").map_err(|_| Stop::Size)?;
    let mut all = Found { most: MOST_FORBIDDEN, objects: Some(cat), ..none() };
    pursue(program, &anything, traces(program, cat.plan(), &mut meter)?, &mut all, &mut meter)?;
    let told = all.found.into_iter().filter_map(|(drawn, objection)| Some((drawn, objection?)));
    let best = told.max_by_key(|(_, objection)| (objection.number, std::cmp::Reverse(objection.steps.len())));
    Ok(Seen::Forbidden(best.map(Box::new)))
}

/// Collects executions.
struct Found<'a> {
    observed: &'a [Observable],
    wanted: &'a dyn Fn(Vec<i128>) -> bool,
    most: usize,
    found: Vec<(Drawn, Option<Objection>)>,
    /// Who is asked for an objection.
    objects: Option<&'a Cat>,
}

impl Goal for Found<'_> {
    fn wants(&self, combination: &[&Trace<'_>], _: bool) -> Want {
        let fits = || observes_memory(self.observed) || (self.wanted)(outcome(self.observed, combination, &[]));
        if is_done(combination) && fits() { Want::All } else { Want::Nothing }
    }

    fn found(&mut self, candidate: &Candidate<'_, '_>, _: &Judge<'_>) -> ControlFlow<()> {
        if (self.wanted)(outcome(self.observed, candidate.combination, &candidate.memory())) {
            let objection = self.objects.and_then(|cat| Judge::new(cat.plan()).objects(&candidate.graph));
            let drawn = Drawn { graph: candidate.graph.clone(), values: candidate.values.clone() };
            self.found.push((drawn, objection));
        }
        if self.found.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
