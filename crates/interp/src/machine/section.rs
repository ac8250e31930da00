//! What an atomic section would do now: pass, wait, or never end.

use std::ops::ControlFlow;

use cyrano_ir::LocId;

use crate::machine::stepped::Step;
use crate::machine::{Machine, SECTION_LIMIT};
use crate::order::Written;

/// What becomes of a section that starts now.
pub(crate) enum Fate<'p> {
    /// Some path reaches its end or an error; it does not have to wait.
    Passes,
    /// On every path an `assume` fails.
    Waits,
    /// Some path does not end. The machine is inside it.
    Diverges(Box<Machine<'p>>),
}

/// A path through a section, with what it has written.
struct Path<'p> {
    machine: Machine<'p>,
    overlay: Vec<(LocId, i128)>,
    instructions: usize,
}

/// Runs the section that `before` stands at, on a memory that holds still.
pub(crate) fn fate<'p>(before: &Machine<'p>, memory: &impl Fn(LocId) -> i128) -> Fate<'p> {
    let mut todo = vec![Path { machine: before.clone(), overlay: Vec::new(), instructions: 0 }];
    let mut passes = false;
    while let Some(mut path) = todo.pop() {
        loop {
            path.instructions += 1;
            if path.instructions > SECTION_LIMIT {
                return Fate::Diverges(Box::new(path.machine));
            }
            match advance(&mut path, memory, &mut todo) {
                ControlFlow::Continue(()) if path.machine.in_section() => {}
                ControlFlow::Continue(()) => {
                    passes = true;
                    break;
                }
                ControlFlow::Break(passed) => {
                    passes |= passed;
                    break;
                }
            }
        }
    }
    if passes { Fate::Passes } else { Fate::Waits }
}

/// One step; breaks off at the end of a path and says whether it is one that need not wait.
fn advance<'p>(path: &mut Path<'p>, memory: &impl Fn(LocId) -> i128, todo: &mut Vec<Path<'p>>) -> ControlFlow<bool> {
    match path.machine.step() {
        Step::Local | Step::Back(_) => {}
        Step::Stored => path.note(),
        Step::Read(request) => {
            let written = path.overlay.iter().rev().find(|(loc, _)| *loc == request.loc);
            let value = written.map_or_else(|| memory(request.loc), |(_, value)| *value);
            path.machine.read(request, Some(value));
            path.note();
        }
        Step::Choose(from) => {
            let (first, others) = from.split_first().expect("a choice has at least one value");
            for value in others {
                let mut machine = path.machine.clone();
                if let Step::Failed(_) = machine.choose(*value) {
                    return ControlFlow::Break(true);
                }
                todo.push(Path { machine, overlay: path.overlay.clone(), instructions: path.instructions });
            }
            path.machine.choose(*first);
        }
        Step::Refused => return ControlFlow::Break(false),
        // A section at a `limit` is left out, which is not waiting.
        Step::Limited => return ControlFlow::Break(true),
        // A register that misses its value belongs to an access that is still deferred: the thread can go on by performing it.
        Step::Failed(_) | Step::Halted | Step::Missing => return ControlFlow::Break(true),
    }
    ControlFlow::Continue(())
}

impl Path<'_> {
    fn note(&mut self) {
        let event = self.machine.events.last().expect("called after an access");
        if let Written::Value(value) = event.written {
            self.overlay.retain(|(loc, _)| *loc != event.loc);
            self.overlay.push((event.loc, value));
        }
    }
}
