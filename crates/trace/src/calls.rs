//! Histories with values: calls and responses as events of a trace, and why no order of the transactions explains them.
//!
//! **Invariant:** transactions are called `T1`, `T2`, … in the order in which they begin, here as in `transactions`.

use cyrano_criteria::values::{self, Action, Call, History, Misfit, Names, Recorder, Reply};
use cyrano_engine::StepFacts;
use cyrano_engine::values::{Spoken, call, history, keys, reply};
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
    let Spoken { history, threads, steps } = history(parts.program, parts.replayed);
    let history = history?;
    let locations = (0..history.init().len()).map(|loc| format!("location {loc}")).collect();
    let names = Names { transactions: (1..=threads.len()).map(|n| format!("T{n}")).collect(), locations };
    let Err(wrong) = values::judge(criterion, &history, &names) else {
        let sentence = explain_end(parts, criterion, &history, &names)?;
        return Some(Explanation { kind: "end".to_owned(), sentence, ..Explanation::default() });
    };
    let step = steps.get(wrong.at).map(|step| step + 1);
    let at = step.map(|step| format!("At step {step}: ")).unwrap_or_default();
    let sentence = format!("{at}{}.", wrong.sentence.trim_end_matches('.'));
    Some(Explanation { kind: wrong.kind.name().to_owned(), sentence, ..Explanation::default() })
}

/// Why the end of an execution, in which all transactions have committed, is not correct.
fn explain_end(parts: &Parts<'_>, criterion: TxCriterion, history: &History, names: &Names) -> Option<String> {
    if !parts.program.restarts() {
        return None;
    }
    let mut recorder = Recorder::new(history);
    history.events().iter().for_each(|event| {
        recorder.observe(event);
    });
    let (digest, init) = (recorder.digest(), history.init());
    let memory: Vec<i128> = parts.program.transactional.iter().map(|loc| parts.replayed.memory[loc.index()]).collect();
    let TxCriterion::InOrder(order) = criterion else {
        let found = values::finish(criterion, digest, init, &memory).is_none();
        let left: Vec<_> =
            names.locations.iter().zip(&memory).map(|(name, value)| format!("{value} in {name}")).collect();
        let sentence =
            format!("At the end: no order of the transactions explains their reads and leaves {}.", left.join(", "));
        return found.then_some(sentence);
    };
    let keys = keys(parts.program, parts.replayed, order)?;
    let wrong = values::misplaced(digest, init, &memory, &keys)?;
    let name = |tx: u8| names.transactions[usize::from(tx)].as_str();
    let location = |loc: u8| names.locations[usize::from(loc)].as_str();
    let shown = |tx: &u8| {
        let keys: Vec<_> = keys[usize::from(*tx)].iter().map(ToString::to_string).collect();
        format!("{} ({})", name(*tx), keys.join(", "))
    };
    let row: Vec<_> = wrong.iter().map(shown).collect();
    let why = match values::misfit(digest, init, &memory, &wrong)? {
        Misfit::Torn(tx) => format!("{} contradicts its own reads and writes", name(tx)),
        Misfit::Read { tx, loc, read, instead } => {
            format!("{} read {read} from {}, where {instead} would be", name(tx), location(loc))
        }
        Misfit::End { loc, holds, instead } => {
            format!("{} holds {holds} at the end, where {instead} would be", location(loc))
        }
    };
    Some(format!("The order by {} allows {}, but then {why}.", order.name(), row.join(", ")))
}
