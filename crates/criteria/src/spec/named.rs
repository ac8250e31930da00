//! The specifications that a user can ask for by name.

use super::automaton::{Automaton, Numbered};
use super::foil_det::FoilDet;
use super::foil_nondet::FoilNondet;
use crate::history::Size;

/// The specification of this name for this many threads and variables.
pub fn named(name: &str, size: Size) -> Option<Box<dyn Automaton>> {
    match name {
        "foil-nondet" => Some(Box::new(Numbered::new(FoilNondet::new(size)?))),
        "foil-det" => Some(Box::new(Numbered::new(FoilDet::new(size)?))),
        _ => None,
    }
}
