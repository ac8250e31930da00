//! Single steps and certificates, for tests: a search by single steps alone, and certificates of what the explorer says.

use std::collections::BTreeSet;

use cyrano_certificate::{Certificate, Found, Origin, print_state};
use cyrano_engine::configuration::{Configuration, Forgets, Product, Value};
use cyrano_engine::{Answer, Limits, Query, Question};
use cyrano_explore::{Explore, Unwritten};
use cyrano_interp::steps::{End, Steps};
use cyrano_ir::{FinalVar, Program, Property};
use cyrano_memory::Model;

/// What a search by single steps finds.
#[derive(Clone, Debug, Default)]
pub struct Stepped {
    /// The outcomes of executions in which nothing goes wrong.
    pub outcomes: BTreeSet<Vec<i128>>,
    /// Whether something goes wrong: an assertion, a computation, a deadlock.
    pub wrong: bool,
    /// How many states there are.
    pub states: usize,
}

/// Searches by single steps; nothing if they are not exact for the program, or if there are more states than `most`.
pub fn search(program: &Program, model: &Model, most: usize) -> Option<Stepped> {
    let steps = Steps::new(program, model).ok()?;
    let (mut found, mut known) = (Stepped::default(), BTreeSet::new());
    let mut todo: Vec<Configuration> = Vec::new();
    let mut next = steps.initial().ok()?;
    loop {
        for step in next {
            found.wrong |= step.wrong.is_some() || step.failed.is_some();
            let product = Product { at: step.to, monitor: Vec::new(), serial: None };
            assert_eq!(product.at.fits(program), Ok(()), "a step leads to a configuration of the program");
            if step.wrong.is_none() && known.insert(print_state(&product)) {
                todo.push(product.at);
            }
        }
        if known.len() > most {
            return None;
        }
        let Some(at) = todo.pop() else { break };
        next = steps.from(&at).ok()?;
        if next.is_empty() {
            match steps.end(&at).ok()? {
                End::Final => _ = found.outcomes.insert(outcome(program, &at)),
                End::Deadlock(_) => found.wrong = true,
                End::Dropped => {}
            }
        }
    }
    found.states = known.len();
    Some(found)
}

fn outcome(program: &Program, at: &Configuration) -> Vec<i128> {
    let value = |var| match var {
        FinalVar::Loc(loc) => at.memory[loc.index()],
        FinalVar::Reg(thread, register) => match at.threads[thread.index()].registers[register.index()] {
            Value::Known(value) => value,
            other => panic!("a register of a final state is {other:?}"),
        },
    };
    program.observed.iter().map(|observed| value(observed.var)).collect()
}

/// The certificate that single steps alone write: all states that they reach, whether or not the property holds in them. Nothing if they are not exact for the
/// program, or if there are more states than `most`.
pub fn saturated((program, property): (&Program, &Property), model: &Model, most: usize) -> Option<Certificate> {
    let steps = match property {
        Property::Invariant(invariant) => Steps::for_invariant(program, model, invariant),
        _ => Steps::new(program, model),
    };
    let steps = steps.ok()?;
    let (mut known, mut todo) = (BTreeSet::new(), Vec::new());
    let mut next = steps.initial().ok()?;
    loop {
        for step in next.into_iter().filter(|step| step.wrong.is_none()) {
            let product = Product { at: step.to, monitor: Vec::new(), serial: None };
            if known.insert(print_state(&product).into_boxed_str()) {
                todo.push(product.at);
            }
        }
        if known.len() > most {
            return None;
        }
        let Some(at) = todo.pop() else { break };
        next = steps.from(&at).ok()?;
    }
    let (states, forgets) = (known.into_iter().collect(), vec![Vec::new(); program.threads.len()]);
    let (origin, found) = (Origin { file: program.name.clone(), ..Origin::default() }, Found::default());
    Some(Certificate::new(origin, (program, property), None, model, found, (states, forgets)))
}

/// What a set of states is, or why there is none: what `Explore::reachable` gives.
type Reached<E> = Result<(Forgets, Answer), E>;

/// The certificate of what an explorer says, whose [`Explore::reachable`] is handed over.
pub fn certificate_of<E>(
    (program, property): (&Program, &Property),
    model: &Model,
    reachable: impl FnOnce(&mut (dyn FnMut(&Product) -> usize + Send)) -> Reached<E>,
) -> Result<Certificate, E> {
    let mut states = Vec::new();
    let mut take = |state: &Product| {
        states.push(print_state(state).into_boxed_str());
        0
    };
    let (forgets, answer) = reachable(&mut take)?;
    let origin = Origin { file: program.name.clone(), ..Origin::default() };
    let found = Found { engine: "explore".into(), states: answer.stats.states, ..Found::default() };
    Ok(Certificate::new(origin, (program, property), None, model, found, (states, forgets)))
}

/// The certificate of a property, with at most so many states.
pub fn certificate(
    (program, property): (&Program, &Property),
    model: &Model,
    most: usize,
    limits: &Limits,
) -> Result<Certificate, Unwritten> {
    let query = Query::new(program, model, Question::Holds(property));
    let query = query.map_err(|why| Unwritten::Refused(Box::new(why)))?;
    let reachable = |take: &mut (dyn FnMut(&Product) -> usize + Send)| {
        Explore::default().reachable(query, most, (limits, &()), take)
    };
    certificate_of((program, property), model, reachable)
}
