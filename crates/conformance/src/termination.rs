//! Termination by brute force: a machine with store buffers ([`machine`]), its whole graph, and the definition of a fair execution ([`fair`]).
//!
//! Nothing is shared with the explorer but the IR: states are structures and not bytes, every instruction is a step, nothing is reduced, and
//! instead of components of the graph there are nested fixpoints over sets of states. Models that defer loads are not covered.

pub mod compare;
pub mod contended;
pub mod fair;
pub mod machine;
mod pending;
pub mod queue;
pub mod random;
pub mod reorder;
mod section;
pub mod stopping;
pub mod tree;

use cyrano_ir::Program;

pub use fair::{Found, Judgement, Size};
pub use queue::Buffering;

/// Judges a program on the machine with store buffers; nothing if it is not made for it.
pub fn judge(program: &Program, model: Buffering, size: Size) -> Option<Judgement> {
    let machine = machine::Machine::new(program, model, size.capacity)?;
    Some(fair::judge(program, &machine, size))
}

/// Judges a program on the machine that defers every access; nothing if it is not made for it.
pub fn judge_reordered(program: &Program, model: &cyrano_memory::Model, size: Size) -> Option<Judgement> {
    let machine = reorder::Machine::new(program, model, size.capacity)?;
    Some(fair::judge(program, &machine, size))
}
