//! The rules of the SARIF 2.1.0 schema, and of the text of the standard, for the part of it that we write, typed anew.
//!
//! Objects may have no other properties than those named here; what is not optional is required.

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Panics where a log breaks a rule.
pub fn check(log: &Value) {
    let log = object(log, &["$schema", "version", "runs"], &[]);
    assert_eq!(log["version"], "2.1.0");
    let runs = array(&log["runs"]);
    assert_eq!(runs.len(), 1);
    let required = ["tool", "invocations", "columnKind", "originalUriBaseIds", "artifacts", "results"];
    let run = object(&runs[0], &required, &["automationDetails"]);
    if let Some(details) = run.get("automationDetails") {
        string(&object(details, &["id"], &[])["id"]);
    }
    one_of(&run["columnKind"], &["utf16CodeUnits", "unicodeCodePoints"]);
    let rules = driver(&run["tool"]);
    for invocation in array(&run["invocations"]) {
        let required = ["executionSuccessful", "exitCode", "exitCodeDescription"];
        let invocation = object(invocation, &required, &["toolExecutionNotifications"]);
        for notification in invocation.get("toolExecutionNotifications").map_or(&[][..], |all| array(all)) {
            let notification = object(notification, &["level", "message"], &[]);
            one_of(&notification["level"], &["none", "note", "warning", "error"]);
            message(&notification["message"]);
        }
        assert!(invocation["executionSuccessful"].is_boolean() && invocation["exitCode"].is_u64());
        string(&invocation["exitCodeDescription"]);
    }
    let bases: Vec<&String> = run["originalUriBaseIds"].as_object().expect("an object").keys().collect();
    for base in run["originalUriBaseIds"].as_object().expect("an object").values() {
        message(&object(base, &["description"], &[])["description"]);
    }
    let artifacts = array(&run["artifacts"]);
    for artifact in artifacts {
        let artifact = object(artifact, &["location", "roles"], &["sourceLanguage", "contents"]);
        place(&artifact["location"], &bases, artifacts);
        array(&artifact["roles"]).iter().for_each(|role| one_of(role, &["analysisTarget"]));
        if let Some(contents) = artifact.get("contents") {
            message(contents);
        }
    }
    unique(artifacts);
    for found in array(&run["results"]) {
        result(found, &rules, &bases, artifacts);
    }
}

fn driver(tool: &Value) -> Vec<String> {
    let tool = object(tool, &["driver"], &[]);
    let driver = object(&tool["driver"], &["name", "version", "semanticVersion", "rules"], &[]);
    ["name", "version", "semanticVersion"].iter().for_each(|name| string(&driver[*name]));
    unique(array(&driver["rules"]));
    let rule = |rule: &Value| {
        let texts = ["shortDescription", "fullDescription", "help"];
        let required =
            ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"];
        let rule = object(rule, &required, &[]);
        texts.iter().for_each(|text| message(&rule[*text]));
        string(&rule["name"]);
        let configuration = object(&rule["defaultConfiguration"], &["level"], &[]);
        one_of(&configuration["level"], &["none", "note", "warning", "error"]);
        array(&rule["properties"]["tags"]).iter().for_each(string);
        rule["id"].as_str().expect("an id").to_owned()
    };
    array(&driver["rules"]).iter().map(rule).collect()
}

fn result(found: &Value, rules: &[String], bases: &[&String], artifacts: &[Value]) {
    let required = ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints", "properties"];
    let found = object(found, &required, &["relatedLocations", "codeFlows"]);
    let rule = found["ruleIndex"].as_u64().and_then(|index| rules.get(usize::try_from(index).ok()?));
    assert_eq!(rule.map(String::as_str), found["ruleId"].as_str(), "the index is that of the rule");
    one_of(&found["level"], &["none", "note", "warning", "error"]);
    message(&found["message"]);
    assert!(found["properties"].is_object());
    found["partialFingerprints"].as_object().expect("an object").values().for_each(string);
    array(&found["locations"]).iter().for_each(|place| location(place, bases, artifacts));
    let related = found.get("relatedLocations").map_or(&[][..], |related| array(related));
    related.iter().for_each(|place| location(place, bases, artifacts));
    let mut ids: Vec<u64> = related.iter().filter_map(|place| place["id"].as_u64()).collect();
    ids.dedup();
    assert_eq!(ids.len(), related.len(), "every related location has an id of its own");
    for flow in found.get("codeFlows").map_or(&[][..], |flows| array(flows)) {
        let flow = object(flow, &["message", "threadFlows"], &[]);
        message(&flow["message"]);
        assert!(!array(&flow["threadFlows"]).is_empty());
        for thread in array(&flow["threadFlows"]) {
            let thread = object(thread, &["id", "locations"], &[]);
            string(&thread["id"]);
            assert!(!array(&thread["locations"]).is_empty());
            for step in array(&thread["locations"]) {
                let step = object(step, &["location", "executionOrder", "importance"], &[]);
                assert!(step["executionOrder"].is_u64());
                one_of(&step["importance"], &["important", "essential", "unimportant"]);
                location(&step["location"], bases, artifacts);
            }
        }
    }
}

fn location(value: &Value, bases: &[&String], artifacts: &[Value]) {
    let value = object(value, &["physicalLocation"], &["id", "message"]);
    value.get("message").into_iter().for_each(message);
    assert!(value.get("id").is_none_or(Value::is_u64));
    let physical = object(&value["physicalLocation"], &["artifactLocation"], &["region"]);
    place(&physical["artifactLocation"], bases, artifacts);
    if let Some(region) = physical.get("region") {
        let region = object(region, &["startLine"], &["startColumn", "snippet"]);
        assert!(region["startLine"].as_u64().is_some_and(|line| line >= 1));
        assert!(region.get("startColumn").is_none_or(|column| column.as_u64().is_some_and(|column| column >= 1)));
        region.get("snippet").into_iter().for_each(message);
    }
}

/// The URI has only the characters of RFC 3986 and is relative exactly if it has a base.
fn place(value: &Value, bases: &[&String], artifacts: &[Value]) {
    let value = object(value, &["uri"], &["uriBaseId", "index"]);
    let uri = value["uri"].as_str().expect("a URI");
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    assert!(!uri.is_empty() && uri.chars().all(allowed), "{uri}");
    match value.get("uriBaseId") {
        Some(base) => {
            assert!(bases.iter().any(|known| base == known.as_str()), "{base}");
            assert!(!uri.starts_with('/') && !uri.contains(':'), "{uri}");
        }
        None => assert!(uri.starts_with("file:///"), "{uri}"),
    }
    if let Some(index) = value.get("index") {
        let artifact = index.as_u64().and_then(|index| artifacts.get(usize::try_from(index).ok()?));
        assert_eq!(artifact.map(|artifact| &artifact["location"]["uri"]), Some(&value["uri"]));
    }
}

fn message(value: &Value) {
    string(&object(value, &["text"], &[])["text"]);
}

fn string(value: &Value) {
    assert!(value.is_string(), "{value} is not a string");
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is not an array"))
}

fn unique(values: &[Value]) {
    for (at, value) in values.iter().enumerate() {
        assert!(!values[..at].contains(value), "{value} occurs twice");
    }
}

fn one_of(value: &Value, known: &[&str]) {
    assert!(known.iter().any(|known| value == known), "{value} is none of {known:?}");
}

fn object<'a>(value: &'a Value, required: &[&str], optional: &[&str]) -> &'a Object {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is not an object"));
    for name in required {
        assert!(object.contains_key(*name), "{name} is missing in {value}");
    }
    for name in object.keys() {
        assert!(required.contains(&name.as_str()) || optional.contains(&name.as_str()), "{name} in {value}");
    }
    object
}
