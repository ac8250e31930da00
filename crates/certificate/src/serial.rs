//! Which observations are right: those of serial executions, found by running operations one at a time.
//!
//! A certificate of observations lists the outcomes that are allowed. That list is not believed either: each of them has to be the outcome of an execution
//! of the reference, or of the program itself, under the model `serial`, and these are few enough to be enumerated with the same single steps.

use std::collections::BTreeSet;

use cyrano_engine::Limits;
use cyrano_engine::configuration::{Configuration, Product};
use cyrano_interp::steps::{End, Steps};
use cyrano_ir::Program;
use rustc_hash::FxHashSet;

use crate::{MOST_STATES, judge, state};

/// The outcomes of serial executions.
pub(crate) fn outcomes(program: &Program, limits: &Limits) -> Result<BTreeSet<Vec<i128>>, String> {
    let serial = cyrano_memory::named("serial").expect("serial is a named model");
    let steps = Steps::new(program, &serial).map_err(|why| why.to_string())?;
    let beyond = |why: cyrano_interp::steps::Beyond| format!("serial executions cannot be enumerated: {}", why.why);
    let (mut found, mut outcomes) = (FxHashSet::default(), BTreeSet::new());
    let mut todo: Vec<Configuration> = Vec::new();
    let mut visit = |at: Configuration, todo: &mut Vec<Configuration>| {
        let product = Product { at, monitor: Vec::new(), serial: None };
        if found.insert(state::print(&product).into_boxed_str()) {
            todo.push(product.at);
        }
        found.len()
    };
    for step in steps.initial().map_err(beyond)?.into_iter().filter(|step| step.wrong.is_none()) {
        visit(step.to, &mut todo);
    }
    while let Some(at) = todo.pop() {
        if let Some(stop) = limits.exceeded(0) {
            return Err(format!("serial executions were not enumerated: {}", stop.reason()));
        }
        let next = steps.from(&at).map_err(beyond)?;
        if next.is_empty() && steps.end(&at).map_err(beyond)? == End::Final {
            outcomes.insert(judge::outcome(program, &at)?);
        }
        for step in next.into_iter().filter(|step| step.wrong.is_none()) {
            if visit(step.to, &mut todo) > MOST_STATES {
                return Err(format!("there are more than {MOST_STATES} serial states"));
            }
        }
    }
    Ok(outcomes)
}
