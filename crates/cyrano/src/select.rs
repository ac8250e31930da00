//! Which checks run: what the file declares, narrowed or widened by the options.

use cyrano_engine::vacuity::can_go_wrong;
use cyrano_engine::{Query, Question, Refusal, lacks};
use cyrano_ir::{Diagnostic, Op, Program, Progress, Property, TxCriterion};
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
    for model in models {
        sensible(loaded, model, Question::Outcomes)?;
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
        let run = run.if_sensible(loaded)?;
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

/// A question that makes no sense is bad input; but where other tests of a file can be run under a model, one that cannot is no reason to
/// leave them out. Then it says why there is nothing to run.
fn sensible(loaded: &Loaded, model: &Model, question: Question<'_>) -> Result<Option<Refusal>, Failure> {
    match Query::new(&loaded.program, model, question) {
        Err(why @ Refusal::OnlyInOrder { .. }) => Ok(Some(why)),
        _ => loaded.query(model, question).map(|_| None),
    }
}

impl Selected {
    /// The check, if it makes sense.
    fn if_sensible(self, loaded: &Loaded) -> Result<Self, Failure> {
        let (criterion, why) = match &self {
            Self::Run(property, model) => (property.criterion(), sensible(loaded, model, Question::Holds(property))?),
            Self::Observations(model) => (Criterion::Observations.name(), sensible(loaded, model, Question::Outcomes)?),
            Self::Atomicity(model) => (Criterion::Atomicity.name(), sensible(loaded, model, Question::Outcomes)?),
            Self::Nothing { .. } => return Ok(self),
        };
        let nothing = |why| Self::Nothing { criterion, reason: format!("nothing to check: {why}") };
        Ok(why.map(nothing).unwrap_or(self))
    }
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

/// The claim of a criterion that says it all, so that a file need not declare it, if the program has what it is about.
fn undeclared(criterion: Criterion, loaded: &Loaded) -> Option<Claim> {
    let program = &loaded.program;
    let property = match criterion {
        Criterion::Atomicity => return atomicity::applies(loaded).then_some(Claim::Atomicity),
        Criterion::Observations => return (!program.observed.is_empty()).then_some(Claim::Observations),
        Criterion::Assertions => Property::Assertions,
        Criterion::CommitAtomicity => Property::CommitAtomicity,
        Criterion::InOrder(order) => Property::Transactions(TxCriterion::InOrder(order)),
        Criterion::Opacity
        | Criterion::StrictSerializability
        | Criterion::Serializability
        | Criterion::SnapshotIsolation => Property::Transactions(TxCriterion::from_name(criterion.name())?),
        Criterion::SoloProgress | Criterion::CrashFreeSoloProgress | Criterion::LocalProgress => {
            Property::Progress(Progress::from_name(criterion.name())?)
        }
        _ => return None,
    };
    lacks(program, &property).is_none().then_some(Claim::Property(property))
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

/// Whether `assertions` could say anything: something can go wrong, or an atomic section may wait for ever.
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
    waits || can_go_wrong(program)
}

/// The model of a check that names none.
pub fn default_model() -> Model {
    cyrano_memory::named("sc").expect("sc is a named model")
}
