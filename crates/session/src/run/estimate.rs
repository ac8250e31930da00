//! Graphs instead of states where there are few executions and many states.
//!
//! Under models with one order of all accesses the explorer is the usual engine. Threads that work beside one another make many states and few executions, and where a
//! small memory was not enough for the states, graphs are asked with little work. They come to their end, or to an estimate of how many executions there are (Knuth 1975, by the
//! part of the search that is done). If these are fewer than the states that there are already, graphs go on; else the explorer does, with all memory.
//!
//! Programs with loops stay with the explorer, which need not unroll them.

use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Answer, Cause, Counters, Engine, Query, Stop, Verdict, Watch};
use cyrano_ir::Thread;

use super::{FIRST_MEMORY, Runner};
use crate::run::options::EngineName;

/// How often graphs look at their limits before there is an estimate: about a million events, a second.
const LOOKS: u64 = 256;

/// Somebody who remembers how far a search has come.
struct Estimate<'a> {
    watch: &'a dyn Watch,
    last: Mutex<Counters>,
}

impl Watch for Estimate<'_> {
    fn progress(&self, progress: Counters) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        self.watch.progress(progress);
    }
}

impl Estimate<'_> {
    /// About how many executions there are.
    fn executions(&self) -> f64 {
        let Counters { states, share, .. } = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        states as f64 / share.unwrap_or(0.0)
    }
}

impl Runner {
    /// What the explorer says with a small memory, or graphs where that is not enough and there are fewer executions than states; none if that is not to be tried, or the
    /// explorer is to go on.
    pub(super) fn states_or_executions(&self, query: &Query<'_>, watch: &dyn Watch) -> Option<(EngineName, Answer)> {
        let usual = self.engine.is_none() && self.cluster.is_none() && query.model().cat().is_none();
        let ends = !query.program().threads.iter().any(Thread::has_loop);
        if !usual || !ends || self.limits.memory <= FIRST_MEMORY || self.graphs.supports(query).is_err() {
            return None;
        }
        let first = self.with_memory(FIRST_MEMORY);
        let states = first.search(&first.explore, *query, watch);
        if states.reason.as_ref().and_then(Cause::stop) != Some(Stop::Memory) {
            return Some((EngineName::Explore, states));
        }
        let estimate = Estimate { watch, last: Mutex::default() };
        let brief = self.limits.clone().with_looks(LOOKS);
        let mut found = self.graphs.ask(*query, &brief, &estimate);
        if found.verdict == Verdict::Unknown && estimate.executions() <= states.stats.states as f64 {
            found = self.graphs.ask(*query, &self.limits, watch);
        }
        // Where graphs are not sure of deadlocks, the explorer is.
        let settled = matches!(found.verdict, Verdict::Verified | Verdict::Violated | Verdict::Vacuous);
        settled.then_some((EngineName::Graphs, found))
    }

    fn with_memory(&self, memory: u64) -> Self {
        let mut small = self.clone();
        small.limits.memory = memory;
        small
    }
}
