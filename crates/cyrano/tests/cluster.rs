//! Several processes that search together, on the loopback interface: the same verdicts as one alone; who must not join; who goes away.

mod cli;
mod local_cluster;

use std::process::Child;
use std::time::{Duration, Instant};

use cli::{ENDLESS, Folder, SB, json};
use local_cluster::{place, run, start, wait};
use serde_json::Value;

/// What must be the same, whoever searches. After a violation, how much had been looked at may differ.
fn facts(report: &Value) -> Vec<Value> {
    let checks = report["checks"].as_array().cloned().unwrap_or_default();
    let facts = |check: &Value| {
        let found = check["verdict"] == "violated" || !check["trace"].is_null();
        let counts = |name: &str| if found { Value::Null } else { check[name].clone() };
        let kind = &check["explanation"]["kind"];
        serde_json::json!([
            check["file"],
            check["model"],
            check["criterion"],
            check["verdict"],
            check["reason"],
            check["depth"],
            kind,
            counts("states"),
            counts("transitions"),
            check["trace"].is_null()
        ])
    };
    checks.iter().map(facts).collect()
}

#[test]
fn three_processes_give_the_report_of_one() {
    let lines = [
        ("check sb.rml lib:litmus/peterson.rml lib:litmus/fig4.rml lib:litmus/iriw.rml --model sc,tso", 1),
        ("check lib:stm/tl2.rml lib:stm/mcrt.rml --criterion opacity --model sc,pso", 1),
        ("check lib:stm/dstm.rml --criterion strict-serializability --model tso --set vars=1", 0),
    ];
    for (line, code) in lines {
        let place = place(&[("sb.rml", SB)], 3);
        let alone = place.run(&format!("{line} --format json --workers 1 --engine explore --no-reduction ample-sets"));
        let together = run(&place, &format!("{line} --format json --no-reduction ample-sets"), 3);
        assert_eq!(alone.code, code, "{alone:?}");
        assert!(together.iter().all(|done| done.code == code), "{together:?}");
        assert_eq!(facts(&json(&together[0])), facts(&json(&alone)), "{line}");
        for (process, other) in together.iter().enumerate().skip(1) {
            assert!(other.stdout.is_empty() && other.stderr.contains(&format!("process {process} of 3")), "{other:?}");
        }
    }
}

#[test]
fn a_violation_can_be_replayed() {
    let place = place(&[("sb.rml", SB)], 2);
    let together = run(&place, "check sb.rml --model tso --criterion never --save-trace bug.json", 2);
    assert!(together.iter().all(|done| done.code == 1), "{together:?}");
    assert_eq!(place.run("replay bug.json").code, 0);
}

#[test]
fn other_arguments_and_files_are_refused() {
    let place = place(&[("sb.rml", SB), ("other.rml", &SB.replace("x := 1", "x := 2"))], 2);
    let both = |zero: &str, one: &str, parts: [&str; 2]| {
        let children = [start(&place, zero, 0), start(&place, one, 1)];
        for (done, part) in children.map(wait).iter().zip(parts) {
            assert_eq!(done.code, 2, "{done:?}");
            assert!(done.stderr.contains(part), "{}: not `{part}`", done.stderr);
        }
    };
    let arguments = ["arguments: `--model sc", "arguments: `--model tso"];
    both("check sb.rml --model sc", "check sb.rml --model tso", arguments);
    both("check sb.rml", "check other.rml", ["sb.rml` here", "other.rml` here"]);
    let file = place.read("other.rml");
    let child = start(&place, "check sb.rml --cluster-wait 20", 0);
    std::thread::sleep(Duration::from_millis(700));
    place.write("sb.rml", file.as_bytes());
    let one = wait(start(&place, "check sb.rml --cluster-wait 20", 1));
    let zero = wait(child);
    assert!(zero.stderr.contains("content of sb.rml") && one.stderr.contains("content of sb.rml"), "{zero:?} {one:?}");
}

#[test]
fn a_wrong_key_is_refused() {
    let place = place(&[("sb.rml", SB)], 2);
    let zero = start(&place, "check sb.rml --cluster-wait 4", 0);
    std::thread::sleep(Duration::from_millis(500));
    place.write("key", b"some other key, which is long enough");
    let one = wait(start(&place, "check sb.rml --cluster-wait 4", 1));
    let zero = wait(zero);
    assert!(zero.code == 2 && one.code == 2, "{zero:?} {one:?}");
    assert!(zero.stderr.contains("another key") && zero.stderr.contains("process 1"), "{zero:?}");
    assert!(one.stderr.contains("process 0") && one.stderr.contains("another key"), "{one:?}");
}

#[test]
fn a_killed_process_stops_the_others() {
    for victim in [0, 2] {
        let place = place(&[("endless.rml", ENDLESS)], 3);
        let mut children: Vec<Child> =
            (0..3).map(|process| start(&place, "check endless.rml --timeout 60", process)).collect();
        std::thread::sleep(Duration::from_secs(3));
        let mut killed = children.remove(victim);
        killed.kill().expect("it is still there");
        killed.wait().expect("it ends");
        let start = Instant::now();
        for done in children.into_iter().map(wait) {
            assert_eq!(done.code, 3, "{done:?}");
            assert!(done.stderr.contains(&format!("process {victim} (127.0.0.1:")), "{done:?}");
            assert!(done.stderr.contains("was lost"), "{done:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    }
}

#[test]
fn a_time_limit_stops_everybody() {
    let place = place(&[("endless.rml", ENDLESS)], 2);
    for done in run(&place, "check endless.rml --timeout 2", 2) {
        assert_eq!(done.code, 3, "{done:?}");
        assert!(!done.stderr.contains("lost"), "{done:?}");
    }
}

#[test]
fn a_cluster_on_one_machine() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let together = place.run("cluster run -n 3 -- check sb.rml --model sc,tso --format json --no-reduction ample-sets");
    let alone = place.run("check sb.rml --model sc,tso --format json --engine explore --no-reduction ample-sets");
    assert_eq!(together.code, alone.code, "{together:?}");
    assert_eq!(facts(&json(&together)), facts(&json(&alone)));
    assert!(together.stderr.contains("[2] process 2 of 3: violated"), "{together:?}");
    let refused = |line: &str, part: &str| {
        let done = place.run(line);
        assert!(done.code == 2 && done.stderr.contains(part), "{line}: {done:?}");
    };
    refused("cluster run -n 2 -- outcomes sb.rml", "`check`");
    refused("cluster run -n 2 -- check sb.rml --cluster hosts", "leave --cluster options out");
    refused("cluster run -n 0 -- check sb.rml", "0");
    refused("check sb.rml --cluster hosts", "--process");
    refused("check sb.rml --cluster hosts --process 0 --cluster-key key", "hosts");
    let key = place.run("cluster key");
    assert!(key.code == 0 && key.stdout.trim().len() == 64, "{key:?}");
}

#[test]
fn hosts_and_keys_that_cannot_be_used() {
    let place = place(&[("sb.rml", SB)], 2);
    let refused = |line: &str, part: &str| {
        let done = place.run(&format!("check sb.rml --cluster hosts --cluster-key key {line}"));
        assert!(done.code == 2 && done.stderr.contains(part), "{line}: {done:?}");
    };
    refused("--process 2", "there is no process 2");
    refused("--process 0 --engine symbolic", "--engine explore");
    refused("--process 0 --fingerprint", "--fingerprint");
    refused("--process 1 --cluster-wait 1", "process 0");
    place.write("key", b"short");
    refused("--process 0", "at least 16");
    place.write("hosts", b"localhost\n");
    refused("--process 0", "line 1");
}
