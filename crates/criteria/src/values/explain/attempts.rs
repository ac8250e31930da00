//! Goes through the orders of a few transactions and says what each of them breaks.
//!
//! Only the constraints of the core count, and only the transactions that it is about: no other can justify or spoil one of its reads,
//! so each order of all transactions breaks what its part here breaks.

use super::{Attempt, MAX_ATTEMPTS, Words};
use crate::criterion::TxCriterion;
use crate::values::Status;
use crate::values::decide::{Point, Why};

/// What each order of these transactions breaks; nothing if there are too many orders.
pub(super) fn attempts(words: &Words<'_>, why: &Why, transactions: &[u8]) -> Vec<Attempt> {
    let mut orders: Vec<Vec<Point>> = Vec::new();
    complete(&mut Vec::new(), &choices(words, transactions), &mut orders);
    if orders.len() > MAX_ATTEMPTS {
        return Vec::new();
    }
    let mut found: Vec<Attempt> = Vec::new();
    for order in orders {
        let Some(breaks) = broken(words, why, &order) else { continue };
        match found.iter_mut().find(|attempt| attempt.breaks == breaks) {
            Some(known) => known.others += 1,
            None => found.push(Attempt { order, breaks, others: 0 }),
        }
    }
    found
}

/// For each transaction, the sequences of points that it may have.
fn choices(words: &Words<'_>, transactions: &[u8]) -> Vec<Vec<Vec<Point>>> {
    let of = |tx: &u8| {
        let committed = match words.criterion {
            TxCriterion::SnapshotIsolation => vec![Point::Snapshot(*tx), Point::Commit(*tx)],
            _ => vec![Point::Committed(*tx)],
        };
        let aborted = if words.criterion.is_about_committed() { Vec::new() } else { vec![Point::Aborted(*tx)] };
        match words.digest.status(*tx) {
            Status::Committed => vec![committed],
            Status::CommitPending => vec![committed, aborted],
            Status::Waiting | Status::Live | Status::Aborted => vec![aborted],
        }
    };
    transactions.iter().map(of).collect()
}

/// All interleavings of one choice for each transaction, up to one more than are wanted.
fn complete(order: &mut Vec<Point>, choices: &[Vec<Vec<Point>>], found: &mut Vec<Vec<Point>>) {
    let picked = choices.iter().fold(vec![Vec::new()], |picks: Vec<Vec<Vec<Point>>>, choice| {
        let with = |pick: &Vec<Vec<Point>>, points: &Vec<Point>| [pick.clone(), vec![points.clone()]].concat();
        picks.iter().flat_map(|pick| choice.iter().map(|points| with(pick, points)).collect::<Vec<_>>()).collect()
    });
    for lanes in picked {
        interleave(order, &lanes, found);
    }
}

fn interleave(order: &mut Vec<Point>, lanes: &[Vec<Point>], found: &mut Vec<Vec<Point>>) {
    if found.len() > MAX_ATTEMPTS {
        return;
    }
    if lanes.iter().all(Vec::is_empty) {
        found.push(order.clone());
        return;
    }
    for (i, lane) in lanes.iter().enumerate().filter(|(_, lane)| !lane.is_empty()) {
        let mut rest = lanes.to_vec();
        rest[i] = lane[1..].to_vec();
        order.push(lane[0]);
        interleave(order, &rest, found);
        order.pop();
    }
}

/// The first constraint of the core that an order breaks.
fn broken(words: &Words<'_>, why: &Why, order: &[Point]) -> Option<String> {
    let Why::Core { reads, before, clashes } = why else { return None };
    let begin = |tx: u8| order.iter().position(|point| point.transaction() == tx);
    let end = |tx: u8| order.iter().rposition(|point| point.transaction() == tx);
    let late = before.iter().find(|(a, b)| end(*a).zip(begin(*b)).is_some_and(|(end, begin)| end > begin));
    if let Some(pair) = late {
        return Some(words.ended_before(*pair));
    }
    let overlap = |a: u8, b: u8| Some(begin(a)? < end(b)? && begin(b)? < end(a)?);
    if let Some(pair) = clashes.iter().find(|(a, b)| overlap(*a, *b) == Some(true)) {
        return Some(words.overlapping(*pair, order));
    }
    reads.iter().find_map(|read| unjustified(words, *read, order))
}

fn unjustified(words: &Words<'_>, (tx, loc, value): (u8, u8, i128), order: &[Point]) -> Option<String> {
    let at = order.iter().position(|point| point.transaction() == tx)?;
    let writes = |point: &&Point| {
        let takes_effect = matches!(point, Point::Committed(_) | Point::Commit(_));
        takes_effect && words.digest.writes(point.transaction()) >> loc & 1 == 1
    };
    let writer = order[..at].iter().rfind(writes).map(|point| point.transaction());
    let found = writer.map_or(words.history.init()[loc as usize], |writer| words.digest.written(writer, loc));
    let by =
        writer.map_or_else(|| "nobody has written it".to_owned(), |writer| format!("{} wrote it", words.tx(writer)));
    (found != value).then(|| format!("{}, which is {found} ({by})", words.read((tx, loc, value))))
}

impl Words<'_> {
    /// Who of two that overlap commits inside the other.
    fn overlapping(&self, (a, b): (u8, u8), order: &[Point]) -> String {
        let end = |tx: u8| order.iter().rposition(|point| point.transaction() == tx);
        let (first, last) = if end(a) < end(b) { (a, b) } else { (b, a) };
        let (first, last) = (self.tx(first), self.tx(last));
        format!("{first} commits between the snapshot and the commit of {last}, and {}", self.both_write((a, b)))
    }
}
