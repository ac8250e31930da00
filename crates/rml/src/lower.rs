//! Statements and expressions to instructions, memory and whole programs.

pub(crate) mod assemble;
pub(crate) mod block;
pub(crate) mod build;
pub(crate) mod expr;
pub(crate) mod finals;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod program;
pub(crate) mod sets;
pub(crate) mod stmt;
pub(crate) mod thread;
