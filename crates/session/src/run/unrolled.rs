//! The bound of iterations of execution graphs, raised where nobody has named one (`--iterations`).
//!
//! A search that cut loops off is repeated with twice as many iterations, so that a program that ends is verified in the end. Where threads go round for ever no
//! bound is enough, so there is a largest one, and only searches that were short are repeated. Where a repetition comes to nothing, the answer of the search before
//! it stands.

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Verdict, Watch};

/// The largest bound.
const MOST: usize = 64;

/// A search that added more events than this is not repeated.
const EVENTS: u64 = 2_000_000;

/// Asks an engine, with larger bounds as long as the bound is what stands in the way.
pub(super) fn ask(engine: &dyn Engine, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
    raised(limits, |limits| engine.ask(query, limits, watch))
}

/// The same of a question that is asked in another way.
pub(crate) fn raised(limits: &Limits, mut ask: impl FnMut(&Limits) -> Answer) -> Answer {
    let mut answer = ask(limits);
    let mut wider = limits.clone();
    let cut_off = |answer: &Answer| matches!(answer.reason, Some(Cause::Unrolled { .. }));
    while cut_off(&answer) && answer.stats.states <= EVENTS && wider.iterations < MOST {
        wider.iterations = (wider.iterations * 2).clamp(1, MOST);
        let next = ask(&wider);
        if next.verdict == Verdict::Unknown {
            break;
        }
        answer = next;
    }
    answer
}
