//! Atomic sections that cannot be deferred: performed as one step, from their first instruction to their last.
//!
//! A section is deferred like a single access when each of its accesses would be and when nothing in it is decided by what it
//! reads itself; its accesses then stand in the queue as a chain. Otherwise everything after it has to follow it: either
//! because it has an access that the model lets nothing overtake, or because a branch or `assume` in it orders all later
//! accesses after the section's own load, and sections are indivisible. Such a section is performed from the program counter.
//!
//! A path on which an `assume` fails is not a path: the section waits. If no path is open the thread is blocked.
//! A path on which a `limit` fails is not one either, but that is noted, and the thread does not count as blocked.

use cyrano_engine::Violation;
use cyrano_ir::{InstrId, Op, ThreadId};

use crate::semantics::state::State;
use crate::semantics::step::{PATIENCE, Stepper, Successors};

impl Stepper<'_> {
    /// One successor for every open path through the section at the program counter.
    pub(crate) fn section_now(&mut self, state: &State, thread: usize, out: &mut Successors) {
        let begin = state.threads[thread].pc;
        let first = out.start(state, thread);
        out.at(first).state.threads[thread].pc += 1;
        let (mut work, mut closed) = (Vec::new(), Vec::new());
        let mut next = Some((first, state.threads[thread].queue.len()));
        while let Some((index, queue)) = next {
            match self.run_section(out, index, begin, queue, &mut work) {
                Path::Open => {
                    self.after_access(out.at(index), begin);
                    let successor = out.at(index);
                    if successor.state.threads[thread].issued > state.threads[thread].issued {
                        let end = successor.state.threads[thread].pc - 1;
                        self.after_unit(successor, end, true);
                    }
                    self.drain(out, index, thread);
                }
                Path::Failed => {}
                Path::Closed => closed.push(index),
            }
            next = work.pop();
        }
        closed.sort_unstable_by(|a, b| b.cmp(a));
        closed.into_iter().for_each(|index| out.retract(index));
    }

    fn run_section(
        &mut self,
        out: &mut Successors,
        index: usize,
        begin: u32,
        queue: usize,
        work: &mut Vec<(usize, usize)>,
    ) -> Path {
        for _ in 0..PATIENCE * 4 {
            let successor = out.at(index);
            let thread = successor.thread;
            let pc = successor.state.threads[thread].pc;
            self.reaches(thread, pc);
            let op = self.m.op(thread, pc);
            let next = match op {
                Op::AtomicEnd => {
                    successor.state.threads[thread].pc = pc + 1;
                    return if successor.event.is_some() { Path::Failed } else { Path::Open };
                }
                Op::Access(_) => {
                    if !self.access_now(successor, queue) {
                        return Path::Closed;
                    }
                    if successor.state.threads[thread].pc == pc {
                        return Path::Failed;
                    }
                    continue;
                }
                Op::Choose { dst, from } => {
                    let others: Vec<usize> = from[1..].iter().filter_map(|_| self.fork(out, index)).collect();
                    self.take_choice(out.at(index), dst, from[0]);
                    for (other, value) in others.iter().zip(&from[1..]) {
                        self.take_choice(out.at(*other), dst, *value);
                    }
                    work.extend(others.into_iter().map(|other| (other, queue)));
                    continue;
                }
                Op::Jump(to) => to.0,
                Op::Branch { cond, then_to, else_to } => match self.condition(successor, pc, cond) {
                    Some(Ok(holds)) => (if holds { then_to } else { else_to }).0,
                    Some(Err(())) => return Path::Failed,
                    None => return Path::Closed,
                },
                Op::Assume(cond) => match self.condition(successor, pc, cond) {
                    Some(Ok(true)) => pc + 1,
                    Some(Err(())) => return Path::Failed,
                    Some(Ok(false)) | None => return Path::Closed,
                },
                Op::Limit { cond, .. } => match self.condition(successor, pc, cond) {
                    Some(Ok(true)) => pc + 1,
                    Some(Err(())) => return Path::Failed,
                    Some(Ok(false)) => {
                        self.limited(thread, pc);
                        return Path::Closed;
                    }
                    None => return Path::Closed,
                },
                Op::Assign { .. } | Op::Assert { .. } => {
                    if !self.compute(successor, pc, op) {
                        return Path::Failed;
                    }
                    pc + 1
                }
                _ => unreachable!("{op:?} cannot stand in an atomic section"),
            };
            successor.state.threads[thread].pc = next;
        }
        let successor = out.at(index);
        let diverges = Violation::AtomicDiverges { thread: ThreadId::new(successor.thread), instr: InstrId(begin) };
        successor.event = Some(diverges);
        // The section is never performed, so the execution ends before it.
        successor.accesses.clear();
        successor.choices.clear();
        Path::Failed
    }
}

enum Path {
    /// It reached the section's end.
    Open,
    /// It cannot be taken in this state.
    Closed,
    /// It went wrong; the successor says how.
    Failed,
}
