//! One SARIF rule for each criterion.

use cyrano_criteria::table::{Criterion, Violated};
use serde::Serialize;

use crate::exchange::case::{FENCES, LITMUS};
use crate::results::json::object;

/// What else is reported: its name, a word for it, what is wrong in a few words, what that means.
const OTHERS: [(&str, Violated); 2] = [
    (
        FENCES,
        Violated {
            name: "MissingFence",
            short: "The program needs a fence here on this memory model.",
            full: "With these fences the checks hold; each of them was shown to be needed unless the report says otherwise.",
        },
    ),
    (
        LITMUS,
        Violated {
            name: "UnexpectedOutcome",
            short: "A litmus test does not have the expected outcome.",
            full: "The final states that the memory model allows differ from the expectation, or could not be decided.",
        },
    ),
];

/// The identifier of a criterion's rule.
pub(super) fn id(criterion: &str) -> String {
    format!("cyrano/{criterion}")
}

/// The rule of a criterion; one that is not in the table is described by its name.
pub(super) fn rule(criterion: &str) -> impl Serialize + use<> {
    let other = OTHERS.iter().find(|(name, _)| *name == criterion).map(|(_, words)| *words);
    let known = other.or_else(|| Criterion::named(criterion).map(|criterion| criterion.violated));
    let (name, short, full) = match known {
        Some(Violated { name, short, full }) => (name, short, full.to_owned()),
        None => (criterion, "A criterion is violated.", format!("The criterion {criterion} does not hold.")),
    };
    let how = match other {
        Some(_) => String::new(),
        None => format!(" `cyrano check FILE --criterion {criterion}` shows the execution step by step."),
    };
    let help = format!("{full}{how}");
    let text = |text: String| object! { "text": text };
    object! {
        "id": id(criterion),
        "name": name.to_owned(),
        "shortDescription": text(short.to_owned()),
        "fullDescription": text(full),
        "help": text(help),
        "defaultConfiguration": object! { "level": if criterion == FENCES { "warning" } else { "error" } },
        "properties": object! { "tags": ["concurrency", "memory-model"] },
    }
}
