//! SARIF 2.1.0 (OASIS): one run, one rule for each criterion, one result for each check that is not verified.
//!
//! **Invariants:** every index points into its array; a location's region is a line of the file that was checked; the fingerprint does not
//! depend on line numbers, so that a finding that only moves stays the same one.

mod rules;
mod schema;
mod uri;

use std::collections::BTreeMap;

use cyrano_trace::{Step, Trace};

use crate::draw::lanes::effect;
use crate::exchange::case::{self, Case, Fate, Place};
use crate::exchange::shard::ShardReport;
use crate::results::checks::CheckReport;
use crate::results::fences::FencesReport;
use crate::results::json::to_json;
use crate::results::litmus::LitmusReport;
use schema::{
    Artifact, ArtifactLocation, AutomationDetails, BaseLocation, CodeFlow, Driver, FlowLocation, Invocation, Location,
    Log, Message, Notification, PhysicalLocation, Region, ResultObject, Run, ThreadFlow, Tool,
};

/// Code hosts ignore more related locations than this.
const MOST_RELATED: usize = 100;

/// How many reorderings a message names.
const MOST_WORDS: usize = 3;

/// All checks as a SARIF log; `exit` is the exit code of the run.
pub fn checks_sarif(checks: &[CheckReport], exit: u8, version: &str) -> String {
    document(&checks.iter().map(case::of_check).collect::<Vec<_>>(), exit, version, None, None)
}

/// Searches for fences as a SARIF log.
pub fn fences_sarif(reports: &[FencesReport], exit: u8, version: &str) -> String {
    document(&reports.iter().map(case::of_fences).collect::<Vec<_>>(), exit, version, None, None)
}

/// Litmus tests as a SARIF log.
pub fn litmus_sarif(reports: &[LitmusReport], exit: u8, version: &str) -> String {
    document(&reports.iter().map(case::of_litmus).collect::<Vec<_>>(), exit, version, None, None)
}

/// Cases as a log. A part of a campaign has an id of its own, so that code hosts keep the parts side by side.
pub(crate) fn document(
    cases: &[Case<'_>],
    exit: u8,
    version: &str,
    shard: Option<&ShardReport>,
    missing: Option<&str>,
) -> String {
    let mut writer = Writer::default();
    for case in cases {
        writer.case(case);
    }
    let rules = writer.rules.iter().map(|criterion| rules::rule(criterion)).collect();
    let version = version.to_owned();
    let driver = Driver { name: "Cyrano", semantic_version: version.clone(), version, rules };
    let bases = [
        (uri::SOURCES, "The folder in which the command was run."),
        (uri::LIBRARY, "The library inside the tool; `cyrano library export DIR` writes it out."),
    ];
    let base = |(name, text): (&'static str, &str)| (name, BaseLocation { description: message(text) });
    let run = Run {
        tool: Tool { driver },
        invocations: vec![Invocation {
            execution_successful: missing.is_none(),
            exit_code: exit,
            exit_code_description: meaning(exit),
            tool_execution_notifications: missing.map(notification).into_iter().collect(),
        }],
        automation_details: shard.map(|shard| AutomationDetails { id: automation(shard) }),
        column_kind: "unicodeCodePoints",
        original_uri_base_ids: bases.map(base).into_iter().collect(),
        artifacts: writer.artifacts,
        results: writer.results,
    };
    to_json(&Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: vec![run] })
}

/// Names of parts end with a slash where nothing tells runs of the same part apart (SARIF 3.17.2).
fn automation(shard: &ShardReport) -> String {
    format!("cyrano/{}/{}/", shard.command, shard.name().replace(", ", "-").replace(' ', "-"))
}

fn notification(missing: &str) -> Notification {
    Notification { level: "error", message: message(missing) }
}

fn meaning(exit: u8) -> &'static str {
    match exit {
        0 => "verified",
        1 => "violated",
        2 => "bad input",
        3 => "unknown: a limit was reached",
        4 => "bounded: nothing wrong up to a bound",
        5 => "vacuous: nothing was exercised",
        _ => "internal error",
    }
}

fn message(text: &str) -> Message {
    Message { text: text.to_owned() }
}

#[derive(Default)]
struct Writer<'a> {
    rules: Vec<&'a str>,
    artifacts: Vec<Artifact>,
    results: Vec<ResultObject>,
}

impl<'a> Writer<'a> {
    fn case(&mut self, case: &Case<'a>) {
        let rule = self.rule(case.rule);
        let file = self.artifact(case.file, case.trace);
        let level = match case.fate {
            Fate::Passed => None,
            Fate::Failed => Some("error"),
            Fate::Unknown | Fate::Vacuous => Some("warning"),
            Fate::Partial => Some("note"),
        };
        if let Some(level) = level {
            self.results.push(self.result(case, rule, level, &file));
        }
        for (line, text) in &case.remarks {
            let place = Place { line: *line, column: None, text };
            let location = Location { id: None, physical_location: physical(&file, Some(&place), None), message: None };
            self.results.push(ResultObject {
                rule_id: rules::id(case.rule),
                rule_index: rule,
                level: "warning",
                message: message(text),
                locations: vec![location],
                related_locations: Vec::new(),
                code_flows: Vec::new(),
                partial_fingerprints: fingerprint(case, text),
                properties: case.properties.clone(),
            });
        }
    }

    fn rule(&mut self, criterion: &'a str) -> usize {
        let known = self.rules.iter().position(|known| *known == criterion);
        known.unwrap_or_else(|| {
            self.rules.push(criterion);
            self.rules.len() - 1
        })
    }

    /// The file's location with its number; nobody has the files of the library but us, so these are embedded.
    fn artifact(&mut self, file: &str, trace: Option<&Trace>) -> ArtifactLocation {
        let location = uri::location(file);
        let known = self.artifacts.iter().position(|artifact| artifact.location == location);
        let index = known.unwrap_or_else(|| {
            let source_language = file.ends_with(".c").then_some("c");
            let artifact =
                Artifact { location: location.clone(), roles: vec!["analysisTarget"], source_language, contents: None };
            self.artifacts.push(artifact);
            self.artifacts.len() - 1
        });
        if let Some(trace) = trace.filter(|trace| file.starts_with("lib:") && trace.program.file == file) {
            self.artifacts[index].contents = Some(message(&trace.program.source));
        }
        ArtifactLocation { index: Some(index), ..location }
    }

    fn result(&self, case: &Case<'_>, rule: usize, level: &'static str, file: &ArtifactLocation) -> ResultObject {
        let place = case.place();
        let source = case.trace.map(|trace| trace.program.source.as_str());
        let at = |place: Option<&Place<'_>>| physical(file, place, source);
        let statement = place.as_ref().map_or("", |place| place.text);
        ResultObject {
            rule_id: rules::id(case.rule),
            rule_index: rule,
            level,
            message: Message { text: with_reorderings(case) },
            locations: vec![Location { id: None, physical_location: at(place.as_ref()), message: None }],
            related_locations: case.trace.map(|trace| related(trace, file)).unwrap_or_default(),
            code_flows: case.trace.map(|trace| flow(trace, file)).into_iter().collect(),
            partial_fingerprints: fingerprint(case, statement),
            properties: case.properties.clone(),
        }
    }
}

fn with_reorderings(case: &Case<'_>) -> String {
    let mut text = case.message();
    let words = case.trace.into_iter().flat_map(|trace| trace.steps.iter().flat_map(|step| &step.words));
    let words: Vec<&String> = words.collect();
    if let [_, ..] = words.as_slice() {
        let first: Vec<&str> = words.iter().take(MOST_WORDS).map(|words| words.as_str()).collect();
        let more = words.len().saturating_sub(MOST_WORDS);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        text.push_str(&format!(" Reordered: {}{more}.", first.join("; ")));
    }
    text
}

/// A place in a file; the snippet is the rest of its line.
fn physical(file: &ArtifactLocation, place: Option<&Place<'_>>, source: Option<&str>) -> PhysicalLocation {
    let region = place.map(|place| {
        let line = source.and_then(|source| source.lines().nth(place.line.checked_sub(1)?));
        let rest = line.map(|line| line.chars().skip(place.column.unwrap_or(1).saturating_sub(1)).collect::<String>());
        let snippet = rest.filter(|text| !text.is_empty()).map(|text| Message { text });
        Region { start_line: place.line.max(1), start_column: place.column.map(|column| column.max(1)), snippet }
    });
    PhysicalLocation { artifact_location: file.clone(), region }
}

fn step_location(step: &Step, trace: &Trace, file: &ArtifactLocation, id: Option<usize>) -> Location {
    let text = format!("step {}, {}: {}", step.n, step.thread, effect(step));
    let physical_location = physical(file, Some(&Place::of(step)), Some(&trace.program.source));
    Location { id, physical_location, message: Some(Message { text }) }
}

/// The statements of the trace, each once, in the order in which they are first performed.
fn related(trace: &Trace, file: &ArtifactLocation) -> Vec<Location> {
    let is_new = |at: &usize| {
        let here = &trace.steps[*at];
        let same = |other: &Step| (other.line, other.column, &other.thread) == (here.line, here.column, &here.thread);
        !trace.steps[..*at].iter().any(same)
    };
    let first = (0..trace.steps.len()).filter(is_new).take(MOST_RELATED);
    first.enumerate().map(|(id, at)| step_location(&trace.steps[at], trace, file, Some(id + 1))).collect()
}

/// One thread flow for each thread; `executionOrder` is memory order.
fn flow(trace: &Trace, file: &ArtifactLocation) -> CodeFlow {
    let in_cycle = |n: usize| trace.explanation.conflicts.iter().any(|c| c.steps.0 == n || c.steps.1 == n);
    let location = |step: &Step| FlowLocation {
        location: step_location(step, trace, file, None),
        execution_order: step.n,
        importance: if in_cycle(step.n) || !step.overtook.is_empty() { "essential" } else { "important" },
    };
    let thread = |name: &String| {
        let steps = trace.steps.iter().filter(|step| step.thread == *name);
        ThreadFlow { id: name.clone(), locations: steps.map(location).collect() }
    };
    let flows = trace.threads.iter().map(|info| thread(&info.name));
    CodeFlow {
        message: message("An execution; the order of execution is the memory order."),
        thread_flows: flows.filter(|flow| !flow.locations.is_empty()).collect(),
    }
}

/// What stays the same when lines move: the check and the statement's text.
fn fingerprint(case: &Case<'_>, statement: &str) -> BTreeMap<&'static str, String> {
    let kind = case.trace.map_or("", |trace| trace.explanation.kind.as_str());
    let parts = [case.rule, case.file, &case.name(), case.verdict, kind, statement];
    BTreeMap::from([("cyranoFinding/v1", format!("{:016x}", hash(&parts.join("\0"))))])
}

/// FNV-1a, which is the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
