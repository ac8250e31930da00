//! Accesses as they are performed: from the queue, or at the program counter.

use cyrano_engine::{Access, Violation};
use cyrano_ir::{AccessKind, EvalError, InstrId, Op, ThreadId};

use super::local::location;
use super::queue::{Own, modify};
use super::state::{Data, State};
use super::step::{Stepper, Successor};
use crate::faults::Fault;

impl Stepper<'_> {
    /// Performs the access at a position of the queue.
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

    /// Marks the thread's operation as under way.
    pub(crate) fn after_access(&mut self, successor: &mut Successor, pc: u32) {
        let info = &self.m.threads[successor.thread];
        if self.m.model.reordering().serial && (!info.has_operations || info.in_operation[pc as usize]) {
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
