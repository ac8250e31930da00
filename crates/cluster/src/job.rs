//! A question, on its way to the workers.

use std::sync::{Arc, Mutex, PoisonError};

use cyrano_engine::{Limits, Query, Question};
use cyrano_explore::{Explore, Packing, SharedNumbers, Space};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::key::{CODE, digest};
use crate::part::Part;
use crate::table::Common;

/// A question that belongs to nobody.
pub(crate) struct Job {
    program: Program,
    model: Model,
    /// `None` asks for outcomes.
    property: Option<Property>,
    pub explore: Explore,
    pub limits: Limits,
    /// Where the search is kept, if it is, or why that is not possible.
    pub part: Option<Result<Part, String>>,
    numbers: Mutex<Option<Numbers>>,
    /// What workers of a process have in common, and in which round.
    common: Mutex<Option<(u64, Arc<Common>)>>,
}

/// What workers of a process pack states with, and in which round; none if they do not.
type Numbers = (u64, Option<SharedNumbers>);

impl Job {
    pub fn new(query: Query<'_>, explore: &Explore, limits: &Limits, part: Option<Result<Part, String>>) -> Self {
        let property = match query.question() {
            Question::Holds(property) => Some(property.clone()),
            Question::Outcomes => None,
        };
        let (program, model) = (query.program().clone(), query.model().clone());
        Self {
            program,
            model,
            property,
            explore: explore.clone(),
            limits: limits.clone(),
            part,
            numbers: Mutex::default(),
            common: Mutex::default(),
        }
    }

    pub fn query(&self) -> Query<'_> {
        let question = self.property.as_ref().map_or(Question::Outcomes, Question::Holds);
        Query::new(&self.program, &self.model, question)
            .unwrap_or_else(|why| unreachable!("the job was made of this question: {why}"))
    }

    /// How the states of a space are packed, if they are: the same for all workers of this process in this round. Whether they are
    /// depends on the question and on nothing else, so all processes do the same.
    pub fn packing<'s>(&self, space: &'s Space<'_>, round: u64) -> Option<Packing<'s>> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        match &*numbers {
            Some((known, shared)) if *known == round => shared.as_ref().and_then(|shared| space.packing_with(shared)),
            _ => {
                let packing = space.packing();
                *numbers = Some((round, packing.as_ref().map(Packing::numbers)));
                packing
            }
        }
    }

    /// What all workers of this process, so many, have in common in this round.
    pub fn common(&self, round: u64, workers: usize) -> Arc<Common> {
        let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        match &*common {
            Some((known, common)) if *known == round => Arc::clone(common),
            _ => {
                let new = Common::new(&self.explore, self.limits.memory, workers);
                *common = Some((round, Arc::clone(&new)));
                new
            }
        }
    }

    /// What all processes must have in common.
    pub fn digest(&self) -> [u8; CODE] {
        let Self { program, model, property, explore, limits, part, numbers: _, common: _ } = self;
        let kept = part.is_some();
        let text = cyrano_ir::text::print(program);
        digest(format!("{text}\n{model:?}\n{property:?}\n{explore:?}\n{}\n{kept}", limits.deferred).as_bytes())
    }
}
