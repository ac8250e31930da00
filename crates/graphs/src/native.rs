//! Native code: threads that nobody can rewind.
//!
//! A thread of the IR keeps where it stood after each of its events. Native code does not: to stand again in front of an event, a program is run again from its start and
//! told what its reads returned. So what is kept of a native thread is a [`Tape`]: what it asked for, event by event, and what it was told; what it asks for after
//! a prefix is on the tape, and nothing has to run when events are taken back. Only an answer that was never given to a thread with this past makes it run
//! ([`Run::settle`](crate::run::Run::settle)): a [`Machine`] runs all threads up to there, unless they stand there already ([`Scene::is_played`]).
//!
//! **Invariants**
//! - Threads run in an order in which each is told of a write after the write was made, and of a thread's end after the end: a linear extension of `po | rf`. So what is not
//!   atomic is, without a race, in memory what it must be.
//! - An event has a stamp that no other event of the search has. A thread that has been told of the event with this stamp has been told of all before it on the tape.
//! - What a thread asks for follows from what it was told. A machine compares, and says so if it does not hold ([`Request`]).
//!
//! Consistency is that of `rc11` ([`crate::models::views`]), with the release sequences of C++20 unless C11's are wanted: a later store of the same thread does not belong to one.
//! Or that of `sc` or `tso` ([`crate::models::total`]); what is not atomic races there unless `po | rf` orders it.

mod again;
mod goal;
mod scene;
mod search;
mod settle;
mod tape;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use cyrano_engine::Stop;

pub use crate::kept::{Keep, Part, Progress};
pub use crate::rows::EventId;
pub use crate::search::Counts;
pub use again::Taken;
pub use goal::{Ended, Shown, Waiting};
pub use scene::{Scene, Told};
pub use search::Work;
pub use tape::{Asked, End, Request, Step, Tape, Update, Written};

/// No program has more threads.
pub const MAX_THREADS: usize = 64;

/// Who runs native threads.
pub trait Machine {
    /// The tapes, while threads run.
    fn scene(&mut self) -> &mut Scene;

    /// Lets all threads that are not where their tapes end go on to there, and beyond, each up to what it asks for next. Those that have been told what is not
    /// on the tapes begin anew if `anew`.
    fn run(&mut self, anew: bool);

    /// An execution has ended, in one of these ways; says whether to go on.
    fn ended(&mut self, ended: Ended<'_>) -> std::ops::ControlFlow<()>;
}

/// What all native threads of a search share.
pub struct Desk {
    machine: RefCell<Box<dyn Machine>>,
    /// The stamp of the next event.
    stamp: Cell<u64>,
}

impl Desk {
    /// Of the how-manieth who searches: nobody else gives the same stamps.
    fn new(machine: Box<dyn Machine>, worker: usize) -> Rc<Self> {
        Rc::new(Self { machine: RefCell::new(machine), stamp: Cell::new(((worker as u64) << 48) + 1) })
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// Which executions there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Memory {
    /// Those of `rc11`.
    #[default]
    Rc11,
    /// Those of one order of all accesses that program order is part of.
    Sc,
    /// Those of a machine with store buffers, as compilers translate for it: sequentially consistent stores and fences empty them, as read-modify-writes do, and whoever begins a
    /// thread or comes to its end.
    Tso,
}

/// How native code is searched.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    /// Which executions there are.
    pub memory: Memory,
    /// Whether a release sequence has later stores of the same thread, as in C11; in C++20 it has not.
    pub own_stores: bool,
    /// Whether executions in which a thread waits behind an old write are left early ([`crate::stale`]).
    pub stale_waits: bool,
    /// After how many events a search is given to several, if there are several.
    pub patience: u64,
    /// Events between two looks at limits and at who has nothing to do.
    pub pace: u64,
    /// A bug that is there on purpose.
    pub fault: Option<crate::Fault>,
}

impl Default for Native {
    fn default() -> Self {
        let (patience, pace) = (200_000, 4096);
        Self { memory: Memory::Rc11, own_stores: false, stale_waits: true, patience, pace, fault: None }
    }
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// Every execution was shown.
    All,
    /// A machine has seen enough.
    Enough,
    /// An execution has more events than a graph can have.
    TooLarge,
    /// A limit was reached.
    Stopped(Stop),
    /// What the search was to go on with is no part of it.
    Lost,
}
