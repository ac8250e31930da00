//! Histories of a transactional memory's interface: calls and replies with values (Guerraoui and Kapalka; Lesani and Palsberg,
//! section 2), and the criteria that judge them by what the reads returned.
//!
//! - [`History`]: events, their well-formedness, and the text form ([`parse`]).
//! - [`oracle`]: the definitions, by brute force: slow and obviously right.
//! - [`Digest`], [`holds`], [`accepts`]: the same criteria as a pruned search over what they depend on, for exploration.
//! - [`judge`]: every prefix of a history, with a serial order or an explanation for people.
//!
//! Unlike FOIL's criteria ([`crate::oracle`]) these do not look at conflicts: a value that is written twice hides a change, and a
//! store that nobody sees harms nobody.

pub use self::decide::{Order, Point, Why, accepts, holds};
pub use self::digest::{Digest, MAX_LOCATIONS, MAX_TRANSACTIONS, Recorder, Status, TooLarge};
pub use self::explain::{Attempt, Explanation, Kind, judge, order_in_words};
pub use self::finish::{Misfit, finish, misfit, misplaced};
pub use self::history::{Action, Call, Event, Fault, History, IllFormed, Names, Reply};
pub use self::parse::{Parsed, is_values, parse};

mod decide;
mod digest;
mod explain;
mod finish;
mod history;
pub mod oracle;
mod parse;
mod problem;
mod search;

#[cfg(test)]
mod tests;

/// A criterion for histories of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Criterion {
    /// Every transaction, whatever becomes of it, fits into one serial order that keeps real time.
    Opacity,
    /// Every committed transaction does.
    StrictSerializability,
    /// Every committed transaction fits into one serial order.
    Serializability,
    /// Every committed transaction reads one snapshot, and of two that overlap and write one location only one commits.
    SnapshotIsolation,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Opacity, Self::StrictSerializability, Self::Serializability, Self::SnapshotIsolation];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opacity => "opacity",
            Self::StrictSerializability => "strict-serializability",
            Self::Serializability => "serializability",
            Self::SnapshotIsolation => "snapshot-isolation",
        }
    }

    /// The criterion with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// Whether only committed transactions have a place in the order.
    pub const fn is_about_committed(self) -> bool {
        !matches!(self, Self::Opacity)
    }

    /// Whether the order keeps real time.
    pub const fn keeps_real_time(self) -> bool {
        !matches!(self, Self::Serializability)
    }

    /// Whether an accepted history can be rejected because of this reply; see [`holds`] for the argument. No invocation can.
    pub const fn judges(self, call: Call, reply: Reply) -> bool {
        match (call, reply) {
            (Call::Commit, _) => true,
            (Call::Read(_), Reply::Value(_)) => !self.is_about_committed(),
            _ => false,
        }
    }
}
