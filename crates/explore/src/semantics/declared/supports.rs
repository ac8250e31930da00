//! Which programs can be run by their own order.

use cyrano_engine::{Inexact, Refusal};
use cyrano_ir::dataflow::FRESH;
use cyrano_ir::{FenceSet, Op, Place, Program, Thread, ThreadId, TxEvent};

use crate::semantics::declared::region::{MOST_UNITS, largest};

/// Refuses what [`super::look`] cannot represent: atomic sections with branches or choices, partial fences. Timestamps, and transactions that begin and end again and again, are
/// for questions about progress.
pub(crate) fn supports(program: &Program, about_progress: bool) -> Result<(), Refusal> {
    let refuse = |reason: String| Err(Refusal::Inexact(Inexact::OwnOrder(reason)));
    if program.has_timestamps() && !about_progress || program.setup.is_some() {
        return refuse("timestamps and setup threads do not go together with an order of the program's own".into());
    }
    for thread in program.thread_ids() {
        let name = &program.thread(thread).name;
        if largest(program, thread) > MOST_UNITS {
            return refuse(format!("thread {name} has more than {MOST_UNITS} accesses between two barriers"));
        }
        if !about_progress && program.thread(thread).code.iter().any(|instr| matches!(instr.op, Op::Transaction(_))) {
            return refuse(format!("thread {name} goes on for ever"));
        }
        if let Some(pc) = odd_section(program, thread) {
            return refuse(format!("instruction {pc} of thread {name} decides within an atomic section"));
        }
    }
    Ok(())
}

/// A branch, a jump or a choice within an atomic section, or a fence that is not a full one.
fn odd_section(program: &Program, thread: ThreadId) -> Option<usize> {
    let mut inside = false;
    program.thread(thread).code.iter().position(|instr| match &instr.op {
        Op::AtomicBegin => {
            inside = true;
            false
        }
        Op::AtomicEnd => {
            inside = false;
            false
        }
        Op::Branch { .. } | Op::Jump(_) => inside,
        // But a name that nobody holds.
        Op::Choose { dst, .. } => inside && !is_fresh(program.thread(thread), dst),
        Op::Fence(fence) => !fence.pairs().contains(FenceSet::FULL),
        Op::Transaction(TxEvent::ReadFinish) => true,
        Op::Transaction(_) => inside,
        _ => false,
    })
}

/// Whether a name that nobody holds is chosen into this register.
fn is_fresh(thread: &Thread, dst: &Place) -> bool {
    matches!(dst, Place::Reg(register) if thread.registers[register.index()].name.starts_with(FRESH))
}
