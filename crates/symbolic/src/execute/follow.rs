//! Axiom 9: what an instruction follows by the program's own order, as it is executed.
//!
//! Every instruction that assigns, chooses or decides hands on the accesses that it follows, an access itself; each with the literal
//! that says so, which implies that the instruction is executed. Where ways meet, literals tell them apart.

use std::collections::BTreeMap;
use std::rc::Rc;

use cyrano_ir::{InstrId, OwnOrder};

use crate::execute::eval::Taint;
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::lit::Lit;

/// What the instructions of a thread hand on.
pub(crate) struct Follow<'a> {
    order: &'a OwnOrder,
    handed: BTreeMap<InstrId, Taint>,
    /// What the section that is under way follows so far.
    inside: Taint,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(order: &'a OwnOrder) -> Self {
        Self { order, handed: BTreeMap::new(), inside: Taint::default() }
    }
}

impl ThreadWalk<'_, '_> {
    /// What an instruction follows because the order lists it.
    fn listed(&mut self, pc: InstrId) -> Taint {
        let mut found = Taint::default();
        let Some(own) = &self.own else { return found };
        for from in own.order.of(self.thread, pc) {
            if let Some(handed) = own.handed.get(from) {
                found = self.gates.union(&found, handed);
            }
        }
        found
    }

    /// Adds to what an instruction was computed from all else that it follows, and hands that on.
    pub(crate) fn hand_on(&mut self, pc: InstrId, taint: Taint, guard: Lit, state: &ThreadState) -> Taint {
        if self.own.is_none() {
            return taint;
        }
        let listed = self.listed(pc);
        let taint = self.gates.union(&taint, &listed);
        let executed = self.gates.guarded(guard, &taint);
        let Some(own) = &mut self.own else { return taint };
        if state.in_section {
            own.inside = self.gates.union(&own.inside, &executed);
        }
        own.handed.insert(pc, executed);
        taint
    }

    /// Hands on an access.
    pub(crate) fn hand_on_access(&mut self, pc: InstrId, event: u32, guard: Lit) {
        if let Some(own) = &mut self.own {
            own.handed.insert(pc, Rc::new(vec![(event, guard)]));
        }
    }

    /// A section begins.
    pub(crate) fn follow_section(&mut self, pc: InstrId) {
        let listed = self.listed(pc);
        if let Some(own) = &mut self.own {
            own.inside = listed;
        }
    }

    /// What an access follows, its operands apart.
    pub(crate) fn follows(&mut self, pc: InstrId, state: &ThreadState) -> Taint {
        let listed = self.listed(pc);
        match &self.own {
            Some(own) if state.in_section => self.gates.union(&listed, &own.inside),
            _ => listed,
        }
    }
}
