//! What is decided at the beginning of a region is left behind (reduction `settled-prefixes`).
//!
//! A thread stands at the first instruction that is not decided: an access that has not been performed, a choice that has not been made, a
//! barrier, or something that goes wrong. What was performed before that is in the registers, and no longer in the queue. So a thread that
//! runs in order has an empty queue, registers that are not live are forgotten as everywhere, and paths that have read different things
//! are one as soon as the difference does not matter.
//!
//! **Argument.** Everything before that instruction is executed in any case, or in no case, with values that are known, so walking the region from
//! there gives the same registers and the same ways as walking it from its start. What is lost is that later instructions follow units
//! that were left behind. All of these have been performed, so they are in the way of nobody (`must`), and nothing that is performed from now on
//! comes before one of them. Only of a pair that was performed against the order of the text, and of which it is open whether it had to be in
//! order, must the one that came too late be kept: so a thread does not pass it until the pair is decided. An assertion is passed
//! if it holds; where assertions are what is asked about, only if nothing behind it has been performed, because a guess that turns out wrong exercises none.

use cyrano_ir::Op;

use crate::semantics::declared::look::other;
use crate::semantics::declared::region::{Region, is_barrier};
use crate::semantics::declared::sight::Look;
use crate::semantics::local::{eval, register};
use crate::semantics::state::{Data, Entry, State, What};
use crate::semantics::step::Stepper;

impl Stepper<'_> {
    /// Leaves behind what is decided, in a state that looks like this.
    pub(super) fn settle(&mut self, state: &mut State, thread: usize, region: &Region, look: &Look) {
        let own = &mut state.threads[thread];
        forget_decided(&mut own.queue, region, look);
        if !self.m.config.settled_prefixes {
            return;
        }
        let regs = &mut state.regs[self.m.threads[thread].base..];
        while let Some(next) = self.passes(own.pc, &own.queue, regs, thread) {
            own.pc = next;
        }
        let pc = own.pc;
        own.queue.retain(|entry| entry.instr >= pc);
    }

    /// Passes an instruction, or a whole section, if it is decided; says which one comes next.
    fn passes(&mut self, pc: u32, queue: &[Entry], regs: &mut [i128], thread: usize) -> Option<u32> {
        let op = self.m.op(thread, pc);
        if is_barrier(op) {
            return None;
        }
        match op {
            Op::Jump(to) => Some(to.0),
            Op::Branch { cond, then_to, else_to } => {
                eval(cond, regs).ok().map(|holds| if holds != 0 { then_to.0 } else { else_to.0 })
            }
            Op::AtomicBegin => {
                let end = self.end_of_section(thread, pc);
                let mut accesses = (pc..end).filter(|pc| self.m.op(thread, *pc).access_kind().is_some());
                if !accesses.all(|pc| performed(queue, pc).is_some() && !is_late(queue, pc)) {
                    return None;
                }
                // If something goes wrong in the middle, nothing has happened.
                let before = regs.to_vec();
                let passed = (pc + 1..end).all(|pc| self.passes_one(pc, queue, regs, thread));
                if !passed {
                    regs.copy_from_slice(&before);
                }
                passed.then_some(end + 1)
            }
            _ => self.passes_one(pc, queue, regs, thread).then_some(pc + 1),
        }
    }

    /// Passes an instruction that neither jumps nor begins a section, if it is decided.
    fn passes_one(&mut self, pc: u32, queue: &[Entry], regs: &mut [i128], thread: usize) -> bool {
        let op = self.m.op(thread, pc);
        let value = match op {
            Op::Assign { value, .. } => eval(value, regs).ok(),
            Op::Assume(cond) | Op::Limit { cond, .. } => return matches!(eval(cond, regs), Ok(holds) if holds != 0),
            Op::Assert { cond, .. } => {
                let early = self.m.asks_for_assertions && queue.iter().any(|entry| entry.instr > pc);
                let holds = !early && matches!(eval(cond, regs), Ok(holds) if holds != 0);
                self.notes.asserted |= holds;
                return holds;
            }
            Op::Access(_) | Op::Choose { .. } => performed(queue, pc).filter(|_| !is_late(queue, pc)),
            _ => return true,
        };
        match (value, op.dst().map(|dst| register(dst, regs))) {
            (Some(value), Some(Ok(register))) => regs[register as usize] = value,
            (Some(_), None) => {}
            _ => return false,
        }
        true
    }

    fn end_of_section(&self, thread: usize, begin: u32) -> u32 {
        let end = (begin..).find(|pc| matches!(self.m.op(thread, *pc), Op::AtomicEnd));
        end.expect("a section ends")
    }
}

/// What was performed at an instruction.
fn performed(queue: &[Entry], pc: u32) -> Option<i128> {
    let done = &queue[..queue.partition_point(|entry| entry.what == What::Assign)];
    let at = done.binary_search_by_key(&pc, |entry| entry.instr).ok()?;
    match done[at].data {
        Data::Known(value, _) => Some(value),
        Data::Waiting(_) => None,
    }
}

/// Whether an access came too late, perhaps.
fn is_late(queue: &[Entry], pc: u32) -> bool {
    queue.iter().any(|entry| entry.what == What::Assert && other(entry) == pc)
}

/// Forgets pairs of which it is decided that they need not be in order.
pub(super) fn forget_decided(queue: &mut Vec<Entry>, region: &Region, look: &Look) {
    queue.retain(|entry| entry.what == What::Assign || look.may_follow(region, entry.instr, other(entry)));
}
