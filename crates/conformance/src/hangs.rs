//! Termination in its bounded form under models about relations: the symbolic engine and the reference on one program.

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_interp::Interp;
use cyrano_ir::{Liveness, Program, Property};
use cyrano_memory::Model;

use crate::compare::Disagreement;
use crate::termination::compare::ask;

/// What was compared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Told {
    /// Programs that two engines call violated.
    pub hangs: usize,
    /// Programs that two engines call verified or vacuous.
    pub ends: usize,
    /// Neither finds anything; loops go on.
    pub nothing: usize,
    /// One has said less than the other, which a bound allows.
    pub less: usize,
    /// Programs that one of the two refuses or gives up.
    pub open: usize,
}

/// Compares the symbolic engine with the reference; what it shows is replayed.
pub fn hangs_agree(
    symbolic: &dyn Engine,
    program: &Program,
    model: &Model,
    limits: &dyn Fn() -> Limits,
) -> Result<Told, Disagreement> {
    let wrong = |what: String| Disagreement { model: model.name.clone(), what };
    let property = Property::Live(Liveness::Termination);
    let mut told = Told::default();
    let takes = |engine: &dyn Engine| {
        Query::new(program, model, Question::Holds(&property)).is_ok_and(|query| engine.supports(&query).is_ok())
    };
    if !takes(&Interp) || !takes(symbolic) {
        told.open += 1;
        return Ok(told);
    }
    let fast = ask(program, model, symbolic, &limits()).map_err(|why| wrong(format!("symbolic: {why}")))?;
    let slow = ask(program, model, &Interp, &limits()).map_err(|why| wrong(format!("interp: {why}")))?;
    let complaint =
        || Err(wrong(format!("termination: {}, symbolic says {}", slow.verdict.name(), fast.verdict.name())));
    match (slow.verdict, fast.verdict) {
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => told.open += 1,
        (Verdict::Violated, Verdict::Violated) => told.hangs += 1,
        (Verdict::Violated, _) | (Verdict::Verified | Verdict::Vacuous, Verdict::Violated) => return complaint(),
        (Verdict::Bounded, Verdict::Bounded) => told.nothing += 1,
        (Verdict::Bounded, Verdict::Violated) | (_, Verdict::Bounded) => told.less += 1,
        (one, other) if one == other => told.ends += 1,
        _ => return complaint(),
    }
    Ok(told)
}

impl Told {
    /// Adds what was compared elsewhere.
    pub fn add(&mut self, other: Self) {
        self.hangs += other.hangs;
        self.ends += other.ends;
        self.nothing += other.nothing;
        self.less += other.less;
        self.open += other.open;
    }
}
