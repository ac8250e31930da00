//! The labelled transition system of a program (FOIL, section 7.1, Algorithm 6).
//!
//! Of a transactional memory the labels are the events that its history has (section 2.4.1), and everything else is silent; of other programs they are
//! the accesses.

use cyrano_criteria::history::Event;
use cyrano_ir::{AccessKind, LocId, ThreadId};

/// What happens in a transition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Label {
    /// Nothing that anybody looks at.
    Silent,
    /// An event of a transaction.
    Event(Event),
    /// An access.
    Access {
        /// Whose.
        thread: ThreadId,
        /// Its kind.
        kind: AccessKind,
        /// Of what.
        loc: LocId,
        /// What it read.
        read: Option<i128>,
        /// What it wrote.
        written: Option<i128>,
    },
    /// An assertion fails or a computation goes wrong; nothing follows.
    Wrong,
}

/// States, numbered from 0, which is the initial one, and the transitions between them.
#[derive(Clone, Debug, Default)]
pub struct TransitionSystem {
    /// How many states there are.
    pub states: u32,
    /// How many of them are states of the program. The others stand between the labels of one step, and there may be one before all initial states and
    /// one behind everything that goes wrong.
    pub own_states: u32,
    /// How many steps the program has.
    pub steps: u64,
    /// The labels.
    pub labels: Vec<Label>,
    /// From a state, by the label of this number, to a state.
    pub transitions: Vec<(u32, u32, u32)>,
}
