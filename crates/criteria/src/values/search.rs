//! Looks for an order that satisfies the constraints of a [`Problem`].
//!
//! Orders are built from the front; a transaction is placed only when those that precede it have been placed and its reads are
//! justified by the memory so far. What prunes:
//! - *Placed at once.* A transaction that changes no location which anybody reads, or looks at in the end, is placed as soon as it can be: in any order that
//!   continues from here it may be moved to the front, for the memory is the same without it, its own reads are justified now, those
//!   before it are placed, and those after it wait for less. (With instants only if it need not keep apart from others.)
//! - *Values out of nowhere.* Where a read returned what is neither the initial value nor a last write of anybody who might commit,
//!   no order is tried.
//! - *Remembered failures.* What can follow depends on the set of placed transactions and on the memory only.
//!
//! The memory is the last writer of each location, which is enough and needs no values to be copied.

use rustc_hash::FxHashSet;

use super::Point;
use super::digest::{MAX_LOCATIONS, bits};
use super::problem::Problem;

/// For each location who wrote it last, from 1; 0 if nobody has.
type Memory = [u8; MAX_LOCATIONS];

/// An order that satisfies the constraints.
pub(super) fn search(problem: &Problem<'_>) -> Option<Vec<Point>> {
    if !bits(problem.required).all(|tx| problem.could_be_legal(tx)) {
        return None;
    }
    problem.choices().find_map(|chosen| {
        let mut search = SerialOrders::new(problem, chosen);
        let found = search.extend(0, 0, [0; MAX_LOCATIONS]);
        found.then_some(search.order)
    })
}

struct SerialOrders<'p, 'd> {
    problem: &'p Problem<'d>,
    places: u32,
    visible: u32,
    /// Those that change what somebody reads, or have to keep apart from others: where they stand matters.
    movers: u32,
    /// Open and closed ones with the memory, from where no order was found.
    failed: FxHashSet<(u32, u32, Memory)>,
    order: Vec<Point>,
}

impl<'p, 'd> SerialOrders<'p, 'd> {
    fn new(problem: &'p Problem<'d>, chosen: u32) -> Self {
        let places = problem.places(chosen);
        let visible = problem.visible | chosen;
        let end = if problem.end.is_some() { u32::MAX } else { 0 };
        let looked_at = bits(places).fold(end, |set, tx| set | problem.reads[tx as usize]);
        let moves = |tx: &u8| {
            problem.digest.writes(*tx) & looked_at != 0 || problem.clashes[*tx as usize] & places & !(1 << tx) != 0
        };
        let movers = bits(visible).filter(moves).fold(0, |set, tx| set | 1 << tx);
        Self { problem, places, visible, movers, failed: FxHashSet::default(), order: Vec::new() }
    }

    /// Completes the order, where `closed` have been placed, `open` have a snapshot and no commit yet.
    fn extend(&mut self, open: u32, mut closed: u32, mut memory: Memory) -> bool {
        let mark = self.order.len();
        self.place_at_once(open, &mut closed, &mut memory);
        if closed == self.places && self.ends(&memory) {
            return true;
        }
        if self.failed.contains(&(open, closed, memory)) || !self.branch(open, closed, memory) {
            self.failed.insert((open, closed, memory));
            self.order.truncate(mark);
            return false;
        }
        true
    }

    fn place_at_once(&mut self, open: u32, closed: &mut u32, memory: &mut Memory) {
        loop {
            let waiting = self.places & !*closed & !open & !self.movers;
            let Some(next) = bits(waiting).find(|tx| self.can_begin(*tx, *closed, memory)) else { return };
            *closed |= 1 << next;
            self.note(next);
        }
    }

    fn branch(&mut self, open: u32, closed: u32, memory: Memory) -> bool {
        let instants = self.problem.instants;
        for tx in bits(self.places & !closed & !open) {
            if !self.can_begin(tx, closed, &memory) || self.problem.clashes[tx as usize] & open != 0 {
                continue;
            }
            let mark = self.order.len();
            let found = if instants {
                self.order.push(Point::Snapshot(tx));
                self.extend(open | 1 << tx, closed, memory)
            } else {
                self.note(tx);
                self.extend(open, closed | 1 << tx, self.written(tx, memory))
            };
            if found {
                return true;
            }
            self.order.truncate(mark);
        }
        for tx in bits(open) {
            self.order.push(Point::Commit(tx));
            if self.extend(open & !(1 << tx), closed | 1 << tx, self.written(tx, memory)) {
                return true;
            }
            self.order.pop();
        }
        false
    }

    fn note(&mut self, tx: u8) {
        if self.problem.instants {
            self.order.extend([Point::Snapshot(tx), Point::Commit(tx)]);
        } else if self.visible >> tx & 1 == 1 {
            self.order.push(Point::Committed(tx));
        } else {
            self.order.push(Point::Aborted(tx));
        }
    }

    fn can_begin(&self, tx: u8, closed: u32, memory: &Memory) -> bool {
        let waits = self.problem.before[tx as usize] & self.places & !closed;
        waits == 0 && bits(self.problem.reads[tx as usize]).all(|loc| self.is_justified(tx, loc, memory))
    }

    fn is_justified(&self, tx: u8, loc: u8, memory: &Memory) -> bool {
        self.problem.digest.first_read(tx, loc) == self.value(loc, memory)
    }

    /// Whether the memory is what it has to be at the end.
    fn ends(&self, memory: &Memory) -> bool {
        self.problem.end.is_none_or(|end| (0_u8..).zip(end).all(|(loc, value)| self.value(loc, memory) == *value))
    }

    fn value(&self, loc: u8, memory: &Memory) -> i128 {
        match memory[loc as usize] {
            0 => self.problem.init[loc as usize],
            writer => self.problem.digest.written(writer - 1, loc),
        }
    }

    fn written(&self, tx: u8, mut memory: Memory) -> Memory {
        if self.movers >> tx & 1 == 1 {
            for loc in bits(self.problem.digest.writes(tx)) {
                memory[loc as usize] = tx + 1;
            }
        }
        memory
    }
}
