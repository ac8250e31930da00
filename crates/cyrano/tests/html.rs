//! Pages: what is in them is what the other formats say, and what a trace tells about every step agrees with its beginning and its end.

mod cli;

use cli::{Folder, SB, json};
use serde_json::Value;

/// The document in a page.
fn embedded(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").expect("there is data");
    let (data, _) = rest.split_once("</script>").expect("it ends");
    serde_json::from_str(data).expect("it is JSON")
}

/// Without what is different in every run.
fn without_costs(mut report: Value) -> Value {
    for list in ["checks", "results"] {
        for one in report.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            one["seconds"] = Value::Null;
            one["peak_bytes"] = Value::Null;
        }
    }
    report
}

#[test]
fn a_page_has_the_report_in_it() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("check sb.rml --format json --html sb.html");
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("page written to sb.html"), "{}", done.stderr);
    let html = place.read("sb.html");
    assert_eq!(without_costs(embedded(&html)), without_costs(json(&done)));
    assert!(html.contains("<title>Cyrano: sb.rml</title>"));
    for elsewhere in ["src=", "href=\"http", "@import", "url(\"", "fetch("] {
        assert!(!html.contains(elsewhere), "the page has {elsewhere}");
    }
}

#[test]
fn saved_documents_can_be_viewed() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("check sb.rml --model tso --format json --save-trace bug.json");
    place.write("report.json", done.stdout.as_bytes());
    for (file, schema) in [("bug.json", "cyrano.trace/2"), ("report.json", "cyrano.report/1")] {
        let viewed = place.run(&format!("view {file} -o page.html --no-open"));
        assert_eq!((viewed.code, viewed.stdout.as_str()), (0, "page.html\n"), "{}", viewed.stderr);
        let shown = embedded(&place.read("page.html"));
        assert_eq!(shown["schema"], schema);
        assert_eq!(shown, serde_json::from_str::<Value>(&place.read(file)).expect("it is JSON"));
    }
}

#[test]
fn bad_documents_are_refused() {
    let place = Folder::new(&[("sb.rml", SB)]);
    place.run("check sb.rml --model tso --save-trace bug.json");
    let good = place.read("bug.json");
    place.write("half.json", &good.as_bytes()[..good.len() / 2]);
    place.write("next.json", good.replace("cyrano.trace/2", "cyrano.trace/3").as_bytes());
    place.write("less.json", good.replace("\"steps\"", "\"stones\"").as_bytes());
    place.write("list.json", b"[1, 2]");
    let expected = [
        ("half.json", "it is not JSON"),
        ("next.json", "its schema is `cyrano.trace/3`"),
        ("less.json", "it does not follow `cyrano.trace/2`"),
        ("list.json", "it has no schema"),
        ("sb.rml", "it is not JSON"),
        ("missing.json", "there is no such file"),
    ];
    for (file, part) in expected {
        let done = place.run(&format!("view {file} --no-open"));
        assert_eq!(done.code, 2, "{file}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{file}: {}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let done = place.run("check sb.rml --html no/such/place.html");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);
}

#[test]
fn a_repair_has_an_execution_for_each_fence() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("fence sb.rml --model tso --format json --html sb.html");
    let page = embedded(&place.read("sb.html"));
    let fences = page["results"][0]["sets"][0].as_array().expect("there is a set");
    assert!(!fences.is_empty());
    for fence in fences {
        let traces = fence["counterexamples"].as_array().expect("there are executions");
        let words = fence["prevents"].as_array().expect("there are words");
        assert_eq!(traces.len(), words.len());
        for (trace, words) in traces.iter().zip(words) {
            assert_eq!(&trace["explanation"]["sentence"], words);
        }
    }
    assert!(!done.stdout.contains("counterexamples"), "the JSON report stays small");
}

/// A name and its value; registers and locations are told in the same way.
fn pair(named: &Value) -> (String, Value) {
    (named["name"].as_str().expect("a name").to_owned(), named["value"].clone())
}

fn pairs(list: &Value) -> std::collections::BTreeMap<String, Value> {
    list.as_array().expect("a list").iter().map(pair).collect()
}

/// The memory that a trace begins with becomes the one that it ends with, and everybody reads what is there.
fn check_memory(trace: &Value) {
    let mut memory = pairs(&trace["initial"]);
    for step in trace["steps"].as_array().expect("steps") {
        let Some(location) = step["location"].as_str() else { continue };
        if !step["read"].is_null() && step["source"]["from"] != "forwarded" {
            assert_eq!(memory[location], step["read"], "step {}", step["n"]);
        }
        if !step["written"].is_null() {
            memory.insert(location.to_owned(), step["written"].clone());
        }
    }
    assert_eq!(memory, pairs(&trace["memory"]));
}

/// The changes of registers lead to what the threads end with, in the order of the steps.
fn check_registers(trace: &Value) {
    let changes = trace["changes"].as_array().expect("changes");
    let numbers: Vec<u64> = changes.iter().filter_map(|change| change["n"].as_u64()).collect();
    assert!(numbers.is_sorted() && numbers.len() == changes.len());
    for thread in trace["threads"].as_array().expect("threads") {
        let own = changes.iter().filter(|change| change["thread"] == thread["name"]);
        let last: std::collections::BTreeMap<_, _> = own.map(pair).collect();
        assert_eq!(last, pairs(&thread["registers"]), "{}", thread["name"]);
    }
}

/// An operation has the steps that its range of accesses says, and is finished if all of them were performed.
fn check_operations(trace: &Value) {
    for operation in trace["operations"].as_array().into_iter().flatten() {
        let (from, to) = (operation["po"][0].as_u64(), operation["po"][1].as_u64());
        let steps = trace["steps"].as_array().expect("steps").iter();
        let own = steps.filter(|step| {
            step["thread"] == operation["thread"] && step["po"].as_u64() >= from && step["po"].as_u64() <= to
        });
        let numbers: Vec<u64> = own.filter_map(|step| step["n"].as_u64()).collect();
        assert_eq!(numbers.iter().min().copied(), operation["first"].as_u64(), "{}", operation["name"]);
        assert_eq!(numbers.iter().max().copied(), operation["last"].as_u64(), "{}", operation["name"]);
        let all = to.zip(from).map(|(to, from)| to - from + 1) == Some(numbers.len() as u64);
        assert!(all || operation["status"] == "unfinished", "{}", operation["name"]);
    }
}

#[test]
fn what_is_told_about_every_step_fits_together() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let examples = [
        "sb.rml --model tso",
        "lib:litmus/n6.rml --model tso",
        "lib:litmus/lb.rml --model rmo",
        "lib:litmus/deadlock.rml",
        "lib:litmus/treiber.rml --model pso",
        "lib:datatypes/msn_unfenced.c --test T0 --model pso,rmo",
        "lib:datatypes/snark_bug.c --test D0 --model sc",
        "lib:stm/tl2_bug_no_lock.rml --criterion opacity --model sc,rmo",
        "lib:stm/mcrt.rml --criterion progress",
        "lib:tm-objects/core_mcrt.rml",
        "lib:atomicity/bluetooth_bug.rml --model sc",
    ];
    let mut seen = 0;
    for args in examples {
        let done = place.run(&format!("check {args} --format json"));
        for check in json(&done)["checks"].as_array().expect("checks") {
            if check["trace"].is_null() {
                continue;
            }
            seen += 1;
            check_memory(&check["trace"]);
            check_registers(&check["trace"]);
            check_operations(&check["trace"]);
        }
    }
    assert!(seen >= 20, "only {seen} executions");
}

/// A register that waits for a deferred load has no value until then.
#[test]
fn a_deferred_load_provides_its_register_late() {
    let text = "threads {
    shared x, y; local a, b;
    thread p { a := y; b := x; }
    thread q { x := 1; fence(store-store); y := 1; }
}
check never (a = 1 && b = 0);
";
    let place = Folder::new(&[("lr.rml", text)]);
    let done = place.run("check lr.rml --model rmo --format json");
    let trace = &json(&done)["checks"][0]["trace"];
    let steps = trace["steps"].as_array().expect("steps");
    let early = steps.iter().find(|step| step["location"] == "x" && step["kind"] == "load").expect("a load of x");
    let late = steps.iter().find(|step| step["location"] == "y" && step["kind"] == "load").expect("a load of y");
    assert!(early["n"].as_u64() < late["n"].as_u64(), "{}", done.stdout);
    let values = |name: &str| -> Vec<(u64, Option<i64>)> {
        let changes = trace["changes"].as_array().expect("changes");
        let own = changes.iter().filter(|change| change["name"] == name);
        own.map(|change| (change["n"].as_u64().expect("a step"), change["value"].as_i64())).collect()
    };
    let (early, late) = (early["n"].as_u64().expect("a step"), late["n"].as_u64().expect("a step"));
    assert_eq!(values("a"), [(0, Some(0)), (early, None), (late, Some(1))]);
    assert_eq!(values("b"), [(0, Some(0))], "b stays 0");
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let place = Folder::new(&[]);
    let done = place.run("check lib:litmus/deadlock.rml --model sc --format json");
    let explanation = &json(&done)["checks"][0]["explanation"];
    let trace = &json(&done)["checks"][0]["trace"];
    let waits = explanation["waits"].as_array().expect("they wait");
    assert_eq!(waits.len(), 2);
    for wait in waits {
        let read = &wait["reads"][0];
        let step = read["step"].as_u64().expect("somebody wrote it");
        let writer = &trace["steps"][step as usize - 1];
        assert_ne!(writer["thread"], wait["thread"]);
        assert_eq!((&writer["location"], &writer["written"]), (&read["name"], &read["value"]));
    }
}

/// A trace from before these fields existed still replays.
#[test]
fn older_traces_are_confirmed() {
    let place = Folder::new(&[]);
    for example in ["lib:litmus/deadlock.rml --model sc", "lib:datatypes/msn_unfenced.c --test T0 --model pso"] {
        place.run(&format!("check {example} --save-trace new.json"));
        let mut trace: Value = serde_json::from_str(&place.read("new.json")).expect("it is JSON");
        let fields = trace.as_object_mut().expect("an object");
        for field in ["initial", "changes", "operations"] {
            fields.remove(field);
        }
        trace["explanation"].as_object_mut().expect("an object").remove("waits");
        place.write("old.json", trace.to_string().as_bytes());
        let done = place.run("replay old.json --quiet --html replayed.html");
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let replayed = embedded(&place.read("replayed.html"));
        assert_eq!((&replayed["schema"], &replayed["confirmed"]), (&"cyrano.replay/1".into(), &true.into()));
        assert!(replayed["trace"]["initial"].is_array(), "the replay knows what the old trace does not");
        assert_eq!(place.run("view old.json --no-open -o old.html").code, 0);
        trace["initial"] = serde_json::json!([{ "name": "x", "value": 7 }]);
        place.write("wrong.json", trace.to_string().as_bytes());
        assert_eq!(place.run("replay wrong.json --quiet").code, 2);
    }
}
