//! A question, on its way to the workers.

use cyrano_engine::{Limits, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::key::{CODE, digest};
use crate::part::Part;

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
}

impl Job {
    pub fn new(query: Query<'_>, explore: &Explore, limits: &Limits, part: Option<Result<Part, String>>) -> Self {
        let property = match query.question {
            Question::Holds(property) => Some(property.clone()),
            Question::Outcomes => None,
        };
        let (program, model) = (query.program.clone(), query.model.clone());
        Self { program, model, property, explore: explore.clone(), limits: limits.clone(), part }
    }

    pub fn query(&self) -> Query<'_> {
        let question = self.property.as_ref().map_or(Question::Outcomes, Question::Holds);
        Query { program: &self.program, model: &self.model, question }
    }

    /// What all processes must have in common.
    pub fn digest(&self) -> [u8; CODE] {
        let Self { program, model, property, explore, limits, part } = self;
        let kept = part.is_some();
        let text = cyrano_ir::text::print(program);
        digest(format!("{text}\n{model:?}\n{property:?}\n{explore:?}\n{}\n{kept}", limits.deferred).as_bytes())
    }
}
