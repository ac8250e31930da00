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
