//! The definitions of FOIL, section 2.4.2, by brute force: slow and obviously right.
//!
//! # What is judged
//! A thread's events fall into *transactions*: a commit or an abort ends one, and the next event begins the next.
//! A load counts only if the thread's very next event is `rfin`: then it is *used*, at the place where the load stands.
//! A load that is followed by anything else, or by nothing, is left out, and an `rfin` without a load to finish is left out too;
//! neither begins a transaction. So a transaction that commits right after a load has not read that variable.
//! A `begin` begins a transaction, if none of the thread is running, and says nothing else.
//! A `cas` is a used load and a store at once. A store or `cas` is *final* unless its transaction rolls the variable back later;
//! the load of a `cas` stays used when its store is rolled back, because the value was seen.
//!
//! A history is **accepted** iff every prefix of it is well-formed and has a serial order. Judging prefixes matters: a rollback
//! takes conflicts away, so a history can be fine as a whole and wrong in the middle.
//!
//! # Well-formed
//! 1. A rollback undoes something: its transaction has stored the variable since its last rollback of it. (The paper asks for
//!    any earlier store. A second rollback would put an old value over whatever others stored in between, unnoticed; and both of
//!    the paper's automata reject it.)
//! 2. A transaction that aborts has no final store. This is judged at the abort.
//! 3. Between a store and its rollback no *other* transaction stores the variable or has a used load of it (the guide's reading
//!    of "immediately followed"; a transaction may store twice, and a load that is never used hides nothing). This is judged at
//!    the rollback, and again whenever a load in between becomes used later.
//!
//! # Serial order
//! Transaction x must come before y if an event of x stands before an event of y, both are of one variable, and both are final
//! stores or one is a final store and the other a used load; or if x has finished before the first event of y (*real time*; only
//! a finished x precedes anything). The history has a serial order if its transactions can be put in a row like that.
//!
//! # The two criteria
//! There are two of them, [`TxCriterion::BY_CONFLICTS`].
//!
//! **Opacity** puts all transactions in a row, also the aborted and the running ones.
//!
//! **Strict serializability** puts only the committed ones in a row: no conflict and no real time of the others counts.
//! Rule 3 is adapted, because there a transaction that saw nonsense may still abort: a used load between a store and its rollback
//! is wrong only if its transaction has committed, so this is judged at the later of rollback and commit. A store in between
//! stays wrong in any case, because the rollback puts an old value over it. Nothing is said about a transaction that commits
//! after it used a value whose writer is still running: the writer may commit later and then comes first. If instead it rolls
//! back (rule 3), aborts (rule 2) or closes a cycle by committing, that event is rejected; only if it never does anything again
//! does the matter stay open.

use rustc_hash::FxHashSet;

pub use self::explain::{Explanation, Wrong, explain, explain_last};
pub use self::order::{Edge, Reason, edges};
pub use self::transactions::{Outcome, Split, Transaction, split};
pub use self::well_formed::{IllFormed, ill_formed};
use crate::criterion::TxCriterion;
use crate::history::Event;

mod explain;
mod order;
mod transactions;
mod well_formed;

/// Whether the criterion accepts the history: every prefix of it is as it should be.
pub fn accepts(criterion: TxCriterion, history: &[Event]) -> bool {
    (0..=history.len()).all(|end| accepts_last(criterion, &history[..end]))
}

/// Whether a history is as it should be, all shorter prefixes of it being so.
pub fn accepts_last(criterion: TxCriterion, history: &[Event]) -> bool {
    let split = split(history);
    ill_formed(criterion, history, &split).is_none()
        && has_serial_order(split.transactions.len(), &edges(criterion, history, &split))
}

/// Tries every row of the transactions.
fn has_serial_order(transactions: usize, edges: &[Edge]) -> bool {
    fn extend(placed: &mut Vec<bool>, edges: &[Edge], hopeless: &mut FxHashSet<Vec<bool>>) -> bool {
        if placed.iter().all(|p| *p) {
            return true;
        }
        if hopeless.contains(placed) {
            return false;
        }
        for next in 0..placed.len() {
            let waits = edges.iter().any(|e| e.to == next && !placed[e.from]);
            if !placed[next] && !waits {
                placed[next] = true;
                if extend(placed, edges, hopeless) {
                    return true;
                }
                placed[next] = false;
            }
        }
        hopeless.insert(placed.clone());
        false
    }
    extend(&mut vec![false; transactions], edges, &mut FxHashSet::default())
}
