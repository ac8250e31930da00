//! JSON documents: objects whose members stand in the order in which they are written here, and the schema `cyrano.report/1`.
//!
//! A document is one literal ([`object!`]), so that its names and their values stand side by side. Fields that do not apply are null, never
//! absent, but for those that came later, which are left out where they say nothing.

use cyrano_trace::Tool;
use cyrano_trace::number::Written;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::exchange::shard::ShardReport;
use crate::results::checks::CheckReport;

/// A JSON object. `"name" ?: value` is left out where the value is `None`; `..members` at the end adds those of another object.
macro_rules! object {
    () => { $crate::results::json::End };
    (..$rest:expr) => { $rest };
    ($name:literal: $value:expr $(, $($rest:tt)*)?) => {
        $crate::results::json::Member { name: $name, value: Some($value), rest: object!($($($rest)*)?) }
    };
    ($name:literal ?: $value:expr $(, $($rest:tt)*)?) => {
        $crate::results::json::Member { name: $name, value: $value, rest: object!($($($rest)*)?) }
    };
}
pub(crate) use object;

/// The first member of an object, and the others.
pub(crate) struct Member<V, R> {
    pub(crate) name: &'static str,
    pub(crate) value: Option<V>,
    pub(crate) rest: R,
}

/// No more members.
pub(crate) struct End;

/// The members of an object.
pub(crate) trait Members {
    fn write<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error>;
}

impl Members for End {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<V: Serialize, R: Members> Members for Member<V, R> {
    fn write<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
        if let Some(value) = &self.value {
            object.serialize_entry(self.name, value)?;
        }
        self.rest.write(object)
    }
}

impl<V: Serialize, R: Members> Serialize for Member<V, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.write(&mut object)?;
        object.end()
    }
}

/// Names with values, serialised as an object whose keys stay in order; a name that occurs again is left out.
pub(crate) fn pairs<'a>(pairs: impl Iterator<Item = (&'a String, impl Into<Written>)>) -> InOrder<&'a String, Written> {
    let mut kept: Vec<(&String, Written)> = Vec::new();
    for (name, value) in pairs {
        if kept.iter().all(|(known, _)| *known != name) {
            kept.push((name, value.into()));
        }
    }
    InOrder(kept)
}

/// The members of an object in the order in which they stand.
pub(crate) struct InOrder<K, V>(pub(crate) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for InOrder<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The name of this schema.
pub(crate) const CHECKS: &str = "cyrano.report/1";

/// All checks as one JSON object, perhaps those of a part of a campaign.
pub(crate) fn checks_document(checks: &[CheckReport], version: &str, shard: Option<&ShardReport>) -> String {
    let checks: Vec<_> = checks.iter().map(check).collect();
    document(CHECKS, version, object! { "shard" ?: shard, "checks": checks })
}

fn check(check: &CheckReport) -> impl Serialize {
    let stats = check.stats.as_ref();
    object! {
        "file": &check.file,
        "test": &check.test,
        "model": &check.model,
        "criterion": &check.criterion,
        "property": &check.property,
        "engine": &check.engine,
        "engine_note": &check.engine_note,
        "instance": pairs(check.instance.iter().map(|(name, value)| (name, *value))),
        "set": &check.set,
        "verdict": check.verdict.name(),
        "reason": &check.reason,
        "states": stats.map(|stats| stats.states),
        "transitions": stats.map(|stats| stats.transitions),
        "clauses": check.clauses,
        "depth": stats.map(|stats| stats.depth),
        "seconds": stats.map(|stats| stats.seconds),
        "peak_bytes": stats.map(|stats| stats.peak_bytes),
        "bytes_per_state": stats.and_then(|stats| stats.bytes_per_state()),
        "executions" ?: stats.and_then(|stats| stats.executions),
        "blocked" ?: stats.and_then(|stats| stats.blocked),
        "reductions": &check.reductions,
        "caveats" ?: some(&check.caveats),
        "specification": &check.specification,
        "every_number" ?: check.every_number.as_ref(),
        "clients" ?: check.clients.as_ref(),
        "blocks" ?: some(&check.blocks),
        "unreached" ?: some(&check.unreached),
        // Whether the execution was replayed; null if there is none.
        "confirmed": check.trace.as_ref().map(|trace| trace.confirmed),
        "trace": &check.trace,
        "minimised": check.minimised,
        "explanation": &check.explanation,
    }
}

/// A list, unless it is empty.
pub(crate) fn some<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

/// A document of a schema.
pub(crate) fn document(schema: &'static str, version: &str, members: impl Members) -> String {
    to_json(&object! { "schema": schema, "tool": tool(version), ..members })
}

/// The same, where a type has the members of the document.
pub(crate) fn document_of(schema: &'static str, version: &str, report: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Document<'a, R> {
        schema: &'static str,
        tool: Tool,
        #[serde(flatten)]
        report: &'a R,
    }
    to_json(&Document { schema, tool: tool(version), report })
}

fn tool(version: &str) -> Tool {
    Tool { name: "cyrano".to_owned(), version: version.to_owned() }
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("reports have only string keys, so they always serialise");
    text + "\n"
}
