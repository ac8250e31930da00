//! Deadlocks under models about relations: no thread can go on, and some wait at a section, for something that is not in memory once every write has reached
//! everybody.
//!
//! A section is a read-modify-write, or less (`supports`). One that waits has done nothing. It is tried again on what the last writes left: if it waits then, too,
//! whatever it chooses, it does so for ever, as nobody is left who writes. An older write may still let it go on; that is another execution.
//!
//! **What is assumed** is that the model allows it to read what was written last, as the built-in models do; under others nothing is claimed of programs that wait.

use cyrano_engine::{Blocked, Violation};

use super::graph::Candidate;
use super::traces::Trace;

/// The threads that have not ended, if each of them stands at a section, and there are some.
pub(super) fn waiting(combination: &[&Trace<'_>]) -> Option<Vec<Blocked>> {
    let open = combination.iter().filter(|trace| !trace.is_done());
    let stands = |trace: &&Trace<'_>| Some(Blocked { thread: trace.run.thread, instr: trace.run.stands_at()?.instr });
    let blocked: Option<Vec<Blocked>> = open.map(stands).collect();
    blocked.filter(|blocked| !blocked.is_empty())
}

/// That all of them wait in vain.
pub(super) fn deadlock(candidate: &Candidate<'_, '_>) -> Option<Violation> {
    let blocked = waiting(candidate.combination)?;
    let memory = candidate.memory();
    let waits = |trace: &&Trace<'_>| trace.run.stands_at().is_some_and(|at| trace.run.waits_again(at, &memory));
    let open = candidate.combination.iter().copied().filter(|trace| !trace.is_done());
    { open }.all(|trace| waits(&trace)).then_some(Violation::Deadlock { blocked })
}
