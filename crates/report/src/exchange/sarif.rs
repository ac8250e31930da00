//! SARIF 2.1.0 (OASIS): one run, one rule for each criterion, one result for each check that is not verified.
//!
//! **Invariants:** every index points into its array; a location's region is a line of the file that was checked; the fingerprint does not
//! depend on line numbers, so that a finding that only moves stays the same one.

mod rules;
mod uri;

use std::collections::BTreeMap;

use cyrano_ir::origin;
use cyrano_trace::{Step, Trace};
use serde::Serialize;

use crate::draw::lanes::effect;
use crate::exchange::case::{self, Case, Fate, SourcePlace};
use crate::exchange::shard::ShardReport;
use crate::results::fences::FencesReport;
use crate::results::json::{object, to_json};
use uri::File;

/// Code hosts ignore more related locations than this.
const MOST_RELATED: usize = 100;

/// How many reorderings a message names.
const MOST_WORDS: usize = 3;

/// Searches for fences as a SARIF log; `exit` is the exit code of the run.
pub fn fences_sarif(reports: &[FencesReport], exit: u8, version: &str) -> String {
    document(&reports.iter().map(case::of_fences).collect::<Vec<_>>(), exit, version, None, None)
}

/// Cases as a log. A part of a campaign has an id of its own, so that code hosts keep the parts side by side.
pub(crate) fn document(
    cases: &[Case<'_>],
    exit: u8,
    version: &str,
    shard: Option<&ShardReport>,
    missing: Option<&str>,
) -> String {
    let mut tables = Tables::default();
    let mut results = Vec::new();
    for case in cases {
        let rule = tables.rule(case.rule);
        let file = tables.file(case.file, case.trace);
        results.extend(findings(case).iter().map(|finding| result(case, rule, finding, &file)));
    }
    let driver = object! {
        "name": "Cyrano",
        "version": version,
        "semanticVersion": version,
        "rules": tables.rules.iter().map(|criterion| rules::rule(criterion)).collect::<Vec<_>>(),
    };
    let notifications = missing.map(|missing| object! { "level": "error", "message": message(missing) });
    let invocation = object! {
        "executionSuccessful": missing.is_none(),
        "exitCode": exit,
        "exitCodeDescription": meaning(exit),
        "toolExecutionNotifications" ?: notifications.map(|one| [one]),
    };
    let base = |text: &'static str| object! { "description": message(text) };
    let bases = BTreeMap::from([
        (uri::SOURCES, base("The folder in which the command was run.")),
        (uri::LIBRARY, base("The library inside the tool; `cyrano library export DIR` writes it out.")),
    ]);
    let run = object! {
        "tool": object! { "driver": driver },
        "invocations": [invocation],
        "automationDetails" ?: shard.map(|shard| object! { "id": automation(shard) }),
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": bases,
        "artifacts": tables.files.iter().map(artifact).collect::<Vec<_>>(),
        "results": results,
    };
    to_json(&object! {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

/// Names of parts end with a slash where nothing tells runs of the same part apart (SARIF 3.17.2).
fn automation(shard: &ShardReport) -> String {
    format!("cyrano/{}/{}/", shard.command, shard.name().replace(", ", "-").replace(' ', "-"))
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

fn message(text: &str) -> impl Serialize {
    object! { "text": text }
}

fn level(fate: Fate) -> Option<&'static str> {
    match fate {
        Fate::Passed => None,
        Fate::Failed => Some("error"),
        Fate::Unknown | Fate::Vacuous => Some("warning"),
        Fate::Partial => Some("note"),
    }
}

/// What results refer to by number.
#[derive(Default)]
struct Tables<'a> {
    rules: Vec<&'a str>,
    files: Vec<Artifact<'a>>,
}

/// A file; nobody has the files of the library but us, so these are embedded.
struct Artifact<'a> {
    file: File,
    language: Option<&'static str>,
    contents: Option<&'a str>,
}

fn artifact<'a>(artifact: &'a Artifact<'_>) -> impl Serialize + use<'a> {
    object! {
        "location": artifact.file.location(None),
        "roles": ["analysisTarget"],
        "sourceLanguage" ?: artifact.language,
        "contents" ?: artifact.contents.map(message),
    }
}

impl<'a> Tables<'a> {
    fn rule(&mut self, criterion: &'a str) -> usize {
        let known = self.rules.iter().position(|known| *known == criterion);
        known.unwrap_or_else(|| {
            self.rules.push(criterion);
            self.rules.len() - 1
        })
    }

    /// The file with its number.
    fn file(&mut self, name: &str, trace: Option<&'a Trace>) -> (File, usize) {
        let file = File::named(name);
        let known = self.files.iter().position(|artifact| artifact.file == file);
        let index = known.unwrap_or_else(|| {
            let language = name.ends_with(".c").then_some("c");
            self.files.push(Artifact { file: file.clone(), language, contents: None });
            self.files.len() - 1
        });
        if let Some(trace) = trace.filter(|trace| name.starts_with("lib:") && trace.program.file == name) {
            let source = &trace.program.source;
            self.files[index].contents = Some(&source[..origin::own_end(source)]);
        }
        (file, index)
    }
}

/// Something that is wrong, at a place if there is one.
struct Finding<'a> {
    level: &'static str,
    text: String,
    place: Option<SourcePlace<'a>>,
    trace: Option<&'a Trace>,
}

/// What became of a case, and what is said about lines of its file.
fn findings<'a>(case: &'a Case<'_>) -> Vec<Finding<'a>> {
    let own = level(case.fate).map(|level| Finding {
        level,
        text: with_reorderings(case),
        place: case.place(),
        trace: case.trace,
    });
    let remark = |(line, text): &'a (usize, String)| Finding {
        level: "warning",
        text: text.clone(),
        place: Some(SourcePlace { line: *line, column: None, text }),
        trace: None,
    };
    own.into_iter().chain(case.remarks.iter().map(remark)).collect()
}

fn result(case: &Case<'_>, rule: usize, finding: &Finding<'_>, file: &(File, usize)) -> impl Serialize + use<> {
    let Finding { level, text, place, trace } = finding;
    let source = trace.map(|trace| trace.program.source.as_str());
    let related = trace.map(|trace| related(trace, file)).filter(|related| !related.is_empty());
    object! {
        "ruleId": rules::id(case.rule),
        "ruleIndex": rule,
        "level": *level,
        "message": object! { "text": text.clone() },
        "locations": [location(None, physical(file, place.as_ref(), source), None)],
        "relatedLocations" ?: related,
        "codeFlows" ?: trace.map(|trace| [flow(trace, file)]),
        "partialFingerprints": fingerprint(case, place.as_ref().map_or("", |place| place.text)),
        "properties": case.properties.clone(),
    }
}

fn location(id: Option<usize>, place: impl Serialize, text: Option<String>) -> impl Serialize {
    object! { "id" ?: id, "physicalLocation": place, "message" ?: text.map(|text| object! { "text": text }) }
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
fn physical(
    (file, index): &(File, usize),
    place: Option<&SourcePlace<'_>>,
    source: Option<&str>,
) -> impl Serialize + use<> {
    let files = source.map(origin::lines).unwrap_or_default();
    let used = place.and_then(|place| origin::found(&files, place.line));
    let region = place.map(|place| {
        let line = source.and_then(|source| source.lines().nth(place.line.checked_sub(1)?));
        let rest = line.map(|line| line.chars().skip(place.column.unwrap_or(1).saturating_sub(1)).collect::<String>());
        object! {
            "startLine": used.as_ref().map_or(place.line, |(_, line)| *line).max(1),
            "startColumn" ?: place.column.map(|column| column.max(1)),
            "snippet" ?: rest.filter(|text| !text.is_empty()).map(|text| object! { "text": text }),
        }
    });
    let of_used = used.map(|(name, _)| (File::named(name), None));
    let (file, index) = of_used.unwrap_or_else(|| (file.clone(), Some(*index)));
    object! { "artifactLocation": file.location(index), "region" ?: region }
}

fn step_location(step: &Step, trace: &Trace, file: &(File, usize), id: Option<usize>) -> impl Serialize + use<> {
    let text = format!("step {}, {}: {}", step.n, step.thread, effect(step));
    location(id, physical(file, Some(&SourcePlace::of(step)), Some(&trace.program.source)), Some(text))
}

/// The statements of the trace, each once, in the order in which they are first performed.
fn related(trace: &Trace, file: &(File, usize)) -> Vec<impl Serialize + use<>> {
    let is_new = |at: &usize| {
        let here = &trace.steps[*at];
        let same = |other: &Step| (other.line, other.column, &other.thread) == (here.line, here.column, &here.thread);
        !trace.steps[..*at].iter().any(same)
    };
    let first = (0..trace.steps.len()).filter(is_new).take(MOST_RELATED);
    first.enumerate().map(|(id, at)| step_location(&trace.steps[at], trace, file, Some(id + 1))).collect()
}

/// One thread flow for each thread; `executionOrder` is memory order.
fn flow(trace: &Trace, file: &(File, usize)) -> impl Serialize + use<> {
    let in_cycle = |n: usize| trace.explanation.conflicts.iter().any(|c| c.steps.0 == n || c.steps.1 == n);
    let location = |step: &Step| {
        object! {
            "location": step_location(step, trace, file, None),
            "executionOrder": step.n,
            "importance": if in_cycle(step.n) || !step.overtook.is_empty() { "essential" } else { "important" },
        }
    };
    let flows = trace.threads.iter().filter_map(|thread| {
        let steps = trace.steps.iter().filter(|step| step.thread == thread.name);
        let locations: Vec<_> = steps.map(location).collect();
        (!locations.is_empty()).then(|| object! { "id": thread.name.clone(), "locations": locations })
    });
    let flows: Vec<_> = flows.collect();
    object! {
        "message": message("An execution; the order of execution is the memory order."),
        "threadFlows": flows,
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
