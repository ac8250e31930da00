//! Reports of several runs as one: what goes together, what does not, and that nothing is lost on the way through JSON.

mod data;
mod hostile;
mod sarif;

use std::collections::BTreeMap;

use cyrano_engine::Verdict;
use cyrano_report::{
    BlockReport, CheckReport, ClientsReport, LitmusReport, LitmusValue, Merged, MinimisedReport, Results, RunReport,
    Saved, SavedReport, ShardReport, SpecificationReport, UnreachedKind, UnreachedReport, merge,
};
use cyrano_trace::Effort;
use data::{crowded, report, several, trace, transactional};
use hostile::hostile_report;

/// Checks with something in every field.
fn checks() -> Vec<CheckReport> {
    let mut checks = several();
    checks.push(report(Verdict::Violated, "pso", "r1 = 0", Some(transactional())));
    checks.push(report(Verdict::Violated, "rmo", "r1 = 0", Some(crowded())));
    checks.push(hostile_report());
    let mut full = report(Verdict::Violated, "tso", "r1 = 1", Some(trace()));
    full.test = Some("T0".into());
    full.engine_note = Some("explore cannot run this".into());
    let sizes = [("threads", 2), ("b", -1), ("a", 7)];
    full.instance = sizes.map(|(name, size)| (name.into(), cyrano_report::Size::Number(size))).to_vec();
    full.set = BTreeMap::from([("N".into(), 3)]);
    full.clauses = Some(77);
    full.specification = Some(SpecificationReport {
        reference: None,
        observations: 3,
        complete: true,
        engine: None,
        cached: true,
        seconds: 0.5,
    });
    let digits = "340282366920938463463374607431768211455".to_owned();
    full.clients = Some(ClientsReport { total: digits, wrong: None, complete: false, smallest: Some("{ }".into()) });
    let block = |name: &str, proven_by| BlockReport { name: name.into(), proven_by };
    full.unreached =
        vec![UnreachedReport { kind: UnreachedKind::Statement, line: 7, thread: "p, q".into(), text: "x := 1".into() }];
    full.blocks = vec![block("a", Some("movers")), block("b", Some("serial-run")), block("c", None)];
    let effort = |steps| Effort { reorderings: 1, switches: 2, steps };
    full.minimised = Some(MinimisedReport { from: effort(9), to: effort(4), complete: true });
    checks.push(full);
    checks
}

fn tests() -> Vec<LitmusReport> {
    let plain = LitmusReport {
        file: "SB.litmus".into(),
        name: "SB".into(),
        model: "tso".into(),
        engine: Some("explore".into()),
        condition: Some("exists"),
        kind: Some("Allowed"),
        text: "exists (0:EAX=0 /\\ 1:EAX=0)".into(),
        observation: Some("Sometimes"),
        holds: Some(true),
        columns: vec!["1:EAX".into(), "0:EAX".into()],
        states: vec![
            vec![LitmusValue::Int(0), LitmusValue::Int(0)],
            vec![LitmusValue::Address("x".into()), LitmusValue::Int(-1)],
        ],
        positive: 1,
        seconds: 0.25,
        ..LitmusReport::default()
    };
    let undecided = LitmusReport {
        model: "pso".into(),
        observation: None,
        holds: None,
        reason: Some("time".into()),
        ..plain.clone()
    };
    let refused = LitmusReport {
        name: "A".into(),
        model: "tso".into(),
        refused: true,
        reason: Some("ARM".into()),
        ..LitmusReport::default()
    };
    let differs = LitmusReport {
        name: "B".into(),
        expected: Some("Never".into()),
        differs: true,
        compared: vec!["explore".into(), "interp".into()],
        disagreement: Some("explore finds 1".into()),
        ..plain.clone()
    };
    vec![plain, undecided, refused, differs]
}

fn shard(index: u16, count: u16, checks: usize) -> ShardReport {
    ShardReport {
        indices: vec![index],
        count,
        checks,
        command: "check".into(),
        options: BTreeMap::from([("--model".to_owned(), vec!["sc".to_owned(), "tso".to_owned()])]),
        inputs: BTreeMap::from([("a.rml".to_owned(), "00ff".to_owned())]),
    }
}

fn part<T: Clone>(all: &[T], shard: &ShardReport) -> Vec<T> {
    let own = |at: &usize| shard.indices.contains(&ShardReport::of_position(*at, shard.count));
    all.iter().enumerate().filter(|(at, _)| own(at)).map(|(_, one)| one.clone()).collect()
}

fn whole(results: Results<'_>) -> RunReport<'_> {
    RunReport { results, version: "0", shard: None }
}

fn parsed(name: &str, json: &str) -> SavedReport {
    let mut read = SavedReport::parse(name, json).unwrap_or_else(|error| panic!("{error}: {json}"));
    // Here nobody has an interpreter; that it is asked is tested through the command line.
    if let Saved::Checks(checks) = &mut read.results {
        checks.iter_mut().filter_map(|check| check.trace.as_mut()).for_each(|trace| trace.confirmed = true);
    }
    read
}

#[test]
fn what_was_read_is_not_confirmed_until_it_is_replayed() {
    let check = CheckReport { criterion: "never".into(), ..report(Verdict::Violated, "tso", "r1 = 1", Some(trace())) };
    let json = whole(Results::Checks(&[check])).to_json();
    let saved = || SavedReport::parse("a", &json).expect("it is a report").results;
    let doubts =
        |saved: &Saved| (saved.doubts().len(), whole(saved.as_results()).to_json().contains("\"confirmed\": false"));
    assert_eq!(doubts(&saved()), (1, true), "nobody has replayed it");
    let mut confirmed = saved();
    confirmed.confirm(&|trace| cyrano_trace::Trace { confirmed: true, ..trace });
    assert_eq!(doubts(&confirmed), (0, false));
    let mut refuted = saved();
    refuted.confirm(&|trace| trace.doubted("no"));
    assert_eq!(doubts(&refuted), (1, true));
    let other = json.replacen("\"model\": \"tso\"", "\"model\": \"pso\"", 1);
    let mut other = SavedReport::parse("a", &other).expect("it is a report").results;
    other.confirm(&|_| panic!("what is of another check is not replayed"));
    assert_eq!(doubts(&other), (1, true));
}

/// Some checks as the JSON of this shard.
fn json(checks: &[CheckReport], shard: &ShardReport) -> String {
    RunReport { results: Results::Checks(&part(checks, shard)), version: "0", shard: Some(shard) }.to_json()
}

fn joined(reports: &[(&str, &str)]) -> Result<Merged, String> {
    merge(reports.iter().map(|(name, json)| parsed(name, json)).collect())
}

fn written(merged: &Merged) -> String {
    RunReport { results: merged.results.as_results(), version: "0", shard: merged.shard.as_ref() }.to_json()
}

#[test]
fn reading_gives_back_what_was_written() {
    let style = cyrano_report::Style { color: false, width: 100 };
    let (checks, tests) = (checks(), tests());
    for report in [whole(Results::Checks(&checks)), whole(Results::Litmus(&tests))] {
        let json = report.to_json();
        let read = parsed("a", &json);
        let again = whole(read.results.as_results());
        assert_eq!(again.to_json(), json);
        assert_eq!(again.to_text(true, style), report.to_text(true, style));
        assert_eq!(again.to_junit(true), report.to_junit(true));
        assert_eq!(again.to_sarif(1, true), report.to_sarif(1, true));
    }
}

#[test]
fn all_shards_are_the_whole() {
    let checks = checks();
    for count in 1..=9 {
        let parts: Vec<String> = (1..=count).map(|index| json(&checks, &shard(index, count, checks.len()))).collect();
        // Neither their order nor how often a shard is there matters.
        let mut reports: Vec<(&str, &str)> = parts.iter().rev().map(|json| ("part", json.as_str())).collect();
        reports.push(reports[0]);
        let merged = joined(&reports).expect("they go together");
        assert_eq!(written(&merged), whole(Results::Checks(&checks)).to_json(), "{count} shards");
        assert_eq!(merged.repeated, part(&checks, &shard(count, count, checks.len())).len());
    }
}

#[test]
fn some_shards_can_be_joined_first() {
    let checks = checks();
    let of = |index| json(&checks, &shard(index, 4, checks.len()));
    let some = joined(&[("4", &of(4)), ("1", &of(1))]).expect("they go together");
    let missing = some.shard.as_ref().and_then(ShardReport::missing_sentence).expect("two are missing");
    assert!(missing.starts_with("shards 2, 3 of 4 are missing"), "{missing}");
    let others = joined(&[("2", &of(2)), ("3", &of(3))]).expect("they go together");
    let all = joined(&[("some", &written(&some)), ("others", &written(&others))]).expect("they go together");
    assert_eq!(written(&all), whole(Results::Checks(&checks)).to_json());
}

#[test]
fn what_is_missing_is_in_every_form() {
    let checks = checks();
    let merged = joined(&[("1", &json(&checks, &shard(1, 2, checks.len())))]).expect("it is a report");
    let report = RunReport { results: merged.results.as_results(), version: "0", shard: merged.shard.as_ref() };
    let log: serde_json::Value = serde_json::from_str(&report.to_sarif(3, true)).expect("it is JSON");
    sarif::check(&log);
    let run = &log["runs"][0];
    assert_eq!(run["automationDetails"]["id"], "cyrano/check/shard-1-of-2/");
    let said = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(said.as_str().is_some_and(|text| text.starts_with("shard 2 of 2 is missing")), "{said}");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let junit = report.to_junit(true);
    assert!(junit.contains("name=\"cyrano, shard 1 of 2\"") && junit.contains("shard 2 of 2 is missing"), "{junit}");
    assert!(!report.to_junit(false).contains("missing"));
}

#[test]
fn whole_runs_are_put_one_behind_the_other() {
    let checks = checks();
    let of = |checks: &[CheckReport]| whole(Results::Checks(checks)).to_json();
    let merged = joined(&[("a", &of(&checks[..3])), ("b", &of(&checks[2..]))]).expect("they go together");
    assert_eq!((written(&merged), merged.repeated), (of(&checks), 1));
    // A run that has a check twice keeps both.
    let twice = [checks[0].clone(), checks[0].clone()];
    assert_eq!(written(&joined(&[("a", &of(&twice))]).expect("it is a report")), of(&twice));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let checks = checks();
    let total = checks.len();
    let first = json(&checks, &shard(1, 3, total));
    let refused = |second: &str, part: &str| {
        let why = joined(&[("a.json", &first), ("b.json", second)]).expect_err("they do not go together");
        assert!(why.contains(part), "{why}");
    };
    let second = shard(2, 3, total);
    refused(&json(&checks, &second).replace("\"version\": \"0\"", "\"version\": \"9\""), "cyrano 9");
    refused(&json(&checks, &ShardReport { command: "x".into(), ..second.clone() }), "`x` there and `check` here");
    refused(&json(&checks, &shard(2, 4, total)), "4 shards there and 3 here");
    let other = BTreeMap::from([("--model".to_owned(), vec!["sc".to_owned()])]);
    refused(
        &json(&checks, &ShardReport { options: other, ..second.clone() }),
        "--model is `sc` there and `sc, tso` here",
    );
    refused(&json(&checks, &ShardReport { options: BTreeMap::new(), ..second.clone() }), "--model is not given there");
    let other = BTreeMap::from([("a.rml".to_owned(), "00fe".to_owned())]);
    refused(&json(&checks, &ShardReport { inputs: other, ..second.clone() }), "a.rml");
    refused(&json(&checks[1..], &shard(2, 3, total - 1)), "checks there and");
    refused(&whole(Results::Checks(&checks)).to_json(), "no shard");
    refused(&whole(Results::Litmus(&tests())).to_json(), "litmus tests");
    let mut others = checks.clone();
    others[0].verdict = Verdict::Bounded;
    refused(&json(&others, &shard(1, 3, total)), "is bounded in b.json, but");
    others[0].file = "other.rml".into();
    refused(&json(&others, &shard(1, 3, total)), "other.rml");
}

#[test]
fn what_is_no_report_is_named() {
    let check = |json: &str, part: &str| {
        let why = SavedReport::parse("a", json).expect_err("it is no report");
        assert!(why.contains(part), "{why}");
    };
    let good = json(&checks(), &shard(1, 1, checks().len()));
    check("", "cut off");
    check("{]", "not JSON");
    check("[]", "no schema");
    check("{\"schema\": 1}", "no schema");
    check("{\"schema\": \"cyrano.report/2\"}", "`cyrano.report/2`; expected `cyrano.report/1`");
    check("{\"schema\": \"cyrano.report/1\"}", "does not follow");
    check(&good.replace("\"verified\"", "\"fine\""), "`fine` is none of verified");
    check(&good.replace("\"movers\"", "\"magic\""), "`magic` is none of movers");
    check(&good.replace("\"cyrano.trace/2\"", "\"cyrano.trace/3\""), "cyrano.trace/3");
    check(&good.replace("\"count\": 1", "\"count\": 0"), "not shards");
    check(&good.replace("\"count\": 1", "\"count\": 2"), "results");
    check(&good.replace("\"count\": 1", "\"count\": 70000"), "does not follow");
    for end in (0..good.len()).step_by(101).filter(|end| good.is_char_boundary(*end)) {
        check(&good[..end], "cut off");
    }
}
