//! Events of a transactional memory's interface and well-formed histories of them (Lesani and Palsberg, section 2).
//!
//! **Invariant:** a [`History`] is well-formed. The events of each transaction are a prefix of `O · F`, where `O` is a sequence of
//! reads that returned a value and writes that returned `ok`, and `F` is a read or write that returned `A`, or a commit that
//! returned `C` or `A`. Instead of the paper's first transaction, which writes every location, there are initial values.

use std::fmt;

use super::digest::{MAX_LOCATIONS, MAX_TRANSACTIONS};

/// An event of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    /// Whose, from 0.
    pub tx: u8,
    /// What.
    pub action: Action,
}

/// A call begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// The transaction calls the memory.
    Invoke(Call),
    /// The memory answers.
    Respond(Reply),
}

/// What a transaction asks for. Locations count from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Call {
    /// The value of a location.
    Read(u8),
    /// A new value for a location.
    Write(u8, i128),
    /// That its writes take effect.
    Commit,
}

/// What the memory answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reply {
    /// The value that was read.
    Value(i128),
    /// The write is done.
    Ok,
    /// The transaction is aborted.
    Aborted,
    /// The transaction has committed.
    Committed,
}

/// A finite well-formed history.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct History {
    init: Vec<i128>,
    events: Vec<Event>,
    transactions: u8,
}

/// An event that cannot stand where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllFormed {
    /// Its index.
    pub at: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The transaction is waiting for the reply to another call, which stands at this index.
    StillWaiting(usize),
    /// A reply without a call.
    NoCall,
    /// The transaction ended at this index.
    Ended(usize),
    /// No reply to such a call, which stands at this index.
    WrongReply(usize),
    /// A location without an initial value.
    NoSuchLocation,
    /// More than [`MAX_TRANSACTIONS`] or [`MAX_LOCATIONS`].
    TooLarge,
}

impl History {
    /// Checks a sequence of events over locations with these initial values; reports every event that is out of place.
    /// An event that is wrong is left out when the later ones are looked at.
    pub fn new(init: Vec<i128>, events: Vec<Event>) -> Result<Self, Vec<IllFormed>> {
        let mut wrong = Vec::new();
        let mut states = vec![Phase::Idle; 256];
        for (at, event) in events.iter().enumerate() {
            let state = &mut states[event.tx as usize];
            match check(event, *state, at, init.len()) {
                Ok(next) => *state = next,
                Err(fault) => wrong.push(IllFormed { at, fault }),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let transactions = events.iter().map(|event| event.tx + 1).max().unwrap_or(0);
        Ok(Self { init, events, transactions })
    }

    /// The initial value of each location.
    pub fn init(&self) -> &[i128] {
        &self.init
    }

    /// The events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many transactions there are: the largest index and one.
    pub fn transactions(&self) -> u8 {
        self.transactions
    }

    /// The call that a reply answers.
    pub fn call_of(&self, reply: usize) -> Option<Call> {
        let mine = self.events[..reply].iter().rev().find(|event| event.tx == self.events[reply].tx)?;
        match mine.action {
            Action::Invoke(call) => Some(call),
            Action::Respond(_) => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Phase {
    Idle,
    Waiting(Call, usize),
    Ended(usize),
}

/// What becomes of a transaction by its next event.
fn check(event: &Event, state: Phase, at: usize, locations: usize) -> Result<Phase, Fault> {
    if event.tx as usize >= MAX_TRANSACTIONS || locations > MAX_LOCATIONS {
        return Err(Fault::TooLarge);
    }
    match (state, event.action) {
        (Phase::Ended(end), _) => Err(Fault::Ended(end)),
        (Phase::Waiting(_, since), Action::Invoke(_)) => Err(Fault::StillWaiting(since)),
        (Phase::Idle, Action::Respond(_)) => Err(Fault::NoCall),
        (Phase::Idle, Action::Invoke(Call::Read(loc) | Call::Write(loc, _))) if loc as usize >= locations => {
            Err(Fault::NoSuchLocation)
        }
        (Phase::Idle, Action::Invoke(call)) => Ok(Phase::Waiting(call, at)),
        (Phase::Waiting(call, since), Action::Respond(reply)) => match (call, reply) {
            (Call::Read(_), Reply::Value(_)) | (Call::Write(..), Reply::Ok) => Ok(Phase::Idle),
            (_, Reply::Aborted) | (Call::Commit, Reply::Committed) => Ok(Phase::Ended(at)),
            _ => Err(Fault::WrongReply(since)),
        },
    }
}

/// What the transactions and locations of a history are called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// The transactions; those without a name are `T1`, `T2`, ….
    pub transactions: Vec<String>,
    /// The locations; those without a name are `x`, `y`, `z`, `v3`, ….
    pub locations: Vec<String>,
}

impl Names {
    /// What a transaction is called.
    pub fn transaction(&self, tx: u8) -> String {
        self.transactions.get(tx as usize).cloned().unwrap_or_else(|| format!("T{}", u32::from(tx) + 1))
    }

    /// What a location is called.
    pub fn location(&self, loc: u8) -> String {
        self.locations.get(loc as usize).cloned().unwrap_or_else(|| match loc {
            0..3 => ["x", "y", "z"][loc as usize].into(),
            loc => format!("v{loc}"),
        })
    }

    /// An event as a line of a history file has it.
    pub fn event(&self, event: &Event) -> String {
        let action = match event.action {
            Action::Invoke(Call::Read(loc)) => format!("inv read {}", self.location(loc)),
            Action::Invoke(Call::Write(loc, value)) => format!("inv write {} {value}", self.location(loc)),
            Action::Invoke(Call::Commit) => "inv commit".to_owned(),
            Action::Respond(reply) => format!("ret {reply}"),
        };
        format!("{} {action}", self.transaction(event.tx))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Ok => f.write_str("ok"),
            Self::Aborted => f.write_str("A"),
            Self::Committed => f.write_str("C"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Names::default().event(self))
    }
}
