//! The verifier: what every engine may take for granted about a program.
//!
//! [`verify`] checks each of these invariants and returns all violations, in program order:
//!
//! 1. **Threads.** There are at most 65,535 threads.
//! 2. **Names.** Threads have non-empty names, each its own; so do locations.
//! 3. **Ids.** Every register, location, array, local array (base and length) and jump target exists,
//!    in unreachable code too; a shared array lies within the locations.
//! 4. **Ends.** A thread has code, and its last instruction does not fall through.
//! 5. **Choices.** A `choose` has at least one value.
//! 6. **Sections.** On every path from the start each begin of an atomic section or of an operation has
//!    its end, and neither contains one of its own kind or a `halt`. An atomic section contains no fence and no
//!    begin or end of an operation; an atomic section within an operation is fine. All paths to an
//!    instruction agree on which sections it is in, so that a section is entered through its begin only.
//! 7. **States.** The variables that are observed and that checks name exist; so do the transactional ones, the
//!    setup thread, the threads that stand for families, and the instructions of points, which ascend. Allowed outcomes have one value per
//!    observed variable.
//! 8. **Timestamps.** Timestamps are copied, compared and incremented, nothing else, so that engines may
//!    renumber them: a timestamp place or location receives a timestamp, a constant or a timestamp plus a
//!    constant of at least 0; timestamps are compared with such values only; a timestamp is never an
//!    integer, an index, a condition or an operand of other arithmetic than `% c`; fetch-add on a timestamp
//!    location adds a constant of at least 0. The elements of an array are of one type; gaps count as integers.
//! 9. **Gaps.** A gap is an element that an index may hit and nothing else: no register is one, and no fixed address,
//!    observable, condition or transactional variable names one.
//! 10. **Integers.** The integer types of `wrap` and `fit` have 1 to 64 bits.
//! 11. **Own orders.** An order of the program's own has a list for each instruction, of earlier instructions in ascending order, and
//!     no thread of such a program jumps back. Calls have as many arguments as their method takes.
//! 12. **Blocks.** Atomic blocks are not nested, on every path through one that has commit points exactly one is met, with an access of the
//!     block before it and no choice in between, and no thread halts in one ([`crate::blocks`]).
//! 13. **Headers.** A header is alive or freed at the start and stands in front of a word; no register and no transactional variable is one. A
//!     program with headers has no order of its own.
//! 14. **Accesses.** An access has the parts of its kind ([`crate::access`]); only a store is a rollback, only what reads acquires, only
//!     what writes releases, unless it is exclusive; only a compare-and-swap has other tags if it fails.
//!
//! Invariants 6, 8 and 10 are checked as far as broken ids allow.

mod ids;
mod sections;
mod timestamps;

use std::collections::HashSet;
use std::fmt;

use crate::ids::{InstrId, ThreadId};
use crate::program::Program;

/// The number of threads a program may have at most.
const MAX_THREADS: usize = u16::MAX as usize;

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// What is wrong.
    pub message: String,
    /// The thread it is about, if it is about one.
    pub thread: Option<ThreadId>,
    /// The instruction of that thread it is about, if it is about one.
    pub instr: Option<InstrId>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.thread, self.instr) {
            (Some(thread), Some(instr)) => write!(f, "{thread}{instr}: {}", self.message),
            (Some(thread), None) => write!(f, "{thread}: {}", self.message),
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks every invariant; returns all violations.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut errors = Errors::default();
    if program.threads.len() > MAX_THREADS {
        let count = program.threads.len();
        errors.push(format!("{count} threads; at most {MAX_THREADS} can be run"));
        // Thread ids are 16 bits wide, so that the other checks could not even name the rest.
        return Err(errors.list);
    }
    let threads = program.threads.iter().map(|t| &*t.name);
    names("thread", threads, &mut errors);
    let locations = program.locations.iter().map(|l| &*l.name);
    names("location", locations, &mut errors);
    ids::check_tables(program, &mut errors);
    timestamps::check_tables(program, &mut errors);
    for id in program.thread_ids() {
        let thread = program.thread(id);
        errors.thread = Some(id);
        ids::check_thread(program, thread, &mut errors);
        sections::check_thread(thread, &mut errors);
        sections::check_blocks(thread, &mut errors);
        timestamps::check_thread(program, thread, &mut errors);
    }
    if errors.list.is_empty() {
        Ok(())
    } else {
        errors.list.sort_by_key(|error| (error.thread, error.instr));
        Err(errors.list)
    }
}

fn names<'a>(what: &str, names: impl Iterator<Item = &'a str>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for (position, name) in names.enumerate() {
        if name.is_empty() {
            errors.push(format!("{what} number {position} has no name"));
        } else if !seen.insert(name) {
            errors.push(format!("two {what}s are named `{name}`"));
        }
    }
}

/// The violations so far, and what the checks are looking at.
#[derive(Default)]
struct Errors {
    list: Vec<VerifyError>,
    thread: Option<ThreadId>,
}

impl Errors {
    /// Reports something about the current thread, or about the program before the first.
    fn push(&mut self, message: impl Into<String>) {
        self.report(None, message.into());
    }

    /// Reports something about an instruction of the current thread.
    fn push_at(&mut self, pc: usize, message: impl Into<String>) {
        self.report(Some(InstrId::new(pc)), message.into());
    }

    fn report(&mut self, instr: Option<InstrId>, message: String) {
        self.list.push(VerifyError { message, thread: self.thread, instr });
    }
}
