//! Atomic sections that are not issued: performed as one step, from the first instruction to the last.
//!
//! A path on which an `assume` does not hold, or on which an access would have to wait, is not taken. If none is, the section waits.

use cyrano_engine::Violation;
use cyrano_engine::configuration::Configuration;
use cyrano_ir::{Op, ThreadId};

use super::run::Flow;
use super::{Beyond, MOST_WAYS, Step, Steps, Why};
use crate::machine::SECTION_LIMIT;

impl Steps<'_> {
    /// One step for every path through the section that a thread rests at. The thread has not run on yet.
    pub(super) fn sections_now(&self, at: &Configuration, thread: ThreadId) -> Result<Vec<Step>, Beyond> {
        let lane = &at.threads[thread.index()];
        let (begin, earlier) = (lane.pc, lane.queue.len());
        let mut first = Step::new(thread, begin, at.clone());
        first.lane(thread).pc.0 += 1;
        let (mut todo, mut taken) = (vec![(first, 0)], Vec::new());
        while let Some((mut step, mut instructions)) = todo.pop() {
            if todo.len() + taken.len() > MOST_WAYS {
                return Err(Beyond { thread, instr: begin, why: Why::Ways });
            }
            let ended = loop {
                let pc = step.lane(thread).pc;
                instructions += 1;
                if instructions > SECTION_LIMIT {
                    step.wrong = Some(Violation::AtomicDiverges { thread, instr: begin });
                    break true;
                }
                match self.op(thread, pc) {
                    Op::AtomicEnd => {
                        step.lane(thread).pc.0 += 1;
                        self.note_operation(&mut step, thread, begin);
                        if !step.performed.is_empty() {
                            self.performed_at_pc(&mut step, thread, pc)?;
                        }
                        break true;
                    }
                    Op::Choose { dst, from } => {
                        for value in from {
                            let mut other = step.clone();
                            self.choose(&mut other, thread, dst, *value)?;
                            todo.push((other, instructions));
                        }
                        break false;
                    }
                    op => match self.inside(&mut step, thread, op, earlier)? {
                        Flow::To(next) => step.lane(thread).pc = next,
                        Flow::Rest => break false,
                        Flow::Stop => break true,
                    },
                }
            };
            if ended {
                taken.push(step);
            }
        }
        Ok(taken)
    }

    /// One instruction of a section that is performed; at a rest the path is not taken.
    fn inside(&self, step: &mut Step, thread: ThreadId, op: &Op, earlier: usize) -> Result<Flow, Beyond> {
        let pc = step.lane(thread).pc;
        match op {
            Op::Access(_) => {
                if !self.perform_now(step, thread, earlier)? {
                    return Ok(Flow::Rest);
                }
                let next = step.lane(thread).pc;
                Ok(if next == pc { Flow::Stop } else { Flow::To(next) })
            }
            Op::Jump(to) => Ok(Flow::To(*to)),
            Op::Branch { cond, .. } | Op::Assume(cond) | Op::Limit { cond, .. } => {
                self.decide(step, thread, (pc, op), cond, Some(earlier))
            }
            Op::Assign { .. } | Op::Assert { .. } => self.compute(step, thread, pc, op),
            // The verifier lets nothing else stand in a section.
            _ => Err(Beyond { thread, instr: pc, why: Why::Endless }),
        }
    }
}
