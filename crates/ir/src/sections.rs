//! Atomic sections: what can be reached within one.

use crate::dataflow::successors;
use crate::ids::InstrId;
use crate::op::Op;
use crate::program::{Instr, Program, Thread};

impl Thread {
    /// Whether an instruction of this kind can be reached in the atomic section that starts at `begin`.
    pub fn section_has(&self, begin: InstrId, is: impl Fn(InstrId, &Op) -> bool) -> bool {
        let mut seen = vec![begin];
        let mut todo = vec![InstrId(begin.0 + 1)];
        while let Some(at) = todo.pop() {
            let Some(instr) = self.code.get(at.index()).filter(|_| !seen.contains(&at)) else { continue };
            seen.push(at);
            if is(at, &instr.op) {
                return true;
            }
            if !matches!(instr.op, Op::AtomicEnd) {
                todo.extend(successors(&instr.op, at));
            }
        }
        false
    }

    /// Whether the atomic section that starts at `begin` may have to wait: an `assume` can be reached in it.
    pub fn section_may_wait(&self, begin: InstrId) -> bool {
        self.section_has(begin, |_, op| matches!(op, Op::Assume(_)))
    }

    /// Whether it says itself what its operations are.
    pub fn has_operations(&self) -> bool {
        self.code.iter().any(|instr| matches!(instr.op, Op::OperationBegin(_)))
    }

    /// For each instruction, whether a thread that stands before it may be in an operation: all of them, if it has none.
    pub fn in_operations(&self) -> Vec<bool> {
        if !self.has_operations() {
            return vec![true; self.code.len()];
        }
        let mut inside = vec![false; self.code.len()];
        let begins = |(_, instr): &(usize, &Instr)| matches!(instr.op, Op::OperationBegin(_));
        let mut todo: Vec<InstrId> =
            self.code.iter().enumerate().filter(begins).map(|(at, _)| InstrId::new(at + 1)).collect();
        while let Some(at) = todo.pop() {
            let Some(instr) = self.code.get(at.index()) else { continue };
            if !std::mem::replace(&mut inside[at.index()], true) && !matches!(instr.op, Op::OperationEnd) {
                todo.extend(successors(&instr.op, at));
            }
        }
        inside
    }
}

impl Program {
    /// Whether some atomic section may have to wait.
    pub fn may_wait(&self) -> bool {
        self.threads.iter().any(|thread| {
            let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
            begins.into_iter().any(|(pc, _)| thread.section_may_wait(InstrId::new(pc)))
        })
    }
}
