//! Specifications as automata, and the comparison of their languages.

use std::fmt::Debug;
use std::hash::Hash;

use crate::history::{Event, Size};

/// A prefix-closed language of histories, given by an automaton all of whose states accept.
pub trait Specification {
    /// A state.
    type State: Clone + Eq + Hash + Debug;

    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The threads and variables that it is for.
    fn size(&self) -> Size;

    /// The initial states.
    fn initial(&self) -> Vec<Self::State>;

    /// The states after an event; none if the history is no longer in the language. Silent steps are taken inside.
    fn step(&self, state: &Self::State, event: Event) -> Vec<Self::State>;
}
