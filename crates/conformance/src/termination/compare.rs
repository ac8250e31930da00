//! The explorer against the definition.

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Question, Verdict};
use cyrano_ir::{Liveness, Op, Program, Progress, Property};
use cyrano_memory::Model;

use super::stopping::{self, Asked};
use super::tree::Tree;
use super::{Buffering, Found, Judgement, Size, judge, judge_reordered};
use crate::limits;

/// The models that are compared, from strong to weak.
pub const MODELS: [&str; 4] = ["sc", "tso", "pso", "rmo"];

/// Queues of a thread with a loop, in the explorer and here.
const DEFERRED: usize = 4;

/// The same for clients that go on for ever.
const FEW: usize = 2;

/// How much a comparison may take: states here, and about seconds for a question to the explorer.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// States of a graph.
    pub states: usize,
    /// Seconds.
    pub work: f64,
}

/// What was compared.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Both say that the program terminates.
    pub verified: usize,
    /// Both say that it does not.
    pub violated: usize,
    /// Nothing wrong in short queues, according to both.
    pub bounded: usize,
    /// Too large for one of them, or not for it.
    pub open: usize,
}

impl Compared {
    /// Counts in another comparison.
    pub fn add(&mut self, other: Self) {
        self.verified += other.verified;
        self.violated += other.violated;
        self.bounded += other.bounded;
        self.open += other.open;
    }
}

/// What the definition says, by the machine that is made for the model.
pub fn judgement(program: &Program, model: &Model, size: Size) -> Option<Judgement> {
    match Buffering::ALL.into_iter().find(|buffering| buffering.name() == model.name) {
        Some(buffering) => judge(program, buffering, size),
        None => judge_reordered(program, model, size),
    }
}

/// Asks an explorer whether a program terminates, and has what it shows confirmed.
pub fn ask(program: &Program, model: &Model, explore: &dyn Engine, limits: &Limits) -> Result<Answer, String> {
    ask_about(&Property::Live(Liveness::Termination), program, model, explore, limits)
}

/// Asks an explorer, and has what it shows confirmed.
pub fn ask_about(
    property: &Property,
    program: &Program,
    model: &Model,
    explore: &dyn Engine,
    limits: &Limits,
) -> Result<Answer, String> {
    let query = Query::new(program, model, Question::Holds(property)).map_err(|refusal| refusal.to_string())?;
    let answer = explore.ask(query, limits, &());
    if (answer.verdict == Verdict::Violated) != answer.execution.is_some() {
        return Err(format!("{}: {:?} without an execution, or with one", model.name, answer.verdict));
    }
    if let Some(execution) = &answer.execution {
        let violation = answer.violation.as_ref();
        cyrano_interp::confirm(program, model, property, violation, execution)
            .map_err(|error| format!("{}: what is shown does not replay: {error}", model.name))?;
    }
    Ok(answer)
}

/// Compares explorers with the definition, and with each other, under one model.
pub fn compare(
    program: &Program,
    model: &Model,
    explorers: &[&dyn Engine],
    effort: Effort,
) -> Result<Compared, String> {
    let size = Size { capacity: DEFERRED, states: effort.states };
    let Some(judgement) = judgement(program, model, size) else {
        return Ok(Compared { open: 1, ..Compared::default() });
    };
    let mut all = Compared::default();
    for (number, explore) in explorers.iter().enumerate() {
        let allowed = Limits { deferred: DEFERRED, ..limits(effort.work, 1) };
        let answer = ask(program, model, *explore, &allowed)?;
        let compared =
            held(program, &judgement, &answer).map_err(|why| format!("{}, explorer {number}: {why}", model.name))?;
        all.add(compared);
    }
    Ok(all)
}

/// Compares explorers with the definition of a criterion that stops threads, under one model; `grows` has what was violated under stronger models.
pub fn compare_stopped(
    program: &Program,
    model: &Model,
    asked: Asked,
    explorers: &[&dyn Engine],
    (effort, grows): (Effort, &mut bool),
) -> Result<Compared, String> {
    let property = match asked {
        Asked::Operations(liveness) => Property::Live(liveness),
        Asked::Solo => Property::Progress(Progress::Solo),
    };
    let capacity = if asked == Asked::Solo { FEW } else { DEFERRED };
    let judgement = stopping::judge(program, model, Size { capacity, states: effort.states }, asked);
    let stronger = *grows;
    let mut all = Compared::default();
    for (number, explore) in explorers.iter().enumerate() {
        let allowed = Limits { deferred: capacity, ..limits(effort.work, 1) };
        let why = |why| format!("{}, {asked:?}, explorer {number}: {why}", model.name);
        let mut answer = ask_about(&property, program, model, *explore, &allowed).map_err(why)?;
        if answer.reason == Some(Cause::FewOperations) {
            // Nobody can be overtaken for ever: nothing is violated.
            answer.verdict = Verdict::Verified;
        }
        *grows |= answer.verdict == Verdict::Violated;
        if stronger && matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous) {
            return Err(why(format!("{}, but violated under a stronger model", answer.verdict.name())));
        }
        match &judgement {
            None => all.add(Compared { open: 1, ..Compared::default() }),
            Some(judgement) => all.add(held(program, judgement, &answer).map_err(why)?),
        }
    }
    Ok(all)
}

/// Compares one random program under all models; a failure has the smallest program that was found.
pub fn compare_stopped_tree(
    tree: &Tree,
    asked: Asked,
    explorers: &[&dyn Engine],
    effort: Effort,
) -> Result<Compared, String> {
    let compared = |tree: &Tree| {
        let (program, mut grows, mut all) = (tree.program(), false, Compared::default());
        for name in MODELS {
            let model = cyrano_memory::named(name).expect("a model");
            all.add(compare_stopped(&program, &model, asked, explorers, (effort, &mut grows))?);
        }
        Ok(all)
    };
    compared(tree).map_err(|_: String| {
        let small = smallest(tree, |tree| compared(tree).is_err());
        format!("{}\n{}", compared(&small).expect_err("it fails"), small.text())
    })
}

/// Whether an answer is what the definition says.
fn held(program: &Program, judgement: &Judgement, answer: &Answer) -> Result<Compared, String> {
    let none = Compared::default();
    let different =
        || Err(format!("{} ({:?}), by definition {:?}", answer.verdict.name(), answer.violation, judgement.found));
    let limited = program.threads.iter().flat_map(|thread| &thread.code).any(|i| matches!(i.op, Op::Limit { .. }));
    match (&judgement.found, answer.verdict) {
        (Found::TooLarge, _) | (_, Verdict::Unknown) => Ok(Compared { open: 1, ..none }),
        (Found::Holds { .. }, Verdict::Violated) if judgement.full => Ok(Compared { open: 1, ..none }),
        (Found::Holds { .. }, Verdict::Violated) => different(),
        (_, Verdict::Violated) => Ok(Compared { violated: 1, ..none }),
        (Found::Holds { .. }, Verdict::Verified | Verdict::Vacuous) => Ok(Compared { verified: 1, ..none }),
        (Found::Holds { .. }, Verdict::Bounded) if judgement.full || limited => Ok(Compared { bounded: 1, ..none }),
        (Found::Holds { .. }, Verdict::Bounded) => Ok(Compared { open: 1, ..none }),
        (_, Verdict::Bounded | Verdict::Verified | Verdict::Vacuous) => different(),
    }
}

/// Compares one random program under all models; a failure has the smallest program that was found.
pub fn compare_tree(tree: &Tree, explorers: &[&dyn Engine], effort: Effort) -> Result<Compared, String> {
    let mut all = Compared::default();
    for name in MODELS {
        let model = cyrano_memory::named(name).expect("a model");
        match compare(&tree.program(), &model, explorers, effort) {
            Ok(compared) => all.add(compared),
            Err(_) => {
                let small = shrink(tree, &model, explorers, effort);
                let why = compare(&small.program(), &model, explorers, effort).expect_err("it fails");
                return Err(format!("{why}\n{}", small.text()));
            }
        }
    }
    Ok(all)
}

/// A smaller program that fails as well.
fn shrink(tree: &Tree, model: &Model, explorers: &[&dyn Engine], effort: Effort) -> Tree {
    smallest(tree, |tree| compare(&tree.program(), model, explorers, effort).is_err())
}

/// A smaller program that fails as well.
fn smallest(tree: &Tree, fails: impl Fn(&Tree) -> bool) -> Tree {
    let mut smallest = tree.clone();
    while let Some(smaller) = smallest.smaller().into_iter().find(&fails) {
        smallest = smaller;
    }
    smallest
}
