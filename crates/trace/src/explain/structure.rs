//! Structural properties that do not hold, in words (FOIL, section 8).

use cyrano_criteria::history::{Event, Names};
use cyrano_criteria::structure::images::without_idle;
use cyrano_criteria::structure::isolation::{Kind, breach};
use cyrano_engine::Violation;
use cyrano_engine::history::{deeds, history};
use cyrano_ir::{Property, Structure};

use crate::lines::Lines;
use crate::record::Parts;
use crate::schema::Explanation;

/// What the history asks for in vain, or who sees what it should not.
pub(crate) fn explain(parts: &Parts<'_>, lines: &Lines<'_>, missing: Option<&[Event]>) -> Explanation {
    let kind = Violation::Structure { missing: None }.kind().to_owned();
    let sentence = match missing {
        Some(missing) => asked(parts, missing),
        None => seen(parts, lines).unwrap_or_else(|| "A transaction sees what it should not.".to_owned()),
    };
    Explanation { kind, sentence, ..Explanation::default() }
}

fn asked(parts: &Parts<'_>, missing: &[Event]) -> String {
    let own = without_idle(&history(parts.program, parts.replayed).0);
    let why = match parts.property {
        Property::Structure(Structure::TransactionProjection) => "without its aborted and some unfinished transactions",
        Property::Structure(Structure::Completion) => {
            "with transactions left out, or ended by a commit behind their last read or store, or with a read finished at once"
        }
        Property::Structure(Structure::ThreadSymmetry | Structure::SequentialRenaming) => {
            "with the transactions of one thread in another"
        }
        Property::Structure(Structure::VariableProjection | Structure::SettledProjection) => {
            "without the events of one variable"
        }
        Property::Structure(Structure::Monotonicity) => "with the earlier transactions one after the other",
        _ => "with two neighbouring events of overlapping commands exchanged",
    };
    let (own, missing) = (told(parts, &own), told(parts, missing));
    format!("The execution has the history {own}; {why} it is {missing}, which no execution has.")
}

/// Events by the names of the program.
fn told(parts: &Parts<'_>, history: &[Event]) -> String {
    let program = parts.program;
    let names = Names {
        threads: program.threads.iter().map(|thread| thread.name.clone()).collect(),
        variables: program.transactional.iter().map(|loc| program.location(*loc).name.clone()).collect(),
    };
    history.iter().map(|event| names.event(event)).collect::<Vec<_>>().join(", ")
}

/// Who sees what, and goes on.
fn seen(parts: &Parts<'_>, lines: &Lines<'_>) -> Option<String> {
    let kind = match parts.property {
        Property::Structure(Structure::AbortIsolation) => Kind::Abort,
        _ => Kind::Pending,
    };
    let found = breach(kind, &deeds(parts.program, parts.replayed))?;
    let name = |step: usize| parts.program.thread(parts.replayed.steps[step].access.thread).name.clone();
    let line = |step: usize| {
        let facts = &parts.replayed.steps[step];
        lines.told(parts.program.instr(facts.access.thread, facts.instr).span)
    };
    let place = |step: usize| format!("step {}, line {}", step + 1, line(step));
    let location = &parts.program.location(parts.replayed.steps[found.change].loc).name;
    let (writer, reader) = (name(found.change), name(found.sight));
    let end = match found.abort {
        Some(abort) => format!("and {writer} aborts later (step {})", abort + 1),
        None => format!("while {writer} is still under way"),
    };
    let (change, sight, next) = (place(found.change), place(found.sight), place(found.next));
    Some(format!(
        "{reader} reads {location} ({sight}), which {writer} changed ({change}), and does not abort but goes on ({next}), {end}."
    ))
}
