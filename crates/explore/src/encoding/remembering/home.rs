//! Whether steps can be remembered, and where packed states are kept: what that makes of their bits and of the sums over their values.

use crate::encoding::layout::{Bits, Segment, Spread};
use crate::semantics::machine::Machine;

/// Where packed states are, and what that makes of them.
pub(crate) trait Home {
    type Bits: Bits;
    /// What is summed up over the values of a state, to tell where it belongs.
    type Sum: Copy;
    fn sum(hashes: impl FnOnce() -> u64) -> Self::Sum;
}

/// In the memory of this process, while a search goes on.
pub(crate) struct InMemory;

impl Home for InMemory {
    type Bits = Segment;
    type Sum = ();

    #[inline]
    fn sum(_: impl FnOnce() -> u64) {}
}

/// In files or on other machines, where they never change.
pub(crate) struct Kept;

impl Home for Kept {
    type Bits = Spread;
    type Sum = u64;

    #[inline]
    fn sum(hashes: impl FnOnce() -> u64) -> u64 {
        hashes()
    }
}

impl Machine<'_> {
    /// Whether a step of a thread depends on its own part and the locations it touches and changes nothing else; and whether that is used.
    pub(crate) fn has_local_steps(&self) -> bool {
        let local =
            self.monitor.is_none() && self.spec.is_none() && self.shadows.is_none() && self.timestamps.is_none();
        let plain = self.symmetry.is_none() && self.variable_symmetry.is_empty();
        let silent = self.values.is_none() || self.own_order.is_some();
        self.config.remembered_steps && local && plain && silent
    }

    /// Whether steps are remembered in memory: those, and with forms of their own those of states whose parts are ranked or renamed, or with a criterion that
    /// hears what happens.
    pub(crate) fn remembers_steps(&self) -> bool {
        self.has_local_steps() || self.has_forms()
    }

    /// Whether a state is stored in a form that stands for others, or a criterion hears of its steps; see `standing`.
    pub(crate) fn has_forms(&self) -> bool {
        let others = self.shadows.is_some()
            || self.names.is_some()
            || self.own_order.is_some()
            || self.notes_deeds
            || !self.whole.is_empty();
        let needed = self.has_criterion() || self.timestamps.is_some() || !self.exchanges.is_empty();
        self.config.remembered_steps && needed && !others
    }
}
