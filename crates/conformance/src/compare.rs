//! One program, every engine and model: do they agree?

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use cyrano_engine::{Answer, BEYOND_LIMIT, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

/// The models from strong to weak.
pub const CHAIN: [&str; 7] = ["serial", "sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"];

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

/// Limits that keep a comparison short and small. Loops are unrolled this many times by the interpreter.
pub fn limits(seconds: f64, iterations: usize) -> Limits {
    let limits = Limits { memory: 1 << 30, iterations, ..Limits::default() };
    limits.with_timeout(Some(Duration::from_secs_f64(seconds)))
}

/// The limits for random programs, which have no loop that goes round more than twice.
fn generous() -> Limits {
    limits(60.0, 3)
}

/// Compares the explorer with the interpreter under every model that both run.
pub fn compare(program: &Program) -> Result<(), Disagreement> {
    compare_with(program, &Explore::default(), &generous)
}

/// The same with a given explorer (other reductions, or a deliberate bug) and with limits for each question.
pub fn compare_with(program: &Program, explore: &Explore, limits: &dyn Fn() -> Limits) -> Result<(), Disagreement> {
    let serial = serial_outcomes(program, &limits());
    for model in cyrano_memory::all() {
        if explore.supports(program, &model).is_ok() {
            let pair = Pair { program, model: &model, explore, limits };
            let goes_wrong = pair.verdicts_agree(&Property::Assertions)?;
            pair.outcomes_agree(goes_wrong)?;
            for check in &program.checks {
                pair.verdicts_agree(&check.property)?;
            }
            if program.transactional.is_empty() {
                pair.verdicts_agree(&serial)?;
            }
        }
    }
    Ok(())
}

/// The claim that every outcome is one of a serial execution, as far as those are known.
fn serial_outcomes(program: &Program, limits: &Limits) -> Property {
    let model = cyrano_memory::named("serial").expect("a named model");
    let query = Query { program, model: &model, question: Question::Outcomes };
    Property::Observations(Interp.ask(query, limits, &()).outcomes)
}

/// Whether nothing but a `limit` of the program stands between an answer and certainty.
fn is_definite(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified | Verdict::Violated | Verdict::Vacuous => true,
        Verdict::Bounded => answer.reason.as_ref().is_some_and(|reason| reason.starts_with(BEYOND_LIMIT)),
        Verdict::Unknown => false,
    }
}

/// The two engines on one program under one model.
struct Pair<'a> {
    program: &'a Program,
    model: &'a Model,
    explore: &'a Explore,
    limits: &'a dyn Fn() -> Limits,
}

impl Pair<'_> {
    fn ask(&self, engine: &dyn Engine, question: Question<'_>) -> Answer {
        let query = Query { program: self.program, model: self.model, question };
        engine.ask(query, &(self.limits)(), &())
    }

    fn disagree<T>(&self, what: String) -> Result<T, Disagreement> {
        Err(Disagreement { model: self.model.name.clone(), what })
    }

    /// Outcome sets are equal, or, where the interpreter had to stop early, its set is part of the explorer's.
    ///
    /// Whether a limit counts that is reached beside an error of another thread depends on which is noticed first, so that
    /// verdicts are compared only where nothing goes wrong.
    fn outcomes_agree(&self, goes_wrong: bool) -> Result<(), Disagreement> {
        let slow = self.ask(&Interp, Question::Outcomes);
        let fast = self.ask(self.explore, Question::Outcomes);
        let missing: Vec<_> = slow.outcomes.difference(&fast.outcomes).collect();
        let invented: Vec<_> = fast.outcomes.difference(&slow.outcomes).collect();
        let misses = is_definite(&fast) && !missing.is_empty();
        let invents = is_definite(&slow) && !invented.is_empty();
        if misses || invents {
            return self.disagree(format!("outcomes: the explorer misses {missing:?} and invents {invented:?}"));
        }
        if !goes_wrong {
            self.certainty_agrees("outcomes", &slow, &fast)?;
        }
        Ok(())
    }

    /// Verdicts are equal where both are definite, and what an engine shows can be replayed. Says whether it is violated.
    fn verdicts_agree(&self, property: &Property) -> Result<bool, Disagreement> {
        let slow = self.ask(&Interp, Question::Holds(property));
        let fast = self.ask(self.explore, Question::Holds(property));
        for (answer, engine) in [(&slow, "interp"), (&fast, "explore")] {
            let Some(execution) = &answer.execution else { continue };
            let violation = answer.violation.as_ref();
            if let Err(error) = cyrano_interp::confirm(self.program, self.model, property, violation, execution) {
                let criterion = property.criterion();
                return self
                    .disagree(format!("{criterion}: what {engine} shows does not replay: {error}\n{execution:?}"));
            }
        }
        self.certainty_agrees(property.criterion(), &slow, &fast)?;
        Ok(fast.verdict == Verdict::Violated)
    }

    /// Definite verdicts are equal.
    fn certainty_agrees(&self, what: &str, slow: &Answer, fast: &Answer) -> Result<(), Disagreement> {
        if is_definite(slow) && is_definite(fast) && slow.verdict != fast.verdict {
            let (slow, fast) = (slow.verdict.name(), fast.verdict.name());
            return self.disagree(format!("{what}: interp says {slow}, explore says {fast}"));
        }
        Ok(())
    }
}

/// Outcome sets grow along the chain of models, by the interpreter; a set that is not complete is only compared as a subset.
pub fn outcomes_grow(program: &Program, limits: &dyn Fn() -> Limits) -> Result<(), Disagreement> {
    let mut before: Option<(&str, BTreeSet<Vec<i128>>)> = None;
    for name in CHAIN {
        let model = cyrano_memory::named(name).expect("a named model");
        let query = Query { program, model: &model, question: Question::Outcomes };
        let answer = Interp.ask(query, &limits(), &());
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
