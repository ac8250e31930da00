//! Runs a program in every way that the memory model allows.

mod checkpoint;
mod counterexample;
mod progress;

use std::panic::Location;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use cyrano_engine::Limits;
use cyrano_graphs::native::{Counts, Finish, Keep, Memory, Native, Work};

use crate::rt::fiber::{Fibers, hear_panics};
use crate::rt::{Common, Main, Settings};
use checkpoint::Checkpoint;
use progress::Progressing;

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
    /// Where it is kept how far the search is: a search of this test that finds the file goes on from there.
    pub checkpoint_file: Option<PathBuf>,
    /// After about how many executions that is kept.
    pub checkpoint_interval: usize,
    /// Has no meaning here: all of a program is explored ([`stop_exploring`](crate::stop_exploring)).
    pub expect_explicit_explore: bool,
    /// Has no meaning here: places in the source are always told.
    pub location: bool,
    /// Has no meaning here: the execution that fails is shown, and no other.
    pub log: bool,
    /// Whether a search that is not complete fails.
    pub must_complete: bool,
    /// Which executions there are.
    pub memory_model: MemoryModel,
    /// How often a thread's [`compare_exchange_weak`](crate::sync::atomic::AtomicUsize::compare_exchange_weak) fails for nothing in an execution, at most.
    pub spurious_failures: usize,
    /// How often a thread goes around in a loop that waits and reads the same each time, if what it does in a round may be something else each time, as it counts. A loop that goes on for longer is left
    /// there, and the search is not complete then.
    pub idle_rounds: usize,
    /// Whether stacks of executions that are left before their ends stay as they are, and are not used again: for tests with something that outlives an execution and refers to a stack, as threads of
    /// `std::thread::scope` do. Takes memory for each such execution.
    pub keep_stacks: bool,
    /// How many threads of the machine search, if it takes some time.
    pub workers: usize,
    /// Where an execution that is wrong is written as a file.
    pub trace: Option<PathBuf>,
    /// Such a file: this execution is run, and no other.
    pub replay: Option<PathBuf>,
    /// Whether several search from the beginning, so that tests see them do it.
    #[doc(hidden)]
    pub at_once: bool,
    /// Whether a later store of the same thread belongs to a release sequence, as in C11. In C++20, and so in Rust, it does not, which allows more.
    pub c11_release_sequences: bool,
    /// A part of the search that is left out on purpose, so that tests see it missed.
    #[doc(hidden)]
    pub fault: Option<cyrano_graphs::Fault>,
}

/// What a search came to that found nothing wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    /// Executions in which all threads came to their ends.
    pub executions: u64,
    /// Those in which some thread waits for what happens in others, or has left ([`skip_branch`](crate::skip_branch)).
    pub blocked: u64,
    /// Events that were added to execution graphs.
    pub events: u64,
    /// Whether every execution was looked at.
    pub complete: bool,
    /// Why not.
    pub incomplete: Option<String>,
}

/// Which executions there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum MemoryModel {
    /// Those of Rust's memory model, without load buffering: `rc11`.
    #[default]
    Rc11,
    /// Those in which accesses take turns, whatever their orders.
    Sc,
    /// Those of a machine with store buffers (x86), as compilers translate for it.
    Tso,
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Builder {
    /// As loom has it, and as these variables say: `LOOM_MAX_BRANCHES`, `LOOM_MAX_PERMUTATIONS`, `LOOM_MAX_DURATION` (in seconds), `LOOM_CHECKPOINT_FILE`, `LOOM_CHECKPOINT_INTERVAL`, `LOOM_MUST_COMPLETE`,
    /// `CYRANO_SPURIOUS_FAILURES`, `CYRANO_IDLE_ROUNDS`, `CYRANO_WORKERS`, `CYRANO_TRACE` (a folder), `CYRANO_REPLAY` (a file).
    pub fn new() -> Self {
        Self {
            max_threads: crate::MAX_THREADS,
            max_branches: from_environment("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: from_environment("LOOM_MAX_PERMUTATIONS"),
            max_duration: from_environment("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: None,
            checkpoint_file: std::env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: from_environment("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: true,
            log: false,
            must_complete: std::env::var_os("LOOM_MUST_COMPLETE").is_some_and(|value| value != "0"),
            memory_model: MemoryModel::Rc11,
            spurious_failures: from_environment("CYRANO_SPURIOUS_FAILURES").unwrap_or(1),
            idle_rounds: from_environment("CYRANO_IDLE_ROUNDS").unwrap_or(4),
            keep_stacks: false,
            workers: from_environment("CYRANO_WORKERS").unwrap_or_else(cores),
            trace: std::env::var_os("CYRANO_TRACE").map(PathBuf::from),
            replay: std::env::var_os("CYRANO_REPLAY").map(PathBuf::from),
            at_once: false,
            c11_release_sequences: false,
            fault: None,
        }
    }

    /// Sets a file for checkpoints.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs a program in every way; panics if something goes wrong in one of them.
    #[track_caller]
    pub fn check<F: Fn() + Sync + Send + 'static>(&self, program: F) {
        let explored = self.explore(program);
        let Some(why) = explored.incomplete else { return };
        let text = format!("the search is not complete: {} executions were looked at; {why}", explored.executions);
        assert!(!self.must_complete, "{text}");
        eprintln!("warning: {text}");
    }

    /// The same, and tells what was counted.
    #[track_caller]
    pub fn explore<F: Fn() + Sync + Send + 'static>(&self, program: F) -> Explored {
        let main: Main = Arc::new(program);
        hear_panics();
        let explored = match self.search(&main, false) {
            Err(Again) => self.search(&main, true),
            explored => explored,
        };
        explored.unwrap_or_else(|Again| unreachable!("counts are kept now"))
    }

    #[track_caller]
    fn search(&self, main: &Main, counts: bool) -> Result<Explored, Again> {
        let place = Location::caller();
        let common = Arc::new(Common::new(self.settings(counts), Arc::clone(main)));
        if let Some(file) = &self.replay {
            return counterexample::again(self, &common, file, place);
        }
        let checkpoint =
            self.checkpoint_file.as_ref().map(|file| Checkpoint::new(file, self.checkpoint_interval, place));
        let from = checkpoint.as_ref().and_then(|checkpoint| checkpoint.read(&common));
        let deadline = self.max_duration.map(|duration| Instant::now() + duration);
        let limits = Limits { deadline, workers: self.workers.max(1), ..Limits::default() };
        let watch = Progressing::new(place, checkpoint.as_ref());
        let keeping = checkpoint.as_ref().map(|checkpoint| checkpoint.keeping(&common));
        let work = Work {
            machine: &|| Box::new(Fibers::new(&common)),
            limits: &limits,
            watch: &watch,
            keep: keeping.as_ref().map(|keeping| keeping as &dyn Keep),
            from,
        };
        let (finish, counts) = self.native().search(&work);
        self.judge(&common, finish, &counts)
    }

    fn native(&self) -> Native {
        let memory = match self.memory_model {
            MemoryModel::Rc11 => Memory::Rc11,
            MemoryModel::Sc => Memory::Sc,
            MemoryModel::Tso => Memory::Tso,
        };
        let patience = if self.at_once { 1 } else { Native::default().patience };
        let pace = if self.at_once || self.checkpoint_file.is_some() { 16 } else { Native::default().pace };
        let own_stores = self.c11_release_sequences;
        Native { memory, own_stores, patience, pace, fault: self.fault, ..Native::default() }
    }

    #[track_caller]
    fn settings(&self, counts: bool) -> Settings {
        Settings {
            place: Location::caller(),
            model: self.memory_model,
            enough: self.max_permutations,
            steps: self.max_branches,
            threads: self.max_threads,
            failures: self.spurious_failures,
            rounds: self.idle_rounds,
            keep_stacks: self.keep_stacks,
            counts,
        }
    }

    #[track_caller]
    fn judge(&self, common: &Common, finish: Finish, counts: &Counts) -> Result<Explored, Again> {
        let found = std::mem::take(&mut *common.found.lock().unwrap_or_else(PoisonError::into_inner));
        if found.wants_counts {
            return Err(Again);
        }
        if let Some(violation) = found.violation {
            let told = counterexample::tell(self, &violation);
            panic!("{}{told}found after {} complete executions", violation.text(), counts.executions);
        }
        assert!(
            finish != Finish::TooLarge,
            "an execution has more events than can be looked at: make the test smaller"
        );
        assert!(finish != Finish::Lost, "the checkpoint is none of this test as it is now: remove it");
        let left = found.left.map(|place| {
            format!(
                "a loop that waits goes on longer than was looked at, as it counts what it does: `Builder::idle_rounds` allows more rounds (at {place})"
            )
        });
        let incomplete = left.or_else(|| (finish != Finish::All).then(|| "a limit was reached".to_owned()));
        let complete = incomplete.is_none();
        let Counts { executions, blocked, events, .. } = *counts;
        Ok(Explored { executions, blocked, events, complete, incomplete })
    }
}

/// Somebody looked at a count that nobody kept.
pub(crate) struct Again;

/// Runs a program in every way that the memory model allows; panics if something goes wrong in one of them.
#[track_caller]
pub fn model<F: Fn() + Sync + Send + 'static>(program: F) {
    Builder::new().check(program);
}
