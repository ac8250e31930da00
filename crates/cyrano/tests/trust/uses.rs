//! Files that use other ones: everything is where it was written, and nothing is taken for something else.

use crate::cli::{Folder, json};
use crate::verdicts_in;

const MEMORY: &str = "const SIZE = 1;
stm lock {
  shared lock; data g[vars]; local r, mine;
  proc acquire { if mine == 0 { atomic { r := lock; assume r == 0; lock := 1; } mine := 1; } }
  read(a)     { acquire; r := g[a]; return r }
  write(a, v) { acquire; g[a] := v; }
  end         { acquire; mine := 0; lock := 0; commit }
}
client { thread p { tx { write(0, SIZE); } } }
observe p.r;
check never (true);
";

const CLIENT: &str = "const vars = 2, SIZE = 3;
use memory;
client {
  initially g = {7, SIZE};
  thread p { local r, s; tx { r := read(0); write(0, r + 1); } s := g[1]; }
  thread q { local t; tx { t := read(0); } }
}
check atomicity;
check always (s == 3 && (t == 7 || t == 8));
";

#[test]
fn a_used_memory_is_as_good_as_a_copy() {
    let copy = MEMORY.split("client").next().expect("a memory").replace("const SIZE = 1;", "");
    let place = Folder::new(&[
        ("memory.rml", MEMORY),
        ("used.rml", CLIENT),
        ("copy.rml", &CLIENT.replace("use memory;", &copy)),
        ("sub.rml", "use \"used.rml\";\ncheck never (t == 7);"),
    ]);
    assert_eq!(verdicts_in(&place, "used.rml").0, ["verified", "verified"]);
    assert_eq!(verdicts_in(&place, "copy.rml").0, ["verified", "verified"]);
    let states = |file: &str| json(&place.run(&format!("check {file} --format json")))["checks"][0]["states"].clone();
    assert_eq!(states("used.rml"), states("copy.rml"));
    // What the used file asks is not asked: without its client there is nothing to judge here.
    assert_eq!(place.run("check sub.rml").code, 2);
}

#[test]
fn errors_are_shown_where_they_are() {
    let broken = MEMORY.replace("r := g[a]; return r", "r := h[a]; return r");
    let place = Folder::new(&[
        ("memory.rml", &broken),
        ("used.rml", CLIENT),
        ("one.rml", "use two;\nclient { thread a { tx { write(0, 1); } } }"),
        ("two.rml", "use one;"),
        ("none.rml", "// nothing\n  use nowhere;\nclient { thread a { tx { write(0, 1); } } }"),
        ("empty.rml", "use ;"),
        ("twice.rml", "use lib:stm/mcrt_timestamps;\nuse lib:stm/mcrt_timestamps;"),
        (
            "initial.rml",
            "use lib:stm/mcrt_timestamps;\nclient { initially h = 1; thread a { tx { write(0, 1); } } }\ncheck atomicity;",
        ),
    ]);
    for (file, what) in [
        ("used.rml", &["unknown name `h`", "memory.rml:5:31"][..]),
        ("one.rml", &["`one.rml` is used twice, or uses itself", "two.rml:1:5"]),
        ("none.rml", &["`nowhere` cannot be used: nowhere.rml: there is no such file", "none.rml:2:7"]),
        ("empty.rml", &["`use` without a file", "empty.rml:1:5"]),
        ("twice.rml", &["is used twice", "twice.rml:2:5"]),
        ("initial.rml", &["the memory has no data `h`", "initial.rml:2:20"]),
    ] {
        let done = place.run(&format!("check {file}"));
        assert_eq!(done.code, 2, "{file}: {}", done.stdout);
        what.iter().for_each(|what| assert!(done.stderr.contains(what), "no `{what}` in\n{}", done.stderr));
    }
}

#[test]
fn executions_and_fences_of_used_files() {
    let wrong = CLIENT.replace("t == 7 || t == 8", "t == 8");
    let place = Folder::new(&[("memory.rml", MEMORY), ("used.rml", &wrong)]);
    let done = place.run("check used.rml --save-trace t.json");
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("lines of: memory is memory.rml"), "{}", done.stdout);
    // Steps of the memory have its lines, everywhere.
    let number = MEMORY.lines().position(|line| line.contains(":= g[a]")).expect("it accesses data") + 1;
    assert!(done.stdout.contains(&format!("memory:{number}: ")), "{}", done.stdout);
    let trace: serde_json::Value = serde_json::from_str(&place.read("t.json")).expect("JSON");
    let used: Vec<_> =
        trace["steps"].as_array().expect("steps").iter().filter(|step| step["used"].is_object()).collect();
    assert!(
        used.iter().any(|step| step["used"] == serde_json::json!({"file": "memory.rml", "line": number})),
        "{used:?}"
    );
    let sarif = place.run("check used.rml --format sarif").stdout;
    assert!(sarif.contains("memory.rml"), "{sarif}");
    let again = place.run("replay t.json");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(!again.stderr.contains("no longer"), "{}", again.stderr);
    // The trace has all that it needs; a changed memory is noticed.
    place.write("memory.rml", MEMORY.replace("mine := 1", "mine := 2").as_bytes());
    let changed = place.run("replay t.json");
    assert_eq!(changed.code, 0, "{}", changed.stderr);
    assert!(changed.stderr.contains("no longer the program of this trace"), "{}", changed.stderr);
}
