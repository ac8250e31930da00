//! Which positions a thread of a recorded execution passes between two of its accesses.
//!
//! The thread is run again ([`cyrano_engine::rerun`]) through the program that has a fence at every position.
//!
//! **Invariant:** fences neither add accesses nor choices, so the numbers of both are the same in every program that a subject builds.

use cyrano_engine::Execution;
use cyrano_engine::rerun::{MAX_STEPS, Run};
use cyrano_ir::{Program, ThreadId};

use crate::places::PlaceId;

/// The way of one thread: for each of its accesses the positions that it passed since the access before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Way(Vec<Vec<PlaceId>>);

impl Way {
    /// The positions between two accesses of the thread, each once.
    pub(crate) fn between(&self, first: u32, second: u32) -> Vec<PlaceId> {
        let (from, to) = (first as usize + 1, (second as usize + 1).min(self.0.len()));
        let mut passed: Vec<PlaceId> = self.0.get(from..to).unwrap_or_default().concat();
        passed.sort();
        passed.dedup();
        passed
    }
}

/// Walks one thread up to its last performed access. `place` tells which position an instruction is a fence of.
///
/// The error is about our own data: the execution does not fit the program.
pub(crate) fn walk(
    program: &Program,
    thread: ThreadId,
    place: &dyn Fn(usize) -> Option<PlaceId>,
    execution: &Execution,
) -> Result<Way, String> {
    let mut run = Run::new(program, execution, thread);
    let (mut way, mut passed) = (Way::default(), Vec::new());
    for _ in 0..MAX_STEPS {
        if run.accesses >= run.reads.len() {
            return Ok(way);
        }
        passed.extend(place(run.pc));
        let issued = run.accesses;
        if run.step().is_none() {
            break;
        }
        if run.accesses > issued {
            way.0.push(std::mem::take(&mut passed));
        }
    }
    let name = &program.thread(thread).name;
    let at = run.pc;
    Err(format!("the recorded execution does not lead thread {name} through the program with fences (at {at})"))
}
