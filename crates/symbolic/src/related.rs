//! Which questions under models about relations the engine answers.
//!
//! Programs are those that the reference runs ([`cyrano_engine::Inexact::OneOrder`] otherwise), and so are models but for conditions that need a closure from above
//! ([`crate::formula::relational`]).

mod circles;
mod fewer;

use cyrano_engine::{Inexact, Refusal};
use cyrano_ir::{Op, Program, Tags};
use cyrano_memory::cat::Cat;
use cyrano_memory::{Model, named};

use crate::formula::relational::objection;

/// Whether executions without idle iterations are enough: always where all accesses are in one order.
pub(crate) fn may_idle(model: &Model) -> bool {
    model.cat().is_none_or(|cat| fewer::may_lack_reads(cat.plan()))
}

/// Refuses what the formula would not say exactly.
pub(crate) fn supports(program: &Program, model: &Model, cat: &Cat) -> Result<(), Refusal> {
    let refuse = |what| Err(Refusal::Inexact(Inexact::OneOrder { model: model.name.clone(), what }));
    if let Some(what) = cyrano_engine::one_order(program, false) {
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
    if !has_causes(model) && circles::has_circles(program, cat.plan().is_coherent()) {
        return refuse("values that may come out of thin air");
    }
    match objection(cat.plan()) {
        Some(what) => refuse(what),
        None => Ok(()),
    }
}

/// The models in which no value comes out of thin air: a circle of reads and of writes that are computed from them is forbidden. Symbolic values know where they
/// come from, so that under others they would miss such a circle; there a program must have none ([`circles`]).
const CAUSAL: [&str; 9] = ["cat:sc", "cat:tso", "cat:pso", "ra", "rc11", "imm", "armv8", "riscv", "power"];

fn has_causes(model: &Model) -> bool {
    CAUSAL.contains(&model.name.as_str()) && named(&model.name).as_ref() == Some(model)
}
