//! One program, every engine and model: do they agree?

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

/// The models from strong to weak; `sparc-rmo` is not in the chain.
pub const CHAIN: [&str; 6] = ["serial", "sc", "tso", "pso", "rmo", "relaxed"];

/// What two engines, or an engine and a replay, do not agree on.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// Under which model.
    pub model: String,
    /// About what.
    pub what: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "under {}: {}", self.model, self.what)
    }
}

/// Limits that keep a comparison short and small.
pub fn limits() -> Limits {
    Limits { memory: 1 << 30, iterations: 4, ..Limits::default() }.with_timeout(Some(Duration::from_secs(60)))
}

/// Compares the explorer with the interpreter under every model that both run.
pub fn compare(program: &Program) -> Result<(), Disagreement> {
    compare_with(program, &Explore::default())
}

/// The same with a given explorer: other reductions, or a deliberate bug.
pub fn compare_with(program: &Program, explore: &Explore) -> Result<(), Disagreement> {
    for model in cyrano_memory::all() {
        if explore.supports(program, &model).is_ok() {
            outcomes_agree(program, &model, explore)?;
            verdicts_agree(program, &model, explore, &Property::Assertions)?;
            for check in &program.checks {
                verdicts_agree(program, &model, explore, &check.property)?;
            }
        }
    }
    Ok(())
}

fn ask(engine: &dyn Engine, program: &Program, model: &Model, question: Question<'_>) -> Answer {
    engine.ask(Query { program, model, question }, &limits(), &())
}

/// Outcome sets are equal, or, where the interpreter had to bound a loop, its set is part of the explorer's.
fn outcomes_agree(program: &Program, model: &Model, explore: &Explore) -> Result<(), Disagreement> {
    let slow = ask(&Interp, program, model, Question::Outcomes);
    if slow.verdict == Verdict::Unknown {
        return Ok(());
    }
    let fast = ask(explore, program, model, Question::Outcomes);
    let complete = slow.verdict == Verdict::Verified && fast.verdict == Verdict::Verified;
    let missing: Vec<_> = slow.outcomes.difference(&fast.outcomes).collect();
    let invented: Vec<_> = fast.outcomes.difference(&slow.outcomes).collect();
    if !missing.is_empty() || (complete && !invented.is_empty()) {
        let what = format!("outcomes: the explorer misses {missing:?} and invents {invented:?}");
        return Err(Disagreement { model: model.name.clone(), what });
    }
    Ok(())
}

/// Verdicts are equal where both are definite, and what an engine shows can be replayed.
fn verdicts_agree(
    program: &Program,
    model: &Model,
    explore: &Explore,
    property: &Property,
) -> Result<(), Disagreement> {
    let slow = ask(&Interp, program, model, Question::Holds(property));
    let fast = ask(explore, program, model, Question::Holds(property));
    let disagree = |what: String| Err(Disagreement { model: model.name.clone(), what });
    for (answer, engine) in [(&slow, "interp"), (&fast, "explore")] {
        if let Some(execution) = &answer.execution
            && let Err(error) =
                cyrano_interp::confirm(program, model, property, answer.violation.as_ref(), execution)
        {
            let criterion = property.criterion();
            return disagree(format!("{criterion}: what {engine} shows does not replay: {error}\n{execution:?}"));
        }
    }
    let definite = |answer: &Answer| !matches!(answer.verdict, Verdict::Unknown | Verdict::Bounded);
    if definite(&slow) && definite(&fast) && slow.verdict != fast.verdict {
        let (slow, fast) = (slow.verdict.name(), fast.verdict.name());
        return disagree(format!("{}: interp says {slow}, explore says {fast}", property.criterion()));
    }
    Ok(())
}

/// Outcome sets grow along the chain of models.
pub fn outcomes_grow(program: &Program) -> Result<(), Disagreement> {
    let mut before: Option<(&str, BTreeSet<Vec<i64>>)> = None;
    for name in CHAIN {
        let model = cyrano_memory::named(name).expect("a named model");
        let answer = ask(&Interp, program, &model, Question::Outcomes);
        if answer.verdict == Verdict::Unknown {
            return Ok(());
        }
        if let Some((stronger, outcomes)) = &before
            && let Some(lost) = outcomes.difference(&answer.outcomes).next()
        {
            return Err(Disagreement { model: name.into(), what: format!("{lost:?} is an outcome under {stronger}") });
        }
        before = Some((name, answer.outcomes));
    }
    Ok(())
}
