//! Races, where all accesses stay in order: two steps that can follow one another directly, with accesses that conflict and are not both synchronising.
//!
//! That a program has such steps in some reachable state exactly if it has two conflicting accesses that happens-before does not order is a theorem
//! (Adve and Hill, for DRF0; the argument with sections as units is in `crates/explore/src/criteria/races.rs`). Whoever trusts a certificate of `races` trusts it.

use cyrano_engine::Violation;
use cyrano_interp::steps::{Beyond, Step, Steps};
use cyrano_ir::{AccessKind, Op, Program, Tags};

/// Two steps that race, of which the first is one of `steps`.
pub(crate) fn race(of: &Steps<'_>, steps: &[Step]) -> Result<Option<Violation>, Beyond> {
    let program = of.program();
    let takes_part = |step: &&Step| !step.performed.is_empty() && program.setup != Some(step.thread);
    // A plain access is possible as soon as its thread has come to it, whatever the others do; without one there is no race.
    if steps.iter().filter(takes_part).all(|step| synchronises(program, step)) {
        return Ok(None);
    }
    for first in steps.iter().filter(takes_part).filter(|step| step.wrong.is_none()) {
        for second in of.from(&first.to)?.iter().filter(takes_part).filter(|step| step.thread != first.thread) {
            if let Some(race) = conflict(program, first, second) {
                return Ok(Some(race));
            }
        }
    }
    Ok(None)
}

/// Whether a step is a section, a read-modify-write or an access that is marked.
fn synchronises(program: &Program, step: &Step) -> bool {
    let op = &program.instr(step.thread, step.instr).op;
    matches!(op, Op::AtomicBegin) || op.has_tag(Tags::SYNC) || op.access_kind() == Some(AccessKind::Rmw)
}

fn conflict(program: &Program, first: &Step, second: &Step) -> Option<Violation> {
    if synchronises(program, first) && synchronises(program, second) {
        return None;
    }
    let pairs = first.performed.iter().flat_map(|one| second.performed.iter().map(move |other| (one, other)));
    let racing = |step: &Step, instr| cyrano_engine::Racing { thread: step.thread, instr, step: 0 };
    pairs
        .into_iter()
        .find(|(one, other)| one.loc.is_some() && one.loc == other.loc && (one.kind.writes() || other.kind.writes()))
        .map(|(one, other)| Violation::Race { first: racing(first, one.instr), second: racing(second, other.instr) })
}
