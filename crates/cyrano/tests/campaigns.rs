//! Checks spread over several runs, and their reports joined again.

mod cli;

use cli::{COUNTER, Done, Folder, SB, json};
use serde_json::Value;

/// The matrix: litmus tests, a mutual exclusion, atomic blocks, a transactional memory and tests of a C data type.
const MATRIX: &str = "check lib:litmus/sb.rml lib:litmus/fig4.rml lib:litmus/peterson.rml lib:atomicity/bluetooth.rml \
                      lib:stm/mcrt.rml lib:datatypes/msn.c --test T0 --workers 1";

/// A report without what differs from run to run.
fn without_costs(mut report: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                ["seconds", "peak_bytes", "bytes_per_state"].iter().for_each(|cost| drop(members.remove(*cost)));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut report);
    report
}

/// Runs every shard of a command and keeps the reports as `1.json`, `2.json`, ….
fn run_shards(place: &Folder, line: &str, count: usize) -> Vec<Done> {
    let one = |index: usize| {
        let done = place.run(&format!("{line} --shard {index}/{count} --format json"));
        place.write(&format!("{index}.json"), done.stdout.as_bytes());
        done
    };
    (1..=count).map(one).collect()
}

fn refused(place: &Folder, line: &str, part: &str) {
    let done = place.run(line);
    assert_eq!(done.code, 2, "{line}: {done:?}");
    assert!(done.stdout.is_empty() && done.stderr.contains(part), "{line}: {}", done.stderr);
}

#[test]
fn three_shards_of_checks_are_the_whole() {
    // `--test` is for files with tests only, so the matrix is two commands; both are divided.
    let place = Folder::new(&[]);
    let (files, tests) = MATRIX.split_once("lib:datatypes").expect("the matrix has a C file");
    for (line, least) in
        [(format!("{files} --workers 1"), 20), (format!("check lib:datatypes{tests} --model sc,tso,pso"), 3)]
    {
        let whole = place.run(&format!("{line} --format json"));
        let checks = json(&whole)["checks"].as_array().map_or(0, Vec::len);
        assert!(checks >= least, "{line}: {checks} checks");
        let parts = run_shards(&place, &line, 3);
        let sizes: Vec<usize> = parts.iter().map(|done| json(done)["checks"].as_array().map_or(0, Vec::len)).collect();
        assert_eq!(sizes, [checks.div_ceil(3), (checks - 1).div_ceil(3), (checks - 2).div_ceil(3)]);
        let merged = place.run("report merge 3.json 1.json 2.json --format json");
        assert_eq!(merged.code, whole.code, "{merged:?}");
        assert_eq!(without_costs(json(&merged)), without_costs(json(&whole)));
    }
}

#[test]
fn three_shards_of_litmus_tests_are_the_whole() {
    let place = Folder::new(&[("expect.txt", "SB tso Never\nMP Never\n")]);
    let line = "litmus lib:herd --model sc,tso,pso --expect expect.txt --workers 1";
    let whole = place.run(&format!("{line} --format json"));
    assert_eq!(whole.code, 1, "the expectation of SB is not met");
    run_shards(&place, line, 3);
    let merged = place.run("report merge 1.json 2.json 3.json --format json");
    assert_eq!((merged.code, merged.stderr.as_str()), (1, ""));
    assert_eq!(without_costs(json(&merged)), without_costs(json(&whole)));
    // The text too, but for the times.
    let timeless = |done: &Done| -> Vec<String> {
        let timed = |line: &&str| line.starts_with("Time ") || line.contains("the engines took");
        done.stdout.lines().filter(|line| !timed(line)).map(str::to_owned).collect()
    };
    assert_eq!(timeless(&place.run("report merge 1.json 2.json 3.json")), timeless(&place.run(line)));
}

#[test]
fn a_shard_says_which_one_it_is() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let report = json(&place.run("check sb.rml --shard 2/2 --format json"));
    assert_eq!((&report["shard"]["indices"][0], &report["shard"]["count"]), (&2.into(), &2.into()));
    assert_eq!((&report["shard"]["checks"], &report["shard"]["command"]), (&3.into(), &"check".into()));
    assert_eq!(report["checks"].as_array().map_or(0, Vec::len), 1);
    assert_eq!(report["checks"][0]["model"], "tso");
    let text = place.run("check sb.rml --shard 2/2 --quiet");
    assert!(text.code == 1 && text.stdout.ends_with("\nshard 2 of 2: 1 of 3 checks\n"), "{text:?}");
    let log = json(&place.run("check sb.rml --shard 2/2 --format sarif"));
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "cyrano/check/shard-2-of-2/");
    let junit = place.run("check sb.rml --shard 2/2 --format junit");
    assert!(junit.stdout.contains("<testsuites name=\"cyrano, shard 2 of 2\" tests=\"1\""), "{}", junit.stdout);
    // The workers decide nothing.
    let of = |workers| {
        without_costs(json(&place.run(&format!("check sb.rml --shard 1/2 --format json --workers {workers}"))))
    };
    assert_eq!(of(1), of(4));
}

#[test]
fn a_shard_without_checks_is_no_error() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("check sb.rml --shard 5/5");
    assert_eq!((done.code, done.stdout.as_str()), (0, "shard 5 of 5: none of 3 checks\n"));
    assert_eq!(place.run("litmus lib:herd/SB.litmus --shard 2/2").code, 0);
    let whole = place.run("check sb.rml --format json");
    run_shards(&place, "check sb.rml", 5);
    // What has no checks is not missed.
    let merged = place.run("report merge 1.json 2.json 3.json --format json");
    assert_eq!(merged.code, whole.code);
    assert_eq!(without_costs(json(&merged)), without_costs(json(&whole)));
    let alone = place.run("report merge 5.json");
    assert_eq!(alone.code, 3, "{alone:?}");
}

#[test]
fn missing_shards_are_named() {
    let place = Folder::new(&[("sb.rml", SB)]);
    run_shards(&place, "check sb.rml", 3);
    let done = place.run("report merge 1.json 3.json");
    assert_eq!(done.code, 3, "a check that nobody has done is undecided: {done:?}");
    assert!(done.stderr.contains("shard 2 of 3 is missing: 1 of 3 checks"), "{}", done.stderr);
    assert_eq!(place.run("report merge 2.json").code, 1, "a violation is graver");
    // Joined again with the rest it is the whole.
    place.run("report merge 1.json 3.json --format json -o some.json --quiet");
    let all = place.run("report merge some.json 2.json --format json");
    assert_eq!(without_costs(json(&all)), without_costs(json(&place.run("check sb.rml --format json"))));
    let again = place.run("report merge some.json 2.json 1.json");
    assert!(again.code == 1 && again.stderr.contains("have and agree on: 1"), "{again:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = Folder::new(&[("sb.rml", SB), ("counter.rml", COUNTER)]);
    run_shards(&place, "check sb.rml", 3);
    let keep =
        |name: &str, line: &str| place.write(name, place.run(&format!("{line} --format json")).stdout.as_bytes());
    keep("model.json", "check sb.rml --model sc --shard 2/3");
    refused(&place, "report merge 1.json model.json", "--model is `sc` there and not given here");
    keep("file.json", "check sb.rml counter.rml --shard 2/3");
    refused(&place, "report merge 1.json file.json", "files is `sb.rml, counter.rml` there and `sb.rml` here");
    keep("other.json", "check sb.rml --shard 2/4");
    refused(&place, "report merge 1.json other.json", "4 shards there and 3 here");
    keep("litmus.json", "litmus lib:herd/SB.litmus --shard 1/3");
    refused(&place, "report merge 1.json litmus.json", "litmus tests");
    keep("whole.json", "check sb.rml");
    refused(&place, "report merge 1.json whole.json", "no shard");
    place.write("sb.rml", SB.replace("x := 1", "x := 2").as_bytes());
    keep("changed.json", "check sb.rml --shard 2/3");
    refused(&place, "report merge 1.json changed.json", "sb.rml, or what it is checked with, is not the same");
}

#[test]
fn bad_shards_and_bad_reports_are_refused() {
    let place =
        Folder::new(&[("sb.rml", SB), ("cut.json", "{\"schema\": \"cyrano.report/1\", "), ("no.json", "shard 1")]);
    for bad in ["0/3", "4/3"] {
        refused(&place, &format!("check sb.rml --shard {bad}"), "numbered from 1: expected 1/3 to 3/3");
        refused(&place, &format!("litmus lib:herd --shard {bad}"), "numbered from 1: expected 1/3 to 3/3");
    }
    refused(&place, "check sb.rml --shard a/b", "expected I/N");
    refused(&place, "check sb.rml --shard 3", "expected I/N");
    refused(&place, "report merge cut.json", "cut off");
    refused(&place, "report merge no.json", "not JSON");
    refused(&place, "report merge none.json", "no such file");
    refused(&place, "report merge .", "this is a folder");
    refused(&place, "report merge", "REPORT");
    let report = place.run("check sb.rml --format json").stdout;
    place.write("schema.json", report.replace("cyrano.report/1", "cyrano.report/2").as_bytes());
    refused(&place, "report merge schema.json", "its schema is `cyrano.report/2`; expected `cyrano.report/1`");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    place.write("version.json", report.replace(&version, "\"version\": \"99.0.0\"").as_bytes());
    refused(&place, "report merge version.json", "written by cyrano 99.0.0");
    // Everything that is wrong is said at once.
    refused(&place, "report merge cut.json schema.json", "cyrano.report/2");
}

#[test]
fn merged_reports_have_every_form() {
    let place = Folder::new(&[("sb.rml", SB)]);
    run_shards(&place, "check sb.rml", 2);
    let sarif = place.run("report merge 1.json 2.json --format sarif");
    let whole = place.run("check sb.rml --format sarif");
    assert_eq!((json(&sarif), sarif.code), (json(&whole), whole.code));
    let done = place.run("report merge 1.json 2.json --format junit -o out.xml");
    assert_eq!((done.code, done.stdout.as_str()), (1, ""));
    assert!(place.read("out.xml").contains("<testsuites name=\"cyrano\" tests=\"3\" failures=\"1\" errors=\"0\""));
    refused(&place, "report merge 1.json -o none/out.txt", "cannot be written");
}
