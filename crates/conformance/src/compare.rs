//! One program, every engine and model: do they agree?
//!
//! The reference interpreter is asked once about each question under each model; the others (where they are exact) must say the same, as
//! far as each is certain, and every execution that any of them shows must replay.

use std::collections::BTreeSet;
use std::fmt;

use cyrano_engine::{Answer, Cause, Engine, Execution, Limits, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;

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

/// How far a comparison of all engines goes.
pub struct Effort<'a> {
    /// Limits of one question to the interpreter.
    pub slow: &'a dyn Fn() -> Limits,
    /// Limits of one question to another engine.
    pub fast: &'a dyn Fn() -> Limits,
    /// The models, from strong to weak.
    pub models: &'a [&'a str],
}

/// What was settled, to know whether a comparison compared anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Questions.
    pub asked: usize,
    /// Those on which the interpreter was certain.
    pub settled: usize,
    /// Those about which something is wrong.
    pub violated: usize,
    /// Answers of others that were certain where the interpreter was.
    pub compared: usize,
}

impl Tally {
    /// Counts in what another comparison settled.
    pub fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.settled += other.settled;
        self.violated += other.violated;
        self.compared += other.compared;
    }
}

/// Compares the explorer with the interpreter under every model that both run, on a random program, which has no loop that goes round more
/// than twice. Says how many questions both answered.
pub fn compare(program: &Program) -> Result<usize, Disagreement> {
    compare_with(program, &[&Explore::default()], &|| limits(2.0, 3))
}

/// Whether executions are those of the reference, each once; says how many there were.
pub fn same_executions(found: &[Execution], reference: &[Execution]) -> Result<usize, String> {
    let key = |execution: &Execution| format!("{execution:?}");
    let distinct: BTreeSet<String> = found.iter().map(key).collect();
    let wanted: BTreeSet<String> = reference.iter().map(key).collect();
    let counts = format!("{} of {} executions", distinct.len(), wanted.len());
    if let Some(missing) = wanted.difference(&distinct).next() {
        return Err(format!("{counts}, without {missing}"));
    }
    if let Some(more) = distinct.difference(&wanted).next() {
        return Err(format!("{counts}, with {more}"));
    }
    match found.len() == distinct.len() {
        true => Ok(found.len()),
        false => Err(format!("{counts} are found {} times", found.len())),
    }
}

/// The same with given explorers (other reductions, or a deliberate bug), each of which is compared, and with limits for each question.
pub fn compare_with(
    program: &Program,
    explorers: &[&dyn Engine],
    limits: &dyn Fn() -> Limits,
) -> Result<usize, Disagreement> {
    let mut tally = Tally::default();
    let effort = Effort { slow: limits, fast: limits, models: &[] };
    let observations = program.transactional.is_empty().then(|| serial_outcomes(program, &effort));
    for model in cyrano_memory::all() {
        let engines: Vec<&dyn Engine> =
            explorers.iter().copied().filter(|explore| explore.runs(program, &model)).collect();
        if !engines.is_empty() {
            let bench = Bench { program, model: &model, engines: &engines, effort: &effort, covers: is_definite };
            bench.agree(observations.as_ref(), &mut tally)?;
        }
    }
    Ok(tally.compared)
}

/// Compares these engines with the interpreter under models that are named.
pub fn agree_on(program: &Program, engines: &[&dyn Engine], effort: &Effort<'_>) -> Result<Tally, Disagreement> {
    let mut tally = Tally::default();
    for name in effort.models {
        let model = model(name);
        Bench { program, model: &model, engines, effort, covers: is_definite }.agree(None, &mut tally)?;
    }
    Ok(tally)
}

/// Compares explorers with the interpreter on what a program claims, under every model that both run.
pub fn compare_checks(
    program: &Program,
    explorers: &[&dyn Engine],
    limits: &dyn Fn() -> Limits,
) -> Result<Tally, Disagreement> {
    let mut tally = Tally::default();
    let effort = Effort { slow: limits, fast: limits, models: &[] };
    for model in cyrano_memory::all() {
        let bench = Bench { program, model: &model, engines: explorers, effort: &effort, covers: is_definite };
        bench.checks_agree(&mut tally)?;
    }
    Ok(tally)
}

/// Compares all engines on one program; says what was settled.
pub fn agree(program: &Program, effort: &Effort<'_>) -> Result<Tally, Disagreement> {
    let mut tally = Tally::default();
    let mut before: Option<BTreeSet<Vec<i128>>> = None;
    let observations = serial_outcomes(program, effort);
    for name in effort.models {
        let model = model(name);
        let outcomes = all_engines(program, &model, effort, &observations, &mut tally)?;
        if let (Some(before), Some(outcomes)) = (&before, &outcomes)
            && let Some(lost) = before.difference(outcomes).next()
        {
            let what = format!("{lost:?} is an outcome under a stronger model");
            return Err(Disagreement { model: model.name, what });
        }
        before = outcomes.or(before);
    }
    Ok(tally)
}

/// Compares them under one model, which may be a user's.
pub fn agree_under(program: &Program, own: &Model, effort: &Effort<'_>) -> Result<Tally, Disagreement> {
    let mut tally = Tally::default();
    all_engines(program, own, effort, &serial_outcomes(program, effort), &mut tally)?;
    Ok(tally)
}

fn all_engines(
    program: &Program,
    model: &Model,
    effort: &Effort<'_>,
    observations: &Property,
    tally: &mut Tally,
) -> Result<Option<BTreeSet<Vec<i128>>>, Disagreement> {
    let symbolic = Symbolic { iterations: 4, check_lemmas: true, ..Symbolic::default() };
    let engines: [&dyn Engine; 2] = [&Explore::default(), &symbolic];
    let covers = |answer: &Answer| answer.verdict != Verdict::Unknown;
    Bench { program, model, engines: &engines, effort, covers }.agree(Some(observations), tally)
}

/// The claim that every outcome is one of a serial execution, as far as those are known.
fn serial_outcomes(program: &Program, effort: &Effort<'_>) -> Property {
    let model = model("serial");
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    Property::Observations(Interp.ask(query, &(effort.slow)(), &()).outcomes)
}

/// The model of this name.
pub fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a named model")
}

/// Whether nothing but a `limit` of the program stands between an answer and certainty.
fn is_definite(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified | Verdict::Violated | Verdict::Vacuous => true,
        Verdict::Bounded => matches!(answer.reason, Some(Cause::Limit(_))),
        Verdict::Unknown => false,
    }
}

/// One program under one model.
struct Bench<'a> {
    program: &'a Program,
    model: &'a Model,
    /// Those that are compared with the interpreter, where they can run this.
    engines: &'a [&'a dyn Engine],
    effort: &'a Effort<'a>,
    /// Whether such an answer has all outcomes that the interpreter finds.
    covers: fn(&Answer) -> bool,
}

impl Bench<'_> {
    fn ask(&self, engine: &dyn Engine, question: Question<'_>) -> Answer {
        let limits = if engine.name() == "interp" { self.effort.slow } else { self.effort.fast };
        engine.ask(Query::new(self.program, self.model, question).expect("a question"), &limits(), &())
    }

    /// What the interpreter says.
    fn reference(&self, question: Question<'_>, tally: &mut Tally) -> Answer {
        let answer = self.ask(&Interp, question);
        tally.asked += 1;
        tally.settled += usize::from(is_definite(&answer));
        answer
    }

    fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.engines.iter().copied().filter(|engine| engine.runs(self.program, self.model))
    }

    fn disagree<T>(&self, what: String) -> Result<T, Disagreement> {
        Err(Disagreement { model: self.model.name.clone(), what })
    }

    /// Errors, outcomes, observations and checks. Gives the outcomes if they are complete.
    fn agree(
        &self,
        observations: Option<&Property>,
        tally: &mut Tally,
    ) -> Result<Option<BTreeSet<Vec<i128>>>, Disagreement> {
        let wrong = self.verdicts_agree(&Property::Assertions, tally)?;
        let outcomes = self.outcomes_agree(wrong, tally)?;
        if let Some(property) = observations {
            self.verdicts_agree(property, tally)?;
        }
        self.checks_agree(tally)?;
        Ok(outcomes)
    }

    /// What the program claims, as far as it can be asked under the model.
    fn checks_agree(&self, tally: &mut Tally) -> Result<(), Disagreement> {
        for property in self.program.checks.iter().map(|check| &check.property) {
            if Query::new(self.program, self.model, Question::Holds(property)).is_ok() {
                self.verdicts_agree(property, tally)?;
            }
        }
        Ok(())
    }

    /// Outcome sets are equal, or, where an engine had to stop early, its set is part of the others'. Gives the set if it is complete.
    ///
    /// Whether a limit counts that is reached beside an error of another thread depends on which is noticed first, so that
    /// verdicts are compared only where nothing goes wrong.
    fn outcomes_agree(&self, wrong: bool, tally: &mut Tally) -> Result<Option<BTreeSet<Vec<i128>>>, Disagreement> {
        let slow = self.reference(Question::Outcomes, tally);
        for engine in self.engines() {
            let fast = self.ask(engine, Question::Outcomes);
            let missing: Vec<_> = slow.outcomes.difference(&fast.outcomes).collect();
            let invented: Vec<_> = fast.outcomes.difference(&slow.outcomes).collect();
            let misses = (self.covers)(&fast) && !missing.is_empty();
            let invents = is_definite(&slow) && !invented.is_empty();
            if misses || invents {
                let (name, verdict, reason) = (engine.name(), fast.verdict.name(), &fast.reason);
                let what = format!("{name} ({verdict}, {reason:?}) misses {missing:?} and invents {invented:?}");
                return self.disagree(format!("outcomes: {what}"));
            }
            tally.compared += usize::from(is_definite(&fast) && is_definite(&slow));
            if !wrong {
                self.certainty_agrees("outcomes", &slow, engine, &fast)?;
            }
        }
        Ok((slow.verdict == Verdict::Verified).then_some(slow.outcomes))
    }

    /// Verdicts are equal where both are definite, and what an engine shows can be replayed. Says whether something is wrong.
    fn verdicts_agree(&self, property: &Property, tally: &mut Tally) -> Result<bool, Disagreement> {
        let slow = self.reference(Question::Holds(property), tally);
        self.replays(property, "interp", &slow)?;
        let mut wrong = slow.verdict == Verdict::Violated;
        tally.violated += usize::from(wrong);
        let answers = |engine: &&dyn Engine| {
            let query = Query::new(self.program, self.model, Question::Holds(property));
            query.is_ok_and(|query| engine.supports(&query).is_ok())
        };
        for engine in self.engines().filter(answers) {
            let fast = self.ask(engine, Question::Holds(property));
            self.replays(property, engine.name(), &fast)?;
            self.certainty_agrees(property.criterion(), &slow, engine, &fast)?;
            tally.compared += usize::from(is_definite(&fast) && is_definite(&slow));
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

/// Outcome sets grow along the chain of models, by the interpreter; a set that is not complete is only compared as a subset. Says how many pairs were.
pub fn outcomes_grow(program: &Program, limits: &dyn Fn() -> Limits) -> Result<usize, Disagreement> {
    let mut compared = 0;
    let mut before: Option<(&str, BTreeSet<Vec<i128>>)> = None;
    for name in CHAIN {
        let model = model(name);
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
