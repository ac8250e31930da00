//! Tests made from cycles of relations, in the manner of diy (Alglave, Maranget, Sarkar, Sewell: "Fences in weak memory models").

mod cycle;
mod name;
mod relation;
mod text;

pub use cycle::{Cycle, Event, Shape};
pub use relation::{Dir, Link, Relation};
