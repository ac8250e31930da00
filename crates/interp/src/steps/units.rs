//! Steps for commit-atomicity: where units begin, commit and end (`docs/atomicity.md`; Flanagan, section 4).
//!
//! A *unit* is an atomic block, or an access or a section outside of blocks. The program's marks are issued like accesses and stand in the queue until their time has come:
//! - a block *begins* when the first of its accesses, or any access behind its mark, is performed;
//! - a unit *commits* with the access that was issued last before its mark, when that is performed: whatever decided the way to the mark was known when the mark was
//!   issued, for nothing is issued behind a branch that waits;
//! - a unit *ends* when every access before its end is performed and the registers that it hands on have values.
//!
//! A thread's units commit in the order of its program: one whose turn comes takes those before it along. A step says what happened in it ([`Happened`]); the serial run
//! that is compared is for whoever asks (`cyrano_certificate`). To memory a mark is nothing: no rule of `perform` looks at one.

use cyrano_engine::configuration::{Deferred, Lane, Mark, Value};
use cyrano_ir::dataflow::{Liveness, expr_reads};
use cyrano_ir::{Blocks, InstrId, Op, Program, RegId, Thread, ThreadId};

use super::{Beyond, Happened, Step, Steps, Why};

/// What has to be known about a program.
#[derive(Clone, Debug)]
pub(super) struct Units {
    blocks: Vec<Blocks>,
    live: Vec<Liveness>,
}

impl Units {
    pub(super) fn of(program: &Program) -> Self {
        Self { blocks: program.threads.iter().map(Blocks::of).collect(), live: Liveness::of_program(program) }
    }
}

/// The registers that a unit hands on whose last instruction this is, ascending: its results, and all that may still be read.
pub fn handed_on(thread: &Thread, live: &Liveness, end: InstrId) -> Vec<RegId> {
    let next = InstrId(end.0 + 1);
    let read_later = |register: &RegId| next.index() < thread.code.len() && live.is_live(next, *register);
    let mut handed: Vec<RegId> = (0..thread.registers.len()).map(RegId::new).filter(read_later).collect();
    if let Op::BlockEnd(results) = &thread.code[end.index()].op {
        results.iter().for_each(|result| expr_reads(result, &mut |register| handed.push(register)));
    }
    handed.sort_unstable();
    handed.dedup();
    handed
}

impl Steps<'_> {
    /// Whether a thread is in none of its blocks, as far as its accesses are performed, and none of them has been overtaken: the units up to some point are
    /// performed, and nothing else.
    pub fn is_between_units(&self, lane: &Lane, thread: ThreadId) -> bool {
        let Some(units) = &self.units else { return true };
        let inside = |instr| units.blocks[thread.index()].inside(instr);
        let tells = |deferred: &Deferred| match deferred {
            Deferred::Mark(mark) => Some(*mark == Mark::Begin),
            Deferred::Op(entry) if entry.loc.is_some() => Some(!entry.stale && !inside(entry.instr)),
            Deferred::Op(_) | Deferred::Fence(_) => None,
        };
        lane.queue.iter().find_map(tells).unwrap_or_else(|| !inside(lane.pc))
    }

    /// A choice is made.
    pub(super) fn chooses(&self, step: &mut Step, thread: ThreadId, pc: InstrId, value: i128) {
        let outside = self.units.as_ref().is_some_and(|units| !units.blocks[thread.index()].inside(pc));
        step.units.extend(outside.then_some(Happened::Chose(value)));
    }

    /// A mark of the program is issued.
    pub(super) fn mark(&self, step: &mut Step, thread: ThreadId, pc: InstrId, op: &Op) -> Result<(), Beyond> {
        match op {
            _ if self.units.is_none() => {}
            Op::BlockBegin(_) => step.lane(thread).queue.push(Deferred::Mark(Mark::Begin)),
            Op::BlockCommit => self.commits(step, thread),
            _ => self.ends(step, thread, pc)?,
        }
        Ok(())
    }

    /// An access is issued, by itself or in a section.
    pub(super) fn issued(
        &self,
        step: &mut Step,
        thread: ThreadId,
        pc: InstrId,
        in_section: bool,
    ) -> Result<(), Beyond> {
        step.lane(thread).latest_done = false;
        if in_section { Ok(()) } else { self.ends_outside(step, thread, pc) }
    }

    /// A section is issued that ends here; the first of its entries stood at `start`.
    pub(super) fn issued_section(
        &self,
        step: &mut Step,
        thread: ThreadId,
        end: InstrId,
        start: usize,
    ) -> Result<(), Beyond> {
        let accesses = step.lane(thread).queue.iter().skip(start);
        let any = accesses.filter_map(Deferred::entry).any(|entry| entry.loc.is_some());
        if any { self.ends_outside(step, thread, end) } else { Ok(()) }
    }

    /// The access at a position of the queue, or behind all of it, is performed.
    pub(super) fn overtakes(&self, step: &mut Step, thread: ThreadId, position: usize) {
        if self.units.is_none() {
            return;
        }
        let lane = step.lane(thread);
        let access = |deferred: &Deferred| deferred.entry().is_some_and(|entry| entry.loc.is_some());
        lane.latest_done |= !lane.queue.iter().skip(position + 1).any(access);
        for deferred in &mut lane.queue[..position] {
            match deferred {
                Deferred::Op(entry) if entry.loc.is_some() => entry.stale = true,
                Deferred::Op(_) | Deferred::Fence(_) | Deferred::Mark(_) => {}
            }
        }
    }

    /// An access that a thread rested at, or a section that ends here, has been performed.
    pub(super) fn performed_at_pc(&self, step: &mut Step, thread: ThreadId, end: InstrId) -> Result<(), Beyond> {
        let all = step.lane(thread).queue.len();
        self.opens(step, thread, all);
        self.ends_outside(step, thread, end)
    }

    /// An access that stood at this position has been performed, and with it whatever block began before has begun.
    pub(super) fn opens(&self, step: &mut Step, thread: ThreadId, position: usize) {
        if self.units.is_none() {
            return;
        }
        let begun = |queue: &[Deferred]| queue.iter().take(position).rposition(|d| *d == Deferred::Mark(Mark::Begin));
        while let Some(begin) = begun(&step.lane(thread).queue) {
            self.remove(step, thread, begin, None);
        }
        self.happen(step, thread);
    }

    /// If the instruction is outside of blocks, it is a unit that commits and ends with the access that was issued last.
    fn ends_outside(&self, step: &mut Step, thread: ThreadId, pc: InstrId) -> Result<(), Beyond> {
        let Some(units) = &self.units else { return Ok(()) };
        if units.blocks[thread.index()].inside(pc) {
            return Ok(());
        }
        self.commits(step, thread);
        self.ends(step, thread, pc)
    }

    fn commits(&self, step: &mut Step, thread: ThreadId) {
        let lane = step.lane(thread);
        let last = lane.queue.iter().rposition(|deferred| deferred.entry().is_some_and(|entry| entry.loc.is_some()));
        let after = last.filter(|_| !lane.latest_done).map_or(Value::Known(0), |at| Value::Pending(at as u32));
        lane.queue.push(Deferred::Mark(Mark::Commit(after)));
        self.happen(step, thread);
    }

    fn ends(&self, step: &mut Step, thread: ThreadId, pc: InstrId) -> Result<(), Beyond> {
        let Some(units) = &self.units else { return Ok(()) };
        let registers = handed_on(self.program.thread(thread), &units.live[thread.index()], pc);
        let lane = step.lane(thread);
        let handed: Vec<_> = registers.into_iter().map(|reg| (reg, lane.registers[reg.index()])).collect();
        if let Some((register, _)) = handed.iter().find(|(_, value)| *value == Value::Forgotten) {
            return Err(Beyond { thread, instr: pc, why: Why::Forgotten(*register) });
        }
        lane.queue.push(Deferred::Mark(Mark::End { instr: pc, handed }));
        self.happen(step, thread);
        Ok(())
    }

    /// What can happen to units happens, in the order of the program.
    fn happen(&self, step: &mut Step, thread: ThreadId) {
        while let Some(position) = next(&step.lane(thread).queue) {
            let Deferred::Mark(mark) = step.lane(thread).queue[position].clone() else { return };
            match mark {
                Mark::Begin => return,
                Mark::End { instr, handed } => {
                    let value = |(_, value): (RegId, Value)| match value {
                        Value::Known(value) => Some(value),
                        Value::Pending(_) | Value::Forgotten => None,
                    };
                    let values = handed.into_iter().filter_map(value).collect();
                    self.remove(step, thread, position, None);
                    step.units.push(Happened::Ended((instr, values)));
                }
                Mark::Commit(_) => {
                    let is_commit = |deferred: &Deferred| matches!(deferred, Deferred::Mark(Mark::Commit(_)));
                    let mut left = 1 + step.lane(thread).queue[..position].iter().filter(|d| is_commit(d)).count();
                    while left > 0 {
                        let first = step.lane(thread).queue.iter().position(is_commit);
                        first.into_iter().for_each(|first| self.remove(step, thread, first, None));
                        step.units.push(Happened::Committed);
                        left -= 1;
                    }
                }
            }
        }
    }
}

/// The first mark that can happen.
fn next(queue: &[Deferred]) -> Option<usize> {
    let pending = |value: &Value| matches!(value, Value::Pending(_));
    let mut outstanding = false;
    queue.iter().position(|deferred| match deferred {
        Deferred::Op(entry) => {
            outstanding |= entry.loc.is_some();
            false
        }
        Deferred::Mark(Mark::Commit(after)) => !pending(after),
        Deferred::Mark(Mark::End { handed, .. }) => !outstanding && !handed.iter().any(|(_, value)| pending(value)),
        Deferred::Fence(_) | Deferred::Mark(Mark::Begin) => false,
    })
}
