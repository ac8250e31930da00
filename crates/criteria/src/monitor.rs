//! The criteria as small deterministic automata for n threads and k variables, to be explored together with a program.
//!
//! The definitions are in [`oracle`](crate::oracle); this module decides the same languages (FOIL, section 2.4.2), one event at
//! a time, where the paper has automata for two threads only (section 3).
//!
//! # The graph that is kept
//! A history is wrong if the graph of "must come before" has a cycle. Only these nodes are kept (`state.rs`):
//! - for each thread, its *running transaction*;
//! - for each thread, its *pending load*: a load that is the thread's last event. It becomes part of the transaction if `rfin`
//!   comes next, at the place where the load stands, and never happened if anything else does. So it is a node of its own, which
//!   collects edges like a transaction and is then merged into its transaction or removed. No path leads through it before.
//!
//! For each node: `into`, the nodes with a path to it through finished transactions only; and `accessed` and `stored`, what the
//! finished transactions that it reaches (through finished ones only) have accessed and stored.
//!
//! # Why finished transactions can be forgotten
//! *No new edge leads into a finished transaction f, except from a pending load.* A conflict edge leads to the transaction of the
//! later event, and f has no later events; real time leads to transactions that begin; the one thing that happens in the past is
//! that a pending load becomes used. So whatever will reach f reaches it through a node that is kept and reaches it now.
//! - A new edge from f to the running t exists if t accesses what f accessed (one of the two storing) or if t begins. It matters
//!   only as part of a path from some kept node s over f to t. That s has f's variables in `accessed` and `stored`, so the step
//!   puts s into `into` of t. For real time it is enough that s reaches *any* finished transaction, and then `accessed` is not
//!   empty, because the first edge from s is a conflict.
//! - A finished transaction that no kept node reaches is on no cycle and never will be.
//! - When t finishes, its `into` becomes what was before it: each s in it takes over t's accesses and what t reached, and each
//!   node after t gets s in its `into`. That is the path over t.
//!
//! # Rollbacks
//! A rollback removes the edges *into* its transaction that the stores caused; edges *out of* them cannot exist, or the rollback
//! is not well-formed (rule 3). So the edges into a transaction through a store that can still be rolled back are kept apart, for
//! each variable. There is at most one such store of a variable: one that another transaction has overwritten cannot be rolled
//! back any more, is *frozen*, and its edges become lasting. So does what was before a store whose transaction commits. A
//! pending load that took the value of a store is *dirty* until that store is frozen; the rollback makes it unusable.
//!
//! # Opacity and strict serializability
//! Under **opacity** a running transaction is in the graph already, whatever becomes of it: lasting paths through it are closed
//! transitively, a cycle of running transactions is rejected at once (also one with edges that a rollback could remove, because
//! every prefix is judged), and a used dirty load freezes the store.
//! Under **strict serializability** only committed transactions are, so a running transaction is treated like a pending load: no
//! path leads through it before it commits, and if it aborts it never was. A transaction that reaches itself can no longer
//! commit; nor can one that used a value which has been rolled back. It is *lost* and only its stores matter. A used dirty load
//! freezes the store when its transaction commits.
//!
//! # Canonical form
//! Beyond that, `graph.rs` drops what is implied by the rest: what holds for a pending load and for its transaction; the reads of
//! a transaction that comes before all others anyhow; reads of what follows it; details of a pending load that cannot be used. For
//! two threads and two variables, opacity has 6,432 states where the minimal automaton has 5,632.

use std::fmt;

pub use self::state::{LIMIT, MonitorState};
use self::step::Step;
use crate::criterion::TxCriterion;
use crate::history::{Event, Size};
use crate::spec::Specification;

mod graph;
mod state;
mod step;
/// A criterion as a deterministic automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Monitor {
    criterion: TxCriterion,
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
    pub fn new(criterion: TxCriterion, size: Size) -> Result<Self, TooLarge> {
        if size.threads > LIMIT || size.vars > LIMIT { Err(TooLarge(size)) } else { Ok(Self { criterion, size }) }
    }

    /// What it monitors.
    pub fn criterion(&self) -> TxCriterion {
        self.criterion
    }

    /// The threads and variables that it is for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The state before the first event.
    pub fn initial(&self) -> MonitorState {
        MonitorState::initial()
    }

    /// Takes an event. If the event is rejected, the state is of no more use.
    ///
    /// # Panics
    /// If the event's thread or variable is beyond the monitor's size.
    pub fn step(&self, state: &mut MonitorState, event: Event) -> Result<(), Rejection> {
        assert!(event.thread < self.size.threads, "an event of a thread that the monitor does not know");
        assert!(event.action.variable().is_none_or(|v| v < self.size.vars), "an event of an unknown variable");
        Step::new(state, self.criterion, self.size).take(event)
    }

    /// Whether a [`Begin`](crate::history::Action::Begin) of this thread can be told: no transaction has begun, and no load waits for its `rfin`.
    pub fn can_begin(&self, state: &MonitorState, thread: u8) -> bool {
        state.is_idle(thread)
    }

    /// Appends the state in few bytes. Equal states give equal bytes, and only they do.
    pub fn encode(&self, state: &MonitorState, out: &mut Vec<u8>) {
        state::encode(state, self.size, out);
    }

    /// Reads a state from the front of the bytes, and says how many bytes it took; `None` if they end too early.
    pub fn decode(&self, bytes: &[u8]) -> Option<(MonitorState, usize)> {
        state::decode(bytes, self.size)
    }

    /// The state after the same events with thread `t` named `threads[t]` and variable `v` named `vars[v]`. Both are
    /// permutations, as long as the monitor's size says.
    pub fn permute(&self, state: &MonitorState, threads: &[u8], vars: &[u8]) -> MonitorState {
        debug_assert!(threads.len() == self.size.threads.into() && vars.len() == self.size.vars.into());
        state.renamed(threads, vars)
    }

    /// A number for each thread and each variable that tells it apart from some others, and goes with it when the state is renamed.
    pub fn colours(&self, state: &MonitorState) -> ([u32; LIMIT as usize], [u32; LIMIT as usize]) {
        state.colours(self.size)
    }
}

impl Specification for Monitor {
    type State = MonitorState;

    fn name(&self) -> &'static str {
        self.criterion.name()
    }

    fn size(&self) -> Size {
        self.size
    }

    fn initial(&self) -> Vec<MonitorState> {
        vec![MonitorState::initial()]
    }

    fn step(&self, state: &MonitorState, event: Event) -> Vec<MonitorState> {
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
