//! Which registers can still matter at which instruction.
//!
//! The classical backward analysis: a register is live before an instruction that reads it, and before
//! one that leaves it alone if it is live after it. Explorers zero dead registers so that states which
//! differ in nothing but leftovers become one.
//!
//! **Invariant:** changing a register that is not live before `pc` changes no behaviour from `pc` on, errors
//! of the checked program included: operands count as read even where the result is dead, because
//! computing it may overflow. A write to an element chosen at run time kills nothing.

use super::{RegSet, reads, successors, writes};
use crate::cond::{FinalVar, Property};
use crate::ids::{InstrId, RegId, ThreadId};
use crate::op::Op;
use crate::program::{Program, Thread};

/// The live registers of one thread, before each instruction.
#[derive(Clone, Debug)]
pub struct Liveness {
    before: Vec<RegSet>,
}

impl Liveness {
    /// Analyses a thread; the registers in `at_exit` are live at every [`Op::Halt`].
    pub fn new(thread: &Thread, at_exit: impl IntoIterator<Item = RegId>) -> Self {
        let none = RegSet::new(thread.registers.len());
        let mut exit = none.clone();
        at_exit.into_iter().for_each(|reg| exit.insert(reg));
        let mut before = vec![none; thread.code.len()];
        // Going backwards settles straight code in one pass; each enclosing loop costs about one more.
        while backward_pass(thread, &exit, &mut before) {}
        Self { before }
    }

    /// Analyses every thread of a program, with what [`exit_registers`] says.
    pub fn of_program(program: &Program) -> Vec<Self> {
        let analyse = |id| Self::new(program.thread(id), exit_registers(program, id));
        program.thread_ids().map(analyse).collect()
    }

    /// The registers that are live before the instruction at `pc`.
    #[inline]
    pub fn live_before(&self, pc: InstrId) -> &RegSet {
        &self.before[pc.index()]
    }

    /// Whether `reg` is live before the instruction at `pc`.
    #[inline]
    pub fn is_live(&self, pc: InstrId, reg: RegId) -> bool {
        self.live_before(pc).contains(reg)
    }
}

/// The registers of a thread that are looked at in final states: what the program observes, and what the
/// conditions of its checks name. May list a register more than once.
pub fn exit_registers(program: &Program, thread: ThreadId) -> Vec<RegId> {
    let mut registers = Vec::new();
    let mut add = |var: &FinalVar| match *var {
        FinalVar::Reg(owner, reg) if owner == thread => registers.push(reg),
        FinalVar::Reg(..) | FinalVar::Loc(_) => {}
    };
    program.observed.iter().for_each(|o| add(&o.var));
    for check in &program.checks {
        if let Property::Final { cond, .. } = &check.property {
            cond.for_each_var(&mut add);
        }
    }
    registers
}

/// Recomputes every set once, last instruction first; says whether any grew.
fn backward_pass(thread: &Thread, exit: &RegSet, before: &mut [RegSet]) -> bool {
    let mut changed = false;
    for (pc, instr) in thread.code.iter().enumerate().rev() {
        let mut live = match instr.op {
            Op::Halt => exit.clone(),
            _ => RegSet::new(thread.registers.len()),
        };
        for next in successors(&instr.op, InstrId::new(pc)) {
            live.union_with(&before[next.index()]);
        }
        let killed = writes(&instr.op).filter(|write| write.is_definite());
        for reg in killed.into_iter().flat_map(|write| write.registers()) {
            live.remove(reg);
        }
        reads(&instr.op, &mut |reg| live.insert(reg));
        changed |= before[pc].union_with(&live);
    }
    changed
}
