//! Commit-atomicity (`docs/atomicity.md`; Flanagan, section 4): what a step makes of the serial run that a state has beside it.
//!
//! Steps say what happens to units ([`Happened`]). When a unit commits, its thread's next unit is run on the memory of each *way*, alone and to its end ([`unit`]). When
//! one ends, the ways stay that handed on the same; when every thread stands between units, those with the same memory. If none is left, the blocks are not
//! atomic in the order of their commits.
//!
//! Choices outside of blocks are made in the serial run as they were made in the execution, those in blocks in every possible way.

mod unit;

use cyrano_engine::configuration::{Configuration, Copied, HandedOn, Product, Serial, Way};
use cyrano_interp::steps::{Happened, Step, Steps};
use cyrano_ir::{Program, ThreadId};

use crate::judge::{Seen, Wrong};
pub(crate) use unit::Code;

/// The serial run before the first step.
pub(crate) fn initial(program: &Program, code: &Code<'_>) -> Serial {
    let threads = program.thread_ids().map(|thread| code.initial(thread)).collect();
    let memory = program.initial_memory();
    Serial { ways: vec![Way { memory, threads }], chosen: vec![Vec::new(); program.threads.len()] }
}

/// The serial run after a step, before memory is compared ([`compare`]).
pub(crate) fn after(code: &Code<'_>, before: &Serial, step: &Step, seen: &mut Seen) -> Result<Serial, Wrong> {
    let (mut serial, thread) = (before.clone(), step.thread);
    for happened in &step.units {
        match happened {
            Happened::Chose(value) => serial.chosen[thread.index()].push(*value),
            Happened::Ended(handed) => serial.ways.retain_mut(|way| hands_on(&mut way.threads[thread.index()], handed)),
            Happened::Committed => {
                commit(code, &mut serial, thread)?;
                let last = |way: &Way| way.threads[thread.index()].owed.last().map(|(instr, _)| *instr);
                seen.committed |= serial.ways.iter().filter_map(last).any(|instr| code.ends_block(thread, instr));
            }
        }
        some_is_left(&serial, "no serial run of the blocks, in the order of their commits, goes on like this")?;
    }
    Ok(serial)
}

/// Where nobody is in a block, those ways are left whose memory is the one that is there.
pub(crate) fn compare(steps: &Steps<'_>, state: &mut Product) -> Result<(), Wrong> {
    let Some(serial) = state.serial.as_mut().filter(|_| are_between_units(steps, &state.at)) else { return Ok(()) };
    serial.ways.retain(|way| way.memory == state.at.memory);
    some_is_left(serial, "nobody is in a block, and memory is not that of a serial run in the order of commits")
}

fn some_is_left(serial: &Serial, else_wrong: &str) -> Result<(), Wrong> {
    if serial.ways.is_empty() { Err(Wrong::State(else_wrong.to_owned())) } else { Ok(()) }
}

/// Whether no thread is in a block.
pub(crate) fn are_between_units(steps: &Steps<'_>, at: &Configuration) -> bool {
    steps.program().thread_ids().all(|thread| steps.is_between_units(&at.threads[thread.index()], thread))
}

fn hands_on(copy: &mut Copied, handed: &HandedOn) -> bool {
    copy.owed.first() == Some(handed) && {
        copy.owed.remove(0);
        true
    }
}

/// The next unit of a thread is run in every way.
fn commit(code: &Code<'_>, serial: &mut Serial, thread: ThreadId) -> Result<(), Wrong> {
    let mut ways = Vec::new();
    let mut made = None;
    for way in &serial.ways {
        for (next, used) in code.run(way, thread, &serial.chosen[thread.index()]).map_err(Wrong::Unknown)? {
            if made.is_some_and(|made| made != used) {
                return Err(Wrong::Unknown(
                    "serial runs make different numbers of choices, which a state cannot say".into(),
                ));
            }
            made = Some(used);
            if !ways.contains(&next) {
                ways.push(next);
            }
        }
    }
    serial.chosen[thread.index()].drain(..made.unwrap_or(0));
    serial.ways = ways;
    Ok(())
}

/// What is wrong with the serial run of a state, if anything.
pub(crate) fn remembers(program: &Program, state: &Product) -> Result<(), String> {
    let serial = state.serial.as_ref().ok_or("a state has no serial run beside it")?;
    if serial.ways.is_empty() {
        return Err("a state has no serial run beside it".into());
    }
    serial.fits(program)
}
