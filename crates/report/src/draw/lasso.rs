//! Executions that go on for ever: the stem, then "again and again:" and one round.

use cyrano_trace::{LassoInfo, Step, ThreadInfo, Trace, ViolationInfo};

use crate::style::{Style, hang};

/// The line before the first step of the round.
pub(crate) const AGAIN: &str = "  again and again:\n";

/// What stands there instead if a round has no steps.
pub(crate) const NOTHING_AGAIN: &str = "  again and again: no access\n";

/// The trace without what repeats; nothing if the execution does not go on for ever.
pub(crate) fn first_round(trace: &Trace) -> Option<Trace> {
    let (stem, round) = trace.rounds()?;
    let mut shown = trace.clone();
    shown.steps.truncate(stem + round);
    Some(shown)
}

/// Whether a round starts with this step.
pub(crate) fn starts_round(trace: &Trace, step: &Step) -> bool {
    trace.rounds().is_some_and(|(stem, _)| step.n == stem + 1)
}

/// What the clients of the threads choose, in the stem and in a round; false if the execution does not go on for ever.
pub(crate) fn commands(out: &mut String, trace: &Trace, style: Style) -> bool {
    let Some(ViolationInfo::Lasso(lasso)) = &trace.violation else { return false };
    // The clients of an algorithm over base objects make calls, which the steps name themselves.
    if trace.threads.iter().all(|thread| thread.commands.is_empty()) {
        return true;
    }
    out.push_str("\nCommands:\n");
    for (at, thread) in trace.threads.iter().enumerate() {
        hang(out, &format!("  {}: ", thread.name), &chosen(at, thread, lasso), style);
    }
    true
}

fn chosen(at: usize, thread: &ThreadInfo, lasso: &LassoInfo) -> String {
    let stem = lasso.stem.choices.get(at).copied().unwrap_or(0);
    let round = lasso.round.choices.get(at).copied().unwrap_or(0);
    let list = |from: usize, to: usize| thread.commands.get(from..to).unwrap_or_default().join(", ");
    // A memory that chooses something itself has more choices than commands; then the two parts cannot be told apart.
    if thread.commands.len() != thread.choices.len() {
        return thread.commands.join(", ");
    }
    match (list(0, stem), list(stem, stem + round)) {
        (before, again) if before.is_empty() && again.is_empty() => "none".to_owned(),
        (before, again) if again.is_empty() => before,
        (before, again) if before.is_empty() => format!("again and again {again}"),
        (before, again) => format!("{before}; again and again {again}"),
    }
}
