//! The one program form: what every front end produces and every engine runs.
//!
//! A [`Program`] is a set of shared locations and a fixed number of threads.
//! Each thread is a flat list of instructions over registers that are private to it.
//! Shared memory is touched by an [`Access`] alone; expressions read registers only.
//!
//! **Invariants** (checked by [`verify()`]): see the module doc of [`mod@verify`].
//!
//! This crate knows neither front ends nor engines nor memory models; which criteria there are `cyrano_criteria` says.

pub mod access;
pub mod automorphisms;
pub mod blocks;
pub mod cond;
pub mod dataflow;
pub mod expr;
pub mod fence;
pub mod guards;
pub mod ids;
pub mod leaves;
pub mod op;
pub mod program;
pub mod registers;
pub mod sections;
pub mod serial;
pub mod text;
pub mod told;
pub mod verify;
mod words;

pub use access::{Access, AccessKind, Addr, Change, Tags};
pub use blocks::{BlockProblem, Blocks};
pub use cond::{Check, FinalExpr, FinalVar, Invariant, Observable, Point, ProgramClaim, Property, StateExpr, StateVar};
pub use cyrano_criteria::criterion::{LabelName, Liveness, OrderName, Progress, Quantifier, Structure, TxCriterion};
pub use cyrano_diagnostic::{Diagnostic, origin, suggest};
pub use expr::{BinOp, EvalError, Expr, IntType, UNDEFINED, UnOp, WORD};
pub use fence::{Fence, FenceName, FenceSet};
pub use ids::{ArrayId, InstrId, LocId, PointId, RegId, Span, ThreadId};
pub use leaves::Leaf;
pub use op::{Method, Op, TxEvent, reply};
pub use program::{
    Family, Instr, Interchangeable, LocalExpr, Location, OwnOrder, Place, Program, Register, Routine, SharedArray,
    Thread, Ty,
};
pub use registers::{Miss, Registers};
pub use serial::{COMMIT_ORDER, SerialOrder};
pub use verify::{VerifyError, verify};
