//! The criteria of [`super::oracle`], decided on a [`Digest`]: what an explorer asks after every reply.
//!
//! # Checking at replies is checking every prefix
//! Let every prefix of a history satisfy the criterion and let one more event come.
//! - *An invocation.* A transaction that begins is placed last, aborted, with nothing to justify; a commit that is asked for only adds
//!   completions; any other call leaves no trace. So the longer history satisfies it too.
//! - *`ok`, or `A` for a read or a write.* The writes of a transaction that has not asked to commit are seen by nobody, and a live
//!   transaction was treated as an aborted one before. Nothing changes: real time speaks of transactions that begin later.
//! - *A value.* For opacity there is one more read to justify. The others do not look at live transactions.
//! - *`C`, or `A` for a commit.* Completions are lost.
//!
//! Final-state opacity is not about prefixes: it is asked once, when a history is over.
//!
//! So only the replies for which [`TxCriterion::judges`] says so need a look, and a search that looks at all of them has looked at every
//! prefix. The tests hold the oracle to this.

use super::Digest;
use super::digest::bits;
use super::problem::Problem;
use super::search::search;
use crate::criterion::TxCriterion;

/// Why there is an order: the order.
pub type Order = Vec<Point>;

/// A place in an order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Point {
    /// A transaction whose writes take effect here.
    Committed(u8),
    /// A transaction whose writes nobody sees.
    Aborted(u8),
    /// For snapshot isolation: what the transaction reads is taken here.
    Snapshot(u8),
    /// For snapshot isolation: its writes take effect here.
    Commit(u8),
}

/// Why there is no order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// A transaction's reads contradict its own earlier reads and writes.
    Torn(u8),
    /// No order satisfies these constraints together; without any one of them some order does.
    Core {
        /// First reads that cannot all be justified: transaction, location, value.
        reads: Vec<(u8, u8, i128)>,
        /// The first had ended before the second began.
        before: Vec<(u8, u8)>,
        /// Both write a location in common and must not overlap (snapshot isolation).
        clashes: Vec<(u8, u8)>,
    },
}

impl Point {
    /// Whose.
    pub const fn transaction(self) -> u8 {
        match self {
            Self::Committed(tx) | Self::Aborted(tx) | Self::Snapshot(tx) | Self::Commit(tx) => tx,
        }
    }
}

/// Whether the history behind a digest satisfies the criterion, whatever its shorter prefixes do. See the module for why a search
/// that asks this after every reply has judged every prefix.
pub fn holds(criterion: TxCriterion, digest: &Digest, init: &[i128]) -> bool {
    Problem::new(criterion, digest, init).is_ok_and(|problem| search(&problem).is_some())
}

/// The same as [`holds`], with an order or a reason why there is none. The reason costs a few more searches.
pub fn accepts(criterion: TxCriterion, digest: &Digest, init: &[i128]) -> Result<Order, Why> {
    let problem = Problem::new(criterion, digest, init).map_err(Why::Torn)?;
    search(&problem).ok_or_else(|| core(problem))
}

/// A smallest set of constraints without an order, in the sense that none of them can be left out.
/// Real time goes first, then clashes: what is left then is said with as many reads as possible.
fn core(mut problem: Problem<'_>) -> Why {
    let places = problem.places(problem.optional);
    let mut before = Vec::new();
    for (tx, other) in pairs(&problem.before, places) {
        if !can_do_without(&mut problem, |p| p.before[tx as usize] &= !(1 << other)) {
            before.push((other, tx));
        }
    }
    let mut clashes = Vec::new();
    for (a, b) in pairs(&problem.clashes, places).into_iter().filter(|(a, b)| a < b) {
        let apart = |p: &mut Problem<'_>| {
            p.clashes[a as usize] &= !(1 << b);
            p.clashes[b as usize] &= !(1 << a);
        };
        if !can_do_without(&mut problem, apart) {
            clashes.push((a, b));
        }
    }
    let mut reads = Vec::new();
    for (tx, loc) in pairs(&problem.reads, places) {
        if !can_do_without(&mut problem, |p| p.reads[tx as usize] &= !(1 << loc)) {
            reads.push((tx, loc, problem.digest.first_read(tx, loc)));
        }
    }
    Why::Core { reads, before, clashes }
}

fn pairs(sets: &[u32], places: u32) -> Vec<(u8, u8)> {
    bits(places).flat_map(|tx| bits(sets[tx as usize]).map(move |other| (tx, other))).collect()
}

/// Takes a constraint away, unless there is an order then.
fn can_do_without(problem: &mut Problem<'_>, relax: impl Fn(&mut Problem<'_>)) -> bool {
    let mut relaxed = problem.clone();
    relax(&mut relaxed);
    let still_wrong = search(&relaxed).is_none();
    if still_wrong {
        *problem = relaxed;
    }
    still_wrong
}
