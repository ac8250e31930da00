//! What is to be repaired, as seen from here: the programs that come from one source, one of an algorithm or one for each test of a data type, that
//! can be built with fences, and a judge.
//!
//! A fence in the source is a fence in every program that has the code around it, so a set of fences has to be right for all of them, and a
//! counterexample of any of them is a reason to refuse a set.

use cyrano_engine::{Execution, Replayed};
use cyrano_ir::Program;

use crate::fence::{Fence, Position};

/// Programs to be repaired together, with everything that they have to satisfy.
pub trait Suite {
    /// What the judge wants to tell about a counterexample: which model, which property, a trace. It is passed on untouched.
    type Evidence;

    /// Where a fence may stand.
    fn positions(&self) -> Vec<Position>;

    /// How much a reader would mind this fence, for the choice between sets of equal cost; 0 for not at all.
    fn distaste(&self, _: &Fence) -> u32 {
        0
    }

    /// How often a fence at this position is passed, beside others; at least 1.
    fn weight(&self, _: &Position) -> u32 {
        1
    }

    /// All programs with these fences, in the same order each time; at most one fence per position, which may be a union of kinds.
    ///
    /// Spans are those of the original source. The instructions of an inserted fence, and only those, are `Fence`
    /// instructions whose span is empty and starts at the position. Apart from them the code is the same.
    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String>;

    /// Whether all programs that were built with these fences are correct, by every model and property at hand.
    ///
    /// The fewer reorderings the execution of a [`Judgement::Wrong`] has, the sooner the search ends: minimise it.
    /// More fences never make a correct program wrong, so that what was found out about a set need not be asked again for a larger one.
    fn judge(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Self::Evidence>;

    /// The same with little effort: where they turn out to be wrong that ends the search, and that they are correct is worth little.
    fn judge_briefly(&self, fences: &[Fence], programs: &[Program]) -> Ruling<Self::Evidence> {
        self.judge(fences, programs)
    }

    /// Whether the program of this number is correct under sequential consistency. Here, too, only what is wrong counts.
    fn judge_sequentially(&self, programs: &[Program], number: usize) -> Judgement<Self::Evidence>;
}

/// What the judge says about a suite.
#[derive(Clone, Debug)]
pub struct Ruling<E> {
    /// The number of the program that the judgement is about, if it is not about all.
    pub program: usize,
    /// The judgement.
    pub judgement: Judgement<E>,
}

impl<E> Ruling<E> {
    /// All is well.
    pub fn correct() -> Self {
        Self { program: 0, judgement: Judgement::Correct }
    }
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

impl<E> Judgement<E> {
    /// The same with something else to add to what is wrong.
    pub fn map<F>(self, evidence: impl FnOnce(&Execution, &Replayed, E) -> F) -> Judgement<F> {
        match self {
            Self::Correct => Judgement::Correct,
            Self::Unknown(reason) => Judgement::Unknown(reason),
            Self::Wrong(Wrong { execution, replayed, evidence: old }) => {
                let evidence = evidence(&execution, &replayed, old);
                Judgement::Wrong(Wrong { execution, replayed, evidence })
            }
        }
    }
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
