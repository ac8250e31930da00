//! One self-contained page that shows checks, repairs and executions (`docs/report.md`).
//!
//! The page is a fixed viewer (`viewer/`, embedded here as it is) and one JSON object, nothing else: a `cyrano.report/1`, `cyrano.fences/1`,
//! `cyrano.replay/1` or `cyrano.trace/2` as this crate writes it. So whatever the page shows is in these documents too.
//!
//! **Invariants:** the page asks for nothing from elsewhere (that of a server for nothing but its server), which its content security policy enforces; the policy lets only the
//! viewer's own script and style run, by their hashes; the JSON has no character that could end the element it stands in. Text of the checked files is
//! therefore data wherever it appears.

mod base64;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::exchange::outside::{Replays, confirm_document};
use crate::results::checks::CheckReport;
use crate::results::fences::{FencesReport, fences_document};
use crate::results::json::checks_document;
use crate::results::replay::{ReplayReport, replay_json};

const TEMPLATE: &str = include_str!("../../viewer/template.html");

const STYLE: &str = include_str!("../../viewer/src/style.css");

/// In the order in which they depend on each other.
const SCRIPTS: [&str; 8] = [
    include_str!("../../viewer/src/dom.js"),
    include_str!("../../viewer/src/document.js"),
    include_str!("../../viewer/src/execution.js"),
    include_str!("../../viewer/src/rows.js"),
    include_str!("../../viewer/src/lanes.js"),
    include_str!("../../viewer/src/panels.js"),
    include_str!("../../viewer/src/why.js"),
    include_str!("../../viewer/src/app.js"),
];

/// The schemas that the viewer knows.
const SCHEMAS: [&str; 5] =
    ["cyrano.report/1", "cyrano.trace/2", "cyrano.trace/1", "cyrano.fences/1", "cyrano.replay/1"];

/// All checks as a page.
pub fn checks_html(checks: &[CheckReport], version: &str) -> String {
    report(&title(checks.iter().map(|check| check.file.as_str())), &checks_document(checks, version, None))
}

/// All repairs as a page; unlike the JSON report it has an execution for each fence.
pub fn fences_html(results: &[FencesReport], version: &str) -> String {
    report(&title(results.iter().map(|result| result.file.as_str())), &fences_document(results, version, true))
}

/// A replayed trace as a page.
pub fn replay_html(report: &ReplayReport, version: &str) -> String {
    self::report(&title(std::iter::once(report.trace.program.file.as_str())), &replay_json(report, version))
}

/// A saved document as a page.
#[derive(Clone, Debug)]
pub struct SavedPage {
    /// The page.
    pub html: String,
    /// What in it is not confirmed.
    pub doubts: Vec<String>,
}

/// A saved JSON object as a page, its executions replayed; the error says what is wrong with it.
pub fn saved_html(json: &str, replays: Replays<'_>) -> Result<SavedPage, String> {
    let mut value: Value = serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
    let expected = SCHEMAS.map(|schema| format!("`{schema}`")).join(", ");
    let schema = match value.get("schema").and_then(Value::as_str) {
        Some(schema) if SCHEMAS.contains(&schema) => schema.to_owned(),
        Some(other) => return Err(format!("its schema is `{other}`; expected one of {expected}")),
        None => return Err(format!("it has no schema; expected one of {expected}")),
    };
    let doubts = confirm_document(&mut value, &schema, replays).map_err(|what| match schema.as_str() {
        "cyrano.trace/1" | "cyrano.trace/2" => what,
        _ => format!("it does not follow `{schema}`: {what}"),
    })?;
    let mut files = Vec::new();
    for trace in [Some(&value), value.get("trace")].into_iter().flatten() {
        files.extend(trace["program"]["file"].as_str());
    }
    for key in ["checks", "results"] {
        for one in value.get(key).and_then(Value::as_array).into_iter().flatten() {
            let file = one.get("file").and_then(Value::as_str);
            files.push(file.ok_or_else(|| format!("it does not follow `{schema}`: a result without a file"))?);
        }
    }
    let doubtful = if doubts.is_empty() { "" } else { "NOT CONFIRMED: " };
    let title = format!("{doubtful}{}", title(files.into_iter()));
    Ok(SavedPage { html: report(&title, &value.to_string()), doubts })
}

/// `Cyrano: a.rml`, `Cyrano: a.rml and 2 more`.
pub(crate) fn title<'a>(files: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = files.collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => "Cyrano".to_owned(),
        [one] => format!("Cyrano: {one}"),
        [first, rest @ ..] => format!("Cyrano: {first} and {} more", rest.len()),
    }
}

/// The page for one JSON object.
fn report(title: &str, json: &str) -> String {
    page(title, json, &Kind::REPORT)
}

/// What is special about a page.
pub(crate) struct Kind {
    /// A script behind the others.
    script: &'static str,
    /// The class of the viewer that shows the object.
    app: &'static str,
    /// What its content security policy allows besides.
    policy: &'static str,
}

impl Kind {
    const REPORT: Self = Self { script: "", app: "App", policy: "" };

    /// The page of a server, which it asks for more.
    pub(crate) const STEPPING: Self = Self {
        script: include_str!("../../viewer/src/stepping.js"),
        app: "SteppingApp",
        policy: " connect-src 'self';",
    };
}

/// The page of a kind for one JSON object.
pub(crate) fn page(title: &str, json: &str, kind: &Kind) -> String {
    let script = script(kind);
    let part = |name: &str| match name {
        "TITLE" => escape_markup(title),
        "STYLE" => STYLE.to_owned(),
        "STYLE_HASH" => hash(STYLE),
        "SCRIPT" => script.clone(),
        "SCRIPT_HASH" => hash(&script),
        "POLICY" => kind.policy.to_owned(),
        "DATA" => escape_json(json.trim_end()),
        other => format!("@{other}@"),
    };
    // Only the template is searched for places, so a text that looks like one stays what it is.
    let pieces = TEMPLATE.split('@').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 1 { part(piece) } else { piece.to_owned() }).collect()
}

/// The hash of a text as a content security policy has it.
fn hash(text: &str) -> String {
    base64::base64(&Sha256::digest(text))
}

/// The viewer's files as one script with a scope of its own.
fn script(kind: &Kind) -> String {
    format!("\"use strict\";\n(() => {{\n{}{}begin({});\n}})();\n", SCRIPTS.concat(), kind.script, kind.app)
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// These characters occur only within strings of a JSON text, where an escape means the same.
fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_its_places() {
        let names: Vec<&str> = TEMPLATE.split('@').skip(1).step_by(2).collect();
        assert_eq!(names, ["SCRIPT_HASH", "STYLE_HASH", "POLICY", "TITLE", "STYLE", "DATA", "SCRIPT"]);
        assert!(!script(&Kind::STEPPING).contains("</script") && !STYLE.contains("</style"));
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let json =
            serde_json::json!({ "schema": "cyrano.report/1", "checks": [], "x": "</script><!--&\u{2028}@SCRIPT@" });
        let html = saved_html(&json.to_string(), &|trace| trace).expect("it is a report").html;
        let (_, rest) = html.split_once("id=\"data\">").expect("there is data");
        let (data, _) = rest.split_once("</script>").expect("it ends");
        assert!(!data.contains(['<', '>', '&', '\u{2028}']), "{data}");
        assert_eq!(serde_json::from_str::<Value>(data).expect("it is JSON"), json);
    }

    #[test]
    fn what_is_no_document_is_named() {
        let check = |json: &str, part: &str| {
            let why = saved_html(json, &|trace| trace).expect_err("it cannot be shown");
            assert!(why.contains(part), "{why}");
        };
        check("{\"schema\": \"cyrano.trace/1\"", "not JSON");
        check("[]", "no schema");
        check("{\"schema\": \"cyrano.trace/2\"}", "`cyrano.trace/2`");
        check("{\"schema\": \"cyrano.trace/1\"}", "does not follow");
        check("{\"schema\": \"cyrano.report/1\"}", "no list of checks");
        check("{\"schema\": \"cyrano.report/1\", \"checks\": [{}]}", "without a file");
    }
}
