//! Fences for C files: found, written, needed, and enough.

mod cli;

use cli::{Folder, json};

/// The library's unfenced stack, with a few of its tests.
fn stack() -> Folder {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/datatypes/");
    let read = |name: &str| std::fs::read_to_string(format!("{library}{name}")).expect("the library has it");
    Folder::new(&[("stack.c", &read("treiber_unfenced.c")), ("treiber.tests", &read("treiber.tests"))])
}

/// The kinds of the first set of the first result.
fn kinds(report: &serde_json::Value) -> Vec<(String, String)> {
    let set = report["results"][0]["sets"][0].as_array().expect("there is a set");
    let text = |fence: &serde_json::Value, field: &str| fence[field].as_str().unwrap_or_default().to_owned();
    set.iter().map(|fence| (text(fence, "program"), text(fence, "kind"))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(function, kind)| ((*function).to_owned(), (*kind).to_owned())).collect()
}

#[test]
fn a_stack_is_repaired_for_all_its_tests() {
    let place = stack();
    let tests = "--test S0,Si2,Spc2";
    assert_eq!(place.run(&format!("check stack.c --model relaxed {tests} --quiet")).code, 1);
    let done = place.run(&format!("fence stack.c --model relaxed {tests} --write fixed.c --format json"));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let report = json(&done);
    let result = &report["results"][0];
    assert_eq!((&result["verdict"], &result["minimal"]), (&"repaired".into(), &true.into()));
    assert_eq!(kinds(&report), pairs(&[("push", "store-store"), ("pop", "load-load")]));
    for fence in result["sets"][0].as_array().expect("a list") {
        let prevented = fence["prevents"].as_array().expect("a list");
        assert!(prevented.len() == 1 && prevented[0].as_str().is_some_and(|words| words.starts_with('S')));
    }
    let fixed = place.read("fixed.c");
    assert_eq!(fixed.matches("fence(\"").count(), 2, "{fixed}");
    assert!(result["diff"].as_str().is_some_and(|diff| diff.contains("\n+") && diff.contains("fence(\"load-load\");")));
    assert_eq!(place.run(&format!("check fixed.c --model relaxed {tests} --quiet")).code, 0);
    assert!(place.run("fence fixed.c --model relaxed --test S0 --quiet").stdout.contains("already-correct"));
    // None of them can go.
    for (at, _) in fixed.match_indices("fence(\"") {
        let line = fixed[at..].find('\n').map_or(fixed.len(), |end| at + end);
        let less = format!("{}{}", &fixed[..at], &fixed[line..]);
        place.write("less.c", less.as_bytes());
        assert_eq!(place.run(&format!("check less.c --model relaxed {tests} --quiet")).code, 1, "{less}");
    }
}

/// A message and a flag, in a file of the test's own making.
fn message(put: &str, get: &str) -> Folder {
    let source = format!(
        "#include <cyrano.h>\n#define SET(x) x = 1\n#define WHEN(c) if (c)\nint data, flag;\n\
         void put(void)\n{{\n{put}}}\nint get(void)\n{{\n{get}}}\n"
    );
    Folder::new(&[("m.c", source.as_str()), ("m.tests", "p = put()\ng = get()\ntest M = ( p | g )\n")])
}

#[track_caller]
fn added(place: &Folder, options: &str, expected: &[&str]) {
    let done = place.run(&format!("fence m.c {options}"));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let lines = done.stdout.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    assert_eq!(lines.collect::<Vec<_>>(), expected, "{}", done.stdout);
}

#[test]
fn fences_stay_in_their_branch() {
    let get = "    int f = flag;\n    if (f)\n        return 2 + data;\n    return 0;\n";
    let place = message("    data = 1;\n    flag = 1;\n", get);
    added(&place, "--model pso", &["+    fence(\"store-store\");"]);
    added(&place, "--model relaxed", &["+    fence(\"store-store\");", "+    fence(\"load-load\");"]);
    let done = place.run("fence m.c --model relaxed --all");
    assert!(done.stdout.contains("2 minimal sets (all of them)"), "{}", done.stdout);
    // The second of them has its fence within the branch.
    assert!(done.stdout.contains("after line 12 (get)"), "{}", done.stdout);
}

/// Macros hide statements; nothing is inserted where it would change what the program does.
#[test]
fn macros_are_not_taken_for_what_they_seem() {
    let put = "    SET(data);\n    if (data) WHEN(data == 1) SET(flag); else data = 0;\n";
    let get = "    int f = flag;\n    return f ? 2 + data : 0;\n";
    let place = message(put, get);
    added(&place, "--model pso", &["+    fence(\"store-store\");"]);
}

#[test]
fn hopeless_cases() {
    let lost = message("    int old = data; data = old + 1;\n", "    return data;\n");
    lost.write("m.tests", b"p = put()\ng = get()\ntest P = ( p | p )\ntest L = ( pg | pg )\n");
    let done = lost.run("fence m.c --model relaxed --quiet");
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(done.stdout.contains("irreparable") && done.stdout.contains("sequential consistency"), "{}", done.stdout);
    let bare = Folder::new(&[
        ("b.c", "int x, y; void p(void) { x = 1; y = 1; } int g(void) { int r = y; return r ? 2 + x : 0; }"),
        ("b.tests", "p = p()\ng = g()\ntest M = ( p | g )\n"),
    ]);
    let done = bare.run("fence b.c --model pso");
    assert!(done.code == 2 && done.stderr.contains("#include <cyrano.h>"), "{}{}", done.stdout, done.stderr);
    let done = bare.run("fence b.c --model pso --test N");
    assert!(done.code == 2 && done.stderr.contains("there is no test `N`"), "{}", done.stderr);
    let done = stack().run("fence stack.c --model relaxed --timeout 0.000001");
    assert!(done.code == 3 && done.stdout.contains("unknown"), "{}{}", done.stdout, done.stderr);
}
