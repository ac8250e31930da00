//! Reports that were written as JSON, read again.
//!
//! **Invariant:** writing what was read gives what was read, but for fields that this version does not know and the last digit of times.

use std::collections::BTreeMap;

use cyrano_engine::{Stats, Verdict};
use cyrano_trace::{Effort, Explanation, Tool, Trace};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::exchange::shard::ShardReport;
use crate::results::checks::{
    BlockReport, CheckReport, ClientsReport, MinimisedReport, SpecificationReport, UnreachedReport,
};
use crate::results::json::CHECKS;
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
        let wrong = |error: serde_json::Error| format!("it does not follow `{}`: {error}", head.schema);
        let (tool, shard, results) = match head.schema.as_str() {
            CHECKS => {
                let read: Checks = serde_json::from_str(json).map_err(wrong)?;
                (read.tool, read.shard, Saved::Checks(all(read.checks, check, CHECKS)?))
            }
            LITMUS => {
                let read: Tests = serde_json::from_str(json).map_err(wrong)?;
                (read.tool, read.shard, Saved::Litmus(all(read.tests, test, LITMUS)?))
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
struct Checks {
    tool: Tool,
    shard: Option<ShardReport>,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Tests {
    tool: Tool,
    shard: Option<ShardReport>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Check {
    file: String,
    test: Option<String>,
    model: Option<String>,
    criterion: String,
    property: Option<String>,
    engine: Option<String>,
    engine_note: Option<String>,
    instance: Pairs<i128>,
    set: BTreeMap<String, i128>,
    verdict: String,
    reason: Option<String>,
    states: Option<u64>,
    transitions: Option<u64>,
    clauses: Option<u64>,
    depth: Option<u64>,
    seconds: Option<f64>,
    peak_bytes: Option<u64>,
    reductions: Vec<String>,
    #[serde(default)]
    caveats: Vec<String>,
    specification: Option<SpecificationReport>,
    clients: Option<ClientsReport>,
    #[serde(default)]
    blocks: Vec<Block>,
    #[serde(default)]
    unreached: Vec<UnreachedReport>,
    trace: Option<Trace>,
    minimised: Option<Minimised>,
    explanation: Option<Explanation>,
}

#[derive(Deserialize)]
struct Block {
    name: String,
    proven_by: Option<String>,
}

#[derive(Deserialize)]
struct Minimised {
    from: Reading,
    to: Reading,
    complete: bool,
}

/// What an execution asks of its reader.
#[derive(Deserialize)]
struct Reading {
    reorderings: usize,
    switches: usize,
    steps: usize,
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
    outcomes: Vec<Pairs<LitmusValue>>,
    seconds: f64,
    expected: Option<String>,
    differs: bool,
    engines: Vec<String>,
    disagreement: Option<String>,
}

/// The members of an object in the order in which they stand.
struct Pairs<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Pairs<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}

fn bad(schema: &str, what: &str) -> String {
    format!("it does not follow `{schema}`: {what}")
}

fn all<T, R>(read: Vec<T>, one: impl Fn(T) -> Result<R, String>, schema: &str) -> Result<Vec<R>, String> {
    read.into_iter().map(one).collect::<Result<_, _>>().map_err(|what| bad(schema, &what))
}

/// The one of these names that a text is.
fn known(text: &str, names: &[&'static str]) -> Result<&'static str, String> {
    let found = names.iter().find(|name| **name == text);
    found.copied().ok_or_else(|| format!("`{text}` is none of {}", names.join(", ")))
}

fn check(check: Check) -> Result<CheckReport, String> {
    use Verdict::{Bounded, Unknown, Vacuous, Verified, Violated};
    let verdicts = [Verified, Violated, Unknown, Bounded, Vacuous];
    let name = known(&check.verdict, &verdicts.map(Verdict::name))?;
    let verdict = verdicts.into_iter().find(|verdict| verdict.name() == name).unwrap_or(Unknown);
    if let Some(other) =
        check.trace.as_ref().map(|trace| &trace.schema).filter(|name| !cyrano_trace::SCHEMAS.contains(&name.as_str()))
    {
        return Err(format!("a trace's schema is `{other}`; expected `{}`", cyrano_trace::SCHEMA));
    }
    let stats = check.states.map(|states| Stats {
        states,
        transitions: check.transitions.unwrap_or(0),
        depth: check.depth.unwrap_or(0),
        seconds: check.seconds.unwrap_or(0.0),
        peak_bytes: check.peak_bytes.unwrap_or(0),
    });
    let block = |block: Block| {
        let proven_by = block.proven_by.map(|how| known(&how, &["movers", "serial-run"])).transpose()?;
        Ok::<_, String>(BlockReport { name: block.name, proven_by })
    };
    let effort = |read: &Reading| Effort { reorderings: read.reorderings, switches: read.switches, steps: read.steps };
    let minimised = check.minimised.map(|minimised| MinimisedReport {
        from: effort(&minimised.from),
        to: effort(&minimised.to),
        complete: minimised.complete,
    });
    Ok(CheckReport {
        file: check.file,
        test: check.test,
        model: check.model,
        criterion: check.criterion,
        property: check.property,
        set: check.set,
        engine: check.engine,
        engine_note: check.engine_note,
        instance: check.instance.0,
        verdict,
        reason: check.reason,
        caveats: check.caveats,
        specification: check.specification,
        clients: check.clients,
        blocks: check.blocks.into_iter().map(block).collect::<Result<_, _>>()?,
        unreached: check.unreached,
        clauses: check.clauses,
        stats,
        reductions: check.reductions,
        trace: check.trace,
        minimised,
        explanation: check.explanation,
    })
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
