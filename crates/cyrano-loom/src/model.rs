//! Runs a program in every way that the memory model allows.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cyrano_engine::Limits;
use cyrano_graphs::native::{Finish, Native, Scene};

use crate::rt::fiber::{Fibers, hear_panics};
use crate::rt::{self, Settings, State};

/// How a program is run; the fields are those of loom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The most threads that an execution may have, with the first one; never more than [`MAX_THREADS`](crate::MAX_THREADS).
    pub max_threads: usize,
    /// The most steps of a thread in an execution. Whoever does more fails: what it does may have no end.
    pub max_branches: usize,
    /// After so many executions the search ends, and says that it is not complete.
    pub max_permutations: Option<usize>,
    /// After this time the search ends, and says that it is not complete.
    pub max_duration: Option<Duration>,
    /// Has no meaning here: every execution is looked at, however threads take turns.
    pub preemption_bound: Option<usize>,
    /// Has no meaning here yet: nothing is kept.
    pub checkpoint_file: Option<PathBuf>,
    /// Has no meaning here yet.
    pub checkpoint_interval: usize,
    /// Has no meaning here: all of a program is explored ([`stop_exploring`](crate::stop_exploring)).
    pub expect_explicit_explore: bool,
    /// Has no meaning here: places in the source are always told.
    pub location: bool,
    /// Has no meaning here: the execution that fails is shown, and no other.
    pub log: bool,
    /// Whether a search that is not complete fails.
    pub must_complete: bool,
    /// Whether a later store of the same thread belongs to a release sequence, as in C11. In C++20, and so in Rust, it does not, which allows more.
    pub c11_release_sequences: bool,
    /// A part of the search that is left out on purpose, so that tests see it missed.
    #[doc(hidden)]
    pub fault: Option<cyrano_graphs::Fault>,
}

/// What a search came to that found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explored {
    /// Executions in which all threads came to their ends.
    pub executions: u64,
    /// Those in which some thread waits for what happens in others, or has left ([`skip_branch`](crate::skip_branch)).
    pub blocked: u64,
    /// Events that were added to execution graphs.
    pub events: u64,
    /// Whether every execution was looked at.
    pub complete: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{name}={text}` is not a number")))
}

impl Builder {
    /// As loom has it, and as the variables `LOOM_MAX_BRANCHES`, `LOOM_MAX_PERMUTATIONS`, `LOOM_MAX_DURATION` (in seconds) and `LOOM_MUST_COMPLETE` say.
    pub fn new() -> Self {
        Self {
            max_threads: crate::MAX_THREADS,
            max_branches: from_environment("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: from_environment("LOOM_MAX_PERMUTATIONS"),
            max_duration: from_environment("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: None,
            checkpoint_file: None,
            checkpoint_interval: 20_000,
            expect_explicit_explore: false,
            location: true,
            log: false,
            must_complete: std::env::var_os("LOOM_MUST_COMPLETE").is_some_and(|value| value != "0"),
            c11_release_sequences: false,
            fault: None,
        }
    }

    /// Sets a file for checkpoints, which has no meaning here yet.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs a program in every way; panics if something goes wrong in one of them.
    #[track_caller]
    pub fn check<F: Fn() + Sync + Send + 'static>(&self, program: F) {
        let explored = self.explore(program);
        if explored.complete {
            return;
        }
        let executions = explored.executions;
        assert!(
            !self.must_complete,
            "the search is not complete: {executions} executions were looked at, and a limit was reached"
        );
        eprintln!(
            "warning: the search is not complete: {executions} executions were looked at, and a limit was reached"
        );
    }

    /// The same, and tells what was counted.
    #[track_caller]
    pub fn explore<F: Fn() + Sync + Send + 'static>(&self, program: F) -> Explored {
        let main: Rc<dyn Fn()> = Rc::new(program);
        hear_panics();
        self.search(&main, false)
            .or_else(|_| self.search(&main, true))
            .unwrap_or_else(|Again| unreachable!("counts are kept now"))
    }

    #[track_caller]
    fn search(&self, main: &Rc<dyn Fn()>, counts: bool) -> Result<Explored, Again> {
        let settings = Settings { steps: self.max_branches, threads: self.max_threads, counts };
        let before = rt::replace(Some(Box::new(State::new(Rc::clone(main), settings))));
        let machine = Fibers { scene: Scene::default(), shown: 0, enough: self.max_permutations };
        let deadline = self.max_duration.map(|duration| Instant::now() + duration);
        let limits = Limits { deadline, ..Limits::default() };
        let native = Native { own_stores: self.c11_release_sequences, fault: self.fault, ..Native::default() };
        let (finish, counts) = native.search(Box::new(machine), &limits);
        let Some(state) = rt::replace(before) else { unreachable!("the state that was put there") };
        if state.wants_counts {
            state.forget();
            return Err(Again);
        }
        if let Some(violation) = state.violation.clone() {
            state.forget();
            let place = violation.place.map(|place| format!("\n  at {place}")).unwrap_or_default();
            panic!("{}{place}\nfound after {} complete executions", violation.message, counts.executions);
        }
        state.forget();
        assert!(
            finish != Finish::TooLarge,
            "an execution has more events than can be looked at: make the test smaller"
        );
        let complete = finish == Finish::All;
        Ok(Explored { executions: counts.executions, blocked: counts.blocked, events: counts.events, complete })
    }
}

/// Somebody looked at a count that nobody kept.
struct Again;

/// Runs a program in every way that the memory model allows; panics if something goes wrong in one of them.
#[track_caller]
pub fn model<F: Fn() + Sync + Send + 'static>(program: F) {
    Builder::new().check(program);
}
