//! States under construction: the successors of a state, with their buffers kept for the next one.

use cyrano_criteria::history::Action;
use cyrano_criteria::structure::isolation::Deed;
use cyrano_engine::{Access, Execution, Violation};
use cyrano_ir::{AccessKind, TxEvent};

use super::state::State;
use crate::criteria::hearing::Said;

/// How many successors a state may have; beyond that a search gives up, for only choices in one section can make as many.
pub(crate) const MOST_SUCCESSORS: usize = 1 << 16;

/// What an access is, or an event in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// Its kind and its location; nothing for an event.
    pub access: Option<(AccessKind, u32)>,
    /// The instruction of the access.
    pub instr: u32,
    /// What it means to transactions.
    pub action: Option<Action>,
}

/// A state under construction, and what happened on the way to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Successor {
    pub state: State,
    /// The accesses performed, in order.
    pub accesses: Vec<Access>,
    /// The choices made, in order, each with its thread.
    pub choices: Vec<(usize, i128)>,
    /// The choices made out of order, each with its thread and instruction; see `declared`.
    pub own_choices: Vec<(usize, u32, i128)>,
    /// Where it passes the ends of regions: how many of its accesses and of its choices come before.
    pub leaves: Vec<(usize, usize)>,
    /// What each access is. Only if steps tell; see `lts`.
    pub told: Vec<Told>,
    /// Whose step it was.
    pub thread: usize,
    /// Whether it has a program step of its thread, performs the thread's oldest deferred access, and passes a mark that is asked about; see `runs`.
    pub moves: bool,
    pub oldest: bool,
    pub passes: bool,
    /// What a criterion would hear of it, if it does not listen now; see `hearing`.
    pub said: Vec<Said>,
    /// How a transaction ended in it, if one did.
    pub ended: Option<TxEvent>,
    /// What abort isolation and languages see of it, if they are asked about; see `structure`.
    pub deeds: Vec<Deed>,
    /// Whether an atomic block committed in it.
    pub block_committed: bool,
    /// Where units ended in it and what they handed on, if that is noted without a shadow to compare it with; see `movers`.
    pub handed_on: Vec<i128>,
    /// Whether another successor stands for it.
    pub dropped: bool,
    /// What went wrong.
    pub event: Option<Violation>,
}

impl Successor {
    /// Adds the step to an execution.
    pub fn add_to(&self, execution: &mut Execution) {
        execution.order.extend(&self.accesses);
        for (thread, value) in &self.choices {
            execution.choices[*thread].push(*value);
        }
    }
}

/// Successors, with their buffers kept for the next state.
#[derive(Default)]
pub(crate) struct Successors {
    pool: Vec<Successor>,
    len: usize,
}

impl Successors {
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Successor> {
        self.pool[..self.len].iter_mut()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// A new successor that starts out as a copy of `state`.
    pub fn start(&mut self, state: &State, thread: usize) -> usize {
        let index = self.slot();
        let new = &mut self.pool[index];
        new.state.clone_from(state);
        new.accesses.clear();
        new.choices.clear();
        new.told.clear();
        new.said.clear();
        new.own_choices.clear();
        new.leaves.clear();
        new.thread = thread;
        (new.moves, new.oldest, new.passes) = (false, false, false);
        new.ended = None;
        new.deeds.clear();
        new.block_committed = false;
        new.handed_on.clear();
        new.dropped = false;
        new.event = None;
        index
    }

    /// Adds a successor that was made elsewhere.
    pub fn push(&mut self, successor: Successor) {
        let index = self.slot();
        self.pool[index] = successor;
    }

    /// A copy of a successor, at a choice.
    pub fn fork(&mut self, from: usize) -> usize {
        let index = self.slot();
        self.pool[index] = self.pool[from].clone();
        index
    }

    /// Takes back the most recent successor.
    pub fn retract(&mut self, index: usize) {
        self.len -= 1;
        self.pool.swap(index, self.len);
    }

    #[inline]
    pub fn at(&mut self, index: usize) -> &mut Successor {
        &mut self.pool[index]
    }

    #[inline]
    fn slot(&mut self) -> usize {
        if self.len == self.pool.len() {
            self.pool.push(Successor::default());
        }
        self.len += 1;
        self.len - 1
    }
}
