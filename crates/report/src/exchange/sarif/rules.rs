//! One SARIF rule for each criterion.

use std::collections::BTreeMap;

use serde_json::json;

use super::schema::{Configuration, Message, Rule};

/// Criterion, name, what is wrong in a few words, what it means.
const RULES: &[(&str, &str, &str, &str)] = &[
    (
        "assertions",
        "AssertionFails",
        "An assertion fails, a computation goes wrong, or nobody can go on.",
        "Some execution that the memory model allows reaches a failing assertion, an undefined value, a bad pointer, an overflow or a deadlock.",
    ),
    (
        "observations",
        "ObservationIsNotSerial",
        "The program shows an observation that no serial execution has.",
        "Operations of a data type must look as if each took place at once. Some execution returns values that no order of whole operations explains.",
    ),
    (
        "exists",
        "NoWitness",
        "No final state satisfies the condition.",
        "The file says that some execution ends in a state that satisfies the condition; none does.",
    ),
    (
        "never",
        "ForbiddenFinalState",
        "A final state satisfies a condition that must never hold.",
        "Some execution that the memory model allows ends in a state that the file forbids.",
    ),
    (
        "always",
        "FinalStateMissesCondition",
        "A final state does not satisfy a condition that must always hold.",
        "Some execution that the memory model allows ends in a state without the property that the file asks for.",
    ),
    (
        "opacity",
        "NotOpaque",
        "Transactions, aborted ones included, do not fit into one serial order.",
        "Some execution lets a transaction see a state that no serial execution of the transactions has.",
    ),
    (
        "strict-serializability",
        "NotStrictlySerializable",
        "Committed transactions do not fit into one serial order that keeps real time.",
        "Some execution commits transactions whose reads and writes no serial order in real time explains.",
    ),
    (
        "serializability",
        "NotSerializable",
        "Committed transactions do not fit into one serial order.",
        "Some execution commits transactions whose reads and writes no serial order explains.",
    ),
    (
        "snapshot-isolation",
        "NoSnapshot",
        "A committed transaction does not read from one snapshot, or two that overlap write the same location.",
        "Some execution commits a transaction whose reads no single snapshot explains, or commits two overlapping writers of one location.",
    ),
    (
        "commit-atomicity",
        "NotCommitAtomic",
        "An atomic block does not act as if it happened at its commit point.",
        "Some execution interleaves a block with others so that no execution of the whole block at its commit has the same effect.",
    ),
    (
        "atomicity",
        "NotAtomic",
        "A final state is one that no serial order of the atomic blocks has.",
        "Some execution interleaves atomic blocks so that the final state is none that running them one after the other gives.",
    ),
    (
        "solo-progress",
        "StuckAlone",
        "A thread that runs alone never commits.",
        "Some reachable state, with the other threads stopped anywhere, lets a thread that runs alone go on for ever without committing.",
    ),
    (
        "crash-free-solo-progress",
        "StuckAloneBetweenTransactions",
        "A thread that runs alone never commits although the others stopped between transactions.",
        "Some reachable state, with the other threads between transactions, lets a thread that runs alone go on for ever without committing.",
    ),
    (
        "local-progress",
        "Starvation",
        "A thread that keeps trying commits no more.",
        "Some endless execution lets one thread try again and again without ever committing.",
    ),
    (
        crate::exchange::case::FENCES,
        "MissingFence",
        "The program needs a fence here on this memory model.",
        "With these fences the checks hold; each of them was shown to be needed unless the report says otherwise.",
    ),
    (
        crate::exchange::case::LITMUS,
        "UnexpectedOutcome",
        "A litmus test does not have the expected outcome.",
        "The final states that the memory model allows differ from the expectation, or could not be decided.",
    ),
];

/// The identifier of a criterion's rule.
pub(super) fn id(criterion: &str) -> String {
    format!("cyrano/{criterion}")
}

/// The rule of a criterion; one that is not in the table is described by its name.
pub(super) fn rule(criterion: &str) -> Rule {
    let known = RULES.iter().find(|(name, ..)| *name == criterion);
    let (_, name, short, full) = known.copied().unwrap_or((criterion, "", "A criterion is violated.", ""));
    let name = if name.is_empty() { criterion } else { name };
    let full = if full.is_empty() { format!("The criterion {criterion} does not hold.") } else { full.to_owned() };
    let help = format!("{full} `cyrano check FILE --criterion {criterion}` shows the execution step by step.");
    let help = if [crate::exchange::case::FENCES, crate::exchange::case::LITMUS].contains(&criterion) {
        full.clone()
    } else {
        help
    };
    Rule {
        id: id(criterion),
        name: name.to_owned(),
        short_description: Message { text: short.to_owned() },
        full_description: Message { text: full },
        help: Message { text: help },
        default_configuration: Configuration {
            level: if criterion == crate::exchange::case::FENCES { "warning" } else { "error" },
        },
        properties: BTreeMap::from([("tags", json!(["concurrency", "memory-model"]))]),
    }
}
