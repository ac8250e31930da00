//! One thread run again on its own, to learn what its registers held when it reached a point.
//!
//! The values of loads and choices are taken from an execution that a replay has already confirmed, so nothing is decided here.
//! A value that a deferred load has yet to provide is `None`, and so is everything computed from it.
//! A computation that goes wrong yields 0 where the reference semantics lets the thread go on.

use cyrano_engine::Execution;
use cyrano_ir::{Addr, EvalError, InstrId, LocId, LocalExpr, Op, Place, Program, ThreadId};

/// More instructions than any execution worth explaining takes; it only guards against endless local loops.
const MAX_STEPS: usize = 1_000_000;

/// Registers, some not known yet.
pub(crate) type Registers = Vec<Option<i128>>;

/// The registers of `thread` when it is first about to execute `at` with `hit` satisfied.
pub(crate) fn registers_at(
    program: &Program,
    execution: &Execution,
    thread: ThreadId,
    at: InstrId,
    hit: impl Fn(&Op, &Registers) -> bool,
) -> Option<Registers> {
    let code = &program.thread(thread).code;
    let mut run = Run::new(program, execution, thread);
    for _ in 0..MAX_STEPS {
        let op = &code.get(run.pc)?.op;
        if run.pc == at.index() && hit(op, &run.registers) {
            return Some(run.registers);
        }
        run.step(op)?;
    }
    None
}

/// What `thread` chose for the register of this name, in order, each with how many values there were to choose from.
pub(crate) fn chosen(program: &Program, execution: &Execution, thread: ThreadId, name: &str) -> Vec<(i128, usize)> {
    let thread_code = program.thread(thread);
    let mut run = Run::new(program, execution, thread);
    let mut values = Vec::new();
    for _ in 0..MAX_STEPS {
        let Some(op) = thread_code.code.get(run.pc).map(|instr| &instr.op) else { break };
        let wanted = match op {
            Op::Choose { dst: Place::Reg(register), from } => Some((register.index(), from.len())),
            _ => None,
        };
        if run.step(op).is_none() {
            break;
        }
        let wanted = wanted.filter(|(register, _)| thread_code.registers[*register].name == name);
        values.extend(wanted.and_then(|(register, offered)| Some((run.registers[register]?, offered))));
    }
    values
}

/// An assignment to a register, as running the thread again finds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assigned {
    /// How many accesses the thread has issued then; a load counts itself.
    pub(crate) issued: usize,
    /// The register.
    pub(crate) register: usize,
    /// Its value; `None` if that is never known.
    pub(crate) value: Option<i128>,
    /// The step, from 1, at which the last load that the value depends on is performed; 0 if it depends on none.
    pub(crate) known: usize,
}

/// What `thread` assigns to its registers, in program order.
pub(crate) fn assignments(program: &Program, execution: &Execution, thread: ThreadId) -> Vec<Assigned> {
    let code = &program.thread(thread).code;
    let mut performed: Vec<usize> = Vec::new();
    for (at, access) in execution.order.iter().enumerate().filter(|(_, access)| access.thread == thread) {
        let index = access.index as usize;
        performed.resize(performed.len().max(index + 1), usize::MAX);
        performed[index] = at + 1;
    }
    let mut run = Run::new(program, execution, thread);
    let mut known = vec![0; run.registers.len()];
    let mut found = Vec::new();
    for _ in 0..MAX_STEPS {
        let Some(op) = code.get(run.pc).map(|instr| &instr.op) else { break };
        let register = op.dst().and_then(|place| register(place, &run.registers)?.ok());
        let since = match op {
            Op::Assign { dst, value } => latest(value, &run.registers, &known).max(latest_index(dst, &run, &known)),
            _ if op.event_kind().is_some() => performed.get(run.accesses).copied().unwrap_or(usize::MAX),
            _ => 0,
        };
        if run.step(op).is_none() {
            break;
        }
        if let Some(register) = register.filter(|register| *register < known.len()) {
            known[register] = since;
            let value = run.registers[register];
            found.push(Assigned { issued: run.accesses, register, value, known: since });
        }
    }
    found
}

/// Shows `see` every instruction that `thread` executes, with how many accesses it has issued before; how many it issues in all.
pub(crate) fn walk(
    program: &Program,
    execution: &Execution,
    thread: ThreadId,
    see: &mut dyn FnMut(&Op, usize),
) -> usize {
    visit(program, execution, thread, &mut |_, op, _, issued| see(op, issued))
}

/// The same, with the number of the instruction and the registers before it.
pub(crate) fn visit(
    program: &Program,
    execution: &Execution,
    thread: ThreadId,
    see: &mut dyn FnMut(InstrId, &Op, &Registers, usize),
) -> usize {
    let code = &program.thread(thread).code;
    let mut run = Run::new(program, execution, thread);
    for _ in 0..MAX_STEPS {
        let Some(op) = code.get(run.pc).map(|instr| &instr.op) else { break };
        see(InstrId::new(run.pc), op, &run.registers, run.accesses);
        if run.step(op).is_none() {
            break;
        }
    }
    run.accesses
}

/// The step at which everything that an expression needs is known.
fn latest(expr: &LocalExpr, registers: &Registers, known: &[usize]) -> usize {
    let mut at = 0;
    expr.for_each_var(&mut |place| {
        if let Some(Ok(index)) = register(place, registers) {
            at = at.max(known.get(index).copied().unwrap_or(0));
        }
    });
    at
}

/// The same for the element that a place means.
fn latest_index(place: &Place, run: &Run, known: &[usize]) -> usize {
    match place {
        Place::Reg(_) => 0,
        Place::Elem { index, .. } => latest(index, &run.registers, known),
    }
}

/// An access that a thread issues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issued {
    /// The instruction.
    pub(crate) instr: InstrId,
    /// The location, if the address is known.
    pub(crate) loc: Option<LocId>,
    /// What a store writes, if that is known.
    pub(crate) written: Option<i128>,
}

/// The accesses that `thread` issues, in program order, up to the last one that is performed and one beyond it.
pub(crate) fn issued(program: &Program, execution: &Execution, thread: ThreadId) -> Vec<Issued> {
    let code = &program.thread(thread).code;
    let mut run = Run::new(program, execution, thread);
    let mut found = Vec::new();
    for _ in 0..MAX_STEPS {
        let (pc, before) = (run.pc, run.accesses);
        let Some(op) = code.get(pc).map(|instr| &instr.op) else { break };
        let known = |expr: &LocalExpr| eval(expr, &run.registers)?.ok();
        let loc = match op.addr() {
            Some(Addr::Fixed(loc)) => Some(*loc),
            Some(Addr::Indexed { array, index }) => known(index).and_then(|at| program.element(*array, at).ok()),
            None => None,
        };
        let written = op.access().and_then(|access| access.stored()).and_then(known);
        let went_on = run.step(op).is_some();
        if let Some(pc) = u32::try_from(pc).ok().filter(|_| run.accesses > before) {
            found.push(Issued { instr: InstrId(pc), loc, written });
        }
        if !went_on || run.accesses > run.reads.len() {
            break;
        }
    }
    found
}

/// The value of an expression: `None` if it needs an unknown register.
pub(crate) fn eval(expr: &LocalExpr, registers: &Registers) -> Option<Result<i128, EvalError>> {
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
pub(crate) fn register(place: &Place, registers: &Registers) -> Option<Result<usize, EvalError>> {
    match place {
        Place::Reg(reg) => Some(Ok(reg.index())),
        Place::Elem { base, len, index } => Some(eval(index, registers)?.and_then(|index| {
            let inside = u32::try_from(index).ok().filter(|index| index < len);
            let offset = inside.ok_or(EvalError::OutOfBounds { index, len: *len })?;
            Ok(base.index() + offset as usize)
        })),
    }
}

/// Whether computing anything that the instruction needs goes wrong.
pub(crate) fn goes_wrong(program: &Program, op: &Op, registers: &Registers) -> bool {
    let address = match op.addr() {
        Some(Addr::Indexed { array, index }) => {
            eval(index, registers).map(|index| index.and_then(|index| program.element(*array, index).map(|_| 0)))
        }
        _ => None,
    };
    let mut values = op.operands().into_iter().map(|expr| eval(expr, registers)).chain([address]);
    let destination = op.dst().and_then(|place| register(place, registers));
    values.any(|value| matches!(value, Some(Err(_)))) || matches!(destination, Some(Err(_)))
}

struct Run {
    pc: usize,
    registers: Registers,
    /// What each access of the thread read, by its number in program order.
    reads: Vec<Option<i128>>,
    accesses: usize,
    choices: std::vec::IntoIter<i128>,
}

impl Run {
    fn new(program: &Program, execution: &Execution, thread: ThreadId) -> Self {
        let mut reads = Vec::new();
        for access in execution.order.iter().filter(|access| access.thread == thread) {
            let index = access.index as usize;
            if reads.len() <= index {
                reads.resize(index + 1, None);
            }
            reads[index] = access.read;
        }
        let choices = execution.choices.get(thread.index()).cloned().unwrap_or_default();
        let declared = &program.thread(thread).registers;
        Self {
            pc: 0,
            registers: declared.iter().map(|register| Some(register.init)).collect(),
            reads,
            accesses: 0,
            choices: choices.into_iter(),
        }
    }

    /// Executes one instruction; `None` when the thread cannot go on.
    fn step(&mut self, op: &Op) -> Option<()> {
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
                self.reads.get(self.accesses - 1).copied().flatten()
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
