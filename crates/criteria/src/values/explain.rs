//! Judges a history, prefix by prefix where these count, and says, for people, in which order its transactions fit or why none will do.
//!
//! A rejection is explained by a core ([`Why`]): the reads that cannot all be justified, and, where they matter, who had ended before
//! whom began and who must not overlap with whom. Orders of the transactions that the core is about are shown with the constraint that
//! each of them breaks, as long as there are few.

use super::decide::{Order, Point, Why, accepts};
use super::digest::bits;
use super::{Action, Call, Digest, Event, History, Names, Recorder, Reply, Status};
use crate::criterion::TxCriterion;

mod attempts;

/// The most orders that an explanation goes through.
const MAX_ATTEMPTS: usize = 6;

/// Why a history is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The event at which it goes wrong: everything before it is accepted.
    pub at: usize,
    /// What kind of thing is wrong.
    pub kind: Kind,
    /// What is wrong, in words.
    pub sentence: String,
    /// The constraints that cannot be met together.
    pub why: Why,
    /// The transactions that matter for them.
    pub transactions: Vec<u8>,
    /// What each order of these transactions breaks; empty if there are many.
    pub attempts: Vec<Attempt>,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A transaction does not see its own reads and writes.
    OwnAccess,
    /// A read returned a value that nobody could have left there.
    NoWriter,
    /// Each read could be justified, but not all in one order.
    NoOrder,
}

/// An order that does not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The order.
    pub order: Order,
    /// What it breaks, in words.
    pub breaks: String,
    /// How many other orders break the same.
    pub others: usize,
}

impl Kind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OwnAccess => "own-access",
            Self::NoWriter => "no-writer",
            Self::NoOrder => "no-order",
        }
    }
}

/// Judges every prefix of a history, or the whole of it where prefixes do not count: an order for the whole of it, or why the first prefix without one has none.
pub fn judge(criterion: TxCriterion, history: &History, names: &Names) -> Result<Order, Box<Explanation>> {
    let mut recorder = Recorder::new(history);
    let mut order = Order::new();
    for (at, event) in history.events().iter().enumerate() {
        let completed = recorder.observe(event);
        let is_last = at + 1 == history.events().len();
        if is_last || completed.is_some_and(|(call, reply)| criterion.judges(call, reply)) {
            let digest = recorder.digest();
            order = accepts(criterion, digest, history.init())
                .map_err(|why| Box::new(explain(criterion, history, names, at, digest, why)))?;
        }
    }
    Ok(order)
}

fn explain(
    criterion: TxCriterion,
    history: &History,
    names: &Names,
    at: usize,
    digest: &Digest,
    why: Why,
) -> Explanation {
    let words = Words { criterion, history, names, at, digest };
    let transactions = words.involved(&why);
    let (kind, sentence) = match &why {
        Why::Torn(tx) => (Kind::OwnAccess, words.own_access(*tx)),
        Why::Core { reads, before, clashes } => match (reads.as_slice(), before.is_empty() && clashes.is_empty()) {
            ([(tx, loc, value)], true) => (Kind::NoWriter, words.no_writer(*tx, *loc, *value)),
            _ => (Kind::NoOrder, words.no_order(&why)),
        },
    };
    let attempts = if kind == Kind::NoOrder { attempts::attempts(&words, &why, &transactions) } else { Vec::new() };
    Explanation { at, kind, sentence, why, transactions, attempts }
}

/// An order in words: "T1, T3 (aborted), T2".
pub fn order_in_words(order: &[Point], digest: &Digest, names: &Names) -> String {
    let words: Vec<String> = order.iter().map(|point| point_in_words(*point, digest, names)).collect();
    if words.is_empty() { "no transaction has a place in it".into() } else { words.join(", ") }
}

fn point_in_words(point: Point, digest: &Digest, names: &Names) -> String {
    let name = names.transaction(point.transaction());
    match (point, digest.status(point.transaction())) {
        (Point::Snapshot(_), _) => format!("{name} snapshot"),
        (Point::Commit(_), _) => format!("{name} commit"),
        (Point::Committed(_), Status::Committed) => name,
        (Point::Committed(_), _) => format!("{name} (committing)"),
        (_, Status::Aborted) => format!("{name} (aborted)"),
        (_, Status::Committed) => name,
        _ => format!("{name} (unfinished)"),
    }
}

/// What words are made from: the history up to and including the event `at`.
pub(super) struct Words<'a> {
    criterion: TxCriterion,
    history: &'a History,
    names: &'a Names,
    at: usize,
    digest: &'a Digest,
}

impl Words<'_> {
    fn tx(&self, tx: u8) -> String {
        self.names.transaction(tx)
    }

    fn read(&self, (tx, loc, value): (u8, u8, i128)) -> String {
        format!("{} read {value} from {}", self.tx(tx), self.names.location(loc))
    }

    /// Those that are named in the core, and those whose writes could justify or spoil a read of it.
    fn involved(&self, why: &Why) -> Vec<u8> {
        let Why::Core { reads, before, clashes } = why else {
            return if let Why::Torn(tx) = why { vec![*tx] } else { Vec::new() };
        };
        let seen = |tx: &u8| matches!(self.digest.status(*tx), Status::Committed | Status::CommitPending);
        let locations = reads.iter().fold(0, |set, (_, loc, _)| set | 1_u32 << loc);
        let mut found: Vec<u8> = reads.iter().map(|(tx, ..)| *tx).collect();
        found.extend(before.iter().chain(clashes).flat_map(|(a, b)| [*a, *b]));
        found
            .extend((0..self.digest.transactions()).filter(seen).filter(|tx| self.digest.writes(*tx) & locations != 0));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The first read of a transaction that contradicts what it had read or written itself.
    fn own_access(&self, tx: u8) -> String {
        let mut known: Vec<(u8, i128, &str)> = Vec::new();
        for (call, reply) in self.completed(tx) {
            let last = |loc: u8| known.iter().rfind(|(l, ..)| *l == loc).copied();
            match (call, reply) {
                (Call::Write(loc, value), Reply::Ok) => known.push((loc, value, "written")),
                (Call::Read(loc), Reply::Value(value)) => match last(loc) {
                    Some((_, own, how)) if own != value => {
                        return format!("{}, where it had {how} {own} itself", self.read((tx, loc, value)));
                    }
                    Some(_) => {}
                    None => known.push((loc, value, "read")),
                },
                _ => {}
            }
        }
        format!("{} does not see its own accesses", self.tx(tx))
    }

    fn completed(&self, tx: u8) -> impl Iterator<Item = (Call, Reply)> {
        let replies = (0..=self.at).filter(move |at| self.history.events()[*at].tx == tx);
        replies.filter_map(|at| match self.history.events()[at].action {
            Action::Respond(reply) => Some((self.history.call_of(at)?, reply)),
            Action::Invoke(_) => None,
        })
    }

    /// A read that nobody's writes can justify, and what became of those that wrote the value.
    fn no_writer(&self, tx: u8, loc: u8, value: i128) -> String {
        let write = Action::Invoke(Call::Write(loc, value));
        let wrote = |other: &u8| self.history.events()[..self.at].contains(&Event { tx: *other, action: write });
        let others = (0..self.digest.transactions()).filter(|other| *other != tx).filter(wrote);
        let mut parts: Vec<String> = others.map(|other| self.cannot_have_left(other, loc)).collect();
        if parts.is_empty() {
            parts.push("no other transaction wrote that value".to_owned());
        }
        format!("{}, but {}", self.read((tx, loc, value)), parts.join(" and "))
    }

    fn cannot_have_left(&self, writer: u8, loc: u8) -> String {
        let name = self.tx(writer);
        match self.digest.status(writer) {
            Status::Aborted => format!("{name}, which wrote it, aborted"),
            Status::Live | Status::Waiting => format!("{name}, which wrote it, has not asked to commit"),
            Status::CommitPending | Status::Committed => {
                let last = self.digest.written(writer, loc);
                format!("{name}, which wrote it, wrote {last} over it before anybody else could see it")
            }
        }
    }

    fn no_order(&self, why: &Why) -> String {
        let Why::Core { reads, before, clashes } = why else { return String::new() };
        let order = match self.criterion {
            TxCriterion::SnapshotIsolation => "no order of snapshots and commits",
            _ => "no serial order",
        };
        let mut facts: Vec<String> = reads.iter().map(|read| self.read(*read)).collect();
        facts.extend(before.iter().map(|pair| self.ended_before(*pair)));
        facts.extend(clashes.iter().map(|pair| self.both_write(*pair)));
        format!("{order} explains that {}", list(&facts))
    }

    fn ended_before(&self, (a, b): (u8, u8)) -> String {
        format!("{} had ended before {} began", self.tx(a), self.tx(b))
    }

    fn both_write(&self, (a, b): (u8, u8)) -> String {
        let common = self.digest.writes(a) & self.digest.writes(b);
        let common: Vec<String> = bits(common).map(|loc| self.names.location(loc)).collect();
        format!("{} and {} both wrote {}", self.tx(a), self.tx(b), list(&common))
    }
}

/// "a", "a and b", "a, b and c".
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
