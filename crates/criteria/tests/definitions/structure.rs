//! Structural properties of languages (FOIL, section 8).

mod memories;
mod theorem;
mod transducers;
