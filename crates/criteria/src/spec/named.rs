//! The specifications that a user can ask for by name.

use crate::criterion::TxCriterion;
use std::fmt;

use super::automaton::{Automaton, Numbered};
use super::foil::Aborts::{Forgotten, Remembered};
use super::foil::{TwoThreads, UnsupportedSize};
use super::foil_det::FoilDet;
use super::foil_det_fixed::FoilDetFixed;
use super::foil_nondet::FoilNondet;
use super::orbits::Orbits;
use super::own::{self, TooSmall};
use crate::history::Size;
use crate::monitor::{Monitor, TooLarge};

/// Every name, with what it stands for.
pub const NAMES: [(&str, &str); 7] = [
    ("foil-nondet", "the nondeterministic specification of FOIL, Algorithm 1, its indentation repaired"),
    ("foil-det", "the deterministic specification of FOIL, Algorithm 2, its indentation repaired"),
    ("foil-nondet-sound", "foil-nondet, but the reads of aborted transactions are remembered"),
    ("foil-det-sound", "foil-det, but the reads of aborted transactions are remembered"),
    ("foil-det-fixed", "a deterministic specification for two threads that equals opacity"),
    ("opacity", "the definition of FOIL, section 2.4.2, for every prefix"),
    ("strict-serializability", "the same for committed transactions only"),
];

/// Why there is no such specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameError {
    /// No specification has this name.
    Unknown(String),
    /// The paper's automata are not for this size.
    Foil(UnsupportedSize),
    /// The monitors are not for this size.
    Monitor(TooLarge),
    /// The user's automata are not for this size.
    Own(TooSmall),
}

/// The specification of this name for this many threads and variables. The monitors can rename both, if there are not too many.
pub fn named(name: &str, size: Size) -> Result<Box<dyn Automaton>, NameError> {
    match monitor(name, size)?.and_then(Orbits::new) {
        Some(orbits) => Ok(Box::new(orbits)),
        None => plain(name, size),
    }
}

/// The same without renamings.
pub fn plain(name: &str, size: Size) -> Result<Box<dyn Automaton>, NameError> {
    Ok(match name {
        "foil-nondet" => Box::new(Numbered::new(TwoThreads::new(size, FoilNondet(Forgotten))?)),
        "foil-det" => Box::new(Numbered::new(TwoThreads::new(size, FoilDet(Forgotten))?)),
        "foil-nondet-sound" => Box::new(Numbered::new(TwoThreads::new(size, FoilNondet(Remembered))?)),
        "foil-det-sound" => Box::new(Numbered::new(TwoThreads::new(size, FoilDet(Remembered))?)),
        "foil-det-fixed" => Box::new(Numbered::new(TwoThreads::new(size, FoilDetFixed)?)),
        _ => {
            if let Some(own) = own::known(name) {
                return Ok(Box::new(Numbered::new(own.automata(size)?)));
            }
            let monitor = monitor(name, size)?.ok_or_else(|| NameError::Unknown(name.to_owned()))?;
            Box::new(Numbered::new(monitor))
        }
    })
}

/// The monitor of this name, if there is one; a specification of the user's is none.
fn monitor(name: &str, size: Size) -> Result<Option<Monitor>, NameError> {
    let criterion = TxCriterion::from_name(name).filter(|criterion| criterion.is_by_conflicts());
    let criterion = criterion.filter(|_| own::known(name).is_none());
    Ok(criterion.map(|criterion| Monitor::new(criterion, size)).transpose()?)
}

impl From<UnsupportedSize> for NameError {
    fn from(error: UnsupportedSize) -> Self {
        Self::Foil(error)
    }
}

impl From<TooLarge> for NameError {
    fn from(error: TooLarge) -> Self {
        Self::Monitor(error)
    }
}

impl From<TooSmall> for NameError {
    fn from(error: TooSmall) -> Self {
        Self::Own(error)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let names = NAMES.map(|(name, _)| name).join(", ");
                write!(f, "no specification is called `{name}`; there are {names}")
            }
            Self::Foil(error) => error.fmt(f),
            Self::Monitor(error) => error.fmt(f),
            Self::Own(TooSmall { name, needs: Size { threads, vars } }) => {
                let plural = |number: &u8, noun| format!("{number} {noun}{}", if *number == 1 { "" } else { "s" });
                let (threads, vars) = (plural(threads, "thread"), plural(vars, "variable"));
                write!(f, "`{name}` speaks of {threads} and {vars}, more than there are")
            }
        }
    }
}

impl std::error::Error for NameError {}
