//! Parts in the words of the axioms, for a certificate: what is written there belongs to no engine.
//!
//! Of the reductions the same are used as for a set of states (`configurations`): deferred accesses keep their instructions, and registers that are dead are
//! written as forgotten.

use std::collections::BTreeSet;

use cyrano_engine::configuration::{Forgets, Single};
use cyrano_engine::{Limits, Query};
use cyrano_ir::{InstrId, LocId};

use super::{Members, MembersWalker};
use crate::Explore;
use crate::semantics::stepping::plain;

const CONFIG: &Explore = &plain(true, true);

impl<'a> Members<'a> {
    /// The same as [`Members::new`] with parts that can be written down.
    pub fn certifying(query: Query<'a>, family: Vec<Option<usize>>, limits: &Limits) -> Self {
        Self::with(query, family, limits, CONFIG)
    }
}

impl MembersWalker<'_> {
    /// Memory and the threads in no family, and the serial run's memory.
    pub fn shown(&mut self, global: &[u8]) -> (Vec<i128>, Vec<Single>, Option<Vec<i128>>) {
        let fixed = self.load(global, None);
        let threads = fixed.into_iter().map(|thread| self.single(thread)).collect();
        let serial = self.state.shadow.as_ref().map(|shadow| shadow.members[0].memory.clone());
        (self.state.memory.clone(), threads, serial)
    }

    /// A member.
    pub fn shown_member(&mut self, family: usize, mut member: &[u8]) -> Single {
        let slot = self.slot(family);
        self.state.clone_from(&self.resting);
        super::get_thread(self.m, slot, &mut member, &mut self.state);
        self.single(slot)
    }

    fn single(&self, thread: usize) -> Single {
        let shadow = self.state.shadow.as_ref();
        let serial = shadow
            .map(|shadow| (self.m.copied(thread, &shadow.members[0].threads[thread]), shadow.chosen[thread].clone()));
        Single { lane: self.m.lane(&self.state, thread), serial }
    }

    /// The counters, and from where on their values are not told apart.
    pub fn bounds(&self) -> Vec<(LocId, i128)> {
        self.counters.iter().map(|counter| (LocId::new(counter.loc), counter.cap)).collect()
    }

    /// The registers that are forgotten, wherever threads may rest.
    pub fn forgets(&self) -> Forgets {
        let everywhere = |thread: &cyrano_ir::Thread| (0..thread.code.len()).map(InstrId::new).collect();
        let rests: Vec<BTreeSet<InstrId>> = self.m.program.threads.iter().map(everywhere).collect();
        self.m.forgets(&rests)
    }
}
