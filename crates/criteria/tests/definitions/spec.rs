//! Tests of the specifications and of their comparison.

mod comparison;
mod discipline;
mod foil;
mod renaming;
mod trimmed;
