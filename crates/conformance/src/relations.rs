//! Models about relations: the symbolic engine against the reference.
//!
//! Outcomes, flags and verdicts must be the same, and every execution that is shown must be confirmed. [`Attire`] puts tags, fences of machines and
//! exclusive accesses on a random program, of the kinds that a model knows.

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Question, Verdict, Violation};
use cyrano_interp::Interp;
use cyrano_ir::{AccessKind, Change, Fence, Op, Place, Program, Property, RegId, Tags};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;
use proptest::prelude::*;

use crate::compare::Disagreement;

/// What came of a comparison.
#[derive(Clone, Debug)]
pub enum Compared {
    /// Both engines gave all outcomes, and both answered so many other questions.
    Fully {
        /// The questions.
        checks: usize,
    },
    /// Not both did, for this reason.
    Not(String),
}

/// Compares the engines under one model; says how many questions both answered.
pub fn engines_agree(program: &Program, model: &Model, limits: &dyn Fn() -> Limits) -> Result<usize, Disagreement> {
    Ok(match compare(program, model, limits)? {
        Compared::Fully { checks } => 1 + checks,
        Compared::Not(_) => 0,
    })
}

/// Compares the engines under one model.
pub fn compare(program: &Program, model: &Model, limits: &dyn Fn() -> Limits) -> Result<Compared, Disagreement> {
    compare_with(&Symbolic::default(), program, model, limits)
}

/// The same for a symbolic engine with other switches, or with bugs.
pub fn compare_with(
    symbolic: &dyn Engine,
    program: &Program,
    model: &Model,
    limits: &dyn Fn() -> Limits,
) -> Result<Compared, Disagreement> {
    let wrong = |what: String| Disagreement { model: model.name.clone(), what };
    let (slow, fast) = match both(symbolic, program, model, Question::Outcomes, limits) {
        Ok(answers) => answers,
        Err(why) => return Ok(Compared::Not(why)),
    };
    if let Some(lost) = slow.outcomes.difference(&fast.outcomes).next() {
        return Err(wrong(format!("symbolic misses {lost:?}")));
    }
    if let Some(more) = fast.outcomes.difference(&slow.outcomes).next() {
        return Err(wrong(format!("symbolic invents {more:?}")));
    }
    if slow.flags != fast.flags {
        return Err(wrong(format!("flags {:?}, symbolic has {:?}", slow.flags, fast.flags)));
    }
    let mut checks = 0;
    for property in program.checks.iter().map(|check| &check.property).chain([&Property::Races]) {
        let Ok((slow, fast)) = both(symbolic, program, model, Question::Holds(property), limits) else { continue };
        // Deadlocks are not looked for by the symbolic engine, which has nothing but the flag to tell of such a program.
        let deadlock = matches!(slow.violation, Some(Violation::Deadlock { .. }));
        if deadlock && fast.verdict == Verdict::Unknown {
            continue;
        }
        if slow.verdict != fast.verdict {
            let (slow, fast) = (slow.verdict.name(), fast.verdict.name());
            return Err(wrong(format!("{}: {slow}, symbolic says {fast}", property.criterion())));
        }
        if let Some(execution) = &fast.execution {
            let confirmed = cyrano_interp::confirm(program, model, property, fast.violation.as_ref(), execution);
            confirmed.map_err(|error| wrong(format!("{}: not confirmed: {error}", property.criterion())))?;
        }
        checks += 1;
    }
    Ok(Compared::Fully { checks })
}

/// What both engines say, if both are certain; else why not.
fn both(
    symbolic: &dyn Engine,
    program: &Program,
    model: &Model,
    question: Question<'_>,
    limits: &dyn Fn() -> Limits,
) -> Result<(Answer, Answer), String> {
    let query = Query::new(program, model, question).map_err(|why| format!("makes no sense: {why}"))?;
    let ask = |engine: &dyn Engine| {
        engine.supports(&query).map_err(|why| format!("refused by {}: {why}", engine.name()))?;
        let answer = engine.ask(query, &limits(), &());
        let flagged = matches!(answer.reason, Some(Cause::Flagged(_)));
        let certain = !matches!(answer.verdict, Verdict::Unknown | Verdict::Bounded) || flagged;
        let why = || format!("{} by {}: {}", answer.verdict.name(), engine.name(), told(&answer));
        if certain { Ok(answer) } else { Err(why()) }
    };
    Ok((ask(&Interp)?, ask(symbolic)?))
}

fn told(answer: &Answer) -> String {
    answer.reason.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// What is put on a program: where its bytes run out they start again.
#[derive(Clone, Debug)]
pub struct Attire {
    bytes: Vec<u8>,
}

/// Any.
pub fn attire() -> impl Strategy<Value = Attire> {
    prop::collection::vec(any::<u8>(), 1..40).prop_map(|bytes| Attire { bytes })
}

impl Attire {
    /// The program with tags, fences and exclusive accesses that the model knows.
    pub fn put_on(&self, mut program: Program, model: &Model) -> Program {
        let mut bytes = self.bytes.iter().copied().cycle();
        let mut byte = || usize::from(bytes.next().unwrap_or(0));
        let known: Vec<Tags> = Tags::ALL.into_iter().map(|(tag, _)| tag).collect();
        let knows = |tag: &Tags| model.known_tags().contains(*tag) && *tag != Tags::EXCLUSIVE && *tag != Tags::ROLLBACK;
        let known: Vec<Tags> = known.into_iter().filter(knows).collect();
        let exclusive = model.known_tags().contains(Tags::EXCLUSIVE);
        let fences = model.cat().map(|cat| cat.plan().fences.clone()).unwrap_or_default();
        for thread in &mut program.threads {
            let registers = u32::try_from(thread.registers.len()).unwrap_or(0);
            let mut in_section = false;
            for instr in &mut thread.code {
                in_section |= matches!(instr.op, Op::AtomicBegin);
                in_section &= !matches!(instr.op, Op::AtomicEnd);
                match &mut instr.op {
                    Op::Fence(fence) if !fences.is_empty() && (!model.knows(*fence) || byte() % 3 > 0) => {
                        *fence = Fence::Named { name: fences[byte() % fences.len()], at: None };
                    }
                    Op::Access(access) => {
                        let mut some = |most: usize| {
                            let pick = |tags: Tags, at: usize| known.get(at).map_or(tags, |tag| tags | *tag);
                            (0..most).fold(Tags::default(), |tags, _| pick(tags, byte() % (known.len() + 2)))
                        };
                        access.tags |= some(2);
                        if let Some(Change::Cas { .. }) = access.change {
                            access.failed = Some(some(1));
                        }
                        if exclusive && !in_section && access.kind != AccessKind::Rmw && byte() % 2 == 0 {
                            access.tags |= Tags::EXCLUSIVE;
                            if access.kind == AccessKind::Store && registers > 0 && byte() % 2 == 0 {
                                access.dst = Some(Place::Reg(RegId(byte() as u32 % registers)));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        program
    }
}
