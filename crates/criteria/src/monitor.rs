//! Monitors.

use std::fmt;

pub use self::state::{LIMIT, State};
use self::step::Step;
use crate::history::{Event, Size};
pub use crate::oracle::Criterion;
use crate::spec::Specification;

mod graph;
mod state;
mod step;
#[cfg(test)]
mod tests;

/// A criterion as a deterministic automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Monitor {
    criterion: Criterion,
    size: Size,
}

/// Why a monitor rejects an event. [`explain`](crate::oracle::explain) says more about a whole history.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rejection {
    /// The transactions have no serial order.
    Cycle,
    /// The transaction uses, or commits after it used, a load that fits nowhere: either the value was rolled back (rule 3), or
    /// a cycle was waiting to be closed.
    Stale,
    /// Not well-formed, rule 1 or 3: a rollback finds no store to undo, or one that another transaction used or overwrote.
    Rollback,
    /// Not well-formed, rule 2: a transaction aborts without having rolled back its stores.
    Abort,
}

/// There are more threads or variables than a monitor can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge(pub Size);

impl Monitor {
    /// A monitor for this many threads and variables, at most [`LIMIT`] each.
    pub fn new(criterion: Criterion, size: Size) -> Result<Self, TooLarge> {
        if size.threads > LIMIT || size.vars > LIMIT { Err(TooLarge(size)) } else { Ok(Self { criterion, size }) }
    }

    /// What it monitors.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// The threads and variables that it is for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The state before the first event.
    pub fn initial(&self) -> State {
        State::initial()
    }

    /// Takes an event. If the event is rejected, the state is of no more use.
    ///
    /// # Panics
    /// If the event's thread or variable is beyond the monitor's size.
    pub fn step(&self, state: &mut State, event: Event) -> Result<(), Rejection> {
        assert!(event.thread < self.size.threads, "an event of a thread that the monitor does not know");
        assert!(event.action.variable().is_none_or(|v| v < self.size.vars), "an event of an unknown variable");
        Step::new(state, self.criterion, self.size).take(event)
    }

    /// Appends the state in few bytes. Equal states give equal bytes, and only they do.
    pub fn encode(&self, state: &State, out: &mut Vec<u8>) {
        state::encode(state, self.size, out);
    }

    /// Reads a state from the front of the bytes, and says how many bytes it took; `None` if they end too early.
    pub fn decode(&self, bytes: &[u8]) -> Option<(State, usize)> {
        state::decode(bytes, self.size)
    }

    /// The state after the same events with thread `t` named `threads[t]` and variable `v` named `vars[v]`. Both are
    /// permutations, as long as the monitor's size says.
    pub fn permute(&self, state: &State, threads: &[u8], vars: &[u8]) -> State {
        debug_assert!(threads.len() == self.size.threads.into() && vars.len() == self.size.vars.into());
        state.renamed(threads, vars)
    }
}

impl Specification for Monitor {
    type State = State;

    fn name(&self) -> &'static str {
        self.criterion.name()
    }

    fn size(&self) -> Size {
        self.size
    }

    fn initial(&self) -> Vec<State> {
        vec![State::initial()]
    }

    fn step(&self, state: &State, event: Event) -> Vec<State> {
        let mut next = *state;
        match self.step(&mut next, event) {
            Ok(()) => vec![next],
            Err(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cycle => "the transactions have no serial order",
            Self::Stale => "a value was used that fits nowhere in a serial order",
            Self::Rollback => "a rollback without a store to undo, or of a store that others used or overwrote",
            Self::Abort => "a transaction aborted without rolling back its stores",
        })
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { threads, vars } = self.0;
        write!(f, "{threads} threads and {vars} variables: a monitor has at most {LIMIT} of each")
    }
}

impl std::error::Error for TooLarge {}
