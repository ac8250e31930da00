//! Every number of threads: a set of views is closed, and nothing in what it stands for contradicts the claim.
//!
//! A *view* is what all threads share, with k members of families of equal threads ([`View`]). A set of views stands for the configurations all of whose views are in
//! it. The set is a proof if it has the views of the initial configurations of every size, and if from every configuration of k + 1 members that it stands for
//! no step is wrong and the views of what follows are in the set. A step depends on memory and on the thread that takes it alone ([`Steps::of`]; here the others are not
//! even there), and a view after a step has k members, who were with the mover at most k + 1 before; so by induction the set has all views of all configurations
//! of more than k members, and fewer members are the same as more of which some never move. `crates/views/src/lib.rs` has the argument at length.
//!
//! Nothing is taken from the engine that found the views but the views, the registers that are forgotten in them, and which variables only count
//! ([`counters`]), which is looked at anew. Deadlocks with more members are excluded by a second set that has to be closed ([`deadlocks`]), those with few by a search of the smallest instances with the same
//! single steps ([`instances`]), which also tells whether anything is exercised.

mod closure;
mod counters;
mod deadlocks;
mod instances;
mod parts;

use cyrano_engine::configuration::View;
use cyrano_engine::{Limits, Query, Question};
use cyrano_interp::steps::Steps;
use cyrano_ir::{LocId, Program, Property};

use crate::check::{Checked, Refused};
use crate::judge::Judge;
use crate::{Certificate, state};
use closure::Closure;
use instances::Instances;
use parts::{Global, Parts};

/// What a certificate for every number of threads has besides its views.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EveryNumber {
    /// The size of views.
    pub k: usize,
    /// The shared variables that only count, and from where on their values are not told apart.
    pub counters: Vec<(LocId, i128)>,
    /// What excludes deadlocks with more members, one line for each element ([`print_element`](crate::print_element)).
    pub elements: Vec<Box<str>>,
}

/// The largest views that are read.
pub(crate) const LARGEST: usize = 8;

/// Whether views can show a property at all; `Err` says why not.
pub fn provable_for_all(program: &Program, property: &Property) -> Result<(), String> {
    match property {
        Property::Assertions | Property::Invariant(_) => {}
        Property::CommitAtomicity => crate::provable(program, property)?,
        _ => {
            let (criterion, some) = (property.criterion(), "`assertions`, `invariant` and `commit-atomicity`");
            let why = "there are no certificates for";
            return Err(format!("{why} `{criterion}` of every number of threads: those are written for {some}"));
        }
    }
    if program.setup.is_some() || program.in_order || !program.transactional.is_empty() || program.has_calls() {
        return Err("in this program a step depends on more than the thread that takes it".into());
    }
    Ok(())
}

/// What is wrong with a view of this program, if anything.
pub(crate) fn fits(view: &View, program: &Program, k: usize) -> Result<(), String> {
    let fixed = parts::fixed_threads(program);
    if view.members.len() != k || view.fixed.len() != fixed.len() {
        return Err(format!("a view has {k} members, and every thread that is in no family"));
    }
    let singles = view.fixed.iter().chain(view.members.iter().map(|(_, member)| member));
    let judges_blocks = program.checks.iter().any(|check| check.property == Property::CommitAtomicity);
    let has_run = [view.serial.is_some()].into_iter().chain(singles.map(|single| single.serial.is_some()));
    if has_run.into_iter().any(|has| has != judges_blocks) {
        return Err("a view has a serial run, and every thread its copy there, exactly where blocks are judged".into());
    }
    let part = Global { memory: view.memory.clone(), fixed: view.fixed.clone(), serial: view.serial.clone() };
    let fits = |member| {
        let whole = parts::whole(program, &part, member);
        whole.at.fits(program).and_then(|()| whole.serial.iter().try_for_each(|serial| serial.fits(program)))
    };
    fits(None)?;
    for (family, member) in &view.members {
        let thread = program.families.get(*family).ok_or("there is no such family")?.thread;
        fits(Some((thread, member)))?;
    }
    Ok(())
}

/// The same of an element.
pub(crate) fn element_fits(line: &str, program: &Program) -> Result<String, String> {
    let (followed, others) = state::parse_element(line)?;
    let families: Vec<usize> = followed.members.iter().map(|(family, _)| *family).collect();
    if families != (0..program.families.len()).collect::<Vec<_>>() {
        return Err("an element has one member of each family that is followed".into());
    }
    fits(&followed, program, families.len())?;
    fits(&View { members: others.clone(), ..followed.clone() }, program, others.len())?;
    Ok(state::print_element(&followed, &others))
}

/// Checks a certificate for every number of threads.
pub(crate) fn check(
    certificate: &Certificate,
    every: &EveryNumber,
    property: &Property,
    limits: &Limits,
) -> Result<Checked, Box<Refused>> {
    let refused = |why: String| Box::new(Refused { reason: why, ..Refused::default() });
    let (program, model) = (&certificate.program, &certificate.model);
    provable_for_all(program, property).map_err(refused)?;
    let one = Program { families: Vec::new(), ..program.clone() };
    Query::new(&one, model, Question::Holds(property)).map_err(|why| refused(why.to_string()))?;
    let steps = match property {
        Property::Invariant(invariant) => Steps::for_invariant(&one, model, invariant),
        Property::CommitAtomicity => Steps::for_blocks(&one, model),
        _ => Steps::new(&one, model),
    };
    let steps = steps.map_err(|why| refused(format!("the checker is not exact here: {why}")))?;
    if model.reordering().serial {
        return Err(refused("under a serial model a step depends on more than the thread that takes it".into()));
    }
    let counters = counters::of(certificate, every, property).map_err(refused)?;
    let judge = Judge::new(&one, property).map_err(refused)?;
    // With k + 1 members in a configuration so many are told apart.
    let mut parts = Parts::new(certificate, (judge, steps), counters, every.k + 1);
    let mut closure = Closure::new(&mut parts, every.k, limits);
    for line in &certificate.states {
        let view = state::parse_view(line).map_err(refused)?;
        fits(&view, program, every.k).map_err(refused)?;
        if view.serial.as_ref().is_some_and(|run| run.inside > every.k + 1) {
            return Err(refused("a view knows more of members in blocks than views of its size say".into()));
        }
        closure.add(view);
    }
    closure.run()?;
    let judges_waits = matches!(property, Property::Assertions) && crate::judge::can_wait(&one);
    if judges_waits {
        deadlocks::exclude(&mut closure, &every.elements)?;
    }
    let taken = closure.parts.taken;
    let ended = Instances::new(closure.parts, limits).search(every.k, judges_waits)?;
    Ok(Checked { states: certificate.states.len(), reached: certificate.states.len(), steps: taken, ended })
}
