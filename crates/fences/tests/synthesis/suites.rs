//! The search over several programs of one source: as in `tests`, position `10 * t + i` is behind access `i` of thread `t`, in each program.

use std::cell::RefCell;

use cyrano_ir::Program;

use crate::search::{ALL, Reordering, TableSubject, show, subject};
use cyrano_fences::{Fence, Judgement, Options, Position, Ruling, Suite, Verdict, synthesise};

struct Programs {
    subjects: Vec<TableSubject>,
    awkward: Vec<usize>,
    /// The programs that were judged sequentially, in order.
    sequential: RefCell<Vec<usize>>,
}

impl Suite for Programs {
    type Evidence = usize;

    fn positions(&self) -> Vec<Position> {
        self.subjects.iter().flat_map(TableSubject::places).collect()
    }

    fn distaste(&self, fence: &Fence) -> u32 {
        u32::from(self.awkward.contains(&fence.position.at))
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        self.subjects.iter().map(|subject| Ok(subject.program(fences))).collect()
    }

    fn judge(&self, _: &[Fence], programs: &[Program]) -> Ruling<usize> {
        for (program, (subject, built)) in self.subjects.iter().zip(programs).enumerate() {
            let judgement = subject.judge_one(built);
            if !matches!(judgement, Judgement::Correct) {
                return Ruling { program, judgement };
            }
        }
        Ruling::correct()
    }

    fn judge_sequentially(&self, _: &[Program], number: usize) -> Judgement<usize> {
        self.sequential.borrow_mut().push(number);
        self.subjects[number].judge_in_order()
    }
}

fn programs(of: &[(&'static str, &[&[Reordering]])], awkward: &[usize]) -> Programs {
    let subjects = of.iter().map(|(thread, wrong)| subject(&[thread], wrong)).collect();
    Programs { subjects, awkward: awkward.to_vec(), sequential: RefCell::default() }
}

#[test]
fn a_set_is_right_for_all_programs() {
    let both = programs(&[("SL", &[&[(0, 0, 1)]]), ("SSS", &[&[(0, 0, 1)], &[(0, 1, 2)]])], &[]);
    let outcome = synthesise(&both, &ALL);
    assert_eq!((outcome.verdict, outcome.complete, outcome.minimal), (Verdict::Repaired, true, true));
    let sets: Vec<String> = outcome.sets.iter().map(|set| show(&set.fences)).collect();
    assert_eq!(sets, ["0:store-load 0:store-store 1:store-store"]);
    // Each program once, when it first goes wrong.
    assert_eq!(*both.sequential.borrow(), [0, 1]);
}

#[test]
fn a_program_that_is_hopeless_is_noticed_when_its_turn_comes() {
    let both = programs(&[("SL", &[&[(0, 0, 1)]]), ("SS", &[&[]])], &[]);
    let outcome = synthesise(&both, &ALL);
    let reason = "it goes wrong under sequential consistency as well";
    assert_eq!((outcome.verdict, outcome.reason.as_deref()), (Verdict::Irreparable, Some(reason)));
    assert!(outcome.sets.is_empty() && outcome.counterexamples.len() == 1);
}

/// Positions 0 and 1 do the same here; the awkward one is taken only if it saves a fence.
#[test]
fn awkward_positions_are_avoided() {
    let first = |of: &[(&'static str, &[&[Reordering]])], awkward: &[usize]| {
        let outcome = synthesise(&programs(of, awkward), &Options::default());
        (show(&outcome.sets[0].fences), outcome.sets[0].cost)
    };
    let one: (&'static str, &[&[Reordering]]) = ("SLS", &[&[(0, 0, 2)]]);
    assert_eq!(first(&[one], &[]), ("0:store-store".to_owned(), 1));
    assert_eq!(first(&[one], &[0]), ("1:store-store".to_owned(), 1));
    let two: (&'static str, &[&[Reordering]]) = ("SSSS", &[&[(0, 0, 2)], &[(0, 1, 3)]]);
    assert_eq!(first(&[two], &[1]), ("1:store-store".to_owned(), 1));
}
