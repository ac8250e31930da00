//! What the automata for two threads have in common.
//!
//! The paper writes its algorithms from the view of the thread that moves, `t`, and the other one, `u`; so do we.

use std::fmt::{self, Debug};
use std::hash::Hash;

use super::Specification;
use crate::history::{Action, Event, Size};

/// The rules of an automaton for two threads.
pub trait Rules: Send {
    /// The state of a thread.
    type Lane: Copy + Eq + Hash + Debug + Default + Send;

    /// The automaton's name.
    fn name(&self) -> &'static str;

    /// One event of the thread `t`; `None` rejects.
    fn take(&self, t: &mut Self::Lane, u: &mut Self::Lane, action: Action) -> Option<()>;

    /// The state itself, and what silent steps make of it.
    fn settled(&self, state: [Self::Lane; 2]) -> Vec<[Self::Lane; 2]> {
        vec![state]
    }
}

/// An automaton for two threads and some variables.
#[derive(Clone, Copy, Debug)]
pub struct TwoThreads<R> {
    size: Size,
    rules: R,
}

impl<R: Rules> TwoThreads<R> {
    /// For two threads and at most eight variables.
    pub fn new(size: Size, rules: R) -> Result<Self, UnsupportedSize> {
        if size.threads == 2 && size.vars <= 8 { Ok(Self { size, rules }) } else { Err(UnsupportedSize(size)) }
    }
}

impl<R: Rules> Specification for TwoThreads<R> {
    type State = [R::Lane; 2];

    fn name(&self) -> &'static str {
        self.rules.name()
    }

    fn size(&self) -> Size {
        self.size
    }

    fn initial(&self) -> Vec<Self::State> {
        self.rules.settled(Self::State::default())
    }

    fn step(&self, state: &Self::State, event: Event) -> Vec<Self::State> {
        let mut next = *state;
        let (t, u) = lanes(&mut next, event.thread);
        match self.rules.take(t, u, event.action) {
            Some(()) => self.rules.settled(next),
            None => Vec::new(),
        }
    }
}

/// What becomes of an aborted transaction's reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aborts {
    /// They are forgotten, as both algorithms are printed. That accepts histories that are not opaque.
    Forgotten,
    /// They prohibit the other thread's stores exactly as the reads of a committed transaction do.
    Remembered,
}

/// The automata are for two threads and at most eight variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnsupportedSize(pub Size);

impl fmt::Display for UnsupportedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { threads, vars } = self.0;
        write!(f, "{threads} threads and {vars} variables: it is for two threads and at most eight variables")
    }
}

impl std::error::Error for UnsupportedSize {}

/// The thread that moves, and the other one.
pub(super) fn lanes<L>(lanes: &mut [L; 2], moving: u8) -> (&mut L, &mut L) {
    let [first, second] = lanes;
    if moving == 0 { (first, second) } else { (second, first) }
}

/// The set of one variable.
pub(super) fn bit(v: u8) -> u8 {
    1 << v
}

pub(super) fn reject_if(rejected: bool) -> Option<()> {
    (!rejected).then_some(())
}
