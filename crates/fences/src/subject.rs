//! What is to be repaired, as seen from here: a program that can be built with fences, and a judge.

use cyrano_engine::{Execution, Replayed};
use cyrano_ir::Program;

use crate::fence::{Fence, Position};

/// A program to be repaired, with everything that it has to satisfy.
pub trait Subject {
    /// What the judge wants to tell about a counterexample: which model, which property, a trace. It is passed on untouched.
    type Evidence;

    /// Where a fence may stand.
    fn positions(&self) -> Vec<Position>;

    /// The program with these fences, at most one per position; a fence may be a union of kinds.
    ///
    /// Spans are those of the original source. The instructions of an inserted fence, and only those, are `Fence`
    /// instructions whose span is empty and starts at the position. Apart from them the code is the same.
    fn build(&self, fences: &[Fence]) -> Result<Program, String>;

    /// Whether a program that was built is correct, by every model and property at hand.
    ///
    /// The fewer reorderings the execution of a [`Judgement::Wrong`] has, the sooner the search ends: minimise it.
    fn judge(&self, program: &Program) -> Judgement<Self::Evidence>;

    /// The same under sequential consistency, by every property at hand.
    fn judge_sequentially(&self, program: &Program) -> Judgement<Self::Evidence>;
}

/// What the judge says.
#[derive(Clone, Debug)]
pub enum Judgement<E> {
    /// It is correct.
    Correct,
    /// It is wrong, and this shows it.
    Wrong(Wrong<E>),
    /// Nobody knows, for this reason.
    Unknown(String),
}

/// An execution that goes wrong.
///
/// Where a property fails for the lack of an execution (`exists`), both parts are empty: no fence adds one.
#[derive(Clone, Debug)]
pub struct Wrong<E> {
    /// The execution, of the program that was judged.
    pub execution: Execution,
    /// What replaying it brought to light.
    pub replayed: Replayed,
    /// What the judge has to add.
    pub evidence: E,
}
