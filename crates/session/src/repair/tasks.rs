//! What has to hold of a file's programs, model by model.

use cyrano_criteria::table::Claim;
use cyrano_ir::{Property, Quantifier};
use cyrano_memory::Model;

use super::ends::also_end;
use super::{Aim, Goal};
use crate::case::{Case, reorders};
use crate::failure::Failure;
use crate::run::Runner;
use crate::select::{Selected, leave_out_nothing};
use crate::subject::Subject;

/// What has to hold on each model: of one program, or of one for each test. The observations of tests are mined when they are needed. Unless the criterion is `named`, programs have
/// to terminate, too ([`super::ends`]).
pub fn tasks<'a>(
    runner: &Runner,
    subjects: &'a [Subject],
    mut selected: Vec<Vec<Selected>>,
    named: bool,
) -> Result<Vec<(Model, Vec<Aim<'a>>)>, Failure> {
    let files: Vec<&str> = subjects.iter().map(|subject| subject.case.source.name.as_str()).collect();
    leave_out_nothing(&files, &mut selected);
    let mut tasks: Vec<(Model, Vec<Aim<'a>>)> = Vec::new();
    for (Subject { case, specification, .. }, selected) in subjects.iter().zip(selected) {
        let by_commits = selected.iter().any(|check| check.criterion() == Property::CommitAtomicity.criterion());
        for check in selected {
            let (claim, model) = match check {
                Selected::Nothing { reason, .. } => return Err(Failure::input(reason)),
                Selected::Refused { reason, .. } => return Err(case.refused(reason)),
                Selected::Run(claim, model) => (claim, model),
            };
            if let Some(why) = unwritable(case, &model) {
                return Err(case.refused(why));
            }
            let goal = match claim {
                // A fence forbids executions and adds none; that nobody gets done is not a matter of reordering.
                Claim::Progress(_) => continue,
                Claim::Structure(structure) => {
                    let why = format!("fences are not sought for `{}`; ask for `opacity`", structure.name());
                    return Err(case.refused(why));
                }
                // A file may claim both; the commit points say more.
                Claim::Atomicity if by_commits => continue,
                Claim::Atomicity => {
                    let why = "fences are not sought for `atomicity`; write commit points and ask for `commit-atomicity`, \
                               or name another claim of the file with --criterion";
                    return Err(case.refused(why));
                }
                Claim::Observations if case.test.is_some() => Goal::Observations(specification),
                Claim::Observations => {
                    let property = specification.property(runner, case, &());
                    Goal::Property(property.map_err(|why| case.refused(why))?)
                }
                claim => match Property::all_of(&claim).pop() {
                    Some(property) => Goal::Property(forbidding(case, property)),
                    None => continue,
                },
            };
            if !tasks.iter().any(|(other, _)| *other == model) {
                tasks.push((model.clone(), Vec::new()));
            }
            let Some((_, aims)) = tasks.iter_mut().find(|(other, _)| *other == model) else { continue };
            match aims.last_mut().filter(|aim| std::ptr::eq(aim.case, case)) {
                Some(aim) => aim.goals.push(goal),
                None => aims.push(Aim { case, goals: vec![goal] }),
            }
        }
    }
    if tasks.is_empty() {
        return Err(Failure::input("nothing to repair: fences do not help against a lack of progress"));
    }
    if !named && subjects.iter().all(|subject| subject.case.algorithm.is_none()) {
        // Under a model about relations termination is bounded at best, and takes long.
        let decided = tasks.iter_mut().filter(|(model, _)| model.cat().is_none());
        decided.for_each(|(_, aims)| also_end(runner, aims, &()));
    }
    Ok(tasks)
}

/// Why fences for a model cannot be written into the source of a case.
fn unwritable(case: &Case, model: &Model) -> Option<String> {
    if case.litmus.is_some() && model.cat().is_none() {
        let twin = cyrano_memory::named(&format!("cat:{}", model.name));
        let instead = twin.map_or("armv8, riscv, power, rc11, lkmm".to_owned(), |twin| twin.name);
        let why = "fences are sought in litmus tests under models about relations";
        return Some(format!("{why}, and {} is none; use {instead}", model.name));
    }
    if case.algorithm.is_some() && reorders(model) {
        let help = "there a declared order is a fence: declare some, or remove some, and check again";
        return Some(format!(
            "orders are sought for modes of execution, and {} is a machine's model; {help}",
            model.name
        ));
    }
    let relational = model.cat().is_some() && case.algorithm.is_some();
    relational.then(|| format!("orders are sought for modes of execution, and {} is about relations", model.name))
}

/// A litmus test asks whether an outcome can be; a repair is asked that it cannot.
fn forbidding(case: &Case, property: Property) -> Property {
    match property {
        Property::Final { quantifier: Quantifier::Exists, cond, text } if case.litmus.is_some() => {
            Property::Final { quantifier: Quantifier::Never, cond, text }
        }
        other => other,
    }
}
