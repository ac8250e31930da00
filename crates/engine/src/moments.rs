//! Moments: what an invariant is judged at (`docs/invariants.md` says it for users).
//!
//! A *moment* of an execution is a prefix of its memory order and, for each thread, a position in what the thread executes, with:
//!
//! 1. **Performed means executed.** Every access in the prefix stands before its thread's position.
//! 2. **Outstanding means overtakeable.** An access before the position that is not in the prefix is one that a later access may still overtake: of
//!    some kind and address, by what the model keeps and what the fences between the access and the position order
//!    ([`Reordering::may_be_outstanding`](cyrano_memory::Reordering::may_be_outstanding)). So under `sc` nothing is outstanding, under `tso` stores are, up to the next store-load fence.
//! 3. **Decisions are made.** What a branch, an `assume` or a `limit` before the position decided, which location an access there is to and which register
//!    an instruction there names was computed from loads that are in the prefix.
//! 4. **Sections are whole.** No position is inside an atomic section, and the prefix has all accesses of a section or none.
//! 5. **The program has begun.** A setup thread has run to its end.
//!
//! There a location holds what the last store to it in the prefix wrote, a thread stands at the instruction of its position, and its registers are as the
//! instructions before it have left them. Threads go from instruction to instruction, one at a time, and each has a moment of its own; a jump is passed at once.
//!
//! The values of a prefix are known at the time if no load is performed before a load that it depends on, which is why models that allow that have
//! no moments ([`supports`]). Under rule 2 a register may have to wait for an outstanding load; an invariant that reads such a register is refused.

use cyrano_ir::dataflow::loaded_registers;
use cyrano_ir::{AccessKind, Invariant, Program};
use cyrano_memory::{Dependencies, Model};

use crate::refusal::{Inexact, Refusal};

/// Whether every invariant has a value at every moment, under this model.
pub fn supports(program: &Program, model: &Model, invariant: &Invariant) -> Result<(), Refusal> {
    let name = || model.name.clone();
    if model.cat().is_some() {
        return Err(Refusal::Inexact(Inexact::NoMoments { model: name() }));
    }
    let parameters = model.reordering();
    if parameters.serial || parameters.own_order {
        return Err(Refusal::Inexact(Inexact::NoMoments { model: name() }));
    }
    let in_order = |kind| parameters.keeps_all_after(kind);
    if in_order(AccessKind::Load) && in_order(AccessKind::Rmw) {
        return Ok(());
    }
    if parameters.dependencies != Dependencies::ALL {
        return Err(Refusal::Inexact(Inexact::NoMoments { model: name() }));
    }
    for thread in program.thread_ids() {
        let loaded = loaded_registers(program.thread(thread));
        if let Some(register) = invariant.registers(thread).into_iter().find(|register| loaded.contains(*register)) {
            let thread = program.thread(thread);
            let local = format!("{}.{}", thread.name, thread.registers[register.index()].name);
            return Err(Refusal::Inexact(Inexact::PendingLocal { local, model: name() }));
        }
    }
    Ok(())
}
