//! Tests of the specifications and of their comparison.

mod comparison;
mod discipline;
mod foil;
mod own;
mod renaming;
mod trimmed;
