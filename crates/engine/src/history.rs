//! The history of transactions that an execution performs.

use cyrano_criteria::history::{Action, Event, History};
use cyrano_ir::{AccessKind, Op, Program, TxEvent};

use crate::execution::{Replayed, StepFacts};

/// The events of a replayed execution that concern transactions, each with the number of its step.
pub fn history(program: &Program, replayed: &Replayed) -> (History, Vec<usize>) {
    let steps = replayed.steps.iter().enumerate();
    steps.filter_map(|(step, facts)| Some((event(program, facts)?, step))).unzip()
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
        (AccessKind::Store, Op::Store { rollback: true, .. }) => Action::Rollback(var),
        (AccessKind::Store, _) => Action::Store(var),
        (AccessKind::Rmw, _) if wrote => Action::Cas(var),
        (AccessKind::Rmw, _) => Action::Load(var),
        (AccessKind::Mark, _) => return None,
    })
}
