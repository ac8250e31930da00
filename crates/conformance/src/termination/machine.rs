//! A machine with store buffers that runs the IR one instruction at a time, written from the axioms (`cyrano_memory`) for `sc`, `tso` and `pso`.
//!
//! A step of the *program* executes one instruction of a thread, or one whole atomic section; a step of the *memory* performs one entry of a buffer.
//! Loads and read-modify-writes are never deferred under these models: they are performed when they are executed, or have to wait.
//! There are no longer steps and no reductions: every program counter is a state.

use cyrano_ir::{
    Access, AccessKind, Addr, EvalError, FinalVar, LocalExpr, Observable, Op, Place, Program, TxEvent, Ty,
};

use super::fair::{Moves, Steps};
use super::queue::{Buffer, Buffering};
use super::section;

/// One thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// Its program counter.
    pub pc: usize,
    /// Its registers.
    pub registers: Vec<i128>,
    /// What it has deferred.
    pub buffer: Buffer,
}

/// A state in full.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The value of each location.
    pub memory: Vec<i128>,
    /// The threads.
    pub threads: Vec<Local>,
}

/// Why an instruction has no successor.
pub enum Halted {
    /// It has to wait.
    Waits,
    /// The execution is dropped.
    Dropped,
    /// It goes wrong.
    Wrong,
}

impl From<EvalError> for Halted {
    fn from(_: EvalError) -> Self {
        Self::Wrong
    }
}

/// A program on such a machine.
pub struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) model: Buffering,
    /// How many entries a buffer holds.
    capacity: usize,
}

impl<'p> Machine<'p> {
    /// The machine, if the program has nothing but what it knows.
    pub fn new(program: &'p Program, model: Buffering, capacity: usize) -> Option<Self> {
        let plain = program.locations.iter().all(|loc| matches!(loc.ty, Ty::Int | Ty::Timestamp | Ty::Pointer));
        let foreign = |op: &Op| matches!(op, Op::Invoke { .. } | Op::Respond(_));
        let known = !program.threads.iter().flat_map(|thread| &thread.code).any(|instr| foreign(&instr.op));
        (plain && known && program.orders.is_empty()).then_some(Self { program, model, capacity })
    }

    /// What a thread stands at.
    pub(super) fn op(&self, thread: usize, pc: usize) -> &'p Op {
        &self.program.threads[thread].code[pc].op
    }

    fn at_halt(&self, state: &State, thread: usize) -> bool {
        matches!(self.op(thread, state.threads[thread].pc), Op::Halt)
    }

    /// Others start when the setup thread, if there is one, is done and all its stores are performed.
    fn started(&self, state: &State, thread: usize) -> bool {
        self.program.setup.is_none_or(|setup| {
            let setup = setup.index();
            setup == thread || self.at_halt(state, setup) && !self.defers(state, setup)
        })
    }

    /// Whether a buffer takes no more entries.
    pub(super) fn is_full(&self, buffer: &Buffer) -> bool {
        self.model != Buffering::Sc && buffer.len() >= self.capacity
    }

    /// Executes one instruction outside of sections that is no choice.
    fn execute(&self, state: &State, thread: usize) -> Result<State, Halted> {
        let mut next = state.clone();
        let local = &mut next.threads[thread];
        let op = self.op(thread, local.pc);
        match op {
            Op::Access(access) => self.access(&mut next, thread, access)?,
            Op::Fence(fence) => local.buffer.fence(fence.pairs()),
            // Only stores are deferred, and the end of a transaction comes after all of them.
            Op::Transaction(TxEvent::Commit | TxEvent::Abort) if !local.buffer.is_empty() => return Err(Halted::Waits),
            _ => {
                local.pc = plain(op, local.pc, &mut local.registers)?;
                return Ok(next);
            }
        }
        next.threads[thread].pc += 1;
        Ok(next)
    }

    fn access(&self, state: &mut State, thread: usize, access: &Access) -> Result<(), Halted> {
        let local = &mut state.threads[thread];
        let loc = self.address(&access.addr, &local.registers)?;
        match access.kind {
            AccessKind::Store if self.model != Buffering::Sc => {
                let value = eval(&local.registers, access.stored().expect("a store has a value"))?;
                local.buffer.push(vec![(loc, value)]);
                Ok(())
            }
            kind if !local.buffer.lets_pass(self.model, kind, loc) => Err(Halted::Waits),
            _ => {
                let old = local.buffer.forwarded(loc).unwrap_or(state.memory[loc]);
                if let Some(new) = read_and_change(access, old, &mut local.registers)? {
                    state.memory[loc] = new;
                }
                Ok(())
            }
        }
    }

    /// The location that an address denotes.
    pub(super) fn address(&self, addr: &Addr, registers: &[i128]) -> Result<usize, EvalError> {
        match addr {
            Addr::Fixed(loc) => Ok(loc.index()),
            Addr::Indexed { array, index } => Ok(self.program.element(*array, eval(registers, index)?)?.index()),
        }
    }
}

impl Steps for Machine<'_> {
    type State = State;

    fn start(&self) -> State {
        let local = |thread: &cyrano_ir::Thread| Local {
            pc: 0,
            registers: thread.registers.iter().map(|register| register.init).collect(),
            buffer: Buffer::default(),
        };
        State { memory: self.program.initial_memory(), threads: self.program.threads.iter().map(local).collect() }
    }

    fn ended(&self, state: &State, thread: usize) -> bool {
        self.started(state, thread) && self.at_halt(state, thread)
    }

    fn stands(&self, state: &State, thread: usize) -> Option<usize> {
        let stands = self.started(state, thread) && !self.at_halt(state, thread);
        stands.then_some(state.threads[thread].pc)
    }

    fn defers(&self, state: &State, thread: usize) -> bool {
        !state.threads[thread].buffer.is_empty()
    }

    fn moves(&self, state: &State, thread: usize) -> Moves<State> {
        if self.ended(state, thread) || !self.started(state, thread) {
            return Moves::default();
        }
        let Local { pc, buffer, .. } = &state.threads[thread];
        match self.op(thread, *pc) {
            Op::AtomicBegin => section::moves(self, state, thread),
            Op::Choose { dst, from } => {
                let chosen = from.iter().map(|value| {
                    let mut next = state.clone();
                    next.threads[thread].pc += 1;
                    set(&mut next.threads[thread].registers, dst, *value)?;
                    Ok(next)
                });
                chosen.map(|next| Moves::of(next, false)).reduce(Moves::and).unwrap_or_default()
            }
            Op::Access(access) if access.kind == AccessKind::Store && self.is_full(buffer) => {
                Moves { able: true, full: true, ..Moves::default() }
            }
            op => Moves::of(self.execute(state, thread), is_mark(op)),
        }
    }

    fn performs(&self, state: &State, thread: usize) -> Vec<(State, bool)> {
        let ready = state.threads[thread].buffer.ready(self.model);
        let after = |place: usize| {
            let mut next = state.clone();
            next.threads[thread].buffer.perform(place, &mut next.memory);
            (next, place == 0)
        };
        ready.into_iter().map(after).collect()
    }

    fn observed(&self, state: &State) -> Vec<i128> {
        let value = |observable: &Observable| match observable.var {
            FinalVar::Reg(thread, reg) => state.threads[thread.index()].registers[reg.index()],
            FinalVar::Loc(loc) => state.memory[loc.index()],
        };
        self.program.observed.iter().map(value).collect()
    }
}

impl Moves<State> {
    fn of(step: Result<State, Halted>, marks: bool) -> Self {
        match step {
            Ok(next) => Self { next: vec![(next, marks)], able: true, ..Self::default() },
            Err(Halted::Waits) => Self::default(),
            Err(Halted::Dropped) => Self { able: true, ..Self::default() },
            Err(Halted::Wrong) => Self { able: true, wrong: true, ..Self::default() },
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.next.extend(other.next);
        Self {
            next: self.next,
            able: self.able || other.able,
            diverges: self.diverges || other.diverges,
            full: self.full || other.full,
            wrong: self.wrong || other.wrong,
        }
    }
}

/// Whether passing this instruction is progress.
pub fn is_mark(op: &Op) -> bool {
    matches!(op, Op::Progress(None))
}

/// An instruction that is about registers only, in a section or not: where it leads. A failed assertion ends nothing.
pub(super) fn plain(op: &Op, pc: usize, registers: &mut [i128]) -> Result<usize, Halted> {
    match op {
        Op::Assign { dst, value } => {
            let value = eval(registers, value)?;
            set(registers, dst, value)?;
        }
        Op::Assert { cond, .. } => _ = eval(registers, cond)?,
        Op::Assume(cond) | Op::Limit { cond, .. } if eval(registers, cond)? == 0 => return Err(Halted::Dropped),
        Op::Branch { cond, then_to, else_to } => {
            return Ok(if eval(registers, cond)? != 0 { then_to } else { else_to }.index());
        }
        Op::Jump(to) => return Ok(to.index()),
        _ => {}
    }
    Ok(pc + 1)
}

/// A load or read-modify-write that finds `old`: sets its register and says what it writes. The operands are as they were before.
pub(super) fn read_and_change(access: &Access, old: i128, registers: &mut [i128]) -> Result<Option<i128>, EvalError> {
    let new = access.change.as_ref().map(|change| change.apply(old, |expr| eval(registers, expr)));
    if let Some(dst) = &access.dst {
        set(registers, dst, old)?;
    }
    Ok(new.transpose()?.flatten())
}

/// The value of an expression.
pub(super) fn eval(registers: &[i128], expr: &LocalExpr) -> Result<i128, EvalError> {
    expr.eval(&mut |place| Ok(registers[slot(registers, place)?]))
}

fn slot(registers: &[i128], place: &Place) -> Result<usize, EvalError> {
    match place {
        Place::Reg(reg) => Ok(reg.index()),
        Place::Elem { base, len, index } => {
            let index = eval(registers, index)?;
            let inside = u32::try_from(index).ok().filter(|inside| inside < len);
            Ok(base.index() + inside.ok_or(EvalError::OutOfBounds { index, len: *len })? as usize)
        }
    }
}

/// Gives a register, or an element of a local array, a value.
pub(super) fn set(registers: &mut [i128], place: &Place, value: i128) -> Result<(), EvalError> {
    let slot = slot(registers, place)?;
    registers[slot] = value;
    Ok(())
}
