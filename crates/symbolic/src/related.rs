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
use fewer::Lost;

/// What executions may lack that a model allows, without anybody noticing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Idling {
    /// Read-modify-writes that write what they find and whose writes nobody sees, if anything but reads.
    pub(crate) updates: Option<Readers>,
    /// Only what is not accessed but by marked accesses: others may raise a flag.
    pub(crate) marked: bool,
}

/// Who may read a word of which updates are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Readers {
    /// Any access.
    All,
    /// Accesses that write it, too, whatever they read.
    Writers,
}

/// The models with flags of which it is known what these are about: races.
const RACES: [&str; 2] = ["rc11", "lkmm"];

/// Whether executions without idle iterations are enough, and which iterations are: all of them where all accesses are in one order.
pub(crate) fn idling(model: &Model) -> Option<Idling> {
    let Some(cat) = model.cat() else { return Some(Idling { updates: None, marked: false }) };
    let plan = cat.plan();
    let marked = plan.axioms.iter().any(|axiom| axiom.flag);
    if !fewer::may_lack(plan, Lost::Reads) || marked && !is_one_of(model, &RACES) {
        return None;
    }
    let updates = match fewer::may_lack(plan, Lost::Updates) {
        true => Some(Readers::All),
        // Between two reads of a word there is the write of the first.
        false => is_one_of(model, &["riscv"]).then_some(Readers::Writers),
    };
    Some(Idling { updates, marked })
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
    is_one_of(model, &CAUSAL)
}

/// Whether it is one of these built-in models.
fn is_one_of(model: &Model, names: &[&str]) -> bool {
    names.contains(&model.name.as_str()) && named(&model.name).as_ref() == Some(model)
}
