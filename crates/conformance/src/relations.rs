//! Models about relations: the symbolic engine against the reference.
//!
//! Outcomes, flags and verdicts must be the same, and every execution that is shown must be confirmed. [`Attire`] puts tags, fences of machines and
//! exclusive accesses on a random program, of the kinds that a model knows.

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_interp::Interp;
use cyrano_ir::{AccessKind, Change, Fence, Op, Place, Program, RegId, Tags};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;
use proptest::prelude::*;

use crate::compare::Disagreement;

/// Compares the engines under one model; says how many questions both answered.
pub fn engines_agree(program: &Program, model: &Model, limits: &dyn Fn() -> Limits) -> Result<usize, Disagreement> {
    let symbolic = Symbolic::default();
    let wrong = |what: String| Disagreement { model: model.name.clone(), what };
    let Some((slow, fast)) = both(&symbolic, program, model, Question::Outcomes, limits) else { return Ok(0) };
    if let Some(lost) = slow.outcomes.difference(&fast.outcomes).next() {
        return Err(wrong(format!("symbolic misses {lost:?}")));
    }
    if let Some(more) = fast.outcomes.difference(&slow.outcomes).next() {
        return Err(wrong(format!("symbolic invents {more:?}")));
    }
    if slow.flags != fast.flags {
        return Err(wrong(format!("flags {:?}, symbolic has {:?}", slow.flags, fast.flags)));
    }
    let mut compared = 1;
    for check in &program.checks {
        let property = &check.property;
        let Some((slow, fast)) = both(&symbolic, program, model, Question::Holds(property), limits) else { continue };
        if slow.verdict != fast.verdict {
            let (slow, fast) = (slow.verdict.name(), fast.verdict.name());
            return Err(wrong(format!("{}: {slow}, symbolic says {fast}", property.criterion())));
        }
        if let Some(execution) = &fast.execution {
            let confirmed = cyrano_interp::confirm(program, model, property, fast.violation.as_ref(), execution);
            confirmed.map_err(|error| wrong(format!("{}: not confirmed: {error}", property.criterion())))?;
        }
        compared += 1;
    }
    Ok(compared)
}

/// What both engines say, if both are certain.
fn both(
    symbolic: &Symbolic,
    program: &Program,
    model: &Model,
    question: Question<'_>,
    limits: &dyn Fn() -> Limits,
) -> Option<(Answer, Answer)> {
    let query = Query::new(program, model, question).ok()?;
    let ask = |engine: &dyn Engine| {
        engine.supports(&query).ok()?;
        let answer = engine.ask(query, &limits(), &());
        let certain = !matches!(answer.verdict, Verdict::Unknown | Verdict::Bounded) || !answer.flags.is_empty();
        certain.then_some(answer)
    };
    Some((ask(&Interp)?, ask(symbolic)?))
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
