//! Steps: from a resting state to its successors.
//!
//! A step of a thread performs one access (or one atomic section), or takes a decision, and then runs the thread on to its
//! next rest. Between rests only registers, the thread's own queue and its program counter change, which no other thread can
//! see; so it does not matter when that happens, and doing it at once is sound (reduction `macro-steps`).
//!
//! A thread rests at
//! - an access that is not deferred under the model, or an atomic section with one;
//! - a choice: resting there, paths that lead to the same state are found to be the same;
//! - a branch or `assume` whose condition is pending;
//! - a deferred access when the queue is as long as it may get (the result is then `bounded`);
//! - an `assume` or `limit` that failed: this execution is dropped, but what others do in it still counts;
//! - its end;
//! - any local instruction, once it has run for [`PATIENCE`] instructions without a rest, so that a loop without shared
//!   accesses becomes a cycle of states instead of a hang.

use cyrano_engine::{Access, Violation};
use cyrano_ir::{AccessKind, EvalError, InstrId, Op, ThreadId, TxEvent};

use crate::faults::Fault;
use crate::semantics::local::location;
use crate::semantics::machine::Machine;
use crate::semantics::queue::{Own, modify, section_end};
use crate::semantics::state::{Data, State};

/// How many instructions a thread runs between rests at most.
pub(crate) const PATIENCE: usize = 4096;

/// How many successors a state may have; beyond that a search gives up, for only choices in one section can make as many.
pub(crate) const MOST_SUCCESSORS: usize = 1 << 16;

/// A state under construction, and what happened on the way to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Successor {
    pub state: State,
    /// The accesses performed, in order.
    pub accesses: Vec<Access>,
    /// The choices made, in order, each with its thread.
    pub choices: Vec<(usize, i128)>,
    /// The choices made out of order, each with its thread and instruction; see `declared`.
    pub own_choices: Vec<(usize, u32, i128)>,
    /// Whose step it was.
    pub thread: usize,
    /// How a transaction ended in it, if one did.
    pub ended: Option<TxEvent>,
    /// Whether an atomic block committed in it.
    pub block_committed: bool,
    /// Where units ended in it and what they handed on, if that is noted without a shadow to compare it with; see `movers`.
    pub handed_on: Vec<i128>,
    /// Whether another successor stands for it.
    pub dropped: bool,
    /// What went wrong.
    pub event: Option<Violation>,
}

/// Successors, with their buffers kept for the next state.
#[derive(Default)]
pub(crate) struct Successors {
    pool: Vec<Successor>,
    len: usize,
}

impl Successors {
    pub fn clear(&mut self) {
        self.len = 0;
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Successor> {
        self.pool[..self.len].iter_mut()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// A new successor that starts out as a copy of `state`.
    pub fn start(&mut self, state: &State, thread: usize) -> usize {
        let index = self.slot();
        let new = &mut self.pool[index];
        new.state.clone_from(state);
        new.accesses.clear();
        new.choices.clear();
        new.own_choices.clear();
        new.thread = thread;
        new.ended = None;
        new.block_committed = false;
        new.handed_on.clear();
        new.dropped = false;
        new.event = None;
        index
    }

    /// Adds a successor that was made elsewhere.
    pub fn push(&mut self, successor: Successor) {
        let index = self.slot();
        self.pool[index] = successor;
    }

    /// A copy of a successor, at a choice.
    pub fn fork(&mut self, from: usize) -> usize {
        let index = self.slot();
        self.pool[index] = self.pool[from].clone();
        index
    }

    /// Takes back the most recent successor.
    pub fn retract(&mut self, index: usize) {
        self.len -= 1;
        self.pool.swap(index, self.len);
    }

    pub fn at(&mut self, index: usize) -> &mut Successor {
        &mut self.pool[index]
    }

    fn slot(&mut self) -> usize {
        if self.len == self.pool.len() {
            self.pool.push(Successor::default());
        }
        self.len += 1;
        self.len - 1
    }
}

/// What a search wants to know besides the states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// A thread had to stop issuing because its queue was full.
    pub bounded: bool,
    /// An assertion was evaluated.
    pub asserted: bool,
    /// A state has more successors, or takes more bytes, than the engine can hold.
    pub too_large: bool,
    /// A transaction committed.
    pub committed: bool,
    /// A history had more aborted transactions that matter than there is room for.
    pub crowded: bool,
    /// The thread and the instruction of a `limit` that does not always hold.
    pub limited: Option<(usize, u32)>,
    /// In some state only the steps of an ample set were taken.
    pub ample: bool,
    /// A timestamp was incremented across a gap that ranking may have shortened.
    pub gap_too_small: bool,
    /// A command was left out because it only repeats a store.
    pub repeats: bool,
    /// A read of a transaction finished, and a transaction stored.
    pub read: bool,
    pub stored: bool,
    /// A transaction committed after that; known only where it is looked for, see `exercise`.
    pub committed_read: bool,
    pub committed_store: bool,
}

impl Notes {
    /// The notes that are a matter of yes or no, as bits.
    pub fn bits(self) -> u32 {
        let search = [self.bounded, self.asserted, self.too_large, self.committed, self.crowded];
        let more = [self.gap_too_small, self.ample, self.read, self.stored, self.committed_read, self.committed_store];
        let more = more.into_iter().chain([self.repeats]);
        search.into_iter().chain(more).enumerate().map(|(at, set)| u32::from(set) << at).sum()
    }

    /// Notes from their bits.
    pub fn from_bits(bits: u32, limited: Option<(usize, u32)>) -> Self {
        let set = |at: u32| bits >> at & 1 == 1;
        Self {
            bounded: set(0),
            asserted: set(1),
            too_large: set(2),
            committed: set(3),
            crowded: set(4),
            gap_too_small: set(5),
            ample: set(6),
            read: set(7),
            stored: set(8),
            committed_read: set(9),
            committed_store: set(10),
            repeats: set(11),
            limited,
        }
    }

    /// What either noted.
    pub fn or(self, other: Self) -> Self {
        Self {
            bounded: self.bounded | other.bounded,
            asserted: self.asserted | other.asserted,
            too_large: self.too_large | other.too_large,
            committed: self.committed | other.committed,
            crowded: self.crowded | other.crowded,
            limited: self.limited.or(other.limited),
            ample: self.ample | other.ample,
            gap_too_small: self.gap_too_small | other.gap_too_small,
            read: self.read | other.read,
            stored: self.stored | other.stored,
            committed_read: self.committed_read | other.committed_read,
            committed_store: self.committed_store | other.committed_store,
            repeats: self.repeats | other.repeats,
        }
    }
}

/// Computes successors.
pub(crate) struct Stepper<'m> {
    pub m: &'m Machine<'m>,
    pub notes: Notes,
    /// The timestamps of the state that the current step starts from.
    pub started_with: Vec<(cyrano_ir::dataflow::Class, i128)>,
    /// Which instructions threads have come to; see `reached`.
    pub reached: Vec<bool>,
}

impl<'m> Stepper<'m> {
    pub fn new(m: &'m Machine<'m>) -> Self {
        Self { m, notes: Notes::default(), started_with: Vec::new(), reached: vec![false; m.instructions()] }
    }

    /// The states in which every thread has run to its first rest. More than one if a thread begins with a choice.
    pub fn initial(&mut self, out: &mut Successors) {
        out.clear();
        out.start(&self.m.initial(), 0);
        if self.m.own_order.is_some() {
            return;
        }
        if self.m.program.setup.is_some() {
            self.start_setup(out);
            return self.sort_queues(out, 0);
        }
        for thread in 0..self.m.threads.len() {
            for index in 0..out.len() {
                out.at(index).thread = thread;
                self.drain(out, index, thread);
            }
        }
        self.sort_queues(out, 0);
    }

    /// All successors of a resting state.
    pub fn successors(&mut self, state: &State, out: &mut Successors) {
        out.clear();
        if let Some(order) = self.m.own_order {
            return (0..self.m.threads.len()).for_each(|thread| self.own_steps(order, state, thread, out));
        }
        self.note_timestamps(state);
        match self.m.amid(state) {
            Some(thread) => self.steps_of(state, thread, out),
            None => (0..self.m.threads.len()).for_each(|thread| self.steps_of(state, thread, out)),
        }
        self.run_whole(out);
        self.compare_shadows(out);
    }

    /// The steps of one thread, behind what is there already.
    pub(crate) fn steps_of(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let setup = self.m.unfinished_setup(state);
        let waits = state.running != 0 && usize::from(state.running - 1) != thread;
        if setup.is_some_and(|setup| setup != thread) || waits || self.m.rests(thread) {
            return;
        }
        let from = out.len();
        self.perform_deferred(state, thread, out);
        self.step_at_pc(state, thread, out);
        match setup {
            Some(setup) => {
                self.start_others(setup, out);
                self.sort_queues(out, from);
            }
            None => self.canonicalise(out, from),
        }
    }

    /// One successor for every deferred access that is ready; an atomic section counts as one.
    fn perform_deferred(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let queue = &state.threads[thread].queue;
        let mut position = 0;
        while position < queue.len() {
            if queue[position].access().is_some() {
                if self.m.ready(queue, position) {
                    let index = out.start(state, thread);
                    self.perform_section(out, index, position);
                    self.drain(out, index, thread);
                }
                position = section_end(queue, position).unwrap_or(queue.len());
            }
            position += 1;
        }
    }

    /// Performs the deferred access at `position` and the rest of its atomic section.
    fn perform_section(&mut self, out: &mut Successors, index: usize, mut position: usize) {
        let successor = out.at(index);
        loop {
            let thread = successor.thread;
            let chained = successor.state.threads[thread].queue[position].chained;
            self.perform_entry(successor, position);
            if !chained {
                self.open_blocks(successor, position);
                break;
            }
            let queue = &successor.state.threads[thread].queue;
            let next = (position..queue.len()).find(|p| queue[*p].access().is_some());
            position = next.expect("a section that is performed was issued completely");
        }
    }

    pub(crate) fn perform_entry(&mut self, successor: &mut Successor, position: usize) {
        let thread = successor.thread;
        let state = &mut successor.state;
        let entry = state.threads[thread].queue[position].clone();
        let kind = entry.access().expect("only accesses are performed");
        let loc = entry.loc as usize;
        let mut access = Access { thread: ThreadId::new(thread), index: entry.index, read: None, written: None };
        let mut delivers = None;
        self.m.check_freed(state, &mut successor.event, (thread, entry.instr), entry.loc, kind);
        match (kind, &entry.data) {
            (AccessKind::Load, _) => {
                let own = self.m.own_store(&state.threads[thread].queue, position, entry.loc);
                let value = if let Own::Known(value) = own { value } else { state.memory[loc] };
                access.read = Some(value);
                delivers = Some(value);
            }
            (AccessKind::Store, Data::Known(value, _)) => {
                state.memory[loc] = *value;
                access.written = Some(*value);
            }
            (AccessKind::Store, Data::Waiting(_)) => {
                assert!(self.m.config.has_fault(Fault::IgnoreDataDependency), "a store without a value was performed");
                state.memory[loc] = 0;
            }
            (AccessKind::Mark, _) => unreachable!("an event of a transaction is never deferred"),
            (AccessKind::Rmw, data) => {
                let Data::Known(first, second) = *data else { unreachable!("an operand is pending") };
                let old = state.memory[loc];
                let op = self.m.op(thread, entry.instr);
                access.read = Some(old);
                delivers = Some(old);
                access.written = modify(op, old, first, second).unwrap_or_else(|error| {
                    record_error(&mut successor.event, thread, entry.instr, error);
                    Some(0)
                });
                if let Some(value) = access.written {
                    self.note_memory_increment(op, old);
                    state.memory[loc] = value;
                }
            }
        }
        successor.accesses.push(access);
        self.observe_access(successor, kind, entry.instr, entry.loc, access.written.is_some(), entry.stale);
        self.performs_for_shadow(successor, position);
        self.m.remove_entry(&mut successor.state, thread, position, delivers);
        self.resolve(successor);
        self.m.prune_fences(&mut successor.state, thread);
    }

    /// The step that a thread can take at its program counter, if any.
    fn step_at_pc(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let pc = state.threads[thread].pc;
        let op = self.m.op(thread, pc);
        match op {
            Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } => {
                if op.access_kind().is_some_and(|kind| !self.m.defers(kind)) {
                    let index = out.start(state, thread);
                    if self.access_now(out.at(index), state.threads[thread].queue.len()) {
                        self.after_access(out.at(index), pc);
                        self.drain(out, index, thread);
                    } else {
                        out.retract(index);
                    }
                }
            }
            Op::AtomicBegin if !self.m.config.has_fault(Fault::SplitAtomic) => self.section_now(state, thread, out),
            Op::Halt => {}
            Op::Choose { dst, from } => {
                for value in from {
                    self.step_by_choice(state, thread, dst, *value, out);
                }
            }
            Op::Transaction(event) if !self.m.can_happen(&state.threads[thread].queue, *event) => {}
            Op::Invoke { .. } | Op::Respond(_) => {
                if state.threads[thread].queue.is_empty() {
                    let index = out.start(state, thread);
                    self.pass_call(out, index);
                    if !self.m.returns_wait {
                        self.hurry(out, index);
                    }
                }
            }
            _ => self.wake(state, thread, out),
        }
    }

    /// Makes a choice and, where choices are lazy, performs the access that comes next in the same step.
    ///
    /// *Lazy choices* (reduction `lazy-choices`): a choice and what follows it up to the next access are invisible to the
    /// other threads, so every execution has the same accesses in the same order as one in which each choice is made right
    /// before that access. Only if the choice leads to a deferred access, which could be performed without the next one, or if
    /// the next access cannot be performed now, the state in between is kept.
    fn step_by_choice(
        &mut self,
        state: &State,
        thread: usize,
        dst: &cyrano_ir::Place,
        value: i128,
        out: &mut Successors,
    ) {
        let index = out.start(state, thread);
        self.take_choice(out.at(index), dst, value);
        self.drain(out, index, thread);
        if self.m.limits_repeats && index + 1 == out.len() && self.m.repeats(state, out.at(index)) {
            self.notes.repeats = true;
            return out.retract(index);
        }
        let queue = out.at(index).state.threads[thread].queue.len();
        if queue != state.threads[thread].queue.len() {
            return;
        }
        if self.m.lazy_choices && queue == 0 && matches!(self.rests_at(out, index), Op::Invoke { .. }) {
            self.pass_call(out, index);
        }
        self.hurry(out, index);
    }

    /// Where the thread of a successor rests.
    fn rests_at(&self, out: &mut Successors, index: usize) -> &'m Op {
        let successor = out.at(index);
        self.m.op(successor.thread, successor.state.threads[successor.thread].pc)
    }

    /// A call begins, or a response comes, and the thread runs on.
    fn pass_call(&mut self, out: &mut Successors, index: usize) {
        let successor = out.at(index);
        let thread = successor.thread;
        let pc = successor.state.threads[thread].pc;
        if successor.event.is_none() {
            self.speak(successor, pc);
            successor.state.threads[thread].pc = pc + 1;
            if !successor.dropped {
                self.drain(out, index, thread);
            }
        }
    }

    /// Where choices are lazy, performs the access that the thread of a successor rests at.
    fn hurry(&mut self, out: &mut Successors, index: usize) {
        let next = self.rests_at(out, index);
        let chosen = out.at(index);
        let lazy = self.m.lazy_choices && chosen.event.is_none() && !chosen.dropped;
        if !lazy || next.access_kind().is_none_or(|kind| self.m.defers(kind)) {
            return;
        }
        let thread = chosen.thread;
        let rests = &chosen.state.threads[thread];
        let (between, pc, queue) = (chosen.clone(), rests.pc, rests.queue.len());
        if self.access_now(out.at(index), queue) {
            self.after_access(out.at(index), pc);
            self.drain(out, index, thread);
        } else {
            *out.at(index) = between;
        }
    }

    /// A thread that rests at a local instruction has run out of patience, or waits for a pending condition, or was dropped.
    fn wake(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let pc = state.threads[thread].pc;
        if let Op::Branch { cond, .. } | Op::Assume(cond) | Op::Limit { cond, .. } = self.m.op(thread, pc) {
            if self.m.loads_wait && self.m.capture(state, thread, &[cond]).is_some() {
                return;
            }
            let base = self.m.threads[thread].base;
            let holds = crate::semantics::local::eval(cond, &state.regs[base..]);
            match self.m.op(thread, pc) {
                Op::Assume(_) if holds == Ok(0) => return,
                Op::Limit { .. } if holds == Ok(0) => return self.limited(thread, pc),
                _ => {}
            }
        }
        let index = out.start(state, thread);
        self.drain(out, index, thread);
    }

    /// Notes that a `limit` does not hold.
    pub(crate) fn limited(&mut self, thread: usize, pc: u32) {
        if !self.m.config.has_fault(Fault::ForgetLimits) {
            self.notes.limited.get_or_insert((thread, pc));
        }
    }

    /// Marks the thread's operation as under way.
    pub(crate) fn after_access(&mut self, successor: &mut Successor, pc: u32) {
        let info = &self.m.threads[successor.thread];
        if self.m.model.serial && (!info.has_operations || info.in_operation[pc as usize]) {
            successor.state.running = successor.thread as u16 + 1;
        }
    }

    /// Performs the access at the program counter directly, if nothing in the queue's first `section` entries forbids it.
    /// Some of them may be dropped by that.
    pub(crate) fn access_now(&mut self, successor: &mut Successor, section: usize) -> bool {
        let Successor { state, thread, .. } = successor;
        let thread = *thread;
        let (pc, base) = (state.threads[thread].pc, self.m.threads[thread].base);
        let op = self.m.op(thread, pc);
        let kind = op.access_kind().expect("an access");
        let addr = op.addr().expect("an access has an address");
        let loc = match location(self.m.program, addr, &state.regs[base..]) {
            Ok(loc) => loc,
            Err(error) => return fail(successor, pc, error),
        };
        let queue = &state.threads[thread].queue;
        if self.m.must_wait(queue, section, kind, loc) {
            return false;
        }
        let (data, error) = self.m.operands(state, thread, op);
        if matches!(data, Data::Waiting(_)) {
            return false;
        }
        error.into_iter().for_each(|error| record_error(&mut successor.event, thread, pc, error));
        self.do_access(successor, op, kind, loc, data)
    }

    fn do_access(&mut self, successor: &mut Successor, op: &Op, kind: AccessKind, loc: u32, data: Data) -> bool {
        let thread = successor.thread;
        let state = &mut successor.state;
        let pc = state.threads[thread].pc;
        let index = state.threads[thread].issued;
        let memory = state.memory[loc as usize];
        let Data::Known(first, second) = data else { unreachable!("operands are known") };
        let mut access = Access { thread: ThreadId::new(thread), index, read: None, written: None };
        self.m.check_freed(state, &mut successor.event, (thread, pc), loc, kind);
        match kind {
            AccessKind::Load => {
                let queue = &state.threads[thread].queue;
                access.read = match self.m.own_store(queue, queue.len(), loc) {
                    Own::Unknown => return false,
                    Own::Known(value) => Some(value),
                    Own::Nothing => Some(memory),
                };
            }
            AccessKind::Store => access.written = Some(first),
            AccessKind::Mark => unreachable!("an event of a transaction is not an access"),
            AccessKind::Rmw => {
                access.read = Some(memory);
                access.written = modify(op, memory, first, second).unwrap_or_else(|error| {
                    record_error(&mut successor.event, thread, pc, error);
                    Some(0)
                });
            }
        }
        if access.written.is_some() {
            self.note_increment(state, thread, pc, access.read);
        }
        if kind == AccessKind::Rmw && self.m.config.has_fault(Fault::SplitRmw) {
            let value = access.written.take();
            value
                .into_iter()
                .for_each(|value| state.threads[thread].queue.push(crate::semantics::drain::plain_store(loc, value)));
        }
        if let Some(value) = access.written {
            state.memory[loc as usize] = value;
        }
        if let (Some(value), Some(dst)) = (access.read, op.dst()) {
            let base = self.m.threads[thread].base;
            match crate::semantics::local::register(dst, &state.regs[base..]) {
                Ok(reg) => self.set_register(state, thread, reg, value),
                Err(error) => return fail(successor, pc, error),
            }
        }
        let state = &mut successor.state;
        state.threads[thread].issued += 1;
        state.threads[thread].pc += 1;
        successor.accesses.push(access);
        self.observe_access(successor, kind, pc, loc, access.written.is_some(), false);
        self.issued_for_shadow(successor, pc, true);
        true
    }

    /// Gives a register a known value.
    #[inline]
    pub(crate) fn set_register(&self, state: &mut State, thread: usize, reg: u32, value: i128) {
        let at = self.m.threads[thread].base + reg as usize;
        state.regs[at] = value;
        if self.m.loads_wait {
            state.pending[at] = 0;
        }
    }
}

/// Notes an error of the program in a step that goes on; the first one counts.
pub(crate) fn record_error(event: &mut Option<Violation>, thread: usize, pc: u32, error: EvalError) {
    event.get_or_insert(Violation::Error { thread: ThreadId::new(thread), instr: InstrId(pc), error });
}

/// Notes an error that stops the thread; the step itself counts as taken.
fn fail(successor: &mut Successor, pc: u32, error: EvalError) -> bool {
    record_error(&mut successor.event, successor.thread, pc, error);
    true
}
