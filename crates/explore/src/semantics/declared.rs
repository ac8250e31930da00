//! Out-of-order execution by the program's own order (axiom 9 of `cyrano_memory`; Lesani and Palsberg, section 4).
//!
//! The code of a thread falls into *regions*, from one barrier to the next: a call, a response, a full fence. Within a region a thread
//! performs its accesses in any order that the program's own order allows. Its part of the state is where the region starts, the registers
//! there, and which accesses of the region have been performed with what they read (kept in the queue, by
//! instruction); what is decided up to the first access that is open is left behind (`settle`). Everything else is computed from that by walking the region's code ([`look`]): which registers are known, which
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
//! **Choices.** A choice that is made in any case is made at once. One that is only *maybe* made (a basic register's arbitrary value, while it is open
//! whether the read meets a write) waits until an access that is in order needs something unknown (`Look::waits`; reduction `lazy-choices`). No execution
//! is lost: take one, and make each of its choices only when its next access needs it. With fewer choices made less is known, so an access
//! has to follow no more than before (`must` grows with what is known); it is in order, and either it is ready or it waits, and then the choices are made
//! one by one. Whether it was right is found out when the choice is made, like everything that becomes known later.
//!
//! **Steps.** A step makes the choices that come first, passes the call that comes next, performs one access, and passes the
//! response if the region ends with it; see `values` for why the call waits for the access and the response does not wait.

use std::sync::Arc;

use cyrano_engine::{Access, Violation};
use cyrano_ir::{AccessKind, InstrId, Op, OwnOrder, ThreadId};
use rustc_hash::FxHashMap;

use crate::semantics::declared::look::{look, other};
use crate::semantics::declared::partial::{eval, location, set};
use crate::semantics::declared::settle::forget_decided;
use crate::semantics::declared::sight::{Choice, Ready};
use crate::semantics::machine::Machine;
use crate::semantics::queue::modify;
use crate::semantics::state::{Data, Entry, State, What};
use crate::semantics::step::{Stepper, Successor, Successors, record_error};

mod follow;
mod look;
mod partial;
mod region;
mod settle;
mod sight;
mod supports;
mod witness;

pub(crate) use region::{Region, Regions, Units, behind_barrier};
pub(crate) use sight::{Look, Open};
pub(crate) use supports::supports;
pub(crate) use witness::{can_complete, complete, renumber};

impl Machine<'_> {
    /// The region that a thread is in.
    fn region(&self, thread: usize, pc: u32, order: &OwnOrder) -> Arc<Region> {
        self.regions.of(thread, pc, |start| Region::new(self, ThreadId::new(thread), start, order))
    }

    fn look(&self, state: &State, thread: usize, region: &Region) -> Look {
        let (base, own) = (self.threads[thread].base, &state.threads[thread]);
        look(self.program, region, own.pc, &own.queue, &state.regs[base..])
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

impl Stepper<'_> {
    /// Whether a thread can do nothing but wait at sections that are shut, and whether it has stopped for an assumption. What it could perform on trust
    /// only does not count: nobody has to.
    pub(crate) fn own_waits(&mut self, order: &OwnOrder, state: &State, thread: usize) -> (bool, bool) {
        let known = self.looked(order, state, thread);
        let (region, look) = (&known.0, &known.1);
        let stopped = look.dropped || look.limited.is_some();
        if look.wrong || stopped || look.error.is_some() || look.exit.is_some() {
            return (false, stopped);
        }
        let notes = self.notes;
        let start = Successor { state: state.clone(), thread, ..Successor::default() };
        let shut = |stepper: &mut Self, ready: &Ready| {
            let mut opened = Vec::new();
            stepper.perform_own(&start, region, look, ready, &mut opened);
            matches!(region.op(ready.pc), Op::AtomicBegin) && opened.is_empty()
        };
        let mut certain = look.ready.iter().filter(|ready| ready.certain).peekable();
        let waits = certain.peek().is_some() && certain.all(|ready| shut(self, ready));
        self.notes = notes;
        (waits && !look.choices.iter().any(|choice| choice.certain), false)
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
            state.threads[thread].pc = behind_barrier(self.program, ThreadId::new(thread), exit);
            state.threads[thread].queue.clear();
        }
    }
}

/// What regions look like, by thread and the bytes of its part: what a thread can do depends on nothing else.
pub(crate) type Looks = FxHashMap<(usize, Box<[u8]>), Arc<(Arc<Region>, Look)>>;

/// Beyond so many all are forgotten: it is only a cache.
const MOST_LOOKS: usize = 1 << 14;

impl Stepper<'_> {
    /// The region that a thread is in, and what it looks like.
    pub(crate) fn looked(&mut self, order: &OwnOrder, state: &State, thread: usize) -> Arc<(Arc<Region>, Look)> {
        let mut bytes = Vec::with_capacity(64);
        self.m.encode_thread(state, thread, &mut bytes);
        let key = (thread, bytes.into_boxed_slice());
        if let Some(known) = self.looks.get(&key) {
            return Arc::clone(known);
        }
        let region = self.m.region(thread, state.threads[thread].pc, order);
        let look = self.m.look(state, thread, &region);
        let known = Arc::new((region, look));
        if self.looks.len() >= MOST_LOOKS {
            self.looks.clear();
        }
        self.looks.insert(key, Arc::clone(&known));
        known
    }

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
    pub(crate) fn own_steps_by_guess(&mut self, order: &OwnOrder, state: &State, thread: usize, out: &mut Successors) {
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
        let known = self.looked(order, &successor.state, thread);
        let (region, look) = (&known.0, &known.1);
        if look.wrong {
            return;
        }
        self.note_sums(thread, &look.sums);
        if let Some(pc) = look.limited {
            self.limited(thread, pc);
        }
        if look.limited.is_some() || look.dropped {
            // Others may go on; this thread does not. Where it could have chosen otherwise, that says all (`assume`).
            let counts = self.m.stubborn.is_none() && self.m.names.is_none();
            if acted && (region.may_stop || counts) {
                self.settle(&mut successor.state, thread, region, look);
                out.push(successor);
            }
            return;
        }
        if let Some((pc, error)) = look.error {
            record_error(&mut successor.event, thread, pc, error);
            return work.push((successor, true));
        }
        if let Some(choice) = look.choices.iter().find(|choice| choice.certain) {
            // Where nothing else is left of a call, its response does not wait for another step.
            let last = !look.accesses_left && !successor.state.threads[thread].queue.is_empty();
            if acted && !last {
                self.settle(&mut successor.state, thread, region, look);
                out.push(successor);
            } else {
                successor.moves = true;
                // With stubborn sets a choice within a call is a step of its own. For progress every choice is: who has chosen may have to wait.
                let acted = acted || self.m.names.is_some() || self.m.stubborn.is_some() && region.size > 0;
                self.fork_choice((successor, acted), choice.pc, work);
            }
            return;
        }
        if let Some((pc, regs)) = &look.exit {
            self.notes.asserted |= look.asserted;
            if let Some(instr) = look.failed.filter(|_| self.m.judge_assertions) {
                let failed = Violation::Assertion { thread: ThreadId::new(thread), instr: InstrId(instr) };
                successor.event = Some(failed);
            }
            let base = self.m.threads[thread].base;
            for (register, value) in region.registers.iter().zip(regs) {
                successor.state.regs[base + *register as usize] = *value;
            }
            return self.leave_region(successor, acted, *pc, work, out);
        }
        if acted {
            self.settle(&mut successor.state, thread, region, look);
            return out.push(successor);
        }
        for ready in &look.ready {
            self.perform_own(&successor, region, look, ready, work);
        }
        if look.waits || !self.m.config.lazy_choices {
            let alone = self.m.stubborn.is_some() || self.m.names.is_some();
            for choice in &look.choices {
                self.fork_choice((successor.clone(), alone), choice.pc, work);
            }
        }
    }

    /// Makes a choice in each possible way.
    fn fork_choice(&mut self, (successor, acted): (Successor, bool), pc: u32, work: &mut Vec<(Successor, bool)>) {
        for value in self.values_for(&successor, pc).into_iter().rev() {
            let mut chosen = successor.clone();
            choose(&mut chosen, pc, value);
            work.push((chosen, acted));
        }
    }

    /// What can be chosen at an instruction: any of the values, or if it is a name the one that is taken.
    fn values_for(&mut self, successor: &Successor, pc: u32) -> Vec<i128> {
        let Op::Choose { from, .. } = self.m.op(successor.thread, pc) else { return Vec::new() };
        match self.m.name_for(&successor.state, successor.thread, pc) {
            None => from.clone(),
            Some(name) => {
                self.notes.out_of_names |= name.is_none();
                name.into_iter().collect()
            }
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
        successor.moves = true;
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
        // With stubborn sets a call is a step of its own.
        acted |= matches!(op, Op::Respond(_)) || self.m.stubborn.is_some();
        if let Op::Transaction(event) = op {
            self.happens(&mut successor, *event);
            if let Some(event) = successor.accesses.last_mut() {
                event.index = pc;
            }
            acted = true;
        }
        if crate::criteria::values::speaks(op) {
            // What is said depends on more than the thread's own part.
            if self.touching.is_none() {
                self.speak(&mut successor, pc);
            }
            if successor.dropped {
                return;
            }
            if let Some(said) = successor.accesses.last_mut() {
                said.index = pc;
            }
        }
        successor.leaves.push((successor.accesses.len(), successor.own_choices.len()));
        successor.state.threads[thread].pc = behind_barrier(self.m.program, ThreadId::new(thread), pc);
        work.push((successor, acted));
    }

    /// The locations that the next step of a thread may touch, whatever they hold.
    pub(crate) fn own_touched(&mut self, order: &OwnOrder, state: &State, thread: usize) -> Vec<(u32, AccessKind)> {
        let (notes, speaks) = (self.notes, self.speaks);
        self.touching = Some(Vec::new());
        self.own_steps_by_guess(order, state, thread, &mut Successors::default());
        (self.notes, self.speaks) = (notes, speaks);
        self.touching.take().unwrap_or_default()
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
        if let Some(touched) = &mut self.touching {
            return region.touches(self.m.program, ready, touched);
        }
        let mut next = successor.clone();
        next.moves = ready.certain;
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
                Op::Choose { dst, .. } => {
                    // Only names are chosen here, and there is one to be taken.
                    let Some(value) = self.values_for(successor, pc).first().copied() else { return };
                    choose(&mut next, pc, value);
                    set(dst, &mut regs, Some(value)).is_ok()
                }
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
        if region.timed {
            self.note_sums_of_access((thread, pc), next.state.memory[loc as usize], &region.registers, regs);
        }
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
        // What nobody wants is not remembered.
        insert(&mut next.state, thread, pc, access.read.filter(|_| op.dst().is_some()).unwrap_or(0));
        true
    }
}

/// Makes a choice.
fn choose(successor: &mut Successor, pc: u32, value: i128) {
    let thread = successor.thread;
    successor.own_choices.push((thread, pc, value));
    insert(&mut successor.state, thread, pc, value);
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
    forget_decided(queue, region, look);
    let Some(late) = (pc..).find(|pc| region.unit(*pc).is_some()) else { return };
    let mut found: Vec<u32> =
        look.performed.iter().map(|(first, _)| *first).filter(|first| look.may_follow(region, *first, late)).collect();
    found.sort_unstable();
    let pair = |first: u32| Entry::new(What::Assert, first, 0, Data::Known(late.into(), 0));
    queue.extend(found.into_iter().map(pair));
    let done = queue.partition_point(|entry| entry.what == What::Assign);
    queue[done..].sort_by_key(|entry| (entry.instr, other(entry)));
}
