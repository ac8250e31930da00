//! Units of axiom 6 in symbolic execution: atomic sections, and operations under a serial model.
//!
//! **Sections that are cut off.** A section in which a bound or a `limit` stops the thread is looked at and left out: its accesses have their place in the
//! memory order, so that what it finds there decides which way it goes, but nobody else sees what it writes, and what goes wrong in it does not count
//! ([`Section::whole`]). For everybody else the thread stands before the section, and everybody else goes on.
//!
//! **Why an insufficient bound is noticed.** Let an execution take some loop beyond its bound, and look at the first moment at which a thread does so. Up to
//! there all threads are within their bounds and all sections that were performed are whole, so this is a prefix of an execution that the formula has. The thread
//! stops: outside of sections where it is; in a section it has looked at memory of that moment, and is left out. From here on all others can go on, each until its
//! end, its own bound, or where it may stop anyway: nothing asks for something to come before the cut. So the formula has a model
//! in which the loop is in [`Run::exceeded`]. Under a serial model an operation that is not finished comes last; there everybody else may stop before
//! each operation, and before each access and section outside of operations ([`ThreadWalk::may_pause`]). The same holds for a `limit` instead of a bound.
//! Conversely, every model is a prefix of an execution, as far as others than the threads that are cut are concerned; so what goes wrong in it does go wrong.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Op, Program, ThreadId};

use crate::execute::event::{Run, Section, Unit, Wait};
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit};

impl ThreadWalk<'_, '_> {
    /// The section that the thread is in, if it is in one, is cut off where the literal holds.
    pub(crate) fn cut(&mut self, state: &ThreadState, guard: Lit) {
        if let Some(section) = state.section {
            self.run.sections[section].cuts.push(guard);
        }
    }

    /// Not beginning an operation is a way for others to go on, once somebody does not finish one.
    pub(crate) fn begin_operation(&mut self, guard: Lit, state: &mut ThreadState) -> Lit {
        let unit = self.run.units.len();
        self.run.units.push(Unit { thread: self.thread, ends: Vec::new(), is_operation: true, events: Vec::new() });
        state.unit = Some(unit);
        let begins = self.gates.fresh();
        self.gates.and(guard, begins)
    }

    /// Under a serial model not going on is one of the thread's ways outside of operations, too: somebody's operation that is not finished excludes what comes after it.
    pub(crate) fn may_pause(&mut self, guard: Lit, state: &ThreadState) -> Lit {
        if !self.set.traits.serial || state.unit.is_some() || state.memory.is_some() {
            return guard;
        }
        let goes_on = self.gates.fresh();
        self.gates.and(guard, goes_on)
    }

    pub(crate) fn begin_section(&mut self, pc: InstrId, guard: &mut Lit, state: &mut ThreadState) {
        if state.in_section {
            return;
        }
        if may_be_cut(self.set.program, self.thread, pc) {
            state.section = Some(self.run.sections.len());
            let whole = self.gates.fresh();
            self.run.sections.push(Section { thread: self.thread, whole, cuts: Vec::new() });
        }
        if state.memory.is_some() {
            state.in_section = true;
            return;
        }
        *guard = self.may_pause(*guard, state);
        if self.set.program.thread(self.thread).section_may_wait(pc) {
            let enters = self.gates.fresh();
            let waits = self.gates.and(*guard, !enters);
            let registers = state.registers.clone();
            self.run.waits.push(Wait { thread: self.thread, instr: pc, waits, registers, stuck: FALSE });
            *guard = self.gates.and(*guard, enters);
        }
        state.in_section = true;
        if state.unit.is_none() {
            state.unit = Some(self.run.units.len());
            let (ends, events) = (Vec::new(), Vec::new());
            self.run.units.push(Unit { thread: self.thread, ends, is_operation: false, events });
        }
    }
}

impl Run {
    /// Says which sections are whole, once all of their cuts are known.
    pub(crate) fn settle_sections(&self, gates: &mut Gates) {
        for section in &self.sections {
            let cut = gates.any(section.cuts.iter().copied());
            gates.clause(&[section.whole, cut]);
            gates.clause(&[!section.whole, !cut]);
        }
    }
}

/// Whether a bound or a `limit` may cut off the section that starts at `begin`.
fn may_be_cut(program: &Program, thread: ThreadId, begin: InstrId) -> bool {
    program
        .thread(thread)
        .section_has(begin, |at, op| matches!(op, Op::Limit { .. }) || successors(op, at).any(|to| to <= at))
}
