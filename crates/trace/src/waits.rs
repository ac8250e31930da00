//! Who waits for whom: what the atomic sections of a deadlock find in memory, and who wrote it.
//!
//! A section waits because a condition in it does not hold. It is run here on final memory, up to that condition; nobody performs another
//! access, so what it reads is what it waits for.

use std::collections::HashMap;

use cyrano_ir::{AccessKind, Addr, Change, InstrId, LocId, Op, Place, Program, ThreadId};

use crate::explain;
use crate::record::Parts;
use crate::rerun::{self, Registers};
use crate::schema::{Awaited, Wait};

/// No section that is worth explaining takes more instructions.
const MAX_STEPS: usize = 10_000;

/// What the sections read that these threads wait at.
pub(crate) fn waits(parts: &Parts<'_>, blocked: &[(ThreadId, InstrId)]) -> Vec<Wait> {
    let wait = |(thread, instr): &(ThreadId, InstrId)| {
        let reads = Section::of(parts, *thread).run(*thread, *instr).into_iter().map(|loc| awaited(parts, loc));
        Wait { thread: parts.program.thread(*thread).name.clone(), reads: reads.collect() }
    };
    blocked.iter().map(wait).collect()
}

/// The locations that these sections read up to the condition that does not hold, each once.
pub(crate) fn locations(parts: &Parts<'_>, blocked: &[(ThreadId, InstrId)]) -> Vec<LocId> {
    let mut found: Vec<LocId> = Vec::new();
    for (thread, instr) in blocked {
        found.extend(Section::of(parts, *thread).run(*thread, *instr));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn awaited(parts: &Parts<'_>, loc: LocId) -> Awaited {
    let location = parts.program.location(loc);
    let value = parts.replayed.memory.get(loc.index()).copied();
    let writer = parts.replayed.steps.iter().rposition(|step| step.loc == loc && step.access.written.is_some());
    Awaited { value: explain::named(parts.program, &location.name, location.ty, value), step: writer.map(|at| at + 1) }
}

struct Section<'a> {
    program: &'a Program,
    memory: &'a [i128],
    /// What the section itself has written.
    own: HashMap<LocId, Option<i128>>,
    registers: Registers,
}

impl<'a> Section<'a> {
    fn of(parts: &Parts<'a>, thread: ThreadId) -> Self {
        let registers = parts.replayed.registers.get(thread.index()).cloned().unwrap_or_default();
        Self { program: parts.program, memory: &parts.replayed.memory, own: HashMap::new(), registers }
    }

    /// The locations that are read before the condition that does not hold; none if there is no such condition.
    fn run(mut self, thread: ThreadId, start: InstrId) -> Vec<LocId> {
        let code = &self.program.thread(thread).code;
        let mut pc = start.index();
        let mut read: Vec<LocId> = Vec::new();
        for _ in 0..MAX_STEPS {
            let Some(op) = code.get(pc).map(|instr| &instr.op) else { break };
            pc = match op {
                Op::Jump(to) => to.index(),
                Op::Branch { cond, then_to, else_to } => match rerun::eval(cond, &self.registers) {
                    Some(Ok(0)) => else_to.index(),
                    Some(Ok(_)) => then_to.index(),
                    _ => break,
                },
                Op::Assume(cond) if rerun::eval(cond, &self.registers) == Some(Ok(0)) => return read,
                Op::AtomicEnd | Op::Halt => break,
                _ => pc + 1,
            };
            let loc = op.addr().and_then(|addr| self.location(addr));
            if let Some(loc) = loc.filter(|loc| op.access_kind() != Some(AccessKind::Store) && !read.contains(loc)) {
                read.push(loc);
            }
            self.effect(op, loc);
        }
        Vec::new()
    }

    fn location(&self, addr: &Addr) -> Option<LocId> {
        match addr {
            Addr::Fixed(loc) => Some(*loc),
            Addr::Indexed { array, index } => {
                let index = rerun::eval(index, &self.registers)?.ok()?;
                self.program.element(*array, index).ok()
            }
        }
    }

    fn effect(&mut self, op: &Op, loc: Option<LocId>) {
        let held = loc.and_then(|loc| match self.own.get(&loc) {
            Some(own) => *own,
            None => self.memory.get(loc.index()).copied(),
        });
        let value = |section: &Self, expr| rerun::eval(expr, &section.registers)?.ok();
        let written = op.change().and_then(|change| match change {
            Change::Set(new) => Some(value(self, new)),
            Change::Cas { expected, new } => (value(self, expected) == held).then(|| value(self, new)),
            Change::Add(more) => Some(value(self, more).zip(held).and_then(|(a, b)| a.checked_add(b))),
        });
        if let (Some(loc), Some(written)) = (loc, written) {
            self.own.insert(loc, written);
        }
        let result = match op {
            Op::Assign { value: assigned, .. } => value(self, assigned),
            Op::Access(_) => held,
            _ => None,
        };
        if let Some(place) = op.dst() {
            self.assign(place, result);
        }
    }

    fn assign(&mut self, place: &Place, value: Option<i128>) {
        let register = rerun::register(place, &self.registers).and_then(Result::ok);
        if let Some(register) = register.and_then(|register| self.registers.get_mut(register)) {
            *register = value;
        }
    }
}
