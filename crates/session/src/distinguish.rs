//! The smallest generated litmus tests that tell two memory models apart.
//!
//! Cycles of growing length are dressed with more and more fences, dependencies and notes; each test asks both models whether its outcome is allowed. So the
//! first test that is found in a direction has the fewest relations, and among those the fewest decorations. Whatever an engine says is settled as for any
//! other check; a test that a model has no word for is left out and counted.

mod classical;

use std::collections::BTreeMap;
use std::time::Instant;

use cyrano_engine::{Query, Question, Verdict};
use cyrano_ir::{EvalError, FinalVar, Property, Quantifier};
use cyrano_litmus::generate::{Cycle, Relation, Target};
use cyrano_memory::Model;
use cyrano_report::{ModelsCompareReport, ToldApart};

use crate::case::Case;
use crate::failure::Failure;
use crate::frontend::{self, Saved, Wanted};
use crate::litmus::graphs;
use crate::run::Runner;
use crate::source::Source;

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most relations in a cycle.
    pub length: usize,
    /// The most threads.
    pub threads: usize,
    /// The most fences, dependencies and notes on a cycle.
    pub decorations: usize,
}

/// What a model says about the outcome of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Says {
    Allowed,
    Forbidden,
    /// It has no word for something in the test, or no engine runs it.
    Nothing(String),
    /// A limit was reached.
    Undecided(String),
}

/// Tests are tried so many at a time; the first one counts, whichever is found first.
const BATCH: usize = 64;

impl Runner {
    /// The smallest tests that tell two models apart, in this language or in one that both understand.
    pub fn tell_apart(
        &self,
        left: &Model,
        right: &Model,
        target: Option<Target>,
        bounds: Bounds,
    ) -> Result<ModelsCompareReport, Failure> {
        let start = Instant::now();
        let target = match target {
            Some(target) => self.understood(target, left, right).map(|_| target).map_err(Failure::input)?,
            None => self.common(left, right)?,
        };
        let mut search = Search {
            runner: self,
            models: [left, right],
            target,
            found: [None, None],
            tests: 0,
            left_out: 0,
            undecided: None,
        };
        search.run(bounds)?;
        let different = search.found.iter().any(Option::is_some);
        let equivalent = if different { Some(false) } else { search.undecided.is_none().then_some(true) };
        let [left_only, right_only] = search.found;
        Ok(ModelsCompareReport {
            left: left.name.clone(),
            right: right.name.clone(),
            arch: if target == Target::Rml { "RML" } else { target.name() }.to_owned(),
            length: bounds.length,
            threads: bounds.threads,
            decorations: bounds.decorations,
            equivalent,
            reason: search.undecided,
            left_only,
            right_only,
            tests: search.tests,
            left_out: search.left_out,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// The language in which both models understand most: that of either if the other understands it, else a common one.
    fn common(&self, left: &Model, right: &Model) -> Result<Target, Failure> {
        let own: Vec<Target> = [left, right].into_iter().filter_map(native).collect();
        let others = [Target::X86, Target::Rml, Target::C, Target::AArch64, Target::Kernel, Target::Riscv, Target::Ppc];
        let others = if own.is_empty() { &others[1..] } else { &others[..] };
        let candidates: Vec<Target> = own.iter().chain(others).copied().collect();
        let understood = |target: &Target| Some((self.understood(*target, left, right).ok()?, *target));
        // That of a model itself if the other knows most of its words; else one without a word too many. Of those with as many words, the first.
        let best = candidates.iter().rev().filter_map(understood).max_by_key(|((known, words), target)| {
            (own.contains(target) && 2 * known > *words, known == words, *known)
        });
        best.map(|(_, target)| target).ok_or_else(|| {
            let why = self.understood(Target::Rml, left, right).err().unwrap_or_default();
            let (left, right) = (&left.name, &right.name);
            Failure::input(format!("{left} and {right} have no language of litmus tests in common: {why}"))
        })
    }

    /// How many of a language's fences, dependencies and notes both models understand, and of how many; an error if not even plain accesses.
    fn understood(&self, target: Target, left: &Model, right: &Model) -> Result<(usize, usize), String> {
        let plain = Cycle::parse("PodWW Rfe PodRR Fre")?;
        let load_buffering = Cycle::parse("PodRW Rfe PodRW Rfe")?;
        let both = |cycle: &Cycle| {
            let (_, case) = case(cycle, target)?;
            [left, right].into_iter().try_for_each(|model| understands(self, &case, model))
        };
        both(&plain)?;
        // What a model forbids shows whether it answers at all: it says nothing about programs with races, if it knows any.
        let forbidden = Cycle::parse("Rfe PosRR Fre")?;
        for model in [left, right] {
            let (_, case) = case(&forbidden, target)?;
            let said = says(self, &case, model).map_err(|failure| format!("{failure:?}"))?;
            if let Says::Undecided(why) = said {
                return Err(why);
            }
        }
        let dressed = [plain.variants(target, 1), load_buffering.variants(target, 1)].concat();
        let known = dressed.iter().filter(|cycle| both(cycle).is_ok()).count();
        Ok((known, dressed.len()))
    }
}

/// The language whose fences a model names; none for models that are about no machine.
fn native(model: &Model) -> Option<Target> {
    let cat = model.cat()?;
    let knows = |word: &str| cat.plan().fences.iter().any(|fence| fence.name() == word);
    let words = [
        (Target::AArch64, "dmb.ish"),
        (Target::Riscv, "fence.rw.rw"),
        (Target::Ppc, "lwsync"),
        (Target::Kernel, "smp_mb"),
        (Target::X86, "mfence"),
        (Target::C, "thread_fence.seq_cst"),
    ];
    words.into_iter().find(|(_, word)| knows(word)).map(|(target, _)| target)
}

/// The test of a cycle, as text and as a case.
fn case(cycle: &Cycle, target: Target) -> Result<(String, Case), String> {
    let text = cycle.text(target)?;
    let ending = if target == Target::Rml { "rml" } else { "litmus" };
    let source = Source { name: format!("{}.{ending}", cycle.name()), text: text.clone(), dir: None };
    let none = BTreeMap::new();
    let cases = frontend::of(&source).cases(&source, &[], &Wanted::default(), &Saved(&none));
    let case = cases.map_err(|failure| format!("{failure:?}"))?.pop();
    Ok((text, case.ok_or_else(|| "it makes no test".to_owned())?))
}

/// Whether a model has words for what is in a test, and an engine that runs it.
fn understands(runner: &Runner, case: &Case, model: &Model) -> Result<(), String> {
    let case = case.for_question(None, model);
    let property = &case.program.checks.first().ok_or("the test has no condition")?.property;
    let query = Query::new(&case.program, model, Question::Holds(property)).map_err(|why| why.to_string())?;
    runner.can_ask(&query).map_err(|cause| cause.to_string())
}

/// What a model says about the outcome of a test.
fn says(runner: &Runner, case: &Case, model: &Model) -> Result<Says, Failure> {
    if let Err(why) = understands(runner, case, model) {
        return Ok(Says::Nothing(why));
    }
    let case = case.for_question(None, model);
    let property = &case.program.checks[0].property;
    let exists = matches!(property, Property::Final { quantifier: Quantifier::Exists, .. });
    let query = case.query(model, Question::Holds(property))?;
    let answered = runner.ask(query, &());
    if let Some(execution) = &answered.answer.execution {
        let violation = answered.answer.violation.as_ref();
        cyrano_interp::confirm(query.program(), model, property, violation, execution)
            .map_err(|why| answered.untrusted(property, model, &case.source.name, &why.to_string()))?;
    }
    Ok(match (answered.answer.verdict, exists) {
        (Verdict::Verified, true) | (Verdict::Violated, false) => Says::Allowed,
        (Verdict::Violated, true) | (Verdict::Verified, false) => Says::Forbidden,
        (verdict, _) => {
            let reason = answered.answer.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            Says::Undecided(format!("{}: {} under {}{reason}", case.source.name, verdict.name(), model.name))
        }
    })
}

/// Whether the condition of a program's check holds in an outcome.
fn holds(case: &Case, outcome: &[i128]) -> bool {
    let Some(Property::Final { cond, .. }) = case.program.checks.first().map(|check| &check.property) else {
        return false;
    };
    let place = |var: &FinalVar| case.program.observed.iter().position(|observed| observed.var == *var);
    let value = |var: &FinalVar| place(var).and_then(|at| outcome.get(at).copied()).ok_or(EvalError::Undefined);
    cond.eval(&mut |var| value(var)).is_ok_and(|value| value != 0)
}

struct Search<'a> {
    runner: &'a Runner,
    models: [&'a Model; 2],
    target: Target,
    /// What only the first model allows, and what only the second does.
    found: [Option<ToldApart>; 2],
    tests: usize,
    left_out: usize,
    undecided: Option<String>,
}

impl Search<'_> {
    fn run(&mut self, bounds: Bounds) -> Result<(), Failure> {
        let relations: Vec<Relation> = Relation::basic().into_iter().chain(Relation::same()).collect();
        let shapes = Cycle::all(&relations, bounds.length, bounds.threads);
        for length in 2..=bounds.length {
            for decorations in 0..=bounds.decorations {
                let of_length = shapes.iter().filter(|shape| shape.relations().len() == length);
                let cycles: Vec<Cycle> = of_length.flat_map(|shape| shape.variants(self.target, decorations)).collect();
                for batch in cycles.chunks(BATCH) {
                    self.batch(batch)?;
                    if self.found.iter().all(Option::is_some) {
                        return Ok(());
                    }
                    if let Some(stop) = self.runner.stopped() {
                        let reached = format!("stopped at {length} relations and {decorations} decorations");
                        self.undecided = Some(format!("{reached}: {}", cyrano_engine::Cause::from(stop)));
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks about some tests, several at a time, and keeps the first in each direction.
    fn batch(&mut self, cycles: &[Cycle]) -> Result<(), Failure> {
        let asked = self.runner.map(cycles, |_, cycle| {
            let Ok((text, case)) = case(cycle, self.target) else { return Ok(None) };
            let [left, right] = self.models;
            Ok(Some((says(self.runner, &case, left)?, says(self.runner, &case, right)?, text, case)))
        })?;
        for (cycle, answers) in cycles.iter().zip(asked) {
            let Some((left, right, text, case)) = answers else { continue };
            let at = match (left, right) {
                (Says::Nothing(_), _) | (_, Says::Nothing(_)) => {
                    self.left_out += 1;
                    continue;
                }
                (Says::Undecided(why), _) | (_, Says::Undecided(why)) => {
                    self.undecided.get_or_insert(why);
                    self.tests += 1;
                    continue;
                }
                (Says::Allowed, Says::Forbidden) => Some(0),
                (Says::Forbidden, Says::Allowed) => Some(1),
                _ => None,
            };
            self.tests += 1;
            if let Some(at) = at.filter(|at| self.found[*at].is_none()) {
                self.found[at] = Some(self.told(cycle, text, &case, self.models[1 - at]));
            }
        }
        Ok(())
    }

    fn told(&self, cycle: &Cycle, source: String, case: &Case, forbids: &Model) -> ToldApart {
        let condition = source.lines().rev().find(|line| line.starts_with("exists") || line.starts_with("check never"));
        let outcome = condition.unwrap_or_default().trim_start_matches("exists").trim_start_matches("check never");
        let outcome = outcome.trim().trim_end_matches(';').to_owned();
        let limits = self.runner.limits();
        let graphs = match case.litmus {
            Some(_) => graphs::of_litmus(case, forbids, limits),
            None => graphs::of_outcomes(case, forbids, limits, &|outcome| holds(case, &outcome)),
        };
        let why = graphs.graphs.into_iter().find_map(|graph| graph.forbidden);
        ToldApart {
            name: cycle.name(),
            cycle: cycle.to_string(),
            length: cycle.relations().len(),
            source,
            outcome,
            forbidden: why.map(|why| why.sentence()),
        }
    }
}
