//! The schema `cyrano.report/1`. Fields that do not apply are null, never absent.

use cyrano_trace::number::Written;
use std::collections::BTreeMap;

use cyrano_trace::{Explanation, Tool, Trace};
use serde::Serialize;

use crate::exchange::shard::ShardReport;
use crate::results::checks::{
    BlockReport, CheckReport, ClientsReport, MinimisedReport, SpecificationReport, UnreachedReport,
};

/// The name of this schema.
pub(crate) const CHECKS: &str = "cyrano.report/1";

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    tool: Tool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a ShardReport>,
    checks: Vec<Check<'a>>,
}

#[derive(Serialize)]
struct Check<'a> {
    file: &'a str,
    test: Option<&'a str>,
    model: Option<&'a str>,
    criterion: &'a str,
    property: Option<&'a str>,
    engine: Option<&'a str>,
    engine_note: Option<&'a str>,
    instance: Pairs<'a>,
    set: &'a BTreeMap<String, i128>,
    verdict: &'static str,
    reason: Option<&'a str>,
    states: Option<u64>,
    transitions: Option<u64>,
    clauses: Option<u64>,
    depth: Option<u64>,
    seconds: Option<f64>,
    peak_bytes: Option<u64>,
    bytes_per_state: Option<f64>,
    reductions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    caveats: &'a [String],
    specification: Option<&'a SpecificationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clients: Option<&'a ClientsReport>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    blocks: &'a [BlockReport],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unreached: &'a [UnreachedReport],
    /// Whether the execution was replayed; null if there is none.
    confirmed: Option<bool>,
    trace: Option<&'a Trace>,
    minimised: Option<MinimisedReport>,
    explanation: Option<&'a Explanation>,
}

/// Names with values, serialised as an object whose keys stay in order; a name that occurs again is left out.
pub(crate) struct Pairs<'a>(pub(crate) &'a [(String, i128)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_first = |at: usize| self.0[..at].iter().all(|(name, _)| *name != self.0[at].0);
        let kept = (0..self.0.len()).filter(|at| is_first(*at)).map(|at| (&self.0[at].0, Written::from(self.0[at].1)));
        serializer.collect_map(kept)
    }
}

/// All checks as one JSON object.
pub fn checks_json(checks: &[CheckReport], version: &str) -> String {
    checks_document(checks, version, None)
}

/// The same for a part of a campaign.
pub(crate) fn checks_document(checks: &[CheckReport], version: &str, shard: Option<&ShardReport>) -> String {
    let checks = checks.iter().map(check).collect();
    to_json(&Report { schema: CHECKS, tool: tool(version), shard, checks })
}

fn check(check: &CheckReport) -> Check<'_> {
    let stats = check.stats.as_ref();
    Check {
        file: &check.file,
        test: check.test.as_deref(),
        model: check.model.as_deref(),
        criterion: &check.criterion,
        property: check.property.as_deref(),
        engine: check.engine.as_deref(),
        engine_note: check.engine_note.as_deref(),
        instance: Pairs(&check.instance),
        set: &check.set,
        verdict: check.verdict.name(),
        reason: check.reason.as_deref(),
        states: stats.map(|s| s.states),
        transitions: stats.map(|s| s.transitions),
        clauses: check.clauses,
        depth: stats.map(|s| s.depth),
        seconds: stats.map(|s| s.seconds),
        peak_bytes: stats.map(|s| s.peak_bytes),
        bytes_per_state: stats.and_then(|s| s.bytes_per_state()),
        reductions: &check.reductions,
        caveats: &check.caveats,
        specification: check.specification.as_ref(),
        clients: check.clients.as_ref(),
        blocks: &check.blocks,
        unreached: &check.unreached,
        confirmed: check.trace.as_ref().map(|trace| trace.confirmed),
        trace: check.trace.as_ref(),
        minimised: check.minimised,
        explanation: check.explanation.as_ref(),
    }
}

pub(crate) fn tool(version: &str) -> Tool {
    Tool { name: "cyrano".to_owned(), version: version.to_owned() }
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("reports have only string keys, so they always serialise");
    text + "\n"
}
