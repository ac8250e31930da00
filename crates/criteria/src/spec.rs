//! Specifications as automata, and the comparison of their languages.
//!
//! - [`Specification`]: a prefix-closed language of histories, one automaton for each criterion or paper.
//! - [`foil_nondet`] and [`foil_det`]: the two automata of FOIL, section 3; [`foil_det_fixed`] is the definition instead.
//! - [`automaton`]: any specification with its states numbered, behind one object-safe trait.
//! - [`orbits`]: the automaton of a monitor, with states that differ by a renaming kept once; [`renamings`]: which there are.
//! - [`compare`]: language inclusion both ways, with the shortest histories that tell the languages apart.
//! - [`own`]: a specification of the user's, read from a file.
//! - [`walk`]: one history, or a whole search, through an automaton that may be nondeterministic.
//! - [`named`]: the specifications that a user can ask for by name.

use std::fmt::Debug;
use std::hash::Hash;

use crate::history::{Event, Size};

pub mod automaton;
pub mod compare;
pub mod foil;
pub mod foil_det;
pub mod foil_det_fixed;
pub mod foil_nondet;
pub mod named;
pub mod orbits;
pub mod own;
mod own_parse;
pub mod renamings;
mod subsets;
pub mod walk;

/// A prefix-closed language of histories, given by an automaton all of whose states accept.
pub trait Specification: Send {
    /// A state.
    type State: Clone + Eq + Hash + Debug + Send;

    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The threads and variables that it is for.
    fn size(&self) -> Size;

    /// The initial states.
    fn initial(&self) -> Vec<Self::State>;

    /// The states after an event; none if the history is no longer in the language. Silent steps are taken inside.
    fn step(&self, state: &Self::State, event: Event) -> Vec<Self::State>;

    /// For a state without a move for an event: where the automaton is, if there are words for it.
    fn stuck(&self, _: &Self::State, _: Event) -> Option<String> {
        None
    }
}
