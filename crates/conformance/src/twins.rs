//! Models that are written down twice: as parameters of one order of all accesses, and as axioms about relations.
//!
//! Both must allow the same outcomes of every program that both are for, and what is shown under the one about relations must be confirmed.
//!
//! A section that reads and does not always write is one locked instruction to the models about relations, and two accesses in an order of all; so programs with
//! such sections are left out.

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{InstrId, Op, Program, Thread};

use crate::compare::{Disagreement, model};

/// The models that reorder pairs which have a twin; that one is called `cat:` and the same.
pub const TWINS: [&str; 3] = ["sc", "tso", "pso"];

/// Compares each model with its twin; says how many questions both answered.
pub fn twins_agree(program: &Program, limits: &dyn Fn() -> Limits) -> Result<usize, Disagreement> {
    let mut compared = 0;
    for name in TWINS.into_iter().filter(|_| sections_write(program)) {
        let twin = format!("cat:{name}");
        let wrong = |what: String| Disagreement { model: twin.clone(), what };
        let Some((one, other)) = both(program, name, Question::Outcomes, limits) else { continue };
        if let Some(lost) = one.outcomes.difference(&other.outcomes).next() {
            return Err(wrong(format!("{lost:?} is an outcome under {name} only")));
        }
        if let Some(more) = other.outcomes.difference(&one.outcomes).next() {
            return Err(wrong(format!("{more:?} is no outcome under {name}")));
        }
        compared += 1;
        for check in &program.checks {
            let property = &check.property;
            let Some((one, other)) = both(program, name, Question::Holds(property), limits) else { continue };
            if one.verdict != other.verdict {
                let (one, other) = (one.verdict.name(), other.verdict.name());
                return Err(wrong(format!("{}: {other}, but {one} under {name}", property.criterion())));
            }
            if let Some(execution) = &other.execution {
                let violation = other.violation.as_ref();
                let confirmed = cyrano_interp::confirm(program, &model(&twin), property, violation, execution);
                confirmed.map_err(|error| wrong(format!("{}: not confirmed: {error}", property.criterion())))?;
            }
            compared += 1;
        }
    }
    Ok(compared)
}

/// What the explorer says under a model, and the interpreter under its twin, if both are certain.
fn both(
    program: &Program,
    name: &str,
    question: Question<'_>,
    limits: &dyn Fn() -> Limits,
) -> Option<(Answer, Answer)> {
    let certain = |engine: &dyn Engine, name: &str| {
        let model = model(name);
        let query = Query::new(program, &model, question).ok()?;
        engine.supports(&query).ok()?;
        let answer = engine.ask(query, &limits(), &());
        matches!(answer.verdict, Verdict::Verified | Verdict::Violated | Verdict::Vacuous).then_some(answer)
    };
    let relational = certain(&Interp, &format!("cat:{name}"))?;
    Some((certain(&Explore::default(), name)?, relational))
}

/// Whether every section that reads and may write does so on every path.
fn sections_write(program: &Program) -> bool {
    let straight = |thread: &Thread, begin: usize| {
        let branches = |_, op: &Op| matches!(op, Op::Branch { .. });
        let writes = |_, op: &Op| op.access_kind().is_some_and(cyrano_ir::AccessKind::writes);
        let begin = InstrId::new(begin);
        !thread.section_has(begin, branches) || !thread.section_has(begin, writes)
    };
    program.threads.iter().all(|thread| {
        let code = thread.code.iter().enumerate();
        code.filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin)).all(|(begin, _)| straight(thread, begin))
    })
}
