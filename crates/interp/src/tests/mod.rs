//! Tests of the whole crate: classical shapes with counts worked out by hand, and random programs against the axioms as written.

mod axioms;
mod litmus;
mod memory;
mod notation;
mod properties;
mod replays;

use cyrano_engine::{Answer, Engine, Limits, Query, Question};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::Interp;

fn ask(program: &Program, model: &Model, question: Question<'_>) -> Answer {
    Interp.ask(Query::new(program, model, question).expect("a question"), &Limits::default(), &())
}

fn outcomes(program: &Program, model: &Model) -> Answer {
    ask(program, model, Question::Outcomes)
}

fn holds(program: &Program, model: &Model, property: &Property) -> Answer {
    ask(program, model, Question::Holds(property))
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a named model")
}
