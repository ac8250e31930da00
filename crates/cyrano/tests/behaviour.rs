//! What scripts rely on: JSON, exit codes, saved traces, limits, interrupts, pipes.

mod cli;

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cli::{COUNTER, DEADLOCK, ENDLESS, Folder, NOTHING, SB, done, json};

fn place() -> Folder {
    let files = [
        ("sb.rml", SB),
        ("counter.rml", COUNTER),
        ("deadlock.rml", DEADLOCK),
        ("nothing.rml", NOTHING),
        ("endless.rml", ENDLESS),
    ];
    Folder::new(&files)
}

/// The exit code, and criterion, model and verdict of every check.
fn check(line: &str, code: i32, expected: &[(&str, &str, &str)]) {
    let done = place().run(&format!("check {line} --format json"));
    assert_eq!(done.code, code, "{line}: {done:?}");
    let report = json(&done);
    let checks = report["checks"].as_array().expect("checks is an array");
    let text = |check: &serde_json::Value, field: &str| check[field].as_str().unwrap_or("null").to_owned();
    let seen: Vec<[String; 3]> =
        checks.iter().map(|c| [text(c, "criterion"), text(c, "model"), text(c, "verdict")]).collect();
    let expected: Vec<[String; 3]> = expected.iter().map(|(a, b, c)| [a, b, c].map(|s| s.to_string())).collect();
    assert_eq!(seen, expected, "{line}");
}

#[test]
fn which_checks_run() {
    check("sb.rml", 1, &[("never", "sc", "verified"), ("never", "tso", "violated"), ("exists", "sc", "verified")]);
    check("sb.rml --model tso", 1, &[("never", "tso", "violated")]);
    check("sb.rml --model sc", 0, &[("never", "sc", "verified"), ("exists", "sc", "verified")]);
    check("sb.rml --model pso", 1, &[("never", "pso", "violated"), ("exists", "pso", "verified")]);
    check(
        "sb.rml --model sc,tso --model sc --criterion never",
        1,
        &[("never", "sc", "verified"), ("never", "tso", "violated")],
    );
    check("sb.rml --criterion exists", 0, &[("exists", "sc", "verified")]);
    check("sb.rml --criterion always", 5, &[("always", "null", "vacuous")]);
    check("sb.rml --criterion exists,always", 5, &[("exists", "sc", "verified"), ("always", "null", "vacuous")]);
    check("sb.rml --criterion assertions", 5, &[("assertions", "sc", "vacuous")]);
    check("nothing.rml", 5, &[("assertions", "null", "vacuous")]);
    check("counter.rml", 1, &[("assertions", "sc", "violated")]);
    check("counter.rml --set N=1", 0, &[("assertions", "sc", "verified")]);
    check("deadlock.rml", 1, &[("assertions", "sc", "violated"), ("assertions", "tso", "violated")]);
}

#[test]
fn all_engines_agree() {
    for engine in ["explore", "symbolic", "interp"] {
        let line = format!("sb.rml --engine {engine}");
        check(&line, 1, &[("never", "sc", "verified"), ("never", "tso", "violated"), ("exists", "sc", "verified")]);
        check(&format!("counter.rml --engine {engine}"), 1, &[("assertions", "sc", "violated")]);
        check(&format!("deadlock.rml --model sc --engine {engine}"), 1, &[("assertions", "sc", "violated")]);
    }
}

#[test]
fn a_model_no_explorer_runs_goes_to_the_symbolic_engine() {
    let report = json(&place().run("check sb.rml --model relaxed --format json"));
    assert_eq!(report["checks"][0]["engine"], "symbolic");
    assert!(report["checks"][0]["engine_note"].is_null(), "the symbolic engine is as good a choice as any");
    let refused = place().run("check sb.rml --model relaxed --engine explore");
    assert_eq!(refused.code, 3);
    assert!(refused.stdout.contains("--engine interp"), "{}", refused.stdout);
}

#[test]
fn reports_have_every_field_of_the_contract() {
    let report = json(&place().run("check counter.rml --set N=3 --format json"));
    assert_eq!(report["schema"], "cyrano.report/1");
    assert_eq!(report["tool"]["name"], "cyrano");
    let check = report["checks"][0].as_object().expect("a check is an object");
    let fields = "file test model criterion engine instance verdict reason states transitions clauses depth seconds \
                  peak_bytes reductions trace explanation";
    for field in fields.split_whitespace() {
        assert!(check.contains_key(field), "{field} is missing");
    }
    assert_eq!(check["instance"]["threads"], 3);
    assert_eq!(check["instance"]["N"], 3);
    assert_eq!(check["explanation"]["kind"], "assertion");
    assert_eq!(check["trace"]["schema"], "cyrano.trace/2");
}

#[test]
fn outcomes_of_the_papers_example() {
    let done = place().run("outcomes lib:litmus/fig4.rml --model sc,tso,pso,rmo --format json");
    assert_eq!(done.code, 0);
    let report = json(&done);
    assert_eq!(report["schema"], "cyrano.outcomes/1");
    let counts: Vec<i64> = report["results"]
        .as_array()
        .expect("results is an array")
        .iter()
        .map(|result| {
            assert_eq!(result["complete"], true);
            assert_eq!(result["outcomes"].as_array().map(Vec::len).unwrap_or(0) as i64, result["count"]);
            result["count"].as_i64().expect("count is a number")
        })
        .collect();
    assert_eq!(counts, [7, 8, 15, 16]);
}

#[test]
fn saved_traces_are_confirmed_again() {
    let place = place();
    for (line, traces) in [("sb.rml", 2), ("counter.rml", 1), ("deadlock.rml", 2), ("counter.rml --set N=3", 1)] {
        let saved = place.run(&format!("check {line} --save-trace t.json"));
        assert_eq!(saved.code, 1, "{line}");
        assert!(saved.stderr.contains("trace saved to t.json"), "{}", saved.stderr);
        for name in ["t.json", "t-2.json"].iter().take(traces) {
            let replayed = place.run(&format!("replay {name}"));
            assert_eq!(replayed.code, 0, "{line}: {replayed:?}");
            assert!(replayed.stdout.contains("confirmed"));
            assert_eq!(json(&place.run(&format!("replay {name} --format json")))["confirmed"], true);
        }
    }
    let none = place.run("check sb.rml --model sc --criterion never --save-trace none.json");
    assert!(none.stderr.contains("no trace to save"), "{}", none.stderr);
    assert!(!place.path("none.json").exists());
}

#[test]
fn a_trace_that_does_not_fit_is_not_confirmed() {
    let place = place();
    place.run("check sb.rml --model tso --save-trace t.json");
    let good = place.read("t.json");
    for (from, to) in [("x := 1;", "x := 7;"), ("\"read\": 0", "\"read\": 1"), ("x := 1;", "x := 1; mfence;")] {
        place.write("bad.json", good.replace(from, to).as_bytes());
        let replayed = place.run("replay bad.json");
        assert_eq!(replayed.code, 2, "{from} -> {to}: {replayed:?}");
        assert!(replayed.stdout.contains("not confirmed") && replayed.stdout.contains("step"), "{}", replayed.stdout);
    }
}

#[test]
fn a_time_limit_gives_unknown() {
    let start = Instant::now();
    let done = place().run("check endless.rml --timeout 0.5");
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stdout.contains("time limit reached"), "{}", done.stdout);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_memory_limit_gives_unknown() {
    let done = place().run("check endless.rml --memory 1");
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stdout.contains("memory limit reached"), "{}", done.stdout);
}

#[test]
fn progress_is_reported_on_request_only() {
    let asked = place().run("check endless.rml --timeout 0.5 --progress");
    assert!(asked.stderr.contains("states/s"), "{}", asked.stderr);
    assert_eq!(place().run("check endless.rml --timeout 0.5").stderr, "");
}

#[test]
#[cfg(unix)]
fn an_interrupt_gives_unknown() {
    let place = place();
    let mut command = place.command("check endless.rml --progress");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be run");
    // The first line of progress shows that the engine is at work and the handler installed.
    let mut stderr = child.stderr.take().expect("standard error is a pipe");
    stderr.read_exact(&mut [0]).expect("there is progress");
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let drain = std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
    let done = done(&child.wait_with_output().expect("it ends"));
    drain.join().expect("the reader does not panic").expect("standard error can be read");
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stdout.contains("unknown") && done.stdout.contains("interrupted"), "{}", done.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = place();
    for line in ["check sb.rml", "library list", "completions bash", "man"] {
        let mut child = place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        drop(child.stdout.take());
        let done = done(&child.wait_with_output().expect("it ends"));
        assert_eq!(done.stderr, "", "{line}");
    }
}

#[test]
fn workers_change_nothing_but_time() {
    let place = place();
    let stripped = |workers: usize| {
        let done = place.run(&format!("check sb.rml counter.rml deadlock.rml --workers {workers} --format json"));
        let mut report = json(&done);
        for check in report["checks"].as_array_mut().expect("checks is an array") {
            check["seconds"] = serde_json::Value::Null;
        }
        report
    };
    assert_eq!(stripped(1), stripped(4));
}

#[test]
fn the_library_is_listed_shown_and_exported() {
    let place = place();
    let list = place.run("library list").stdout;
    assert!(list.lines().count() >= 40 && list.contains("lib:litmus/sb.rml"), "{list}");
    let shown = place.run("library show lib:litmus/sb").stdout;
    assert_eq!(place.run("library export out").code, 0);
    assert_eq!(place.read("out/litmus/sb.rml"), shown);
    assert_eq!(place.run("library export out").code, 0, "the same files again do no harm");
    place.write("out/litmus/sb.rml", b"mine");
    assert_eq!(place.run("library export out").code, 2);
    assert_eq!(place.read("out/litmus/sb.rml"), "mine");
    assert_eq!(place.run("library export out --force").code, 0);
    assert_eq!(place.read("out/litmus/sb.rml"), shown);
}

#[test]
fn shells_and_manual() {
    let place = place();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.run(&format!("completions {shell}")).stdout.contains("outcomes"));
    }
    assert!(place.run("man").stdout.contains(".TH cyrano"));
    assert!(place.run("man check").stdout.contains("save\\-trace"));
}

#[test]
fn colour_on_request() {
    let place = place();
    assert!(place.run("check sb.rml --color always").stdout.contains('\u{1b}'));
    assert!(!place.run("check sb.rml").stdout.contains('\u{1b}'));
    place.write("bad.rml", b"threads {");
    assert!(place.run("check bad.rml --color always").stderr.contains('\u{1b}'));
    assert!(!place.run("check bad.rml").stderr.contains('\u{1b}'));
}
