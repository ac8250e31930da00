//! Programs judged in turn with one set of fences after another.
//!
//! What a program finds out is not asked again: one that is correct with some fences is correct with more, and its judge may say that fewer than it
//! was asked about are enough. Programs are tried from small to large, starting after the one that refused the last set, so that each of them
//! contributes counterexamples early, when they are easy to find; one that takes long waits until the others have had their turn.

use std::cell::{Cell, RefCell};

use cyrano_engine::Stop;
use cyrano_ir::Program;

use crate::suite::{Judgement, Ruling};

/// What is known about the programs of a suite; `K` is a set of fences.
pub struct Turns<K> {
    /// For each program the sets of fences that it is known to be correct with.
    correct: RefCell<Vec<Vec<K>>>,
    /// The program that refused the last set.
    refused: Cell<Option<usize>>,
}

impl<K> Turns<K> {
    /// Nothing is known about so many programs.
    pub fn new(programs: usize) -> Self {
        Self { correct: RefCell::new((0..programs).map(|_| Vec::new()).collect()), refused: Cell::new(None) }
    }

    /// Whether all programs are correct with a set of fences; `within` tells whether another one is a part of it. `judge` is told how many seconds a program gets, as many as there are if none are named,
    /// and which program it is; where that is correct it says which of the fences are enough for it.
    pub fn judge<E>(
        &self,
        slices: &[Option<u64>],
        programs: &[Program],
        within: impl Fn(&K) -> bool,
        judge: impl Fn(Option<u64>, usize) -> (Judgement<E>, K),
    ) -> Ruling<E> {
        let mut ruling = Ruling::correct();
        let mut open = self.order(programs);
        open.retain(|number| !self.correct.borrow()[*number].iter().any(&within));
        // A set that one program takes long over may be refused by another one at once.
        for slice in slices {
            for number in std::mem::take(&mut open) {
                let (judgement, needed) = judge(*slice, number);
                match judgement {
                    Judgement::Correct => self.correct.borrow_mut()[number].push(needed),
                    Judgement::Wrong(_) => {
                        self.refused.set(Some(number));
                        return Ruling { program: number, judgement };
                    }
                    Judgement::Unknown(ref reason) if slice.is_some() && reason.ends_with(Stop::Timeout.reason()) => {
                        open.push(number);
                    }
                    // Another program may still show that the set is wrong.
                    Judgement::Unknown(_) if matches!(ruling.judgement, Judgement::Correct) => {
                        ruling = Ruling { program: number, judgement };
                    }
                    Judgement::Unknown(_) => {}
                }
            }
        }
        match open.first() {
            Some(program) if matches!(ruling.judgement, Judgement::Correct) => {
                Ruling { program: *program, judgement: Judgement::Unknown(Stop::Timeout.reason().to_owned()) }
            }
            _ => ruling,
        }
    }

    /// The programs in the order in which they are judged.
    fn order(&self, programs: &[Program]) -> Vec<usize> {
        let effort = |number: &usize| {
            let program = &programs[*number];
            let code: usize = program.threads.iter().map(|thread| thread.code.len()).sum();
            code.saturating_mul(code) << program.threads.len().min(8)
        };
        let mut order: Vec<usize> = (0..programs.len()).collect();
        order.sort_by_key(effort);
        let last = order.iter().position(|number| self.refused.get() == Some(*number));
        order.rotate_left(last.map_or(0, |last| last + 1) % programs.len().max(1));
        order
    }
}
