//! Histories with values: calls and responses as events of a trace, and why no order of the transactions explains them.
//!
//! **Invariant:** transactions are called `T1`, `T2`, … in the order in which they begin, here as in `transactions`.

use cyrano_criteria::values::{self, Action, Call, Names, Reply};
use cyrano_engine::StepFacts;
use cyrano_engine::values::{Spoken, call, history, reply};
use cyrano_ir::{Op, TxCriterion, reply as codes};

use crate::record::Parts;
use crate::schema::Explanation;

/// What a call or a response is called in a trace.
pub(crate) fn event(op: &Op, facts: &StepFacts) -> Option<String> {
    match op {
        Op::Invoke { method, .. } => Some(match call(*method, &facts.said) {
            Call::Read(loc) => format!("call read({loc})"),
            Call::Write(loc, value) => format!("call write({loc}, {value})"),
            Call::Commit => "call commit()".to_owned(),
        }),
        Op::Respond(_) => facts.said.first().map(|said| match codes::word(*said) {
            Some(word) => format!("returns {word}"),
            None => format!("returns {said}"),
        }),
        _ => None,
    }
}

/// Whether a step ends a transaction, and whether it commits it.
pub(crate) fn ends(op: &Op, facts: &StepFacts) -> Option<bool> {
    match (op, facts.said.first().copied().map(reply)) {
        (Op::Respond(_), Some(Reply::Committed)) => Some(true),
        (Op::Respond(_), Some(Reply::Aborted)) => Some(false),
        _ => None,
    }
}

/// The transactions of a history in the order in which they begin: thread, and whether they committed or aborted.
pub(crate) fn transactions(parts: &Parts<'_>) -> Vec<(usize, Option<bool>)> {
    let Spoken { history, threads, .. } = history(parts.program, parts.replayed);
    let ended = |tx: usize| {
        let events = history.iter().flat_map(|history| history.events());
        let mut replies = events.filter(|event| usize::from(event.tx) == tx).map(|event| event.action);
        replies.find_map(|action| match action {
            Action::Respond(Reply::Committed) => Some(true),
            Action::Respond(Reply::Aborted) => Some(false),
            _ => None,
        })
    };
    threads.into_iter().enumerate().map(|(tx, thread)| (thread, ended(tx))).collect()
}

/// Why the history of the execution is not correct; `None` if it is.
pub(crate) fn explain(parts: &Parts<'_>, criterion: TxCriterion) -> Option<Explanation> {
    let criterion = values::Criterion::named(criterion.name())?;
    let Spoken { history, threads, steps } = history(parts.program, parts.replayed);
    let history = history?;
    let locations = (0..history.init().len()).map(|loc| format!("location {loc}")).collect();
    let names = Names { transactions: (1..=threads.len()).map(|n| format!("T{n}")).collect(), locations };
    let wrong = values::judge(criterion, &history, &names).err()?;
    let step = steps.get(wrong.at).map(|step| step + 1);
    let at = step.map(|step| format!("At step {step}: ")).unwrap_or_default();
    let sentence = format!("{at}{}.", wrong.sentence.trim_end_matches('.'));
    Some(Explanation { kind: wrong.kind.name().to_owned(), sentence, ..Explanation::default() })
}
