//! In order first (reduction `in-order-first`): under a program's own order the search begins with the executions in the order of the text.
//!
//! **Argument.** A program's own order never contradicts the text (`cyrano_ir::OwnOrder`: earlier instructions only), so every execution in order is one
//! under every such order (axiom 9 of `cyrano_memory`), and it ends in the same state and has the same history of calls. If a condition on final states or
//! a criterion for histories is violated in order, or has its witness there, the verdict is known. Not for assertions and deadlocks: whether a thread
//! waits for ever depends on what else it could perform.
//!
//! There may be a shorter execution out of order, so it is looked for as well: completely, unless that takes more than [`LOOKS`]; then the one in order is
//! shown, which is the shortest of those.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use cyrano_engine::{Answer, Limits, Query, Violation, Watch};
use cyrano_ir::Property;

use crate::Explore;

/// How much work goes into a shorter execution: so often the search looks at its limits.
const LOOKS: u64 = 256;

/// The limits of a search for a shorter execution.
pub(crate) fn with_limited_work(limits: &Limits) -> Limits {
    let looks = limits.looks.clone().or_else(|| Some(Arc::new(AtomicU64::new(LOOKS))));
    Limits { looks, ..limits.clone() }
}

impl Explore {
    /// The answer, if executions in the order of the text give it.
    pub(crate) fn in_order_first(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Option<Answer> {
        let applies = matches!(query.property()?, Property::Final { .. } | Property::Transactions(_));
        let own_order = query.model().own_order(query.program()).is_some();
        if !self.in_order_first || !applies || !own_order || self.client_programs {
            return None;
        }
        let model = cyrano_memory::named("inorder")?;
        let in_order = Query::new(query.program(), &model, query.question()).ok()?;
        let mut first = self.search_whole(in_order, query.property(), &[], limits, watch);
        first.execution.as_ref()?;
        if !matches!(first.violation, None | Some(Violation::FinalState | Violation::Transactions)) {
            return None;
        }
        let shortest = self.search_whole(query, query.property(), &[], &with_limited_work(limits), watch);
        if shortest.execution.is_some() {
            return Some(shortest);
        }
        first.stats.states += shortest.stats.states;
        first.stats.transitions += shortest.stats.transitions;
        first.stats.seconds += shortest.stats.seconds;
        first.stats.peak_bytes = first.stats.peak_bytes.max(shortest.stats.peak_bytes);
        first.reductions.push("in-order-first");
        Some(first)
    }
}
