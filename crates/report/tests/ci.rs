//! SARIF and JUnit: valid by the rules of their schemas, whatever is reported, and with the facts in the right places.

mod data;
mod hostile;
mod sarif;

use cyrano_engine::Verdict;
use cyrano_report::{CheckReport, FenceInfo, FencesReport, LitmusReport, fences_junit, fences_sarif};
use data::{checks_junit, checks_sarif, crowded, litmus, report, several, trace, transactional};
use hostile::{NASTY, hostile_report};
use serde_json::Value;

fn all() -> Vec<CheckReport> {
    let mut checks = several();
    checks.push(report(Verdict::Violated, "tso", "r1 = 0", Some(trace())));
    checks.push(report(Verdict::Violated, "pso", "r1 = 0", Some(transactional())));
    checks.push(report(Verdict::Violated, "rmo", "r1 = 0", Some(crowded())));
    checks.push(hostile_report());
    let mut built_in = report(Verdict::Violated, "tso", "r1 = 0", Some(trace()));
    built_in.file = "lib:litmus/sb.rml".into();
    if let Some(trace) = &mut built_in.trace {
        trace.program.file = built_in.file.clone();
    }
    checks.push(built_in);
    checks
}

fn parsed(text: &str) -> Value {
    let log = serde_json::from_str(text).expect("SARIF is JSON");
    sarif::check(&log);
    log
}

#[test]
fn sarif_is_valid() {
    let log = parsed(&checks_sarif(&all(), 1, "1.2.3"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let wrong = all().iter().filter(|check| check.verdict != Verdict::Verified).count();
    assert_eq!(results.len(), wrong);
    parsed(&checks_sarif(&[], 5, "1.2.3"));
}

#[test]
fn sarif_has_the_place_the_flow_and_the_exit_code() {
    let log = parsed(&checks_sarif(&[report(Verdict::Violated, "tso", "r1 = 0", Some(trace()))], 1, "0"));
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"cyrano/never".into(), &"error".into()));
    // The load that overtook a store.
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&7.into(), &5.into()));
    assert_eq!(place["artifactLocation"]["uri"], "sb.rml");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    let orders = |at: usize| -> Vec<u64> {
        let locations = flows[at]["locations"].as_array().expect("locations");
        locations.iter().filter_map(|location| location["executionOrder"].as_u64()).collect()
    };
    assert_eq!((flows.len(), orders(0), orders(1)), (2, vec![1, 4], vec![2, 3]));
    assert_eq!(result["relatedLocations"].as_array().map(Vec::len), Some(4));
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("must never hold")));
    // For a cycle: the access that closes it.
    let log = parsed(&checks_sarif(&[report(Verdict::Violated, "pso", "r1 = 0", Some(transactional()))], 1, "0"));
    assert_eq!(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 10);
}

#[test]
fn fingerprints_do_not_depend_on_lines() {
    let print = |shift: usize, text: &str| {
        let mut trace = trace();
        trace.steps.iter_mut().for_each(|step| step.line += shift);
        trace.steps[0].text = text.into();
        let log = parsed(&checks_sarif(&[report(Verdict::Violated, "tso", "r1 = 0", Some(trace))], 1, "0"));
        log["runs"][0]["results"][0]["partialFingerprints"]["cyranoFinding/v1"].clone()
    };
    assert_eq!(print(0, "r1 := y"), print(10, "r1 := y"));
    assert_ne!(print(0, "r1 := y"), print(0, "r1 := z"));
}

#[test]
fn the_library_is_embedded() {
    let log = parsed(&checks_sarif(&all(), 1, "0"));
    let artifacts = log["runs"][0]["artifacts"].as_array().expect("artifacts");
    let with = |uri: &str| artifacts.iter().find(|artifact| artifact["location"]["uri"] == uri).expect("an artifact");
    assert_eq!(with("litmus/sb.rml")["contents"]["text"], "…");
    assert_eq!(with("litmus/sb.rml")["location"]["uriBaseId"], "CYRANO_LIBRARY");
    assert_eq!(with("sb.rml")["contents"], Value::Null);
}

#[test]
fn what_is_broken_is_noticed() {
    let log = parsed(&checks_sarif(&all(), 1, "0"));
    let broken = |change: fn(&mut Value)| {
        let mut log = log.clone();
        change(&mut log["runs"][0]);
        std::panic::catch_unwind(|| sarif::check(&log)).is_err()
    };
    assert!(broken(|run| run["results"][0]["level"] = "fatal".into()));
    assert!(broken(|run| run["results"][0]["ruleIndex"] = 99.into()));
    assert!(broken(|run| run["results"][0]["message"] = Value::Null));
    assert!(broken(
        |run| run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["index"] = 99.into()
    ));
    assert!(broken(|run| run["artifacts"][0]["location"]["uri"] = "a b".into()));
    assert!(broken(|run| run["unknown"] = 1.into()));
    assert!(!broken(|_| ()));
}

/// The rules of Jenkins's JUnit schema that matter: which elements and attributes there are, and that the numbers add up.
fn check_junit(text: &str) -> roxmltree::Document<'_> {
    let document = roxmltree::Document::parse(text).expect("JUnit is well-formed XML");
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    let number = |node: roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} of {node:?}"))
    };
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        let (children, required, optional): (&[&str], &[&str], &[&str]) = match node.tag_name().name() {
            "testsuites" => (&["testsuite"], &["name", "tests", "failures", "errors", "time"], &[]),
            "testsuite" => (&["testcase"], &["name", "tests", "failures", "errors", "skipped", "time"], &[]),
            "testcase" => (&["failure", "error", "skipped", "system-out"], &["name", "classname", "time"], &[]),
            "failure" | "error" => (&[], &["message", "type"], &[]),
            "skipped" => (&[], &[], &["message"]),
            "system-out" => (&[], &[], &[]),
            other => panic!("{other} is no element of JUnit"),
        };
        for child in node.children().filter(roxmltree::Node::is_element) {
            assert!(children.contains(&child.tag_name().name()), "{child:?}");
        }
        for name in required {
            assert!(node.attribute(*name).is_some(), "{name} of {node:?}");
        }
        for attribute in node.attributes() {
            assert!(required.contains(&attribute.name()) || optional.contains(&attribute.name()), "{attribute:?}");
        }
        if let Some(time) = node.attribute("time") {
            assert!(time.parse::<f64>().is_ok(), "{time}");
        }
    }
    for suite in root.descendants().filter(|node| node.has_tag_name("testsuite")) {
        let count = |name: &str| suite.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(number(suite, "tests"), count("testcase"));
        assert_eq!(number(suite, "failures"), count("failure"));
        assert_eq!(number(suite, "errors"), count("error"));
        assert_eq!(number(suite, "skipped"), count("skipped"));
    }
    let count = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((number(root, "tests"), number(root, "failures")), (count("testcase"), count("failure")));
    document
}

#[test]
fn junit_is_valid() {
    let text = checks_junit(&all());
    let document = check_junit(&text);
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert!(failure.text().is_some_and(|text| text.contains("Reordered:") && text.contains("Why:")));
    check_junit(&checks_junit(&[]));
    let verdict = |verdict: Verdict| checks_junit(&[report(verdict, "sc", "r1 = 0", None)]);
    for (made, element) in [
        (verdict(Verdict::Violated), Some("failure")),
        (verdict(Verdict::Unknown), Some("error")),
        (verdict(Verdict::Bounded), Some("skipped")),
        (verdict(Verdict::Vacuous), Some("skipped")),
        (verdict(Verdict::Verified), None),
    ] {
        let document = check_junit(&made);
        let case = document.descendants().find(|node| node.has_tag_name("testcase")).expect("a case");
        assert_eq!(case.first_element_child().map(|child| child.tag_name().name()), element, "{made}");
    }
}

#[test]
fn nasty_names_are_text_in_junit() {
    let text = checks_junit(&[hostile_report()]);
    let document = check_junit(&text);
    let case = document.descendants().find(|node| node.has_tag_name("testcase")).expect("a case");
    let shown = NASTY.replace('\u{1b}', "\u{fffd}");
    assert!(case.attribute("name").is_some_and(|name| name.contains(&shown)), "{text}");
}

fn fences() -> Vec<FencesReport> {
    let fence = FenceInfo {
        line: 26,
        place: "after",
        kind: "store-store".into(),
        order: None,
        instead_of: None,
        program: Some(NASTY.into()),
        prevents: vec![NASTY.into()],
        counterexamples: vec![],
    };
    let report = |verdict: &'static str, sets, trace| FencesReport {
        candidate: None,
        file: "a.rml".into(),
        model: "pso".into(),
        criterion: "opacity".into(),
        verdict,
        reason: None,
        minimal: true,
        complete: false,
        sets,
        costs: Vec::new(),
        orders: None,
        diff: Some("--- a\n+++ b\n".into()),
        trace,
        questions: 3,
        seconds: 0.5,
    };
    vec![
        report("repaired", vec![vec![fence]], None),
        report("irreparable", vec![], Some(trace())),
        report("unknown", vec![], None),
    ]
}

#[test]
fn missing_fences_are_findings() {
    let log = parsed(&fences_sarif(&fences(), 1, "0"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let levels: Vec<&str> = results.iter().filter_map(|result| result["level"].as_str()).collect();
    assert_eq!(levels, ["warning", "error", "warning"]);
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 26);
    check_junit(&fences_junit(&fences()));
}

#[test]
fn litmus_tests_fail_if_they_are_not_as_expected() {
    let report = |observation, expected: Option<&str>, differs, refused| LitmusReport {
        file: "SB.litmus".into(),
        name: NASTY.into(),
        model: "tso".into(),
        observation,
        expected: expected.map(str::to_owned),
        differs,
        refused,
        ..LitmusReport::default()
    };
    let reports = [
        report(Some("Sometimes"), Some("Never"), true, false),
        report(Some("Sometimes"), None, false, false),
        report(None, None, false, true),
        report(None, None, false, false),
    ];
    let log = parsed(&litmus(&reports).to_sarif(1, false));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let levels: Vec<&str> = results.iter().filter_map(|result| result["level"].as_str()).collect();
    assert_eq!(levels, ["error", "note", "warning"]);
    let text = litmus(&reports).to_junit(false);
    let document = check_junit(&text);
    let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("failure"), count("skipped"), count("error")), (1, 1, 1));
}
