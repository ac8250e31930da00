//! Histories of memory events (FOIL, section 2.4.1).

use std::fmt;

pub use self::parse::{Parsed, parse};

pub(crate) mod parse;
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
    /// The transaction has begun, if it has not before. The paper does not have this event: there a transaction begins with the
    /// first of the others.
    Begin,
}

/// A number of threads and of variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Threads.
    pub threads: u8,
    /// Variables.
    pub vars: u8,
}

/// The first line of a history file in this alphabet.
pub const MEMORY: &str = "history memory";

/// A finite history.
pub type History = Vec<Event>;

/// What the threads and variables of a history are called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// The threads; one without a name is called by its number, from 1.
    pub threads: Vec<String>,
    /// The variables; those without a name are `x`, `y`, `z`, `v3`, ….
    pub variables: Vec<String>,
}

impl Names {
    /// What a thread is called.
    pub fn thread(&self, t: u8) -> String {
        self.threads.get(t as usize).cloned().unwrap_or_else(|| (u32::from(t) + 1).to_string())
    }

    /// What a variable is called.
    pub fn variable(&self, v: u8) -> String {
        self.variables.get(v as usize).cloned().unwrap_or_else(|| match v {
            0..3 => ["x", "y", "z"][v as usize].into(),
            v => format!("v{v}"),
        })
    }

    /// An event as a line of a history file has it.
    pub fn event(&self, event: &Event) -> String {
        let thread = self.thread(event.thread);
        match event.action {
            Action::Load(v) => format!("{thread} load {}", self.variable(v)),
            Action::Store(v) => format!("{thread} store {}", self.variable(v)),
            Action::Cas(v) => format!("{thread} cas {}", self.variable(v)),
            Action::Rollback(v) => format!("{thread} rollback {}", self.variable(v)),
            Action::ReadFinish => format!("{thread} rfin"),
            Action::Commit => format!("{thread} commit"),
            Action::Abort => format!("{thread} abort"),
            Action::Begin => format!("{thread} begin"),
        }
    }
}

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

    /// The same with the beginnings of transactions.
    pub fn alphabet_with_begin(self) -> Vec<Event> {
        let begins = (0..self.threads).map(|thread| Event { thread, action: Action::Begin });
        self.alphabet().into_iter().chain(begins).collect()
    }
}

impl Action {
    /// The same about another variable.
    #[must_use]
    pub fn with_variable(self, rename: impl FnOnce(u8) -> u8) -> Self {
        match self {
            Self::Load(v) => Self::Load(rename(v)),
            Self::Store(v) => Self::Store(rename(v)),
            Self::Cas(v) => Self::Cas(rename(v)),
            Self::Rollback(v) => Self::Rollback(rename(v)),
            Self::ReadFinish | Self::Commit | Self::Abort | Self::Begin => self,
        }
    }

    /// The variable that it is about.
    pub const fn variable(self) -> Option<u8> {
        match self {
            Self::Load(v) | Self::Store(v) | Self::Cas(v) | Self::Rollback(v) => Some(v),
            Self::ReadFinish | Self::Commit | Self::Abort | Self::Begin => None,
        }
    }
}

impl fmt::Display for Event {
    /// As in a history file: threads from 1, variables `x`, `y`, `z`, `v3`, ….
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Names::default().event(self))
    }
}
