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

mod goal;
mod scene;
mod settle;
mod tape;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Mutex;

use cyrano_engine::{Limits, Stop};
use cyrano_ir::Program;

use crate::graph::Graph;
use crate::models::views::Views;
use crate::search::level::Level;
use crate::search::{Halt, Search, Shared};
use crate::setup::Start;
use crate::symmetry::twins::Twins;

pub use crate::rows::EventId;
pub use crate::search::Counts;
pub use goal::{Ended, Shown, Waiting};
pub use scene::{Scene, Told};
pub use tape::{Asked, End, Request, Step, Tape, Update, Written};

use goal::Executions;

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

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// How native code is searched.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    /// Whether a release sequence has later stores of the same thread, as in C11; in C++20 it has not.
    pub own_stores: bool,
    /// Whether executions in which a thread waits behind an old write are left early ([`crate::stale`]).
    pub stale_waits: bool,
    /// A bug that is there on purpose.
    pub fault: Option<crate::Fault>,
}

impl Default for Native {
    fn default() -> Self {
        Self { own_stores: false, stale_waits: true, fault: None }
    }
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// Every execution was shown.
    All,
    /// The machine has seen enough.
    Enough,
    /// An execution has more events than a graph can have.
    TooLarge,
    /// A limit was reached.
    Stopped(Stop),
}

impl Native {
    /// Shows every execution to a machine.
    pub fn search(&self, machine: Box<dyn Machine>, limits: &Limits) -> (Finish, Counts) {
        let desk = Rc::new(Desk { machine: RefCell::new(machine), stamp: Cell::new(1) });
        let small = self.within::<1>(&desk, limits);
        let medium = small.or_else(|()| self.within::<4>(&desk, limits));
        let large = medium.or_else(|()| self.within::<16>(&desk, limits));
        large.unwrap_or((Finish::TooLarge, Counts::default()))
    }

    fn within<const W: usize>(&self, desk: &Rc<Desk>, limits: &Limits) -> Result<(Finish, Counts), ()> {
        let start = Start {
            program: std::borrow::Cow::Owned(Program::default()),
            accesses: Vec::new(),
            choices: Vec::new(),
            setup: None,
            twins: Twins::default(),
            fresh: None,
        };
        let shared: Shared<'_, Level<'_, Views<W>, W, Tape>> = Shared {
            limits,
            watch: &(),
            fault: self.fault,
            pool: None,
            told: Mutex::default(),
            patience: None,
            stale_waits: self.stale_waits,
            stale_reads_race: false,
            pace: 4096,
            keep: None,
        };
        let code = vec![Rc::clone(desk); MAX_THREADS];
        let graph: Graph<'_, W, Tape> = Graph::of(&start, code, vec![Tape::first()], Vec::new());
        let mut level = Level::new(graph, Views::<W>::native(self.own_stores));
        <Tape as crate::run::Run>::settle(&mut level.graph, &level.model);
        let mut goal = Executions { desk: Rc::clone(desk) };
        let mut search = Search::new(&mut goal, vec![level], &shared);
        let ended = search.run();
        let (counts, _) = search.tell();
        match ended {
            Ok(()) => Ok((Finish::All, counts)),
            Err(Halt::Settled) => Ok((Finish::Enough, counts)),
            Err(Halt::TooLarge) => Err(()),
            Err(Halt::Stopped(stop)) => Ok((Finish::Stopped(stop), counts)),
            Err(halt) => unreachable!("{halt:?}: nobody interrupts this search, or shares it"),
        }
    }
}
