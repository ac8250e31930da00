//! What is found out by looking at a region ([`super::look`]).

use cyrano_ir::EvalError;

use crate::reductions::ample::Footprint;
use crate::semantics::declared::region::{Region, Units};

/// What a thread's region looks like.
#[derive(Default)]
pub(crate) struct Look {
    /// What can be performed now.
    pub ready: Vec<Ready>,
    /// Choices that can be made now.
    pub choices: Vec<Choice>,
    /// Where the region ends, once everything in it is done, and the registers there.
    pub exit: Option<(u32, Vec<i128>)>,
    /// Whether something was performed that is not executed: the guess was wrong.
    pub wrong: bool,
    /// An assertion that fails on the way to the exit.
    pub failed: Option<u32>,
    /// Whether an assertion was evaluated on the way to the exit.
    pub asserted: bool,
    /// A computation that goes wrong in any case.
    pub error: Option<(u32, EvalError)>,
    /// A `limit` that does not hold.
    pub limited: Option<u32>,
    /// An `assume` that does not hold.
    pub dropped: bool,
    /// What was performed: its first access, and the units that it may have to follow.
    pub performed: Vec<(u32, Units)>,
    /// Whether something could be performed now if more was known.
    pub waits: bool,
    /// Whether an access was met that has not been performed.
    pub accesses_left: bool,
    /// What has not been performed and may be executed.
    pub open: Vec<Open>,
    /// Where the region may end.
    pub ends: Vec<u32>,
    /// The sums that were computed on the way: a register of the thread, its value, and what is added to it at most.
    pub sums: Vec<(u32, i128, i128)>,
}

/// An access or an atomic section that has not been performed.
pub(crate) struct Open {
    /// Its first access, and its unit.
    pub pc: u32,
    pub unit: usize,
    /// Whether it is executed in any case, and does not wait for another thread.
    pub certain: bool,
    /// Whether it can be performed now, as far as the thread alone decides that.
    pub ready: bool,
    /// What it follows surely and perhaps, and has not been performed.
    pub must: Units,
    pub may: Units,
    /// What it may touch.
    pub footprint: Footprint,
}

impl Look {
    /// Whether a unit that was performed, by its first access, may have to follow another one.
    pub fn may_follow(&self, region: &Region, first: u32, late: u32) -> bool {
        let unit = region.unit(late);
        self.performed.iter().any(|(pc, may)| *pc == first && unit.is_some_and(|unit| may.contains(unit)))
    }
}

/// An access or an atomic section that can be performed.
pub(crate) struct Ready {
    pub pc: u32,
    /// The registers before it.
    pub regs: Vec<Option<i128>>,
    /// Whether it is executed in any case.
    pub certain: bool,
}

/// A choice that can be made.
pub(crate) struct Choice {
    pub pc: u32,
    /// Whether it has to be made in any case.
    pub certain: bool,
}
