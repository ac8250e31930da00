//! The bound of deferred accesses (`--deferred`), raised where nobody has named one.
//!
//! A search that left out executions because a thread would have deferred too many accesses is repeated with twice the bound, so that what is
//! finite is verified in the end. A queue that grows for ever, as in a loop that keeps storing, must not use up what the run may use: each
//! repetition gets a multiple of the memory that the search before it took, and there is a largest bound. Where a repetition comes to
//! nothing, the answer of the search before it stands.

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Verdict, Watch};

/// The largest bound.
pub(super) const MOST: usize = 96;

/// What a repetition may take at least, and how much more than the search before it.
const MEMORY: u64 = 32 << 20;
pub(super) const FACTOR: u64 = 4;

/// Asks an engine, with larger bounds as long as the bound is what stands in the way.
pub fn ask(engine: &dyn Engine, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
    let mut answer = engine.ask(query, limits, watch);
    let mut wider = limits.clone();
    while answer.reason == Some(Cause::Deferred(wider.deferred)) && wider.deferred < MOST {
        wider.deferred = (wider.deferred * 2).min(MOST);
        wider.memory = memory_for(limits, Some(answer.stats.peak_bytes));
        let next = engine.ask(query, &wider, watch);
        if next.verdict == Verdict::Unknown {
            break;
        }
        answer = next;
    }
    answer
}

/// What a repetition may take, given what the search before it took.
pub(super) fn memory_for(limits: &Limits, taken: Option<u64>) -> u64 {
    limits.memory.min(MEMORY.max(taken.unwrap_or_default().saturating_mul(FACTOR)))
}
