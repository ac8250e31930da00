//! Structural properties of languages (FOIL, section 8).

mod theorem;
mod transducers;
