//! Programs and traces that were made to break the tool. Each once did.

mod cli;

use std::time::{Duration, Instant};

use cli::Folder;

/// Checks a program under models and expects an exit code; a panic or an unconfirmed execution fails in `run`.
fn check(source: &str, options: &str, code: i32) {
    let place = Folder::new(&[("p.rml", source)]);
    let done = place.run(&format!("check p.rml --engine explore {options}"));
    assert_eq!(done.code, code, "{source}\n{done:?}");
}

const ALL: &str = "--criterion assertions --model sc,tso,pso,rmo";

#[test]
fn many_choices_are_not_tried_one_by_one() {
    let choices = "choose s in 0..1; ".repeat(60);
    let source = format!("threads {{ shared x; thread p {{ local s; {choices} x := s; }} }} check never (x = 7);");
    let started = Instant::now();
    check(&source, "--model sc", 0);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn too_many_choices_in_one_section_are_left_alone() {
    let choices = "choose s in 0..1; ".repeat(24);
    let source =
        format!("threads {{ shared x; thread p {{ local s; atomic {{ {choices} x := s; }} }} }} check never (x = 7);");
    check(&source, "--model sc", 3);
}

#[test]
fn a_state_can_be_too_large() {
    let arrays: Vec<String> =
        (0..40).map(|i| format!("a{i}[4096] = -170141183460469231731687303715884105727")).collect();
    let source =
        format!("threads {{ shared {}; thread p {{ a0[0] := 1; }} }} check never (a0[0] = 7);", arrays.join(", "));
    check(&source, "--model sc --no-reduction remembered-steps", 3);
    // Numbered parts that never change take no room.
    check(&source, "--model sc", 0);
}

#[test]
fn broken_computations_are_confirmed() {
    let wrong = [
        "shared x = 170141183460469231731687303715884105727; thread p { local r; r := fetch_add(x, 1); }",
        "shared x = 170141183460469231731687303715884105727; thread p { local r; atomic { r := fetch_add(x, 1); } }",
        "shared y; thread p { local r; r := cas(y, 1, 4 / r); }",
        "shared y; thread p { local r; r := cas(y, 4 / r, 1); }",
        "shared y; thread p { local r = 2, s, v[2]; atomic { v[r] := 1; s := y; } }",
        "shared x; thread p { local r = 2, v[2]; x := x + v[r]; }",
        "shared x; thread p { local r; atomic { loop { r := r + 1; x := r; } } }",
    ];
    for program in wrong {
        check(&format!("threads {{ {program} }}"), ALL, 1);
    }
}

/// A trace of store buffering under tso, with one text replaced by another, is not confirmed.
fn tampered(from: &str, to: &str) {
    let place = Folder::new(&[]);
    assert_eq!(place.run("check lib:litmus/sb.rml --model tso --save-trace t.json").code, 1);
    assert_eq!(place.run("replay t.json").code, 0);
    let text = place.read("t.json");
    assert!(text.contains(from), "{text}");
    place.write("t.json", text.replacen(from, to, 1).as_bytes());
    let done = place.run("replay t.json");
    assert!(matches!(done.code, 1 | 2), "{from} → {to}: {done:?}");
}

#[test]
fn tampered_traces_are_not_confirmed() {
    tampered("\"name\": \"tso\"", "\"name\": \"sc\"");
    tampered("\"load-load\",", "");
    tampered("\"location\": \"y\"", "\"location\": \"x\"");
    tampered("\"kind\": \"load\"", "\"kind\": \"store\"");
    tampered("\"from\": \"initial\"", "\"from\": \"step\", \"n\": 1");
}

#[test]
fn a_trace_that_never_gets_to_its_point_ends() {
    let place = Folder::new(&[]);
    assert_eq!(place.run("check lib:litmus/sb.rml --model tso --save-trace t.json").code, 1);
    let text = place.read("t.json");
    let endless = text.replacen("x := 1;", "loop { if r1 == 9 { break; } }", 1);
    assert_ne!(text, endless);
    place.write("t.json", endless.as_bytes());
    assert!(matches!(place.run("replay t.json").code, 1 | 2));
}

#[test]
fn values_without_an_end_are_named_when_a_limit_is_reached() {
    let source = "threads { shared x; thread p { local r; loop { r := x; x := r + 1; } } }\ncheck assertions;\n";
    let done = Folder::new(&[("grow.rml", source)]).run("check grow.rml --model sc --timeout 1");
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.stdout.contains("the values of x may have no end"), "{}", done.stdout);
}
