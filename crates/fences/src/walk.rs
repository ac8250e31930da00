//! Which positions a thread of a recorded execution passes between two of its accesses.
//!
//! The thread is run again through the program that has a fence at every position, with the values that its reads returned
//! and the choices it made. This is the local part of the semantics only: no memory, no order. A value that a deferred read has yet to
//! provide is missing, as in the reference interpreter's replay, and must not decide the way.
//!
//! **Invariant:** fences neither add accesses nor choices, so the numbers of both are the same in every program that a subject builds.

use std::collections::HashMap;

use cyrano_engine::{Execution, Replayed};
use cyrano_ir::{EvalError, LocalExpr, Op, Place, Program, RegId, ThreadId};

use crate::places::PlaceId;

/// A thread that runs this long between two accesses is not one that an engine recorded.
const INSTRUCTION_LIMIT: usize = 1_000_000;

/// The way of one thread: for each of its accesses the positions that it passed since the access before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Way(Vec<Vec<PlaceId>>);

impl Way {
    /// The positions between two accesses of the thread, each once.
    pub(crate) fn between(&self, first: u32, second: u32) -> Vec<PlaceId> {
        let (from, to) = (first as usize + 1, (second as usize + 1).min(self.0.len()));
        let mut passed: Vec<PlaceId> = self.0.get(from..to).unwrap_or_default().concat();
        passed.sort();
        passed.dedup();
        passed
    }
}

/// Walks one thread up to its last performed access. `place` tells which position an instruction is a fence of.
///
/// The error is about our own data: the execution does not fit the program.
pub(crate) fn walk(
    program: &Program,
    thread: ThreadId,
    place: &dyn Fn(usize) -> Option<PlaceId>,
    execution: &Execution,
    replayed: &Replayed,
) -> Result<Way, String> {
    let own = replayed.steps.iter().filter(|step| step.access.thread == thread);
    let reads: HashMap<u32, Option<i128>> = own.map(|step| (step.access.index, step.access.read)).collect();
    let Some(last) = reads.keys().max().copied() else { return Ok(Way::default()) };
    let registers = program.thread(thread).registers.iter().map(|register| Some(register.init)).collect();
    let choices = execution.choices.get(thread.index()).map_or(&[][..], Vec::as_slice);
    let mut walker = Walker { program, thread, pc: 0, registers, choices, way: Way::default(), passed: Vec::new() };
    for _ in 0..INSTRUCTION_LIMIT {
        if walker.way.0.len() > last as usize {
            return Ok(walker.way);
        }
        walker.passed.extend(place(walker.pc));
        walker.step(&reads).ok_or_else(|| walker.lost())?;
    }
    Err(walker.lost())
}

struct Walker<'a> {
    program: &'a Program,
    thread: ThreadId,
    pc: usize,
    registers: Vec<Option<i128>>,
    /// Those still to be made.
    choices: &'a [i128],
    way: Way,
    passed: Vec<PlaceId>,
}

impl Walker<'_> {
    /// Executes one instruction; none if the execution does not say how.
    fn step(&mut self, reads: &HashMap<u32, Option<i128>>) -> Option<()> {
        let program = self.program;
        let op = &program.thread(self.thread).code.get(self.pc)?.op;
        let mut next = self.pc + 1;
        match op {
            Op::Assign { dst, value } => self.set(dst, self.value_or_zero(value))?,
            Op::Choose { dst, .. } => {
                let (value, rest) = self.choices.split_first()?;
                self.choices = rest;
                self.set(dst, Some(*value))?;
            }
            Op::Branch { cond, then_to, else_to } => {
                let holds = self.value(cond)?.ok()? != 0;
                next = if holds { then_to.index() } else { else_to.index() };
            }
            Op::Jump(target) => next = target.index(),
            Op::Halt => return None,
            _ if op.event_kind().is_some() => {
                let index = u32::try_from(self.way.0.len()).ok()?;
                self.way.0.push(std::mem::take(&mut self.passed));
                if let Some(dst) = op.dst() {
                    self.set(dst, reads.get(&index).copied().flatten())?;
                }
            }
            _ => {}
        }
        self.pc = next;
        Some(())
    }

    /// A computation that goes wrong gives 0, as everywhere; one with a missing value gives none.
    fn value_or_zero(&self, expr: &LocalExpr) -> Option<i128> {
        self.value(expr).map(|value| value.unwrap_or(0))
    }

    fn set(&mut self, dst: &Place, value: Option<i128>) -> Option<()> {
        let mut missing = false;
        let register = register(&self.registers, dst, &mut missing).ok()?;
        self.registers[register.index()] = value;
        Some(())
    }

    /// The value, or the error of the program; none if a value is missing.
    fn value(&self, expr: &LocalExpr) -> Option<Result<i128, EvalError>> {
        let mut missing = false;
        let value = value(&self.registers, expr, &mut missing);
        (!missing).then_some(value)
    }

    fn lost(&self) -> String {
        let name = &self.program.thread(self.thread).name;
        format!("the recorded execution does not lead thread {name} through the program with fences (at {})", self.pc)
    }
}

fn value(registers: &[Option<i128>], expr: &LocalExpr, missing: &mut bool) -> Result<i128, EvalError> {
    expr.eval(&mut |place| {
        let register = register(registers, place, missing)?;
        // Any error ends the evaluation; the flag tells this one from the program's own.
        registers[register.index()].ok_or_else(|| {
            *missing = true;
            EvalError::Overflow
        })
    })
}

fn register(registers: &[Option<i128>], place: &Place, missing: &mut bool) -> Result<RegId, EvalError> {
    match place {
        Place::Reg(register) => Ok(*register),
        Place::Elem { base, len, index } => {
            let index = value(registers, index, missing)?;
            let inside = u32::try_from(index).ok().filter(|inside| inside < len);
            let inside = inside.ok_or(EvalError::OutOfBounds { index, len: *len })?;
            Ok(RegId(base.0 + inside))
        }
    }
}
