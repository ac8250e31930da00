//! Which checks run: what the file declares, narrowed or widened by the options.

use cyrano_ir::{Diagnostic, Op, Program, Property, TxCriterion};
use cyrano_memory::Model;

use crate::args::{ColorChoice, Criterion};
use crate::failure::Failure;
use crate::models::{self, ModelError};
use crate::program::{self, Loaded};

/// A check to run, or one that was asked for and is not there.
#[derive(Clone, PartialEq, Debug)]
pub enum Selected {
    /// Run this.
    Run(Property, Model),
    /// There is nothing to run.
    Nothing {
        /// The criterion in question.
        criterion: &'static str,
        /// Why.
        reason: String,
    },
}

/// A declaration with its models resolved.
struct Declared {
    property: Property,
    models: Vec<Model>,
}

/// The checks of one file.
pub fn select(
    loaded: &Loaded,
    criteria: &[Criterion],
    models: &[Model],
    color: ColorChoice,
) -> Result<Vec<Selected>, Failure> {
    let mut declared = declarations(loaded, color)?;
    let mut selected = Vec::new();
    let file = &loaded.source.name;
    if !criteria.is_empty() {
        declared.retain(|check| criteria.iter().any(|criterion| criterion.name() == check.property.criterion()));
        for criterion in criteria {
            let name = criterion.name();
            if declared.iter().any(|check| check.property.criterion() == name) {
                continue;
            }
            match undeclared(*criterion, &loaded.program) {
                Some(property) => declared.push(Declared { property, models: vec![default_model()] }),
                None => {
                    let reason = format!("nothing to check: {file} declares no `{name}`");
                    selected.push(Selected::Nothing { criterion: name, reason });
                }
            }
        }
    } else if declared.is_empty() && !loaded.program.transactional.is_empty() {
        let property = Property::Transactions(TxCriterion::Opacity);
        declared.push(Declared { property, models: vec![default_model()] });
    } else if declared.is_empty() && can_fail(&loaded.program) {
        declared.push(Declared { property: Property::Assertions, models: vec![default_model()] });
    } else if declared.is_empty() {
        let reason = format!("nothing to check: {file} has neither a `check` nor an assertion");
        selected.push(Selected::Nothing { criterion: "assertions", reason });
    }
    let mut runs: Vec<Selected> = Vec::new();
    for run in product(&declared, models) {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    runs.extend(selected);
    Ok(runs)
}

/// The property of a criterion that says it all, so that a file need not declare it.
fn undeclared(criterion: Criterion, program: &Program) -> Option<Property> {
    match criterion {
        Criterion::Assertions => Some(Property::Assertions),
        Criterion::Opacity | Criterion::StrictSerializability if !program.transactional.is_empty() => {
            TxCriterion::from_name(criterion.name()).map(Property::Transactions)
        }
        _ => None,
    }
}

/// Without named models each declaration runs on its own; a named model takes the declarations that list it, or else all.
fn product(declared: &[Declared], models: &[Model]) -> Vec<Selected> {
    let mut runs = Vec::new();
    if models.is_empty() {
        for check in declared {
            let on = check.models.iter();
            runs.extend(on.map(|model| Selected::Run(check.property.clone(), model.clone())));
        }
    }
    for model in models {
        let listed = declared.iter().any(|check| check.models.contains(model));
        let chosen = declared.iter().filter(|check| !listed || check.models.contains(model));
        runs.extend(chosen.map(|check| Selected::Run(check.property.clone(), model.clone())));
    }
    runs
}

fn declarations(loaded: &Loaded, color: ColorChoice) -> Result<Vec<Declared>, Failure> {
    let mut declared = Vec::new();
    let mut errors = Vec::new();
    for check in &loaded.program.checks {
        let mut models = Vec::new();
        for name in &check.models {
            match models::in_program(name, &loaded.source, color) {
                Ok(model) => models.push(model),
                Err(ModelError::File(failure)) => {
                    let file = &loaded.source.name;
                    return Err(Failure::Input(format!("{}\nA check in {file} names this model.", failure.message())));
                }
                Err(ModelError::Unknown(help)) => {
                    let message = format!("there is no memory model `{name}`");
                    let label = format!("this check names `{name}`");
                    errors.push(Diagnostic::new(check.span, message, label).with_help(help));
                }
            }
        }
        if check.models.is_empty() {
            models.push(default_model());
        }
        declared.push(Declared { property: check.property.clone(), models });
    }
    if errors.is_empty() { Ok(declared) } else { Err(program::complain(&loaded.source, &errors, color)) }
}

/// Whether `assertions` could say anything: there is an assertion, or an atomic section that may wait for ever.
fn can_fail(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|instr| {
            match instr.op {
                Op::AtomicBegin => inside = true,
                Op::AtomicEnd => inside = false,
                _ => {}
            }
            matches!(instr.op, Op::Assert { .. }) || inside && matches!(instr.op, Op::Assume(_))
        })
    })
}

/// The model of a check that names none.
pub fn default_model() -> Model {
    cyrano_memory::named("sc").expect("sc is a named model")
}
