//! Tests made from cycles of relations, in the manner of diy (Alglave, Maranget, Sarkar, Sewell: "Fences in weak memory models").

mod c;
mod cycle;
mod machine;
mod name;
mod relation;
mod rml;
mod target;
mod text;
mod variants;

pub use cycle::{Cycle, Event, Shape};
pub use relation::{Dir, Edge, Link, Relation};
pub use target::{Barrier, Note, Target};
