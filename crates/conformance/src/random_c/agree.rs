//! One C program, three engines: do they agree?
//!
//! The reference interpreter is asked once about each question under each model; the explorer (where it is exact) and the symbolic
//! engine must say the same, as far as each is certain, and every execution that any of them shows must replay.

use std::collections::BTreeSet;

use cyrano_engine::{Answer, BEYOND_LIMIT, Engine, Limits, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;

use crate::compare::{CHAIN, Disagreement};

/// How far a comparison goes.
pub struct Effort<'a> {
    /// Limits of one question to the interpreter.
    pub slow: &'a dyn Fn() -> Limits,
    /// Limits of one question to another engine.
    pub fast: &'a dyn Fn() -> Limits,
    /// The models, from strong to weak.
    pub models: &'a [&'a str],
}

/// All models.
pub const MODELS: &[&str] = &CHAIN;

/// What was settled, to know whether a comparison compared anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Questions.
    pub asked: usize,
    /// Those on which the interpreter was certain.
    pub settled: usize,
    /// Those about which something is wrong.
    pub violated: usize,
}

impl Tally {
    /// Counts in what another comparison settled.
    pub fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.settled += other.settled;
        self.violated += other.violated;
    }
}

/// Compares all engines on one program; says what was settled.
pub fn agree(program: &Program, effort: &Effort<'_>) -> Result<Tally, Disagreement> {
    let mut tally = Tally::default();
    let serial = Bench { program, model: &model("serial"), effort };
    let allowed = serial.ask(&Interp, Question::Outcomes).outcomes;
    let observations = Property::Observations(allowed);
    let mut before: Option<BTreeSet<Vec<i128>>> = None;
    for name in effort.models {
        let bench = Bench { program, model: &model(name), effort };
        let wrong = bench.verdicts_agree(&Property::Assertions, &mut tally)?;
        let outcomes = bench.outcomes_agree(wrong, &mut tally)?;
        bench.verdicts_agree(&observations, &mut tally)?;
        if let (Some(before), Some(outcomes)) = (&before, &outcomes)
            && let Some(lost) = before.difference(outcomes).next()
        {
            return bench.disagree(format!("{lost:?} is an outcome under a stronger model"));
        }
        before = outcomes.or(before);
    }
    Ok(tally)
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a named model")
}

/// Whether nothing but a `limit` of the program stands between an answer and certainty.
fn is_definite(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified | Verdict::Violated | Verdict::Vacuous => true,
        Verdict::Bounded => answer.reason.as_ref().is_some_and(|reason| reason.starts_with(BEYOND_LIMIT)),
        Verdict::Unknown => false,
    }
}

/// One program under one model.
struct Bench<'a> {
    program: &'a Program,
    model: &'a Model,
    effort: &'a Effort<'a>,
}

impl Bench<'_> {
    fn ask(&self, engine: &dyn Engine, question: Question<'_>) -> Answer {
        let limits = if engine.name() == "interp" { self.effort.slow } else { self.effort.fast };
        engine.ask(Query { program: self.program, model: self.model, question }, &limits(), &())
    }

    fn disagree<T>(&self, what: String) -> Result<T, Disagreement> {
        Err(Disagreement { model: self.model.name.clone(), what })
    }

    /// The fast engines that can run this.
    fn engines(&self) -> Vec<Box<dyn Engine>> {
        let symbolic = Symbolic { iterations: 4, check_lemmas: true, ..Symbolic::default() };
        let all: [Box<dyn Engine>; 2] = [Box::new(Explore::default()), Box::new(symbolic)];
        all.into_iter().filter(|engine| engine.supports(self.program, self.model).is_ok()).collect()
    }

    /// Outcome sets are equal, or, where an engine had to stop early, its set is part of the others'. Gives the set if it is complete.
    ///
    /// Whether a limit counts that is reached beside an error of another thread depends on which is noticed first, so that
    /// verdicts are compared only where nothing goes wrong.
    fn outcomes_agree(&self, wrong: bool, tally: &mut Tally) -> Result<Option<BTreeSet<Vec<i128>>>, Disagreement> {
        let slow = self.ask(&Interp, Question::Outcomes);
        tally.asked += 1;
        tally.settled += usize::from(is_definite(&slow));
        for engine in self.engines() {
            let fast = self.ask(engine.as_ref(), Question::Outcomes);
            let missing: Vec<_> = slow.outcomes.difference(&fast.outcomes).collect();
            let invented: Vec<_> = fast.outcomes.difference(&slow.outcomes).collect();
            let misses = fast.verdict != Verdict::Unknown && !missing.is_empty();
            let invents = is_definite(&slow) && !invented.is_empty();
            if misses || invents {
                let (name, verdict, reason) = (engine.name(), fast.verdict.name(), &fast.reason);
                let what = format!("{name} ({verdict}, {reason:?}) misses {missing:?} and invents {invented:?}");
                return self.disagree(what);
            }
            if !wrong {
                self.certainty_agrees("outcomes", &slow, engine.as_ref(), &fast)?;
            }
        }
        Ok((slow.verdict == Verdict::Verified).then_some(slow.outcomes))
    }

    /// Verdicts are equal where both are definite, and what an engine shows can be replayed. Says whether something is wrong.
    fn verdicts_agree(&self, property: &Property, tally: &mut Tally) -> Result<bool, Disagreement> {
        let slow = self.ask(&Interp, Question::Holds(property));
        self.replays(property, "interp", &slow)?;
        tally.asked += 1;
        tally.settled += usize::from(is_definite(&slow));
        tally.violated += usize::from(slow.verdict == Verdict::Violated);
        let mut wrong = slow.verdict == Verdict::Violated;
        for engine in self.engines() {
            let fast = self.ask(engine.as_ref(), Question::Holds(property));
            self.replays(property, engine.name(), &fast)?;
            self.certainty_agrees(property.criterion(), &slow, engine.as_ref(), &fast)?;
            let missed = slow.verdict == Verdict::Violated && fast.verdict == Verdict::Bounded;
            // The symbolic engine says so where it does not look for deadlocks.
            let known = matches!(slow.violation, Some(Violation::Deadlock { .. } | Violation::AtomicDiverges { .. }));
            if missed && !known && engine.name() == "symbolic" {
                let what = format!("{}: interp finds {:?}", property.criterion(), slow.violation);
                return self.disagree(format!("{what}, symbolic says bounded ({:?})", fast.reason));
            }
            wrong |= fast.verdict == Verdict::Violated;
        }
        Ok(wrong)
    }

    fn replays(&self, property: &Property, engine: &str, answer: &Answer) -> Result<(), Disagreement> {
        let Some(execution) = &answer.execution else { return Ok(()) };
        let violation = answer.violation.as_ref();
        match cyrano_interp::confirm(self.program, self.model, property, violation, execution) {
            Ok(_) => Ok(()),
            Err(error) => {
                let criterion = property.criterion();
                self.disagree(format!("{criterion}: {violation:?} of {engine} does not replay: {error}\n{execution:?}"))
            }
        }
    }

    /// Definite verdicts are equal.
    fn certainty_agrees(
        &self,
        what: &str,
        slow: &Answer,
        engine: &dyn Engine,
        fast: &Answer,
    ) -> Result<(), Disagreement> {
        if is_definite(slow) && is_definite(fast) && slow.verdict != fast.verdict {
            let said =
                |answer: &Answer| format!("{} ({:?}, {:?})", answer.verdict.name(), answer.reason, answer.violation);
            let (slow, fast) = (said(slow), said(fast));
            return self.disagree(format!("{what}: interp says {slow}, {} says {fast}", engine.name()));
        }
        Ok(())
    }
}
