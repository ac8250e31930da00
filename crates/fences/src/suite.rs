//! Several programs that come from one source: the tests of a data type.
//!
//! A fence in the source is a fence in every program that has the code around it, so a set of fences has to be right for all of them, and a
//! counterexample of any of them is a reason to refuse a set. A [`Subject`] is a suite of one program.

use cyrano_ir::Program;

use crate::fence::{Fence, Position};
use crate::subject::{Judgement, Subject};

/// Programs to be repaired together, with everything that they have to satisfy.
pub trait Suite {
    /// See [`Subject::Evidence`].
    type Evidence;

    /// Where a fence may stand.
    fn positions(&self) -> Vec<Position>;

    /// How much a reader would mind this fence, for the choice between sets of equal cost; 0 for not at all.
    fn distaste(&self, _: &Fence) -> u32 {
        0
    }

    /// All programs with these fences, in the same order each time; each is as [`Subject::build`] says.
    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String>;

    /// Whether all programs that were built with these fences are correct.
    ///
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

impl<S: Subject> Suite for S {
    type Evidence = S::Evidence;

    fn positions(&self) -> Vec<Position> {
        Subject::positions(self)
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        Subject::build(self, fences).map(|program| vec![program])
    }

    fn judge(&self, _: &[Fence], programs: &[Program]) -> Ruling<S::Evidence> {
        match programs {
            [program] => Ruling { program: 0, judgement: Subject::judge(self, program) },
            _ => Ruling { program: 0, judgement: Judgement::Unknown("a subject is one program".to_owned()) },
        }
    }

    fn judge_sequentially(&self, programs: &[Program], number: usize) -> Judgement<S::Evidence> {
        match programs.get(number) {
            Some(program) => Subject::judge_sequentially(self, program),
            None => Judgement::Unknown("a subject is one program".to_owned()),
        }
    }
}
