//! The end of a run: all transactions have committed, and memory holds what it holds (O'Leary, Saha and Tuttle, section 4).
//!
//! Beyond what the criteria say about histories, the memory at the end has to be what the transactions leave behind, one after the
//! other: a write that is lost is wrong even if nobody has read it.
//! [`finish`] asks for some order, [`misplaced`] for every order that is sorted by the keys that the memory gave its transactions. Where
//! keys are equal the order must not matter; so a memory that needs a rule for ties has to say so in its keys.

use super::decide::Order;
use super::digest::bits;
use super::problem::Problem;
use super::search::search;
use super::{Digest, Status};
use crate::criterion::TxCriterion;

/// An order of the transactions that explains their reads and the memory at the end: for opacity of all, else of those that have committed.
/// Snapshot isolation says nothing about the end.
pub fn finish(criterion: TxCriterion, digest: &Digest, init: &[i128], memory: &[i128]) -> Option<Order> {
    if criterion == TxCriterion::SnapshotIsolation {
        return Some(Order::new());
    }
    let problem = Problem::new(criterion, digest, init).ok()?;
    search(&Problem { end: Some(memory), ..problem })
}

/// An order of the committed transactions that their keys allow and that does not explain their reads and the memory at the end.
/// `keys` has one list for each transaction; lists are compared from their beginning.
pub fn misplaced(digest: &Digest, init: &[i128], memory: &[i128], keys: &[Vec<i128>]) -> Option<Vec<u8>> {
    let mut sorted: Vec<u8> = (0..digest.transactions()).filter(|tx| digest.status(*tx) == Status::Committed).collect();
    sorted.sort_by(|a, b| keys[*a as usize].cmp(&keys[*b as usize]));
    let mut wrong = None;
    each_order(&mut sorted, 0, keys, &mut |order| {
        if wrong.is_none() && misfit(digest, init, memory, order).is_some() {
            wrong = Some(order.to_vec());
        }
    });
    wrong
}

/// Visits the sorted orders: all that differ by exchanging transactions with equal keys.
fn each_order(order: &mut [u8], from: usize, keys: &[Vec<i128>], visit: &mut impl FnMut(&[u8])) {
    if from == order.len() {
        return visit(order);
    }
    let tied = order[from..].iter().take_while(|tx| keys[**tx as usize] == keys[order[from] as usize]).count();
    for other in from..from + tied {
        order.swap(from, other);
        each_order(order, from + 1, keys, visit);
        order.swap(from, other);
    }
}

/// Why an order does not do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// This transaction contradicts itself.
    Torn(u8),
    /// This transaction read a value where there would have been another one.
    Read {
        /// The transaction.
        tx: u8,
        /// The location.
        loc: u8,
        /// What it read.
        read: i128,
        /// What would have been there.
        instead: i128,
    },
    /// At the end there is a value where there would have been another one.
    End {
        /// The location.
        loc: u8,
        /// What it holds.
        holds: i128,
        /// What would have been there.
        instead: i128,
    },
}

/// The first thing that does not fit if committed transactions run in this order and leave this memory.
pub fn misfit(digest: &Digest, init: &[i128], memory: &[i128], order: &[u8]) -> Option<Misfit> {
    let mut now = init.to_vec();
    for tx in order.iter().copied() {
        if digest.is_torn(tx) {
            return Some(Misfit::Torn(tx));
        }
        let other = bits(digest.reads(tx)).find(|loc| digest.first_read(tx, *loc) != now[*loc as usize]);
        if let Some(loc) = other {
            let (read, instead) = (digest.first_read(tx, loc), now[loc as usize]);
            return Some(Misfit::Read { tx, loc, read, instead });
        }
        write(digest, tx, &mut now);
    }
    let loc = (0..now.len()).find(|loc| now[*loc] != memory[*loc])?;
    Some(Misfit::End { loc: loc as u8, holds: memory[loc], instead: now[loc] })
}

fn write(digest: &Digest, tx: u8, memory: &mut [i128]) {
    bits(digest.writes(tx)).for_each(|loc| memory[loc as usize] = digest.written(tx, loc));
}
