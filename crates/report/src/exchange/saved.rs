//! Reports that were written as JSON, read again.
//!
//! **Invariant:** writing what was read gives what was read, but for fields that this version does not know and the last digit of times.

use cyrano_engine::{Stats, Verdict};
use cyrano_trace::{Tool, Trace};
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::exchange::shard::ShardReport;
use crate::results::checks::CheckReport;
use crate::results::every_number::Size;
use crate::results::json::{CHECKS, InOrder};
use crate::results::litmus::{LITMUS, LitmusReport, LitmusValue};
use crate::results::run::Results;

/// A report that was read.
#[derive(Clone, Debug)]
pub struct SavedReport {
    /// The file's name, for complaints.
    pub name: String,
    /// The version of the tool that wrote it.
    pub version: String,
    /// Which part of a campaign it is.
    pub shard: Option<ShardReport>,
    /// The results.
    pub results: Saved,
}

/// The results of a report.
#[derive(Clone, Debug)]
pub enum Saved {
    /// Of checks.
    Checks(Vec<CheckReport>),
    /// Of litmus tests.
    Litmus(Vec<LitmusReport>),
}

impl Saved {
    /// For output.
    pub fn as_results(&self) -> Results<'_> {
        match self {
            Self::Checks(checks) => Results::Checks(checks),
            Self::Litmus(tests) => Results::Litmus(tests),
        }
    }
}

impl SavedReport {
    /// Reads a report; the error says what is wrong with it.
    pub fn parse(name: &str, json: &str) -> Result<Self, String> {
        let expected = format!("expected `{CHECKS}` or `{LITMUS}`");
        let head: Head = serde_json::from_str(json).map_err(|error| match error.classify() {
            serde_json::error::Category::Eof => format!("it is cut off: the text ends at line {}", error.line()),
            serde_json::error::Category::Data => format!("it has no schema; {expected}"),
            _ => format!("it is not JSON: {error}"),
        })?;
        let (tool, shard, results) = match head.schema.as_str() {
            CHECKS => {
                let Document { tool, shard, results } = read(json, CHECKS)?;
                (tool, shard, Saved::Checks(results))
            }
            LITMUS => {
                let Document { tool, shard, results } = read::<Test>(json, LITMUS)?;
                let tests = results.into_iter().map(test).collect::<Result<_, _>>();
                (tool, shard, Saved::Litmus(tests.map_err(|what| bad(LITMUS, &what))?))
            }
            other => return Err(format!("its schema is `{other}`; {expected}")),
        };
        if let Some(shard) = &shard {
            is_sound(shard, results.as_results().len()).map_err(|what| bad(&head.schema, &what))?;
        }
        Ok(Self { name: name.to_owned(), version: tool.version, shard, results })
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[derive(Deserialize)]
struct Document<T> {
    tool: Tool,
    shard: Option<ShardReport>,
    #[serde(alias = "checks", alias = "tests")]
    results: Vec<T>,
}

fn read<T: DeserializeOwned>(json: &str, schema: &str) -> Result<Document<T>, String> {
    serde_json::from_str(json).map_err(|error| bad(schema, &error.to_string()))
}

#[derive(Deserialize)]
struct Test {
    file: String,
    name: String,
    model: String,
    engine: Option<String>,
    observation: Option<String>,
    condition: Option<String>,
    proposition: Option<String>,
    holds: Option<bool>,
    refused: bool,
    verdict: Option<String>,
    reason: Option<String>,
    positive: Option<usize>,
    outcomes: Vec<InOrder<String, LitmusValue>>,
    seconds: f64,
    expected: Option<String>,
    differs: bool,
    engines: Vec<String>,
    disagreement: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for InOrder<String, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = InOrder<String, V>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(InOrder(pairs))
            }
        }
        deserializer.deserialize_map(Members(std::marker::PhantomData))
    }
}

fn bad(schema: &str, what: &str) -> String {
    format!("it does not follow `{schema}`: {what}")
}

/// The one of these names that a text is.
fn known(text: &str, names: &[&'static str]) -> Result<&'static str, String> {
    let found = names.iter().find(|name| **name == text);
    found.copied().ok_or_else(|| format!("`{text}` is none of {}", names.join(", ")))
}

/// The size of an instance, for `deserialize_with` like the functions below.
pub(crate) fn instance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Size)>, D::Error> {
    Ok(InOrder::deserialize(deserializer)?.0)
}

/// A verdict by its name.
pub(crate) fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    use Verdict::{Bounded, Unknown, Vacuous, Verified, Violated};
    let verdicts = [Verified, Violated, Unknown, Bounded, Vacuous];
    let name = known(&String::deserialize(deserializer)?, &verdicts.map(Verdict::name)).map_err(D::Error::custom)?;
    Ok(verdicts.into_iter().find(|verdict| verdict.name() == name).unwrap_or(Unknown))
}

/// What a check cost, from fields of its own.
pub(crate) fn stats<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stats>, D::Error> {
    #[derive(Deserialize)]
    struct Cost {
        states: Option<u64>,
        transitions: Option<u64>,
        depth: Option<u64>,
        seconds: Option<f64>,
        peak_bytes: Option<u64>,
        executions: Option<u64>,
        blocked: Option<u64>,
    }
    let cost = Cost::deserialize(deserializer)?;
    Ok(cost.states.map(|states| Stats {
        states,
        transitions: cost.transitions.unwrap_or(0),
        depth: cost.depth.unwrap_or(0),
        seconds: cost.seconds.unwrap_or(0.0),
        peak_bytes: cost.peak_bytes.unwrap_or(0),
        executions: cost.executions,
        blocked: cost.blocked,
    }))
}

/// How a block was proven.
pub(crate) fn proven_by<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static str>, D::Error> {
    let how = Option::<String>::deserialize(deserializer)?;
    how.map(|how| known(&how, &["movers", "serial-run"])).transpose().map_err(D::Error::custom)
}

/// An execution, of a schema that is known.
pub(crate) fn trace<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Trace>, D::Error> {
    let trace = Option::<Trace>::deserialize(deserializer)?;
    let schema = trace.as_ref().map(|trace| trace.schema.as_str());
    match schema.filter(|schema| !cyrano_trace::SCHEMAS.contains(schema)) {
        Some(other) => {
            Err(D::Error::custom(format!("a trace's schema is `{other}`; expected `{}`", cyrano_trace::SCHEMA)))
        }
        None => Ok(trace),
    }
}

fn test(test: Test) -> Result<LitmusReport, String> {
    let condition = test.condition.map(|text| known(&text, &["exists", "~exists", "forall"])).transpose()?;
    let observation = test.observation.map(|text| known(&text, &["Never", "Sometimes", "Always"])).transpose()?;
    let columns: Vec<String> =
        test.outcomes.first().map(|state| state.0.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
    let mut states = Vec::new();
    for state in test.outcomes {
        if !state.0.iter().map(|(name, _)| name).eq(&columns) {
            return Err(format!("the outcomes of {} have different names", test.name));
        }
        states.push(state.0.into_iter().map(|(_, value)| value).collect());
    }
    let words = [condition, test.proposition.as_deref()];
    Ok(LitmusReport {
        file: test.file,
        name: test.name,
        model: test.model,
        engine: test.engine,
        condition,
        kind: condition.map(|condition| match condition {
            "exists" => "Allowed",
            "~exists" => "Forbidden",
            _ => "Required",
        }),
        text: words.into_iter().flatten().collect::<Vec<_>>().join(" "),
        observation,
        holds: test.holds,
        reason: test.reason,
        refused: test.refused,
        vacuous: test.verdict.map(|text| known(&text, &[Verdict::Vacuous.name()])).transpose()?.is_some(),
        columns,
        positive: test.positive.unwrap_or(0).min(states.len()),
        states,
        seconds: test.seconds,
        expected: test.expected,
        differs: test.differs,
        disagreement: test.disagreement,
        compared: test.engines,
        flags: test.flags,
        graphs: Vec::new(),
        graphs_note: None,
    })
}

/// Whether a shard can have this many results.
fn is_sound(shard: &ShardReport, results: usize) -> Result<(), String> {
    let increasing = shard.indices.is_sorted_by(|a, b| a < b);
    let within = shard.indices.iter().all(|index| (1..=shard.count).contains(index));
    if !increasing || !within || shard.indices.is_empty() {
        return Err(format!("{:?} are not shards from 1 to {}", shard.indices, shard.count));
    }
    if shard.len() != results {
        return Err(format!("it has {results} results; {}", shard.sentence()));
    }
    Ok(())
}
