//! Which checks run: what the file declares, narrowed or widened by the options.

use std::collections::BTreeSet;

use cyrano_criteria::table::Claim;
use cyrano_engine::vacuity::can_go_wrong;
use cyrano_engine::{Inexact, Query, Question, Refusal, lacks};
use cyrano_ir::{Diagnostic, Op, Program, ProgramClaim, Property, TxCriterion};
use cyrano_memory::Model;
use cyrano_views::one_of_each;

use crate::atomicity;
use crate::case::Case;
use crate::failure::Failure;
use crate::models::{self, ModelError};
use crate::run::{Runner, every_number};
use crate::source::Files;

/// A check to run, or one that was asked for and is not there.
#[derive(Clone, PartialEq, Debug)]
pub enum Selected {
    /// Check this.
    Run(ProgramClaim, Model),
    /// There is nothing to run.
    Nothing {
        /// The criterion in question.
        criterion: &'static str,
        /// Why.
        reason: String,
    },
    /// Under this model it cannot be asked, though under others it can.
    Refused {
        /// The criterion in question.
        criterion: &'static str,
        /// The model.
        model: Model,
        /// Why.
        reason: Refusal,
    },
}

/// A declaration with its models resolved.
struct Declared {
    claim: ProgramClaim,
    models: Vec<Model>,
}

/// The checks of one file.
pub fn select(case: &Case, criteria: &[Claim], models: &[Model], files: &dyn Files) -> Result<Vec<Selected>, Failure> {
    let criteria: Vec<Claim> = criteria.iter().flat_map(|claim| claim.parts()).collect();
    for model in models {
        sensible(case, model, Question::Outcomes)?;
    }
    let mut declared = declarations(case, files)?;
    let mut selected = Vec::new();
    let file = &case.source.name;
    if !criteria.is_empty() {
        declared.retain(|check| criteria.iter().any(|claim| claim.name() == check.claim.name()));
        for claim in criteria {
            if declared.iter().any(|check| check.claim.name() == claim.name()) {
                continue;
            }
            match undeclared(claim, case) {
                Some(claim) => {
                    let models = if models.is_empty() { default_models(case) } else { models.to_vec() };
                    declared.push(Declared { claim, models });
                }
                None => selected.push(Selected::Nothing { criterion: claim.name(), reason: nothing(claim, case) }),
            }
        }
    } else if declared.is_empty() {
        declared = defaults(case, models);
        if declared.is_empty() {
            let reason = format!("nothing to check: {file} has neither a `check` nor an assertion");
            selected.push(Selected::Nothing { criterion: "assertions", reason });
        }
    }
    let mut runs: Vec<Selected> = Vec::new();
    for run in product(&declared, models) {
        let run = run.if_sensible(case)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    let refused = |run: &Selected| matches!(run, Selected::Refused { .. });
    if let Some(Selected::Refused { reason, .. }) = runs.first().filter(|_| runs.iter().all(refused)) {
        return Err(case.refused(reason));
    }
    if runs.iter().any(|run| matches!(run, Selected::Run(Claim::CommitAtomicity, _))) {
        atomicity::require_commits(case)?;
    }
    runs.extend(selected);
    Ok(runs)
}

/// The checks of one file on every model of these on which they can be asked and some engine answers; and the other models.
pub fn select_fitting(
    runner: &Runner,
    case: &Case,
    criteria: &[Claim],
    models: &[Model],
    files: &dyn Files,
) -> Result<(Vec<Selected>, Vec<Model>), Failure> {
    let (mut selected, mut others, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for model in models {
        match select(case, criteria, std::slice::from_ref(model), files) {
            Ok(checks) => {
                let fitting = checks.into_iter().filter(|check| check.fits(runner, case)).collect::<Vec<_>>();
                if fitting.is_empty() {
                    others.push(model.clone());
                }
                selected.extend(fitting.into_iter().filter(|check| !selected.contains(check)).collect::<Vec<_>>());
            }
            Err(failure) => {
                others.push(model.clone());
                refused.push(failure);
            }
        }
    }
    match refused.pop() {
        Some(failure) if others.len() == models.len() => Err(failure),
        _ => Ok((selected, others)),
    }
}

/// A question that makes no sense is bad input; but where other tests of a file can be run under a model, one that cannot is no reason to
/// leave them out. Then it says why there is nothing to run.
fn sensible(case: &Case, model: &Model, question: Question<'_>) -> Result<Option<Refusal>, Failure> {
    if !case.program.families.is_empty() {
        let one = one_of_each(&case.program);
        return Query::new(&one, model, question).map(|_| None).map_err(|why| case.refused(why));
    }
    let property = match question {
        Question::Holds(property) => Some(property),
        Question::Outcomes => None,
    };
    let case = case.for_question(property, model);
    match Query::new(&case.program, model, question) {
        Err(why @ Refusal::OnlyInOrder { .. }) => Ok(Some(why)),
        _ => case.query(model, question).map(|_| None),
    }
}

impl Selected {
    /// The criterion's name.
    pub fn criterion(&self) -> &'static str {
        match self {
            Self::Run(claim, _) => claim.name(),
            Self::Nothing { criterion, .. } | Self::Refused { criterion, .. } => criterion,
        }
    }

    /// Whether some engine can be asked. Where programs are compared, the question is what they observe.
    fn fits(&self, runner: &Runner, case: &Case) -> bool {
        let Self::Run(claim, model) = self else { return !matches!(self, Self::Refused { .. }) };
        let compared = matches!(claim, Claim::Observations | Claim::Linearizability | Claim::Atomicity);
        let property = Property::all_of(claim).pop().filter(|_| !compared);
        let families = !case.program.families.is_empty();
        let case = case.for_question(property.as_ref(), model);
        let question = property.as_ref().map_or(Question::Outcomes, Question::Holds);
        families || case.query(model, question).is_ok_and(|query| runner.can_ask(&query).is_ok())
    }

    /// The check, if it makes sense.
    fn if_sensible(self, case: &Case) -> Result<Self, Failure> {
        let Self::Run(claim, model) = &self else { return Ok(self) };
        let property = Property::all_of(claim).pop();
        if let Some(reason) = refusal(case, model, property.as_ref())? {
            return Ok(Self::Refused { criterion: claim.name(), model: model.clone(), reason });
        }
        let question = property.as_ref().map_or(Question::Outcomes, Question::Holds);
        let nothing = |why| Self::Nothing { criterion: claim.name(), reason: format!("nothing to check: {why}") };
        Ok(sensible(case, model, question)?.map(nothing).unwrap_or(self))
    }
}

/// Why something that is asked cannot be judged under this model, or for every number of threads, if other things may be.
fn refusal(case: &Case, model: &Model, property: Option<&Property>) -> Result<Option<Refusal>, Failure> {
    let why = if case.program.families.is_empty() {
        property.and_then(|property| Query::new(&case.program, model, Question::Holds(property)).err())
    } else {
        every_number::supports(case, model, property).err()
    };
    match why {
        Some(Refusal::Inexact(Inexact::NoMoments { .. } | Inexact::PendingLocal { .. }) | Refusal::EveryNumber(_)) => {
            Ok(why)
        }
        Some(why) if !case.program.families.is_empty() => Err(case.refused(why)),
        _ => Ok(None),
    }
}

/// What is checked if the file declares nothing. Races of a whole program are undefined behaviour, under models that say of C what a race is.
fn defaults(case: &Case, models: &[Model]) -> Vec<Declared> {
    let models = if models.is_empty() { default_models(case) } else { models.to_vec() };
    let claim = default_claim(case);
    let whole = case.is_whole() && claim.as_ref().is_none_or(|claim| *claim == Claim::Assertions);
    let knows = |model: &&Model| model.cat().is_some_and(|cat| cat.plan().data_race().is_some());
    let racing: Vec<Model> = models.iter().filter(knows).filter(|_| whole).cloned().collect();
    let races = (!racing.is_empty()).then_some(Declared { claim: Claim::Races, models: racing });
    claim.map(|claim| Declared { claim, models }).into_iter().chain(races).collect()
}

fn default_claim(case: &Case) -> Option<ProgramClaim> {
    if case.program.has_calls() {
        Some(Claim::Transactions(TxCriterion::Opacity))
    } else if case.program.has_blocks() {
        Some(if atomicity::commits(case) { Claim::CommitAtomicity } else { Claim::Atomicity })
    } else if atomicity::applies(case) {
        Some(Claim::Atomicity)
    } else if case.test.is_some() && !case.is_whole() {
        Some(Claim::Observations)
    } else if !case.program.transactional.is_empty() {
        Some(Claim::Transactions(TxCriterion::Opacity))
    } else {
        can_fail(&case.program).then_some(Claim::Assertions)
    }
}

/// The models for what the file does not declare: those that its header promises a verdict for (`//@ tso: verified`), for a C
/// file, which has no declarations.
fn default_models(case: &Case) -> Vec<Model> {
    if !case.program.orders.is_empty() {
        return cyrano_memory::named("declared").into_iter().collect();
    }
    let lines = case.source.text.lines().filter(|_| case.test.is_some());
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

/// A claim that says it all, so that a file need not declare it, if the program has what it is about.
fn undeclared(claim: Claim, case: &Case) -> Option<ProgramClaim> {
    let program = &case.program;
    let applies = match claim {
        Claim::Atomicity => atomicity::applies(case),
        Claim::Observations | Claim::Linearizability => !program.observed.is_empty(),
        _ => true,
    };
    let claim = claim.unconditional().filter(|_| applies)?;
    Property::all_of(&claim).iter().all(|property| lacks(program, property).is_none()).then_some(claim)
}

/// Why there is nothing to check where a claim was asked for. A file with several tests may well declare it, for others of them.
fn nothing(claim: Claim, case: &Case) -> String {
    let (file, name) = (&case.source.name, claim.name());
    let of = case.test_name().map_or_else(|| file.clone(), |test| format!("{test} of {file}"));
    let lack = |claim: &ProgramClaim| {
        Property::all_of(claim).iter().find_map(|property| lacks(&case.program, property)).map(|lack| lack.to_string())
    };
    match claim {
        Claim::Observations | Claim::Linearizability => format!("nothing to check: {of} observes nothing"),
        Claim::CommitAtomicity | Claim::Atomicity => format!("nothing to check: {of} has no atomic block"),
        _ => match claim.unconditional().as_ref().and_then(lack) {
            Some(lack) => format!("nothing to check: `{name}` says nothing about {of}, for {lack}"),
            None => format!("nothing to check: {of} declares no `{name}`"),
        },
    }
}

/// Leaves out the tests of a file that a criterion says nothing about, if it says something about others of the same file.
pub fn leave_out_nothing(files: &[&str], selected: &mut [Vec<Selected>]) {
    let runs = |check: &&Selected| !matches!(check, Selected::Nothing { .. });
    let of_file = |(file, checks): (&&str, &Vec<Selected>)| {
        checks.iter().filter(runs).map(|check| ((*file).to_owned(), check.criterion())).collect::<Vec<_>>()
    };
    let run: BTreeSet<(String, &str)> = files.iter().zip(selected.iter()).flat_map(of_file).collect();
    for (file, checks) in files.iter().zip(selected) {
        checks.retain(|check| runs(&check) || !run.contains(&((*file).to_owned(), check.criterion())));
    }
}

/// Without named models each declaration runs on its own; a named model takes the declarations that list it, or else all.
fn product(declared: &[Declared], models: &[Model]) -> Vec<Selected> {
    let mut runs = Vec::new();
    if models.is_empty() {
        for check in declared {
            let on = check.models.iter();
            runs.extend(on.map(|model| Selected::Run(check.claim.clone(), model.clone())));
        }
    }
    for model in models {
        let listed = declared.iter().any(|check| check.models.contains(model));
        let chosen = declared.iter().filter(|check| !listed || check.models.contains(model));
        runs.extend(chosen.map(|check| Selected::Run(check.claim.clone(), model.clone())));
    }
    runs
}

fn declarations(case: &Case, files: &dyn Files) -> Result<Vec<Declared>, Failure> {
    let mut declared = Vec::new();
    let mut errors = Vec::new();
    for check in &case.program.checks {
        let mut models = Vec::new();
        for name in &check.models {
            match models::in_program(name, &case.source, files) {
                Ok(model) => models.push(model),
                Err(ModelError::File(failure)) => {
                    let file = &case.source.name;
                    let named = Failure::Input(format!("A check in {file} names this model."));
                    return Err(Failure::Several(vec![failure, named]));
                }
                Err(ModelError::Unknown(help)) => {
                    let message = format!("there is no memory model `{name}`");
                    let label = format!("this check names `{name}`");
                    errors.push(Diagnostic::new(check.span, message, label).with_help(help));
                }
            }
        }
        if check.models.is_empty() {
            models.extend(default_models(case).into_iter().take(1));
        }
        let claim = match &check.property {
            // Which observations are allowed is left open: an algorithm is compared with its serial runs, everything else has blocks.
            Property::Observations(_) if case.program.in_order => Claim::Observations,
            Property::Observations(_) => Claim::Atomicity,
            property => property.claim(),
        };
        declared.push(Declared { claim, models });
    }
    if errors.is_empty() { Ok(declared) } else { Err(Failure::source(&case.source, errors)) }
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
