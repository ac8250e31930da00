//! The history of transactions that an execution performs.

use cyrano_criteria::history::{Action, Event, History, Size};
use cyrano_criteria::structure::isolation::Deed;
use cyrano_ir::{AccessKind, Op, Program, Tags, TxEvent};

use crate::execution::{Replayed, StepFacts};

/// The events of a replayed execution that concern transactions, each with the number of its step.
///
/// A transaction begins with its first access, to whatever location; an access that its thread issued before the end of the
/// transaction before does not count. In the paper a transaction begins with its first event on a transactional variable; with
/// three threads no STM that takes its clock value first, TL2 for one, is opaque in that sense.
pub fn history(program: &Program, replayed: &Replayed) -> (History, Vec<usize>) {
    let mut lanes = vec![Lane::default(); program.threads.len()];
    let (mut history, mut steps) = (History::new(), Vec::new());
    for (step, facts) in replayed.steps.iter().enumerate() {
        let thread = facts.access.thread;
        let lane = &mut lanes[thread.index()];
        let access = facts.kind != AccessKind::Mark && facts.access.index >= lane.ended;
        if access && !std::mem::replace(&mut lane.running, true) {
            history.extend(u8::try_from(thread.index()).map(|thread| Event { thread, action: Action::Begin }));
            steps.push(step);
        }
        let Some(event) = event(program, facts) else { continue };
        if matches!(event.action, Action::Commit | Action::Abort) {
            *lane = Lane { running: false, ended: facts.access.index };
        }
        history.push(event);
        steps.push(step);
    }
    (history, steps)
}

/// Every step as abort and pending isolation see it (FOIL, section 8.1).
pub fn deeds(program: &Program, replayed: &Replayed) -> Vec<Deed> {
    let mut ended = vec![0; program.threads.len()];
    let mut memory = program.initial_memory();
    let deed = |facts: &StepFacts| {
        let thread = facts.access.thread;
        let event = event(program, facts).map(|event| event.action);
        let stale = facts.access.index < ended[thread.index()];
        if matches!(event, Some(Action::Commit | Action::Abort)) {
            ended[thread.index()] = facts.access.index;
        }
        let is_access = facts.kind != AccessKind::Mark;
        let old = is_access.then(|| memory[facts.loc.index()]);
        let written = facts.access.written.filter(|_| is_access);
        written.iter().for_each(|value| memory[facts.loc.index()] = *value);
        let data = program.transactional.contains(&facts.loc);
        Deed {
            thread: thread.index() as u8,
            event,
            location: is_access.then_some(facts.loc.0),
            reads: is_access && facts.access.read.is_some(),
            writes: written.is_some(),
            changes: written.is_some() && (data || written != old),
            stale,
        }
    };
    replayed.steps.iter().map(deed).collect()
}

/// How many threads and transactional variables a program has.
pub fn size(program: &Program) -> Size {
    let count = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    Size { threads: count(program.threads.len()), vars: count(program.transactional.len()) }
}

/// Where a thread stands.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// Whether a transaction has begun.
    running: bool,
    /// The number of the access that ended the last one.
    ended: u32,
}

/// What a step means to transactions; nothing if it is about another variable.
fn event(program: &Program, facts: &StepFacts) -> Option<Event> {
    let thread = facts.access.thread;
    let op = &program.instr(thread, facts.instr).op;
    let action = match op {
        Op::Transaction(TxEvent::ReadFinish) => Action::ReadFinish,
        Op::Transaction(TxEvent::Commit) => Action::Commit,
        Op::Transaction(TxEvent::Abort) => Action::Abort,
        _ => {
            let var = program.transactional.iter().position(|loc| *loc == facts.loc)?;
            access(facts.kind, op, facts.access.written.is_some(), u8::try_from(var).ok()?)?
        }
    };
    Some(Event { thread: u8::try_from(thread.index()).ok()?, action })
}

/// What an access to a transactional variable means. A compare-and-swap that fails only loads (FOIL, section 4.1).
pub fn access(kind: AccessKind, op: &Op, wrote: bool, var: u8) -> Option<Action> {
    Some(match (kind, op) {
        (AccessKind::Load, _) => Action::Load(var),
        (AccessKind::Store, op) if op.has_tag(Tags::ROLLBACK) => Action::Rollback(var),
        (AccessKind::Store, _) => Action::Store(var),
        (AccessKind::Rmw, _) if wrote => Action::Cas(var),
        (AccessKind::Rmw, _) => Action::Load(var),
        (AccessKind::Mark, _) => return None,
    })
}
