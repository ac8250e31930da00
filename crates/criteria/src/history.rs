//! Histories of memory events (FOIL, section 2.4.1).

use std::fmt;

/// An event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    /// Whose, from 0. Its transactions follow one another: the first event after a commit or an abort starts the next one.
    pub thread: u8,
    /// What.
    pub action: Action,
}

/// What happens. Variables are the transactional ones, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// A load of a variable.
    Load(u8),
    /// A store to a variable.
    Store(u8),
    /// A successful compare-and-swap of a variable: a load that is used at once, and a store.
    Cas(u8),
    /// A store that undoes the transaction's stores to a variable.
    Rollback(u8),
    /// The read command whose load came last has finished: its value is used from now on.
    ReadFinish,
    /// The transaction commits.
    Commit,
    /// The transaction aborts.
    Abort,
}

/// A number of threads and of variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Threads.
    pub threads: u8,
    /// Variables.
    pub vars: u8,
}

/// A finite history.
pub type History = Vec<Event>;

impl Size {
    /// Every event over these threads and variables, in a fixed order.
    pub fn alphabet(self) -> Vec<Event> {
        let mut events = Vec::new();
        for thread in 0..self.threads {
            let mut add = |action| events.push(Event { thread, action });
            for v in 0..self.vars {
                add(Action::Load(v));
                add(Action::Store(v));
                add(Action::Cas(v));
                add(Action::Rollback(v));
            }
            add(Action::ReadFinish);
            add(Action::Commit);
            add(Action::Abort);
        }
        events
    }
}

impl fmt::Display for Event {
    /// As in a history file: threads from 1, variables `x`, `y`, `z`, `v3`, ….
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.thread + 1, self.action)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |f: &mut fmt::Formatter<'_>, word: &str, v: &u8| match *v {
            0..3 => write!(f, "{word} {}", ['x', 'y', 'z'][*v as usize]),
            v => write!(f, "{word} v{v}"),
        };
        match self {
            Self::Load(v) => named(f, "load", v),
            Self::Store(v) => named(f, "store", v),
            Self::Cas(v) => named(f, "cas", v),
            Self::Rollback(v) => named(f, "rollback", v),
            Self::ReadFinish => f.write_str("rfin"),
            Self::Commit => f.write_str("commit"),
            Self::Abort => f.write_str("abort"),
        }
    }
}
