//! One thread run again on its own ([`cyrano_engine::rerun`]), to learn what its registers held when it reached a point.

use cyrano_engine::Execution;
use cyrano_engine::rerun::{MAX_STEPS, Run};
use cyrano_ir::{Addr, InstrId, LocId, LocalExpr, Op, Place, Program, ThreadId};

pub(crate) use cyrano_engine::rerun::{Registers, eval, register};

/// The registers of `thread` when it is first about to execute `at` with `hit` satisfied.
pub(crate) fn registers_at(
    program: &Program,
    execution: &Execution,
    thread: ThreadId,
    at: InstrId,
    hit: impl Fn(&Op, &Registers) -> bool,
) -> Option<Registers> {
    let mut run = Run::new(program, execution, thread);
    for _ in 0..MAX_STEPS {
        let op = run.op()?;
        if run.pc == at.index() && hit(op, &run.registers) {
            return Some(run.registers);
        }
        run.step()?;
    }
    None
}

/// What `thread` chose for the register of this name, in order, each with how many values there were to choose from.
pub(crate) fn chosen(program: &Program, execution: &Execution, thread: ThreadId, name: &str) -> Vec<(i128, usize)> {
    let registers = &program.thread(thread).registers;
    let mut run = Run::new(program, execution, thread);
    let mut values = Vec::new();
    for _ in 0..MAX_STEPS {
        let Some(op) = run.op() else { break };
        let wanted = match op {
            Op::Choose { dst: Place::Reg(register), from } => Some((register.index(), from.len())),
            _ => None,
        };
        if run.step().is_none() {
            break;
        }
        let wanted = wanted.filter(|(register, _)| registers[*register].name == name);
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
        let Some(op) = run.op() else { break };
        let register = op.dst().and_then(|place| register(place, &run.registers)?.ok());
        let since = match op {
            Op::Assign { dst, value } => latest(value, &run.registers, &known).max(latest_index(dst, &run, &known)),
            _ if op.event_kind().is_some() => performed.get(run.accesses).copied().unwrap_or(usize::MAX),
            _ => 0,
        };
        if run.step().is_none() {
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
    let mut run = Run::new(program, execution, thread);
    for _ in 0..MAX_STEPS {
        let Some(op) = run.op() else { break };
        see(InstrId::new(run.pc), op, &run.registers, run.accesses);
        if run.step().is_none() {
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
fn latest_index(place: &Place, run: &Run<'_>, known: &[usize]) -> usize {
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
    let mut run = Run::new(program, execution, thread);
    let mut found = Vec::new();
    for _ in 0..MAX_STEPS {
        let (pc, before) = (run.pc, run.accesses);
        let Some(op) = run.op() else { break };
        let known = |expr: &LocalExpr| eval(expr, &run.registers)?.ok();
        let loc = op.addr().and_then(|addr| location(program, addr, &run.registers));
        let written = op.access().and_then(|access| access.stored()).and_then(known);
        let went_on = run.step().is_some();
        if let Some(pc) = u32::try_from(pc).ok().filter(|_| run.accesses > before) {
            found.push(Issued { instr: InstrId(pc), loc, written });
        }
        if !went_on || run.accesses > run.reads.len() {
            break;
        }
    }
    found
}

/// The location of an address, if it is known.
pub(crate) fn location(program: &Program, addr: &Addr, registers: &Registers) -> Option<LocId> {
    match addr {
        Addr::Fixed(loc) => Some(*loc),
        Addr::Indexed { array, index } => program.element(*array, eval(index, registers)?.ok()?).ok(),
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
