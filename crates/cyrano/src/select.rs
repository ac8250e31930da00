//! Which checks run: what the file declares, narrowed or widened by the options.

use cyrano_engine::vacuity::has_assertion;
use cyrano_ir::{COMMIT_ORDER, Diagnostic, Op, Program, Progress, Property, TxCriterion};
use cyrano_memory::Model;

use crate::args::{ColorChoice, Criterion};
use crate::atomicity;
use crate::failure::Failure;
use crate::models::{self, ModelError};
use crate::program::{self, Loaded};

/// A check to run, or one that was asked for and is not there.
#[derive(Clone, PartialEq, Debug)]
pub enum Selected {
    /// Run this.
    Run(Property, Model),
    /// Compare observations with the serial ones.
    Observations(Model),
    /// Compare final states with those of serial orders of atomic blocks.
    Atomicity(Model),
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
    claim: Claim,
    models: Vec<Model>,
}

/// What is claimed.
#[derive(Clone, PartialEq)]
enum Claim {
    /// This.
    Property(Property),
    /// That every observation is a serial one; which these are is found out later.
    Observations,
    /// That every final state is that of a serial order of the atomic blocks.
    Atomicity,
}

impl Claim {
    fn criterion(&self) -> &'static str {
        match self {
            Self::Property(property) => property.criterion(),
            Self::Observations => Criterion::Observations.name(),
            Self::Atomicity => Criterion::Atomicity.name(),
        }
    }

    fn on(&self, model: &Model) -> Selected {
        match self {
            Self::Property(property) => Selected::Run(property.clone(), model.clone()),
            Self::Observations => Selected::Observations(model.clone()),
            Self::Atomicity => Selected::Atomicity(model.clone()),
        }
    }
}

/// The checks of one file.
pub fn select(
    loaded: &Loaded,
    criteria: &[Criterion],
    models: &[Model],
    color: ColorChoice,
) -> Result<Vec<Selected>, Failure> {
    let criteria: Vec<Criterion> = criteria.iter().flat_map(|criterion| criterion.parts()).collect();
    if let Some(model) = models.iter().find(|model| !suits(&loaded.program, model)) {
        let known = cyrano_memory::for_algorithms();
        let known: Vec<&str> = known.iter().map(|model| model.name.as_str()).collect();
        let (file, name, known) = (&loaded.source.name, &model.name, known.join(", "));
        let why = "its base objects are linearizable, and it says itself which statements stay in order";
        return Err(Failure::input(format!("{file}: an algorithm is not run under {name}: {why}; use {known} or sc")));
    }
    let mut declared = declarations(loaded, color)?;
    let mut selected = Vec::new();
    let file = &loaded.source.name;
    if !criteria.is_empty() {
        declared.retain(|check| criteria.iter().any(|criterion| criterion.name() == check.claim.criterion()));
        for criterion in &criteria {
            let name = criterion.name();
            if declared.iter().any(|check| check.claim.criterion() == name) {
                continue;
            }
            match undeclared(*criterion, loaded) {
                Some(claim) => {
                    let models = if models.is_empty() { default_models(loaded) } else { models.to_vec() };
                    declared.push(Declared { claim, models });
                }
                None => {
                    let reason = match criterion {
                        Criterion::Observations => format!("nothing to check: {file} observes nothing"),
                        Criterion::CommitAtomicity | Criterion::Atomicity => {
                            format!("nothing to check: {file} has no atomic block")
                        }
                        _ => format!("nothing to check: {file} declares no `{name}`"),
                    };
                    selected.push(Selected::Nothing { criterion: name, reason });
                }
            }
        }
    } else if declared.is_empty()
        && let Some(claim) = default_claim(loaded)
    {
        declared.push(Declared { claim, models: default_models(loaded) });
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
    if runs.iter().any(|run| matches!(run, Selected::Run(Property::CommitAtomicity, _))) {
        atomicity::require_commits(loaded, color)?;
    }
    runs.extend(selected);
    Ok(runs)
}

/// Whether a model makes sense for a program: algorithms over base objects have their own, and others cannot use these.
fn suits(program: &Program, model: &Model) -> bool {
    program.orders.is_empty() || model.own_order || ["sc", "inorder"].contains(&model.name.as_str())
}

/// What is checked if the file declares nothing.
fn default_claim(loaded: &Loaded) -> Option<Claim> {
    if loaded.program.has_calls() {
        Some(Claim::Property(Property::Transactions(TxCriterion::Opacity)))
    } else if loaded.program.has_blocks() {
        Some(if atomicity::commits(loaded) { Claim::Property(Property::CommitAtomicity) } else { Claim::Atomicity })
    } else if atomicity::applies(loaded) {
        Some(Claim::Atomicity)
    } else if loaded.test.is_some() {
        Some(Claim::Observations)
    } else if !loaded.program.transactional.is_empty() {
        Some(Claim::Property(Property::Transactions(TxCriterion::Opacity)))
    } else {
        can_fail(&loaded.program).then_some(Claim::Property(Property::Assertions))
    }
}

/// The models for what the file does not declare: those that its header promises a verdict for (`//@ tso: verified`), for a C
/// file, which has no declarations.
fn default_models(loaded: &Loaded) -> Vec<Model> {
    if !loaded.program.orders.is_empty() {
        return cyrano_memory::named("declared").into_iter().collect();
    }
    let lines = loaded.source.text.lines().filter(|_| loaded.test.is_some());
    let promises = lines.filter_map(|line| line.trim().strip_prefix("//@")?.split_once(':'));
    let named = promises.filter_map(|(model, _)| cyrano_memory::named(model.trim()));
    let mut models: Vec<Model> = Vec::new();
    for model in named {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if models.is_empty() { vec![default_model()] } else { models }
}

/// The claim of a criterion that says it all, so that a file need not declare it.
fn undeclared(criterion: Criterion, loaded: &Loaded) -> Option<Claim> {
    let program = &loaded.program;
    match criterion {
        Criterion::Assertions => Some(Claim::Property(Property::Assertions)),
        Criterion::CommitAtomicity if program.has_blocks() => Some(Claim::Property(Property::CommitAtomicity)),
        Criterion::Atomicity if atomicity::applies(loaded) => Some(Claim::Atomicity),
        Criterion::Observations if !program.observed.is_empty() => Some(Claim::Observations),
        Criterion::Opacity | Criterion::StrictSerializability if !program.transactional.is_empty() => {
            TxCriterion::from_name(criterion.name()).map(|criterion| Claim::Property(Property::Transactions(criterion)))
        }
        Criterion::Opacity
        | Criterion::StrictSerializability
        | Criterion::Serializability
        | Criterion::SnapshotIsolation
            if program.has_calls() =>
        {
            TxCriterion::from_name(criterion.name()).map(|criterion| Claim::Property(Property::Transactions(criterion)))
        }
        Criterion::InOrder(order)
            if program.restarts() && (order.name() == COMMIT_ORDER || program.serial_order(order.name()).is_some()) =>
        {
            Some(Claim::Property(Property::Transactions(TxCriterion::InOrder(order))))
        }
        Criterion::SoloProgress | Criterion::CrashFreeSoloProgress | Criterion::LocalProgress
            if !program.transactional.is_empty() && !program.has_calls() =>
        {
            Progress::from_name(criterion.name()).map(|progress| Claim::Property(Property::Progress(progress)))
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
            runs.extend(on.map(|model| check.claim.on(model)));
        }
    }
    for model in models {
        let listed = declared.iter().any(|check| check.models.contains(model));
        let chosen = declared.iter().filter(|check| !listed || check.models.contains(model));
        runs.extend(chosen.map(|check| check.claim.on(model)));
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
            models.extend(default_models(loaded).into_iter().take(1));
        }
        let claim = match &check.property {
            // Only a `check atomicity` leaves it open which observations are allowed.
            Property::Observations(_) => Claim::Atomicity,
            property => Claim::Property(property.clone()),
        };
        declared.push(Declared { claim, models });
    }
    if errors.is_empty() { Ok(declared) } else { Err(program::complain(&loaded.source, &errors, color)) }
}

/// Whether `assertions` could say anything: there is an assertion, or an atomic section that may wait for ever.
fn can_fail(program: &Program) -> bool {
    let waits = program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|instr| {
            match instr.op {
                Op::AtomicBegin => inside = true,
                Op::AtomicEnd => inside = false,
                _ => {}
            }
            inside && matches!(instr.op, Op::Assume(_))
        })
    });
    waits || has_assertion(program)
}

/// The model of a check that names none.
pub fn default_model() -> Model {
    cyrano_memory::named("sc").expect("sc is a named model")
}
