//! What scripts rely on around transactions: verdicts, exit codes, JSON, written repairs.

mod cli;

use cli::{Folder, LOCKED, SB, TORN, json};

fn place() -> Folder {
    Folder::new(&[("locked.rml", LOCKED), ("sb.rml", SB), ("torn.txt", TORN)])
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
    let small = "locked.rml --set vars=1";
    check(small, 1, &[("opacity", "sc", "verified"), ("opacity", "pso", "violated")]);
    check(&format!("{small} --model tso"), 0, &[("opacity", "tso", "verified")]);
    check(
        &format!("{small} --criterion strict-serializability --model sc"),
        0,
        &[("strict-serializability", "sc", "verified")],
    );
    check("sb.rml --criterion opacity", 5, &[("opacity", "null", "vacuous")]);
}

#[test]
fn the_instance_is_that_of_the_constants() {
    let report = json(&place().run("check locked.rml --model sc --set threads=3 --set vars=1 --format json"));
    assert_eq!(report["checks"][0]["instance"]["threads"], 3);
    assert_eq!(report["checks"][0]["instance"]["vars"], 1);
}

#[test]
fn no_reduction_changes_a_verdict() {
    for name in ["dead-registers", "macro-steps", "timestamps", "thread-symmetry", "lazy-choices"] {
        let line = format!("locked.rml --set vars=1 --no-reduction {name}");
        check(&line, 1, &[("opacity", "sc", "verified"), ("opacity", "pso", "violated")]);
        let report = json(&place().run(&format!("check {line} --model sc --format json")));
        let used = report["checks"][0]["reductions"].as_array().expect("reductions is an array");
        assert!(used.iter().all(|used| used != name), "{name} is off: {used:?}");
    }
}

#[test]
fn a_violation_is_told_as_a_cycle_and_can_be_replayed() {
    let place = place();
    let done = place.run("check locked.rml --set vars=1 --model pso --save-trace t.json --format json");
    let explanation = &json(&done)["checks"][0]["explanation"];
    assert_eq!(explanation["kind"], "cycle");
    assert!(explanation["sentence"].as_str().is_some_and(|s| s.contains("so neither can come first")));
    assert_eq!(explanation["conflicts"].as_array().map(Vec::len), Some(2));
    let trace: serde_json::Value = serde_json::from_str(&place.read("t.json")).expect("a trace is JSON");
    assert_eq!(trace["transactions"].as_array().map(Vec::len), Some(2));
    assert_eq!(place.run("replay t.json").code, 0);
    let lines = trace["history"].as_array().expect("the history has lines").iter().filter_map(|line| line.as_str());
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.join("; "), "history memory; 1 load g[0]; 1 rfin; 2 store g[0]; 1 store g[0]");
    // In lines and in one line, as the text has it.
    for between in ["\n", "; "] {
        place.write("w1.txt", lines.join(between).as_bytes());
        let judged = place.run("history w1.txt --criterion opacity --format json");
        assert_eq!((judged.code, &json(&judged)["results"][0]["at"]), (1, &4.into()), "{judged:?}");
        place.write("w1.txt", lines[..4].join(between).as_bytes());
        assert_eq!(place.run("history w1.txt --criterion opacity").code, 0, "without the last event it is accepted");
    }
}

#[test]
fn repairs_are_written_and_correct() {
    let place = place();
    let done = place.run("fence locked.rml --set vars=1 --model pso --format json --write fixed.rml");
    assert_eq!(done.code, 0, "{done:?}");
    let result = &json(&done)["results"][0];
    for (field, value) in [("verdict", "repaired"), ("model", "pso"), ("criterion", "opacity"), ("file", "locked.rml")]
    {
        assert_eq!(result[field], value);
    }
    assert_eq!(result["minimal"], true);
    let fence = &result["sets"][0][0];
    assert_eq!((&fence["kind"], &fence["where"]), (&"store-store".into(), &"after".into()));
    assert!(fence["line"].is_u64() && fence["program"].is_string(), "{fence}");
    assert_eq!(place.run("check fixed.rml --set vars=1 --model pso").code, 0);
    let again = json(&place.run("fence fixed.rml --set vars=1 --model pso --format json"));
    assert_eq!(again["results"][0]["verdict"], "already-correct");
}

#[test]
fn an_endless_state_space_ends_with_a_word() {
    let place = place();
    place.write("endless.rml", LOCKED.replace("g[v] := 1;", "l := g[v]; g[v] := l + 1;").as_bytes());
    let done = place.run("check endless.rml --set vars=1 --model sc --timeout 1");
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stdout.contains("time limit reached"), "{}", done.stdout);
}

#[test]
fn fences_cannot_repair_everything() {
    let place = place();
    place.write("bug.rml", LOCKED.replace("if l != 0 then give_up;", "").as_bytes());
    let done = place.run("fence bug.rml --set vars=1 --model pso --format json");
    assert_eq!(done.code, 1, "{done:?}");
    let result = &json(&done)["results"][0];
    assert_eq!(result["verdict"], "irreparable");
    assert_eq!(result["explanation"]["kind"], "cycle");
    assert_eq!(place.run("fence locked.rml --model sc,pso --write out.rml").code, 2);
    assert_eq!(place.run("fence locked.rml --set vars=1 --model pso --timeout 0").code, 3);
}

#[test]
fn histories_and_specifications_have_their_schemas() {
    let place = place();
    let done = place.run("history torn.txt --format json");
    assert_eq!(done.code, 1);
    let report = json(&done);
    assert_eq!(report["schema"], "cyrano.history/1");
    assert_eq!(report["results"][0]["verdict"], "rejected");
    assert_eq!(report["results"][0]["at"], 7);
    assert_eq!(report["results"][1]["verdict"], "accepted");
    let done = place.run("spec compare foil-det opacity --vars 1 --format json");
    assert_eq!(done.code, 1);
    let report = json(&done);
    assert_eq!(report["schema"], "cyrano.spec/1");
    assert_eq!(report["equivalent"], false);
    assert!(report["left_only"].is_array());
    let compared = |symmetry: &str| {
        let done = place
            .run(&format!("spec compare opacity strict-serializability --threads 3 --vars 1 --format json {symmetry}"));
        let report = json(&done);
        (
            report["equivalent"].clone(),
            report["right_only"].clone(),
            report["pairs"].as_u64(),
            report["symmetry"].clone(),
        )
    };
    let (on, off) = (compared(""), compared("--no-symmetry"));
    assert_eq!((&on.0, &on.1), (&off.0, &off.1));
    assert!(on.2 < off.2 && on.3 == true && off.3 == false, "{on:?} {off:?}");
    let stopped = place.run("spec compare foil-nondet foil-det --vars 3 --timeout 0.2 --format json");
    assert_eq!((stopped.code, json(&stopped)["equivalent"].clone()), (3, serde_json::Value::Null));
}

#[test]
fn tables_have_their_schema_and_say_what_is_unknown() {
    let place = place();
    let done = place.run("tables foil --only 'Section 4.2' --format json");
    assert_eq!(done.code, 0, "{done:?}");
    let report = json(&done);
    assert_eq!((&report["schema"], &report["paper"]), (&"cyrano.tables/1".into(), &"foil".into()));
    assert_eq!(report["tables"][0]["rows"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["tables"][0]["rows"][3]["cells"][3], "yes");
    for table in ["Section 3", "Table 2", "Table 3"] {
        let done = place.run(&format!("tables foil --only '{table}' --timeout 0"));
        assert_eq!(done.code, 3, "{table}: {done:?}");
        assert!(done.stdout.contains("unknown") && done.stdout.contains("time limit reached"), "{}", done.stdout);
    }
}

/// A fence in `end` is passed once, one in `write` five times.
#[test]
fn fences_have_weights() {
    let place = place();
    let programs = |weights: &str| {
        let done = place.run(&format!("fence lib:stm/mcrt.rml --model pso --format json {weights}"));
        let result = json(&done)["results"][0].clone();
        let fences = result["sets"][0].as_array().expect("a set").clone();
        let programs: Vec<String> =
            fences.iter().filter_map(|fence| Some(fence["program"].as_str()?.to_owned())).collect();
        (programs.join(" "), result["costs"][0].as_u64())
    };
    assert_eq!(programs(""), ("pa write".to_owned(), None));
    assert_eq!(programs("--weights read=10,write=5,end=1,pa=2"), ("pa end".to_owned(), Some(3)));
    assert_eq!(programs("--weights write=1,end=5"), ("pa write".to_owned(), Some(4)), "`pa` has three callers");
    for (weights, said) in [("reed=1", "there is no `reed`"), ("read=0", "from 1 to 1000"), ("read", "NAME=N")] {
        let done = place.run(&format!("fence lib:stm/mcrt.rml --model pso --weights {weights}"));
        assert!(done.code == 2 && done.stderr.contains(said), "{done:?}");
    }
    let done = place.run("fence lib:tm-objects/core_mcrt.rml --model declared --criterion never --weights read=2");
    assert!(done.code == 2 && done.stderr.contains("weights are for fences"), "{done:?}");
}

/// A file that declares something for one of its clients is not told that it declares nothing.
#[test]
fn what_a_criterion_is_about_is_told() {
    let place = place();
    let done = place.run("check lib:tm-objects/core_mcrt.rml --criterion crash-free-solo-progress --format json");
    let report = json(&done);
    let checks = report["checks"].as_array().expect("a list");
    assert_eq!((done.code, checks.len()), (0, 1), "clients that come to an end are left out: {done:?}");
    for (line, said) in [
        ("lib:stm/mcrt_timestamps.rml", "it has no transactions that go on for ever"),
        ("lib:tm-objects/core_mcrt.rml --test P_WS", "says nothing about P_WS of lib:tm-objects/core_mcrt.rml"),
    ] {
        let done = place.run(&format!("check {line} --criterion solo-progress --format json"));
        let reason = json(&done)["checks"][0]["reason"].clone();
        assert!(done.code == 5 && reason.as_str().is_some_and(|reason| reason.contains(said)), "{line}: {reason}");
    }
}
