//! Out-of-order execution by the program's own order (axiom 9 of `cyrano_memory`; Lesani and Palsberg, section 4).
//!
//! The code of a thread falls into *regions*, from one barrier to the next: a call, a response, a full fence. Within a region a thread
//! performs its accesses in any order that the program's own order allows. Its part of the state is where the region starts, the registers
//! there, and which accesses of the region have been performed with what they read (kept in the queue, by
//! instruction). Everything else is computed from that by walking the region's code ([`look`]): which registers are known, which
//! instructions are surely executed, surely not, or maybe.
//!
//! **Exactness.** What an access follows (axiom 9) hangs on the path and on values, so it is found out while the region is walked: what it
//! follows in any case, and what it may have to follow (`follow`). An access may be performed when all that it follows in any case has been and
//! its address and operands are known. An access that is only *maybe* executed may be performed as well: that is a guess, and
//! when it turns out wrong the state is dropped. So is a state in which something performed turns out to follow something that has
//! not been. That leaves an access that comes later than one of which it is still open whether it follows: the state remembers
//! such a pair until it is decided. Where something goes wrong while others are in the middle of a region, it is made sure that
//! these regions can be completed (`witness`): what rests on a wrong guess is no execution. When the region is done everything is known, so an execution survives exactly if the order of
//! its accesses is one that the axiom allows. Chains of more than one link need no care: each link between accesses is kept on its own.
//!
//! **Steps.** A step makes the choices that come first, passes the call that comes next, performs one access, and passes the
//! response if the region ends with it; see `values` for why the call waits for the access and the response does not wait.

use std::sync::{Arc, PoisonError};

use cyrano_engine::{Access, Violation};
use cyrano_ir::{AccessKind, InstrId, Op, OwnOrder, ThreadId};

use crate::semantics::declared::look::{Choice, Look, Ready, look, other};
use crate::semantics::declared::partial::{eval, location, set};
use crate::semantics::declared::region::Region;
use crate::semantics::machine::Machine;
use crate::semantics::queue::modify;
use crate::semantics::state::{Data, Entry, State, What};
use crate::semantics::step::{Stepper, Successor, Successors, record_error};

mod follow;
mod look;
mod partial;
mod region;
mod supports;
mod witness;

pub(crate) use region::Region as OwnRegion;
pub(crate) use supports::supports;
pub(crate) use witness::{can_complete, complete, renumber};

impl Machine<'_> {
    /// The region that a thread is in.
    fn region(&self, thread: usize, start: u32, order: &OwnOrder) -> Arc<Region> {
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        let same = self.model.reordering().keeps(AccessKind::Store, AccessKind::Store, true);
        let make = || Arc::new(Region::new(self.program, ThreadId::new(thread), start, order, same));
        regions.entry((thread, start)).or_insert_with(make).clone()
    }

    fn look(&self, state: &State, thread: usize, region: &Region) -> Look {
        let base = self.threads[thread].base;
        look(self.program, region, &state.threads[thread].queue, &state.regs[base..])
    }

    /// The section that a thread waits at, if it has nothing else to do.
    pub(crate) fn own_blocked(&self, state: &State, thread: usize) -> Option<InstrId> {
        let region = self.region(thread, state.threads[thread].pc, self.own_order?);
        let look = self.look(state, thread, &region);
        let [ready] = &look.ready[..] else { return None };
        let section = matches!(self.op(thread, ready.pc), Op::AtomicBegin);
        (section && look.choices.is_empty() && !look.wrong).then_some(InstrId(ready.pc))
    }
}

impl Machine<'_> {
    /// Whether a step makes a choice of which it is still open whether it has to be made.
    pub(crate) fn chooses_ahead(&self, state: &State, step: &Successor) -> bool {
        let Some(order) = self.own_order else { return false };
        let mut state = state.clone();
        step.own_choices.iter().any(|(thread, pc, value)| {
            let choices = self.choices_at(&mut state, *thread, *pc, order);
            insert(&mut state, *thread, *pc, *value);
            choices.iter().any(|choice| choice.pc == *pc && !choice.certain)
        })
    }

    /// The choices of the region that an instruction is in: the thread's own one, or the next if that is done.
    fn choices_at(&self, state: &mut State, thread: usize, pc: u32, order: &OwnOrder) -> Vec<Choice> {
        loop {
            let region = self.region(thread, state.threads[thread].pc, order);
            let look = self.look(state, thread, &region);
            let Some((exit, regs)) = look.exit.filter(|(exit, _)| *exit < pc) else { return look.choices };
            let base = self.threads[thread].base;
            for (register, value) in region.registers.iter().zip(regs) {
                state.regs[base + *register as usize] = value;
            }
            state.threads[thread].pc = exit + 1;
            state.threads[thread].queue.clear();
        }
    }
}

impl Stepper<'_> {
    /// All steps of a thread. One in which something goes wrong counts only if the guesses of the other threads can be right.
    pub(crate) fn own_steps(&mut self, order: &OwnOrder, state: &State, thread: usize, out: &mut Successors) {
        let first = out.len();
        self.own_steps_by_guess(order, state, thread, out);
        for index in first..out.len() {
            if out.at(index).event.is_some() {
                let after = out.at(index).state.clone();
                let notes = self.notes;
                out.at(index).dropped |= !witness::can_be(self, order, &after, thread);
                self.notes = notes;
            }
        }
    }

    /// All steps of a thread, whether or not the guesses that were made can be right.
    fn own_steps_by_guess(&mut self, order: &OwnOrder, state: &State, thread: usize, out: &mut Successors) {
        if self.m.done(state, thread) || self.m.rests(thread) {
            return;
        }
        let start = Successor { state: state.clone(), thread, ..Successor::default() };
        let mut work = vec![(start, false)];
        while let Some((successor, acted)) = work.pop() {
            if successor.event.is_some() {
                out.push(successor);
                continue;
            }
            self.own_step(order, successor, acted, &mut work, out);
        }
    }

    fn own_step(
        &mut self,
        order: &OwnOrder,
        mut successor: Successor,
        acted: bool,
        work: &mut Vec<(Successor, bool)>,
        out: &mut Successors,
    ) {
        let thread = successor.thread;
        let region = self.m.region(thread, successor.state.threads[thread].pc, order);
        let look = self.m.look(&successor.state, thread, &region);
        if look.wrong {
            return;
        }
        if let Some(pc) = look.limited {
            self.limited(thread, pc);
        }
        if look.limited.is_some() || look.dropped {
            // Others may go on; this thread does not.
            return if acted {
                out.push(successor)
            };
        }
        if let Some((pc, error)) = look.error {
            record_error(&mut successor.event, thread, pc, error);
            return work.push((successor, true));
        }
        if let Some(choice) = look.choices.iter().find(|choice| choice.certain) {
            return if acted { out.push(successor) } else { self.fork_choice(successor, choice.pc, work) };
        }
        if let Some((pc, regs)) = look.exit {
            self.notes.asserted |= look.asserted;
            if let Some(instr) = look.failed.filter(|_| self.m.judge_assertions) {
                let failed = Violation::Assertion { thread: ThreadId::new(thread), instr: InstrId(instr) };
                successor.event = Some(failed);
            }
            let base = self.m.threads[thread].base;
            for (register, value) in region.registers.iter().zip(regs) {
                successor.state.regs[base + *register as usize] = value;
            }
            return self.leave_region(successor, acted, pc, work, out);
        }
        if acted {
            return out.push(successor);
        }
        for ready in &look.ready {
            self.perform_own(&successor, &region, &look, ready, work);
        }
        for choice in &look.choices {
            self.fork_choice(successor.clone(), choice.pc, work);
        }
    }

    /// Makes a choice in each possible way.
    fn fork_choice(&mut self, successor: Successor, pc: u32, work: &mut Vec<(Successor, bool)>) {
        let Op::Choose { from, .. } = self.m.op(successor.thread, pc) else { return };
        for value in from.iter().rev() {
            let mut chosen = successor.clone();
            chosen.own_choices.push((successor.thread, pc, *value));
            insert(&mut chosen.state, successor.thread, pc, *value);
            work.push((chosen, false));
        }
    }

    /// Everything in the region is done: passes the barrier, or rests before it.
    fn leave_region(
        &mut self,
        mut successor: Successor,
        mut acted: bool,
        pc: u32,
        work: &mut Vec<(Successor, bool)>,
        out: &mut Successors,
    ) {
        let thread = successor.thread;
        successor.state.threads[thread].pc = pc;
        successor.state.threads[thread].queue.clear();
        let op = self.m.op(thread, pc);
        let rests = match op {
            Op::Halt => true,
            Op::Invoke { .. } => acted,
            _ => false,
        };
        if rests || successor.event.is_some() {
            return out.push(successor);
        }
        if crate::criteria::values::speaks(op) {
            self.speak(&mut successor, pc);
            if successor.dropped {
                return;
            }
            acted |= matches!(op, Op::Respond(_));
            if let Some(said) = successor.accesses.last_mut() {
                said.index = pc;
            }
        }
        successor.state.threads[thread].pc = pc + 1;
        work.push((successor, acted));
    }

    /// Performs an access or an atomic section, if it can be.
    fn perform_own(
        &mut self,
        successor: &Successor,
        region: &Region,
        look: &Look,
        ready: &Ready,
        work: &mut Vec<(Successor, bool)>,
    ) {
        let thread = successor.thread;
        let mut next = successor.clone();
        invert(&mut next.state, thread, region, look, ready.pc);
        let mut regs = ready.regs.clone();
        if !matches!(region.op(ready.pc), Op::AtomicBegin) {
            if self.access_own(&mut next, region, ready.pc, &mut regs) {
                work.push((next, true));
            }
            return;
        }
        for pc in ready.pc + 1.. {
            let op = region.op(pc);
            let open = match op {
                Op::AtomicEnd => break,
                Op::Assume(cond) => matches!(eval(cond, &regs), Some(Ok(holds)) if holds != 0),
                Op::Limit { cond, .. } => {
                    let holds = matches!(eval(cond, &regs), Some(Ok(holds)) if holds != 0);
                    if !holds {
                        self.limited(thread, pc);
                    }
                    holds
                }
                Op::Assign { dst, value } => {
                    // What goes wrong in here is found when the region is looked at again.
                    let value = eval(value, &regs).map(|value| value.unwrap_or(0));
                    value.is_some() && set(dst, &mut regs, value).is_ok()
                }
                Op::Assert { .. } => true,
                _ => self.access_own(&mut next, region, pc, &mut regs),
            };
            if !open {
                return;
            }
        }
        work.push((next, true));
    }

    /// Performs one access; false if something that it needs is not known.
    fn access_own(&mut self, next: &mut Successor, region: &Region, pc: u32, regs: &mut [Option<i128>]) -> bool {
        let thread = next.thread;
        let op = region.op(pc);
        let (Some(kind), Some(addr)) = (op.access_kind(), op.addr()) else { return false };
        let Some(Ok(loc)) = location(self.m.program, addr, regs) else { return false };
        let mut operands = op.operands().into_iter().map(|operand| eval(operand, regs));
        let mut operand = || operands.next().map_or(Some(0), |value| value.map(|value| value.unwrap_or(0)));
        let (Some(first), Some(second)) = (operand(), operand()) else { return false };
        let cell = &mut next.state.memory[loc as usize];
        let old = *cell;
        let mut access = Access { thread: ThreadId::new(thread), index: pc, read: None, written: None };
        match kind {
            AccessKind::Load => access.read = Some(old),
            AccessKind::Store => access.written = Some(first),
            AccessKind::Rmw => {
                access.read = Some(old);
                access.written = modify(op, old, first, second).unwrap_or_else(|error| {
                    record_error(&mut next.event, thread, pc, error);
                    Some(0)
                });
            }
            AccessKind::Mark => return false,
        }
        if let Some(value) = access.written {
            *cell = value;
        }
        if let Some(Err(error)) = op.dst().map(|dst| set(dst, regs, access.read)) {
            record_error(&mut next.event, thread, pc, error);
        }
        next.accesses.push(access);
        insert(&mut next.state, thread, pc, access.read.unwrap_or(0));
        true
    }
}

/// Notes that something was performed.
fn insert(state: &mut State, thread: usize, pc: u32, value: i128) {
    let queue = &mut state.threads[thread].queue;
    let at = queue.partition_point(|entry| entry.what == What::Assign && entry.instr < pc);
    queue.insert(at, Entry::new(What::Assign, pc, 0, Data::Known(value, 0)));
}

/// Remembers which of the performed units may turn out to follow the one that is performed now, and forgets pairs that are decided.
fn invert(state: &mut State, thread: usize, region: &Region, look: &Look, pc: u32) {
    let queue = &mut state.threads[thread].queue;
    let open = |first: u32, late: u32| {
        let unit = region.unit(late);
        look.performed.iter().any(|(pc, may)| *pc == first && unit.is_some_and(|unit| may.contains(unit)))
    };
    queue.retain(|entry| entry.what == What::Assign || open(entry.instr, other(entry)));
    let Some(late) = (pc..).find(|pc| region.unit(*pc).is_some()) else { return };
    let mut found: Vec<u32> =
        look.performed.iter().map(|(first, _)| *first).filter(|first| open(*first, late)).collect();
    found.sort_unstable();
    let pair = |first: u32| Entry::new(What::Assert, first, 0, Data::Known(late.into(), 0));
    queue.extend(found.into_iter().map(pair));
    let done = queue.partition_point(|entry| entry.what == What::Assign);
    queue[done..].sort_by_key(|entry| (entry.instr, other(entry)));
}
