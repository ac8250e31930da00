//! Atomicity without commit points: does *some* serial order of the atomic blocks end like this?
//!
//! For bounded programs that is CheckFence's question (section 2.2) with blocks as operations: [`observed`] makes a program show all of memory
//! and what its blocks return, and [`serial`] makes operations of its blocks, so that the outcomes of the one under the model `serial` are what
//! the outcomes of the other may be.
//!
//! - An access outside of blocks, or an atomic section, is a unit of its own; operations that the program declares do not count.
//! - Of a block that is executed several times by one thread, the results of the last time are compared.
//!
//! **Invariant:** neither changes an access, its place among the accesses of its thread, or a span; so an execution of the one is an
//! execution of the other.

use crate::{
    Expr, FinalVar, Instr, InstrId, LocId, LocalExpr, Observable, Op, Place, Program, RegId, Register, Thread,
    ThreadId, Ty,
};

/// The program with all of memory and the results of blocks among what is observed.
pub fn observed(program: &Program) -> Program {
    let mut program = program.clone();
    let locations = program.locations.iter().enumerate().filter(|(_, location)| location.ty != Ty::Gap);
    let memory: Vec<Observable> = locations
        .map(|(loc, location)| Observable { name: location.name.clone(), var: FinalVar::Loc(LocId::new(loc)) })
        .collect();
    for column in memory {
        add(&mut program.observed, column);
    }
    for thread in 0..program.threads.len() {
        for column in keep_results(&mut program.threads[thread], ThreadId::new(thread)) {
            add(&mut program.observed, column);
        }
    }
    program
}

/// The program with its blocks as operations, and each access outside of them on its own.
pub fn serial(program: &Program) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        let has_blocks = thread.code.iter().any(|instr| matches!(instr.op, Op::BlockBegin(_)));
        let code = std::mem::take(&mut thread.code);
        thread.code = expand(code, |pc, instr| {
            let op = match instr.op {
                Op::BlockBegin(name) => Op::OperationBegin(name),
                Op::BlockEnd(_) => Op::OperationEnd,
                Op::BlockCommit | Op::OperationBegin(_) | Op::OperationEnd => Op::Jump(InstrId(pc.0 + 1)),
                op => op,
            };
            let span = instr.span;
            // A thread without operations would be one as a whole.
            let empty = [Op::OperationBegin("nothing".into()), Op::OperationEnd];
            let first = empty.into_iter().filter(|_| pc.0 == 0 && !has_blocks);
            first.chain([op]).map(|op| Instr { op, span }).collect()
        });
    }
    program
}

fn add(columns: &mut Vec<Observable>, column: Observable) {
    let known = columns.iter().any(|other| other.var == column.var || other.name == column.name);
    columns.extend((!known).then_some(column));
}

/// Gives each result of each block a register of its own, where it stays until the end.
fn keep_results(thread: &mut Thread, id: ThreadId) -> Vec<Observable> {
    let mut columns = Vec::new();
    let mut registers = std::mem::take(&mut thread.registers);
    let mut name = String::new();
    let (code, thread_name) = (std::mem::take(&mut thread.code), &thread.name);
    thread.code = expand(code, |_, instr| {
        if let Op::BlockBegin(new) = &instr.op {
            name.clone_from(new);
        }
        let Op::BlockEnd(results) = &instr.op else { return vec![instr] };
        let mut kept = Vec::new();
        for (number, value) in results.iter().enumerate() {
            let reg = RegId::new(registers.len());
            let ty = ty(value, &registers);
            registers.push(Register { name: format!("%{name}.result{number}.{}", reg.0), init: 0, ty });
            let shown = format!("{thread_name}.{name}#{}", columns.len() + 1);
            columns.push(Observable { name: shown, var: FinalVar::Reg(id, reg) });
            let op = Op::Assign { dst: Place::Reg(reg), value: value.clone() };
            kept.push(Instr { op, span: instr.span });
        }
        kept.push(instr);
        kept
    });
    thread.registers = registers;
    columns
}

/// A variable has its own type; whatever is computed is an integer.
fn ty(value: &LocalExpr, registers: &[Register]) -> Ty {
    match value {
        Expr::Var(Place::Reg(reg) | Place::Elem { base: reg, .. }) => registers[reg.index()].ty,
        _ => Ty::Int,
    }
}

/// Replaces each instruction by several; what went to it goes to the first of them.
fn expand(code: Vec<Instr>, mut to: impl FnMut(InstrId, Instr) -> Vec<Instr>) -> Vec<Instr> {
    let mut starts = Vec::with_capacity(code.len() + 1);
    let mut new = Vec::new();
    // A jump of the replacement that leads to the next instruction is in terms of the old numbers, like all others.
    for (pc, instr) in code.into_iter().enumerate() {
        starts.push(InstrId::new(new.len()));
        new.extend(to(InstrId::new(pc), instr));
    }
    starts.push(InstrId::new(new.len()));
    let moved = |target: &mut InstrId| {
        if let Some(start) = starts.get(target.index()) {
            *target = *start;
        }
    };
    for instr in &mut new {
        match &mut instr.op {
            Op::Jump(target) => moved(target),
            Op::Branch { then_to, else_to, .. } => {
                moved(then_to);
                moved(else_to);
            }
            _ => {}
        }
    }
    new
}
