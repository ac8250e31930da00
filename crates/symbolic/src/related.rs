//! Which questions under models about relations the engine answers.
//!
//! Programs are those that the reference runs ([`cyrano_engine::Inexact::OneOrder`] otherwise), and so are models but for conditions that need a closure from above
//! ([`crate::formula::relational`]).

use cyrano_engine::{Inexact, Refusal};
use cyrano_ir::{Op, Program, Tags};
use cyrano_memory::Model;
use cyrano_memory::cat::Cat;

use crate::formula::relational::objection;

/// Refuses what the formula would not say exactly.
pub(crate) fn supports(program: &Program, model: &Model, cat: &Cat) -> Result<(), Refusal> {
    let refuse = |what| Err(Refusal::Inexact(Inexact::OneOrder { model: model.name.clone(), what }));
    if let Some(what) = cyrano_engine::one_order(program) {
        return refuse(what);
    }
    let limited = |thread: &cyrano_ir::Thread| {
        let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
        let limit = |_, op: &Op| matches!(op, Op::Limit { .. });
        begins.into_iter().any(|(begin, _)| thread.section_has(cyrano_ir::InstrId::new(begin), limit))
    };
    if program.threads.iter().any(limited) {
        return refuse("a limit in an atomic section");
    }
    let exclusive = |op: &Op| op.access().is_some_and(|access| access.tags.contains(Tags::EXCLUSIVE));
    if program.setup.is_some_and(|setup| program.thread(setup).code.iter().any(|instr| exclusive(&instr.op))) {
        return refuse("an exclusive access of the setup thread");
    }
    match objection(cat.plan()) {
        Some(what) => refuse(what),
        None => Ok(()),
    }
}
