//! What symbolic execution does differently under models about relations.
//!
//! Fences are events. A computation that goes wrong ends the thread, as it does in the reference. In programs whose branches are scoped, control dependencies end where the ways of a
//! branch meet; where two ways to a point are in different branches nobody knows which, and no verdict is given ([`crate::execute::event::Run::vague_scopes`]).

use cyrano_ir::{Fence, InstrId};
use cyrano_memory::{Control, Dependencies, Model};

use crate::execute::eval::Taint;
use crate::execute::event::{FenceEvent, Placed};
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::lit::Lit;

/// What symbolic execution has to know of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// It is about relations: a computation that goes wrong ends the thread, and fences are events.
    pub(crate) relational: bool,
    /// Operations run one after the other.
    pub(crate) serial: bool,
    /// What values were computed from matters.
    pub(crate) tracks: bool,
    /// Which branches were taken matters.
    pub(crate) control: bool,
    /// Dependencies that go into a value directly are told apart.
    pub(crate) direct: bool,
    /// A store may be seen before the branch that leads to it is decided.
    pub(crate) speculates: bool,
}

impl Traits {
    /// Those of a model.
    pub(crate) fn of(model: &Model) -> Self {
        if let Some(cat) = model.cat() {
            let direct = cat.plan().tells_direct();
            return Self { relational: true, serial: false, tracks: true, control: true, direct, speculates: true };
        }
        let parameters = model.reordering();
        let Dependencies { data, address, control } = parameters.dependencies;
        let control = control != Control::None;
        Self {
            relational: false,
            serial: parameters.serial,
            tracks: data || address || control || parameters.may_invent_values(),
            control,
            direct: false,
            speculates: !parameters.branches_order_stores(),
        }
    }
}

impl ThreadState {
    /// Where the ways of a branch meet, nothing depends on it any more.
    pub(crate) fn leave_branches(&mut self, pc: InstrId) {
        while let Some((_, before)) = self.scopes.pop_if(|(join, _)| *join == pc) {
            self.control = before;
        }
    }
}

impl ThreadWalk<'_, '_> {
    /// Joins the branches that two ways are in; they are the same ones unless the code jumps into the middle of one.
    pub(crate) fn join_scopes(&mut self, lit: Lit, state: &mut ThreadState, other: &ThreadState) {
        let ends = |scopes: &[(InstrId, Taint)]| scopes.iter().map(|(join, _)| *join).collect::<Vec<_>>();
        if ends(&state.scopes) != ends(&other.scopes) {
            self.run.vague_scopes = true;
            return;
        }
        for (own, (_, before)) in state.scopes.iter_mut().zip(&other.scopes) {
            own.1 = self.gates.join(lit, before, &own.1);
        }
    }

    /// A fence, which is an event of its own.
    pub(crate) fn fence(&mut self, fence: Fence, guard: Lit, state: &ThreadState) {
        self.out.placed.push(Placed::Fence(self.run.fences.len()));
        self.run.fences.push(FenceEvent { guard, fence, control: state.control.clone() });
    }
}
