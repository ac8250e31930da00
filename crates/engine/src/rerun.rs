//! One thread run again on its own, with the values of loads and choices that an execution has.
//!
//! This is the local part of the semantics only: no memory, no order. The execution has been confirmed by a replay, so nothing is decided here.
//! A value that a deferred load has yet to provide is `None`, and so is everything computed from it.
//! A computation that goes wrong yields 0 where the reference semantics lets the thread go on.

use cyrano_ir::{AccessKind, EvalError, LocalExpr, Op, Place, Program, ThreadId};

use crate::execution::Execution;

/// More instructions than any execution worth explaining takes; it only guards against endless local loops.
pub const MAX_STEPS: usize = 1_000_000;

/// Registers, some not known yet.
pub type Registers = Vec<Option<i128>>;

/// A thread that runs again.
pub struct Run<'p> {
    program: &'p Program,
    thread: ThreadId,
    /// The instruction that comes next.
    pub pc: usize,
    /// What its registers hold.
    pub registers: Registers,
    /// What each access of the thread read, by its number in program order, up to the last one that was performed.
    pub reads: Vec<Option<i128>>,
    /// Whether each of them wrote nothing: what an exclusive store gives.
    failed: Vec<bool>,
    /// How many accesses it has issued.
    pub accesses: usize,
    choices: std::vec::IntoIter<i128>,
}

impl<'p> Run<'p> {
    /// At its start.
    pub fn new(program: &'p Program, execution: &Execution, thread: ThreadId) -> Self {
        let (mut reads, mut failed) = (Vec::new(), Vec::new());
        for access in execution.order.iter().filter(|access| access.thread == thread) {
            let index = access.index as usize;
            if reads.len() <= index {
                reads.resize(index + 1, None);
                failed.resize(index + 1, true);
            }
            reads[index] = access.read;
            failed[index] = access.written.is_none();
        }
        let choices = execution.choices.get(thread.index()).cloned().unwrap_or_default();
        let declared = &program.thread(thread).registers;
        Self {
            program,
            thread,
            pc: 0,
            registers: declared.iter().map(|register| Some(register.init)).collect(),
            reads,
            failed,
            accesses: 0,
            choices: choices.into_iter(),
        }
    }

    /// The instruction that comes next; `None` behind the last one.
    pub fn op(&self) -> Option<&'p Op> {
        self.program.thread(self.thread).code.get(self.pc).map(|instr| &instr.op)
    }

    /// Executes it; `None` when the thread cannot go on.
    pub fn step(&mut self) -> Option<()> {
        let op = self.op()?;
        self.pc = match op {
            Op::Jump(to) => to.index(),
            Op::Branch { cond, then_to, else_to } => {
                let taken = eval(cond, &self.registers)?.ok()? != 0;
                if taken { then_to.index() } else { else_to.index() }
            }
            Op::Assume(cond) | Op::Limit { cond, .. } if eval(cond, &self.registers)?.ok()? == 0 => return None,
            Op::Halt => return None,
            _ => self.pc + 1,
        };
        let value = match op {
            Op::Assign { value, .. } => eval(value, &self.registers).map(|value| value.unwrap_or(0)),
            Op::Choose { .. } => Some(self.choices.next()?),
            _ if op.event_kind().is_some() => {
                self.accesses += 1;
                let read = self.reads.get(self.accesses - 1).copied().flatten();
                let failed = self.failed.get(self.accesses - 1).copied();
                if op.access_kind() == Some(AccessKind::Store) { failed.map(i128::from) } else { read }
            }
            _ => None,
        };
        match op.dst() {
            Some(place) => self.write(place, value),
            None => Some(()),
        }
    }

    fn write(&mut self, place: &Place, value: Option<i128>) -> Option<()> {
        let index = register(place, &self.registers)?.ok()?;
        *self.registers.get_mut(index)? = value;
        Some(())
    }
}

/// The value of an expression: `None` if it needs an unknown register.
pub fn eval(expr: &LocalExpr, registers: &Registers) -> Option<Result<i128, EvalError>> {
    let mut unknown = false;
    let value = expr.eval(&mut |place| match register(place, registers) {
        Some(Ok(index)) => {
            let value = registers.get(index).copied().flatten();
            unknown |= value.is_none();
            Ok(value.unwrap_or(0))
        }
        Some(Err(error)) => Err(error),
        None => {
            unknown = true;
            Ok(0)
        }
    });
    (!unknown).then_some(value)
}

/// The number of the register that a place means now.
pub fn register(place: &Place, registers: &Registers) -> Option<Result<usize, EvalError>> {
    match place {
        Place::Reg(reg) => Some(Ok(reg.index())),
        Place::Elem { base, len, index } => Some(eval(index, registers)?.and_then(|index| {
            let inside = u32::try_from(index).ok().filter(|index| index < len);
            let offset = inside.ok_or(EvalError::OutOfBounds { index, len: *len })?;
            Ok(base.index() + offset as usize)
        })),
    }
}
