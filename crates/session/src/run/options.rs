//! How a run puts its questions: which engine, within which limits, with which reductions.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::run::reductions::Reduction;
use crate::specification::Store;

/// How questions are put to engines.
#[derive(Clone, Default)]
pub struct Options {
    /// The engine, if the choice is not free.
    pub engine: Option<EngineName>,
    /// How long all questions may take together.
    pub timeout: Option<Duration>,
    /// How many bytes all questions may take together.
    pub memory: Option<u64>,
    /// How many threads there are; one per processor if nobody says.
    pub workers: Option<usize>,
    /// Whether the explorer keeps only fingerprints of states.
    pub fingerprint: bool,
    /// The bound of deferred accesses; raised where it stands in the way if nobody names one.
    pub deferred: Option<usize>,
    /// The bound of iterations.
    pub iterations: Option<usize>,
    /// The reductions that are switched off.
    pub off: Vec<&'static Reduction>,
    /// Whether executions are shown as the engine found them, not made small.
    pub no_minimise: bool,
    /// Set from outside to stop early.
    pub cancel: Arc<AtomicBool>,
    /// Where mined observations are kept, if they are.
    pub store: Option<Arc<dyn Store>>,
}

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EngineName {
    /// Explicit-state exploration.
    Explore,
    /// Execution graphs, each once.
    Graphs,
    /// Executions as a formula for a SAT solver.
    Symbolic,
    /// The slow reference semantics.
    Interp,
}

impl EngineName {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Graphs, Self::Symbolic, Self::Interp];

    /// Its name, and what it does.
    pub fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::Explore => ("explore", "Explicit-state exploration"),
            Self::Graphs => ("graphs", "Execution graphs, each once, for programs that end"),
            Self::Symbolic => ("symbolic", "Executions as a formula for a SAT solver"),
            Self::Interp => ("interp", "The slow reference semantics"),
        }
    }

    /// All of them, where the symbolic one is tried first.
    pub(crate) const SYMBOLIC_FIRST: [Self; 4] = [Self::Symbolic, Self::Explore, Self::Graphs, Self::Interp];
}
