//! Which locations a thread's next step may touch.
//!
//! **Invariant:** what a step of a thread does depends on the thread's own part and on the values of the locations named here, and it
//! writes no other location. A step performs a deferred access of the thread's queue, or the access at its program counter, or
//! the atomic section there; running on to the next rest touches registers and the queue only ([`crate::semantics::drain`]).
//! Under a program's own order it performs one of the accesses that are ready ([`crate::semantics::declared`]).

use cyrano_ir::{AccessKind, Addr, Op, Place};

use crate::semantics::local::{eval, location};
use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successors};

impl Stepper<'_> {
    /// The locations that the next step of a thread may read or write, each once.
    pub(crate) fn touched(&mut self, state: &State, thread: usize) -> Vec<u32> {
        let Some(order) = self.m.own_order else {
            let mut found = self.m.touched(state, thread);
            found.extend(self.hurried(state, thread));
            found.sort_unstable();
            found.dedup();
            return found;
        };
        let mut found: Vec<u32> = self.own_touched(order, state, thread).into_iter().map(|(loc, _)| loc).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Stepper<'_> {
    /// The locations of accesses that come in one step with a choice or a call; see `step_by_choice`.
    fn hurried(&mut self, state: &State, thread: usize) -> Vec<u32> {
        let op = self.m.op(thread, state.threads[thread].pc);
        if !self.m.lazy_choices || !matches!(op, Op::Choose { .. } | Op::Invoke { .. } | Op::Respond(_)) {
            return Vec::new();
        }
        let apart = std::mem::replace(&mut self.apart, true);
        self.hurried = Some(Vec::new());
        self.step_at_pc(state, thread, &mut Successors::default());
        self.apart = apart;
        self.hurried.take().unwrap_or_default()
    }
}

impl Machine<'_> {
    fn touched(&self, state: &State, thread: usize) -> Vec<u32> {
        let mut found: Vec<u32> =
            state.threads[thread].queue.iter().filter(|e| e.access().is_some()).map(|e| e.loc).collect();
        found.extend(self.touched_at_pc(state, thread));
        if !self.headers.is_empty() {
            // A store looks at every header that another access would.
            let looks: Vec<u32> = found.iter().filter_map(|loc| self.headers.guard(*loc, AccessKind::Store)).collect();
            found.extend(looks);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The same for the step at the program counter.
    pub(crate) fn touched_at_pc(&self, state: &State, thread: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let (pc, base) = (state.threads[thread].pc, self.threads[thread].base);
        let op = self.op(thread, pc);
        if let Some(addr) = op.addr() {
            found.extend(location(self.program, addr, &state.regs[base..]));
        } else if matches!(op, Op::AtomicBegin) {
            self.touched_in_section(state, thread, &mut found);
        }
        found
    }

    /// The locations of all accesses on all paths through the section at the program counter.
    fn touched_in_section(&self, state: &State, thread: usize, found: &mut Vec<u32>) {
        let section = self.section_code(thread, state.threads[thread].pc);
        let regs = &state.regs[self.threads[thread].base..];
        let mut written = vec![false; regs.len()];
        for pc in &section {
            match self.op(thread, *pc).dst() {
                Some(Place::Reg(reg)) => written[reg.index()] = true,
                Some(Place::Elem { base, len, .. }) => {
                    (base.index()..base.index() + *len as usize).for_each(|reg| written[reg] = true);
                }
                None => {}
            }
        }
        for addr in section.iter().filter_map(|pc| self.op(thread, *pc).addr()) {
            match addr {
                Addr::Fixed(loc) => found.push(loc.0),
                Addr::Indexed { array, index } => {
                    let mut settled = true;
                    crate::semantics::local::registers(index, regs, &mut |reg| settled &= !written[reg as usize]);
                    // An index through an array element may name another register later.
                    index.for_each_var(&mut |place| settled &= matches!(place, Place::Reg(_)));
                    if settled {
                        found
                            .extend(eval(index, regs).and_then(|at| self.program.element(*array, at)).map(|loc| loc.0));
                    } else {
                        let elements = &self.program.arrays[array.index()];
                        found.extend((elements.base.0)..(elements.base.0 + elements.len));
                    }
                }
            }
        }
    }

    /// The instructions of the section that begins at `begin`.
    fn section_code(&self, thread: usize, begin: u32) -> Vec<u32> {
        let mut seen = vec![false; self.program.threads[thread].code.len()];
        let (mut work, mut code) = (vec![begin + 1], Vec::new());
        while let Some(pc) = work.pop() {
            if std::mem::replace(&mut seen[pc as usize], true) {
                continue;
            }
            code.push(pc);
            match self.op(thread, pc) {
                Op::AtomicEnd | Op::Halt => {}
                Op::Jump(to) => work.push(to.0),
                Op::Branch { then_to, else_to, .. } => work.extend([then_to.0, else_to.0]),
                _ => work.push(pc + 1),
            }
        }
        code
    }
}
