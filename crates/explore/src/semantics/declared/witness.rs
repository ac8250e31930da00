//! From a path to an execution: the threads' regions are completed, and accesses get their numbers.
//!
//! An execution numbers the accesses of a thread in program order. While a region is under way it may be open which of its accesses are
//! executed, so after the last step of a path each thread whose region is under way runs on alone to the region's end, if it can; if it
//! cannot, all threads run on together until no region is under way. If that is impossible some guess was wrong, and there is no
//! such execution.

use std::collections::{HashSet, VecDeque};

use cyrano_engine::Execution;
use cyrano_ir::OwnOrder;

use crate::semantics::machine::Machine;
use crate::semantics::state::State;
use crate::semantics::step::{Stepper, Successor, Successors};

/// How many states a thread may go through on its own.
const PATIENCE: usize = 20_000;

/// Whether the regions that are under way in other threads than this one can be completed. If that takes too long to find out, perhaps.
pub(super) fn can_be(stepper: &mut Stepper<'_>, order: &OwnOrder, state: &State, thread: usize) -> bool {
    let waits = |state: &State| open(state, Some(thread));
    if !waits(state) {
        return true;
    }
    let mut alone_state = state.clone();
    for other in (0..state.threads.len()).filter(|other| *other != thread) {
        if alone_state.threads[other].queue.is_empty() {
            continue;
        }
        match alone(stepper, order, &alone_state, other).as_deref() {
            Some([.., last]) => alone_state = last.state.clone(),
            _ => return !matches!(together(stepper, order, state, &waits), WayOn::None),
        }
    }
    true
}

/// Whether all regions that are under way can be completed.
pub(crate) fn can_complete(stepper: &mut Stepper<'_>, order: &OwnOrder, state: &State) -> bool {
    let notes = stepper.notes;
    let steps = complete(stepper, order, state.clone());
    stepper.notes = notes;
    !open(steps.last().map_or(state, |step| &step.state), None)
}

/// Whether a region is under way in a thread other than this one.
fn open(state: &State, except: Option<usize>) -> bool {
    let threads = state.threads.iter().enumerate();
    threads.into_iter().any(|(thread, own)| Some(thread) != except && !own.queue.is_empty())
}

/// What a search for a way on found.
enum WayOn {
    /// These steps.
    Found(Vec<Successor>),
    /// There is no way on.
    None,
    /// It did not come to an end.
    Unknown,
}

/// The fewest steps of all threads after which the condition does not hold.
fn together(stepper: &mut Stepper<'_>, order: &OwnOrder, state: &State, waits: &dyn Fn(&State) -> bool) -> WayOn {
    let mut found: Vec<(Option<usize>, Successor)> = Vec::new();
    let mut seen = HashSet::new();
    let mut work = VecDeque::from([(None, state.clone())]);
    let mut out = Successors::default();
    while let Some((parent, state)) = work.pop_front() {
        if found.len() > PATIENCE {
            return WayOn::Unknown;
        }
        out.clear();
        (0..state.threads.len()).for_each(|thread| stepper.own_steps_by_guess(order, &state, thread, &mut out));
        for successor in out.iter_mut().filter(|successor| !successor.dropped) {
            let successor = successor.clone();
            let mut bytes = Vec::new();
            stepper.m.encode(&successor.state, &mut bytes);
            if !seen.insert(bytes) {
                continue;
            }
            let done = !waits(&successor.state);
            work.push_back((Some(found.len()), successor.state.clone()));
            found.push((parent, successor));
            if done {
                return WayOn::Found(path(found));
            }
        }
    }
    WayOn::None
}

/// The steps that take each thread to the end of its region.
pub(crate) fn complete(stepper: &mut Stepper<'_>, order: &OwnOrder, state: State) -> Vec<Successor> {
    let steps = each_alone(stepper, order, state.clone());
    let last = steps.last().map_or(&state, |step| &step.state);
    if !open(last, None) {
        return steps;
    }
    // The thread in which something goes wrong need not go on.
    for except in std::iter::once(None).chain((0..state.threads.len()).map(Some)) {
        if let WayOn::Found(steps) = together(stepper, order, &state, &|state| open(state, except)) {
            return steps;
        }
    }
    steps
}

/// The steps that take each thread that can run on alone to the end of its region.
fn each_alone(stepper: &mut Stepper<'_>, order: &OwnOrder, mut state: State) -> Vec<Successor> {
    let mut steps = Vec::new();
    for thread in 0..state.threads.len() {
        if !state.threads[thread].queue.is_empty()
            && let Some(path) = alone(stepper, order, &state, thread)
        {
            if let Some(last) = path.last() {
                state = last.state.clone();
            }
            steps.extend(path);
        }
    }
    steps
}

/// The steps of one thread to the end of its region, the fewest.
fn alone(stepper: &mut Stepper<'_>, order: &OwnOrder, state: &State, thread: usize) -> Option<Vec<Successor>> {
    let mut found: Vec<(Option<usize>, Successor)> = Vec::new();
    let mut seen = HashSet::new();
    let mut work = VecDeque::from([(None, state.clone())]);
    let mut out = Successors::default();
    while let Some((parent, state)) = work.pop_front() {
        if found.len() > PATIENCE {
            return None;
        }
        out.clear();
        stepper.own_steps_by_guess(order, &state, thread, &mut out);
        for successor in out.iter_mut() {
            let successor = successor.clone();
            let mut bytes = Vec::new();
            stepper.m.encode(&successor.state, &mut bytes);
            if !seen.insert(bytes) {
                continue;
            }
            let ended = successor.state.threads[thread].queue.is_empty();
            work.push_back((Some(found.len()), successor.state.clone()));
            found.push((parent, successor));
            if ended {
                return Some(path(found));
            }
        }
    }
    None
}

/// The steps that lead to the last one.
fn path(mut found: Vec<(Option<usize>, Successor)>) -> Vec<Successor> {
    let mut path = Vec::new();
    let mut at = found.len().checked_sub(1);
    while let Some(number) = at {
        let (parent, successor) = &mut found[number];
        at = *parent;
        path.push(std::mem::take(successor));
    }
    path.reverse();
    path
}

/// Numbers the accesses of each thread in program order; until now each has the number of its instruction.
pub(crate) fn renumber(m: &Machine<'_>, execution: &mut Execution, choices: &mut [(usize, u32, i128)]) {
    for thread in 0..m.threads.len() {
        let own = execution.order.iter().filter(|access| access.thread.index() == thread);
        let mut instrs: Vec<u32> = own.map(|access| access.index).collect();
        instrs.sort_unstable();
        for access in execution.order.iter_mut().filter(|access| access.thread.index() == thread) {
            access.index = instrs.partition_point(|instr| *instr < access.index) as u32;
        }
    }
    choices.sort_unstable_by_key(|(thread, pc, _)| (*thread, *pc));
    for (thread, _, value) in choices {
        execution.choices[*thread].push(*value);
    }
}
