//! What CI systems, papers and pull requests get: SARIF, JUnit, pictures; and replays against a changed source.

mod cli;

use cli::{Folder, SB, json};
use serde_json::Value;

/// Message passing, wrong under pso.
const MP: &str = "threads {
    shared d, f;
    thread p0 {
        d := 1;
        f := 1
    }
    thread p1 {
        local r1, r2;
        r1 := f;
        r2 := d;
        assert !(r1 = 1 && r2 = 0)
    }
}
check assertions on pso;
";

fn place() -> Folder {
    Folder::new(&[("sb.rml", SB), ("mp.rml", MP)])
}

#[test]
fn sarif_says_what_the_exit_code_says() {
    let place = place();
    for (line, code) in [("check mp.rml", 1), ("check mp.rml --model sc", 0), ("check mp.rml --timeout 0.000001", 3)] {
        let done = place.run(&format!("{line} --format sarif"));
        assert_eq!(done.code, code, "{done:?}");
        let log = json(&done);
        assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], code);
        let results = log["runs"][0]["results"].as_array().map_or(0, Vec::len);
        assert_eq!(results, usize::from(code != 0));
    }
    let log = json(&place.run("check mp.rml --format sarif"));
    let result = &log["runs"][0]["results"][0];
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        (&location["artifactLocation"]["uri"], &location["region"]["startLine"]),
        (&"mp.rml".into(), &11.into())
    );
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("was performed before")), "{result}");
}

#[test]
fn junit_counts_what_went_wrong() {
    let place = place();
    let done = place.run("check mp.rml --model sc,pso --format junit");
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.contains("<testsuites name=\"cyrano\" tests=\"2\" failures=\"1\" errors=\"0\""),
        "{}",
        done.stdout
    );
    let litmus = place.run("litmus lib:herd/SB.litmus --format junit");
    assert!(litmus.code == 0 && litmus.stdout.contains("failures=\"0\""), "{litmus:?}");
    let fence = place.run("fence mp.rml --model pso --format sarif");
    let log = json(&fence);
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "cyrano/fences");
    assert_eq!(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 4);
}

#[test]
fn other_commands_refuse_forms_for_verdicts() {
    let place = place();
    place.run("check mp.rml --save-trace t.json");
    for line in ["outcomes sb.rml", "models", "replay t.json", "spec compare foil-det opacity", "tables foil"] {
        let done = place.run(&format!("{line} --format sarif"));
        assert!(done.code == 2 && done.stdout.is_empty(), "{done:?}");
        assert!(done.stderr.contains("check, fence, litmus and report have it"), "{}", done.stderr);
    }
}

#[test]
fn drawings_are_written_beside_the_result() {
    let place = place();
    let done = place.run("check mp.rml sb.rml --model pso --svg a.svg --dot a.dot --mermaid a.mmd --save-trace a.json");
    assert_eq!(done.code, 1);
    for (name, start) in
        [("a.svg", "<?xml"), ("a.dot", "digraph trace {"), ("a.mmd", "sequenceDiagram"), ("a.json", "{")]
    {
        assert!(place.read(name).starts_with(start), "{name}");
        let second = name.replace("a.", "a-2.");
        assert!(place.path(&second).exists(), "{second}");
    }
    let again = place.run("replay a.json --svg b.svg --quiet");
    assert_eq!((again.code, place.read("b.svg")), (0, place.read("a.svg")));
    let nowhere = place.run("check mp.rml --svg missing/a.svg");
    assert!(nowhere.code == 2 && nowhere.stderr.contains("cannot be written"), "{nowhere:?}");
}

#[test]
fn fences_save_what_they_prevent() {
    let place = place();
    let done = place.run("fence mp.rml --model pso --save-trace f.json");
    assert_eq!(done.code, 0, "{done:?}");
    let replayed = place.run("replay f.json --quiet");
    assert_eq!(replayed.code, 0, "{replayed:?}");
}

/// What replaying the trace of `MP` against a changed version says.
fn against(from: &str, to: &str, code: i32, parts: &[&str]) {
    let place = place();
    place.run("check mp.rml --save-trace t.json");
    assert!(MP.contains(from));
    place.write("mp.rml", MP.replacen(from, to, 1).as_bytes());
    let done = place.run("replay t.json --source mp.rml");
    assert_eq!(done.code, code, "{done:?}");
    for part in parts {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let report = json(&place.run("replay t.json --source mp.rml --format json"));
    assert_eq!((&report["confirmed"], &report["against"]), (&(code == 0).into(), &"mp.rml".into()));
}

#[test]
fn a_changed_source_is_told_from_the_recorded_one() {
    against("threads", "// one line more\nthreads", 0, &["confirmed against mp.rml"]);
    against(
        "        f := 1",
        "        fence(store-store);\n        f := 1",
        1,
        &["step 1 (p0, line 5, now line 6)", "a fence stands between"],
    );
    let written = ["step 1 of p0", "line 5's store of f (`f := 1`), which wrote 1", "which writes 2"];
    against("f := 1", "f := 2", 1, &written);
    // What is not performed may change.
    against("d := 1", "d := 2", 0, &["confirmed against mp.rml"]);
    against("        d := 1;\n", "", 1, &["step 1 of p0", "line 5's store of f", "gets no further than line 4"]);
    against(
        "r1 := f",
        "r1 := d",
        1,
        &["step 2 of p1", "line 9's load of f (`r1 := f`)", "line 9's load of d (`r1 := d`)"],
    );
    against("assert !(r1 = 1 && r2 = 0)", "assert r1 = 0 || r2 = 1", 1, &["line 11", "is gone"]);
    against("thread p1", "thread q", 1, &["threads are p0, p1", "p0, q"]);
}

#[test]
fn a_changed_file_is_mentioned() {
    let place = place();
    place.run("check mp.rml --save-trace t.json");
    assert!(!place.run("replay t.json").stderr.contains("--source"));
    place.write("mp.rml", MP.replace("d := 1", "d := 2").as_bytes());
    let done = place.run("replay t.json");
    assert!(done.code == 0 && done.stderr.contains("--source mp.rml"), "{done:?}");
}

#[test]
fn executions_are_minimised_unless_the_user_does_not_want_it() {
    let place = place();
    let report = json(&place.run("check lib:stm/tl2_bug_no_lock.rml --model sc --criterion opacity --format json"));
    let minimised = &report["checks"][0]["minimised"];
    let steps = |which: &str| minimised[which]["steps"].as_u64().expect("a number");
    assert!(steps("to") <= steps("from") && minimised["complete"] == true, "{minimised}");
    assert_eq!(report["checks"][0]["trace"]["steps"].as_array().map(|steps| steps.len() as u64), Some(steps("to")));
    let raw = "check lib:stm/tl2_bug_no_lock.rml --model sc --criterion opacity --format json --no-minimise";
    let report = json(&place.run(raw));
    assert!(report["checks"][0]["minimised"].is_null());
    assert_eq!(report["checks"][0]["trace"]["steps"].as_array().map(|s| s.len() as u64), Some(steps("from")));
}

/// Labels, calls of base objects and what else is told about algorithms came later than `cyrano.trace/2`.
#[test]
fn older_traces_of_algorithms_replay() {
    let place = Folder::new(&[]);
    let check = "check lib:tm-objects/core_mcrt.rml --test P_WE --criterion never --model literal --quiet";
    assert_eq!(place.run(&format!("{check} --save-trace new.json")).code, 1);
    let mut trace: Value = serde_json::from_str(&place.read("new.json")).expect("it is JSON");
    let forget = |value: &mut Value, names: &[&str]| {
        let fields = value.as_object_mut().expect("an object");
        names.iter().for_each(|name| drop(fields.remove(*name)));
    };
    forget(&mut trace, &["locals", "helpers", "shape"]);
    trace["transactions"] = Value::Array(Vec::new());
    let list = |value: &mut Value| value.as_array_mut().map(std::mem::take).expect("a list");
    let mut steps = list(&mut trace["steps"]);
    assert!(steps.iter().any(|step| step["label"] == "W06" && step["call"]["result"] == "1"), "{steps:?}");
    for step in &mut steps {
        forget(step, &["label", "call", "within"]);
        step["overtook"].as_array_mut().expect("a list").iter_mut().for_each(|other| forget(other, &["label"]));
        step["words"]
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .for_each(|words| *words = "as it was said then".into());
    }
    let wrong = steps.clone();
    trace["steps"] = steps.into();
    for operation in trace["operations"].as_array_mut().expect("a list") {
        forget(operation, &["result", "transaction"]);
    }
    place.write("old.json", trace.to_string().as_bytes());
    let replayed = place.run("replay old.json");
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("R03: rver := ver[1].read(): 0"), "{}", replayed.stdout);
    // What a step did is compared all the same.
    trace["steps"] = wrong.into();
    trace["steps"][0]["line"] = 1.into();
    place.write("wrong.json", trace.to_string().as_bytes());
    assert_eq!(place.run("replay wrong.json").code, 2);
}
