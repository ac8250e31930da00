//! One program, every engine and model: do they agree?

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Question, Verdict};
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

/// How often an engine looks at its limits in about a second.
const LOOKS: f64 = 500.0;

/// Limits that keep a comparison short and small, by work and not by the clock: a slow machine compares as much as a fast one. One unit of `work` is about a
/// second. Loops are unrolled this many times by the interpreter.
pub fn limits(work: f64, iterations: usize) -> Limits {
    let limits = Limits { memory: 1 << 30, iterations, ..Limits::default() };
    limits.with_looks((work * LOOKS) as u64)
}

/// The limits for random programs, which have no loop that goes round more than twice.
fn generous() -> Limits {
    limits(2.0, 3)
}

/// Compares the explorer with the interpreter under every model that both run. Says how many questions both answered.
pub fn compare(program: &Program) -> Result<usize, Disagreement> {
    compare_with(program, &Explore::default(), &generous)
}

/// The same with a given explorer (other reductions, or a deliberate bug) and with limits for each question.
pub fn compare_with(
    program: &Program,
    explore: &dyn Engine,
    limits: &dyn Fn() -> Limits,
) -> Result<usize, Disagreement> {
    let mut compared = 0;
    let serial = serial_outcomes(program, &limits());
    for model in cyrano_memory::all() {
        if explore.runs(program, &model) {
            let pair = Pair { program, model: &model, explore, limits, compared: Cell::new(0) };
            let goes_wrong = pair.verdicts_agree(&Property::Assertions)?;
            pair.outcomes_agree(goes_wrong)?;
            for check in &program.checks {
                pair.verdicts_agree(&check.property)?;
            }
            if program.transactional.is_empty() {
                pair.verdicts_agree(&serial)?;
            }
            compared += pair.compared.get();
        }
    }
    Ok(compared)
}

/// The claim that every outcome is one of a serial execution, as far as those are known.
fn serial_outcomes(program: &Program, limits: &Limits) -> Property {
    let model = cyrano_memory::named("serial").expect("a named model");
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    Property::Observations(Interp.ask(query, limits, &()).outcomes)
}

/// Whether nothing but a `limit` of the program stands between an answer and certainty.
fn is_definite(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified | Verdict::Violated | Verdict::Vacuous => true,
        Verdict::Bounded => matches!(answer.reason, Some(Cause::Limit(_))),
        Verdict::Unknown => false,
    }
}

/// The two engines on one program under one model.
struct Pair<'a> {
    program: &'a Program,
    model: &'a Model,
    explore: &'a dyn Engine,
    limits: &'a dyn Fn() -> Limits,
    /// How many questions both answered.
    compared: Cell<usize>,
}

impl Pair<'_> {
    fn ask(&self, engine: &dyn Engine, question: Question<'_>) -> Answer {
        let query = Query::new(self.program, self.model, question).expect("a question");
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
        self.compared.set(self.compared.get() + usize::from(is_definite(&fast) && is_definite(&slow)));
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
        self.compared.set(self.compared.get() + usize::from(is_definite(&fast) && is_definite(&slow)));
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

/// Outcome sets grow along the chain of models, by the interpreter; a set that is not complete is only compared as a subset. Says how many pairs were.
pub fn outcomes_grow(program: &Program, limits: &dyn Fn() -> Limits) -> Result<usize, Disagreement> {
    let mut compared = 0;
    let mut before: Option<(&str, BTreeSet<Vec<i128>>)> = None;
    for name in CHAIN {
        let model = cyrano_memory::named(name).expect("a named model");
        let query = Query::new(program, &model, Question::Outcomes).expect("a question");
        let answer = Interp.ask(query, &limits(), &());
        if answer.verdict == Verdict::Unknown {
            return Ok(compared);
        }
        if let Some((stronger, outcomes)) = &before
            && let Some(lost) = outcomes.difference(&answer.outcomes).next()
        {
            return Err(Disagreement { model: name.into(), what: format!("{lost:?} is an outcome under {stronger}") });
        }
        compared += usize::from(before.is_some());
        before = Some((name, answer.outcomes));
    }
    Ok(compared)
}
