//! Litmus tests on the command line: results, expectations, refusals, generated tests, comparisons.

mod cli;

use cli::{Folder, json};

const SB: &str = "\
X86 SB
\"PodWR Fre PodWR Fre\"
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

const INCREMENTS: &str = "\
X86 increments
{}
 P0           | P1           ;
 LOCK INC [x] | LOCK INC [x] ;
~exists (x=1)
";

const POINTER: &str = "\
X86 pointer
{ p=x; }
 P0            | P1         ;
 MOV EAX,[p]   | MOV [p],$y ;
exists (0:EAX=y)
";

const NULL: &str = "X86 null\n{}\n P0 ;\n MOV EAX,[EBX] ;\nexists (0:EAX=0)\n";

const REFUSED: &str = "X86 refused\n{}\n P0 ;\n MOVNTI [x],EAX ;\n MOV AL,[x] ;\nexists (0:EAX=0)\n";

const WAIT: &str = "\
C wait
{}
P0 (int *x, atomic_int *y) {
  WRITE_ONCE(*x, 1);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1 (int *x, atomic_int *y) {
  while (atomic_load_explicit(y, memory_order_relaxed) == 0) { }
  int r0 = READ_ONCE(*x);
}
forall (1:r0=1)
";

/// An endless supply of states.
const COUNTER: &str =
    "X86 counter\n{}\n P0 ;\n L: INC [x] ;\n MOV EAX,[x] ;\n TEST EAX,EAX ;\n JNE L ;\nexists (x=0)\n";

fn place() -> Folder {
    Folder::new(&[
        ("SB.litmus", SB),
        ("increments.litmus", INCREMENTS),
        ("pointer.litmus", POINTER),
        ("wait.litmus", WAIT),
        ("notes.txt", "not a test"),
    ])
}

#[test]
fn a_folder_is_run_under_every_model() {
    let done = place().run("litmus . --model sc,tso,pso --format json");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&done);
    assert_eq!(report["schema"], "cyrano.litmus/1");
    let row = |test: &serde_json::Value| {
        let text = |field: &str| test[field].as_str().unwrap_or("null").to_owned();
        format!("{} {} {} {} {}", text("name"), text("model"), text("condition"), text("observation"), test["holds"])
    };
    let rows: Vec<String> = report["tests"].as_array().expect("a list").iter().map(row).collect();
    let expected = [
        "SB sc exists Never false",
        "SB tso exists Sometimes true",
        "SB pso exists Sometimes true",
        "increments sc ~exists Never true",
        "increments tso ~exists Never true",
        "increments pso ~exists Never true",
        "pointer sc exists Sometimes true",
        "pointer tso exists Sometimes true",
        "pointer pso exists Sometimes true",
        "wait sc forall Always true",
        "wait tso forall Always true",
        "wait pso forall Sometimes false",
    ];
    assert_eq!(rows, expected);
    let outcomes = &report["tests"][7]["outcomes"];
    assert_eq!(*outcomes, serde_json::json!([{"0:EAX": "x"}, {"0:EAX": "y"}]));
}

#[test]
fn the_summary_is_that_of_herd() {
    let done = place().run("litmus SB.litmus");
    let expected = [
        "Test SB Allowed",
        "States 4",
        "0:EAX=0; 1:EAX=0;",
        "Ok",
        "Witnesses",
        "Positive: 1 Negative: 3",
        "Condition exists (0:EAX=0 /\\ 1:EAX=0)",
        "Observation SB Sometimes 1 3",
    ];
    let mut lines = done.stdout.lines();
    for line in expected {
        assert!(lines.any(|found| found == line), "`{line}` is missing or out of order in\n{}", done.stdout);
    }
    assert_eq!(done.code, 0);
}

#[test]
fn refused_tests_are_listed_with_every_reason() {
    let place = place();
    place.write("refused.litmus", REFUSED.as_bytes());
    place.write("null.litmus", NULL.as_bytes());
    let done = place.run("litmus refused.litmus SB.litmus null.litmus --format json");
    assert_eq!(done.code, 2);
    let report = json(&done);
    let refused = &report["tests"][0];
    assert_eq!((refused["name"].as_str(), refused["observation"].is_null()), (Some("refused"), true));
    let reason = refused["reason"].as_str().expect("a reason");
    assert!(reason.contains("line 4, column 2") && reason.contains("line 5, column 6"), "{reason}");
    assert_eq!(report["tests"][1]["observation"], "Sometimes");
    let reason = report["tests"][2]["reason"].as_str().expect("a reason");
    assert!(reason.contains("no register of this address holds one"), "{reason}");
    assert!(report["tests"][2]["observation"].is_null());
    let checked = place.run("check refused.litmus");
    assert_eq!(checked.code, 2);
    assert!(checked.stderr.contains("MOVNTI"), "{}", checked.stderr);
}

#[test]
fn a_test_has_its_own_time() {
    let place = place();
    place.write("counter.litmus", COUNTER.as_bytes());
    let done = place.run("litmus counter.litmus SB.litmus --test-timeout 0.3 --format json");
    assert_eq!(done.code, 3, "{}", done.stdout);
    let report = json(&done);
    assert!(report["tests"][0]["observation"].is_null() && !report["tests"][0]["reason"].is_null());
    assert_eq!(report["tests"][1]["observation"], "Sometimes");
}

#[test]
fn expectations_are_compared() {
    let place = place();
    place.write(
        "good.txt",
        b"# a comment\nSB tso Sometimes\nSB sc Forbidden\nincrements Ok\nObservation wait Always 1 0\n",
    );
    // Kinds as herd's catalogue writes them.
    place.write("kinds.txt", b"SB Allowed\nwait Required\n");
    place.write("bad.txt", b"SB Never\n");
    place.write("worse.txt", b"SB Perhaps\n");
    let done = place.run("litmus . --model sc,tso --expect good.txt --quiet");
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(done.stdout.contains("6 as expected, 0 not as expected"), "{}", done.stdout);
    let done = place.run("litmus . --model tso --expect kinds.txt --quiet");
    assert!(done.stdout.contains("2 as expected, 0 not as expected"), "{}", done.stdout);
    let done = place.run("litmus SB.litmus --expect bad.txt --quiet");
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("Never (differs)"), "{}", done.stdout);
    let done = place.run("litmus SB.litmus --expect worse.txt");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("line 1: `Perhaps` is not a verdict"), "{}", done.stderr);
}

#[test]
fn engines_are_compared() {
    let done =
        place().run("litmus SB.litmus increments.litmus pointer.litmus --compare --model sc,tso,rmo,relaxed --quiet");
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(done.stdout.contains("12 answered by several engines, 0 disagreements"), "{}", done.stdout);
}

#[test]
fn litmus_tests_are_programs() {
    let place = place();
    let done = place.run("outcomes SB.litmus --model sc,tso --format json");
    let counts: Vec<_> =
        json(&done)["results"].as_array().expect("a list").iter().map(|r| r["count"].clone()).collect();
    assert_eq!(counts, [3, 4]);
    assert_eq!(place.run("check increments.litmus --model tso").code, 0);
    let done = place.run("check SB.litmus --model tso --save-trace sb.json");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(place.run("replay sb.json").code, 0);
}

#[test]
fn models_are_compared_by_their_outcomes() {
    let place = place();
    let done = place.run("compare --models sc,tso SB.litmus --format json");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = json(&done);
    let outcomes = report["outcomes"].as_array().expect("a list");
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0]["outcome"], serde_json::json!({"0:EAX": 0, "1:EAX": 0}));
    assert_eq!(outcomes[0]["allowed"], serde_json::json!(["tso"]));
    assert_eq!(outcomes[0]["forbidden"], serde_json::json!(["sc"]));
    assert!(outcomes[0]["trace"]["steps"].as_array().is_some_and(|steps| steps.len() == 4));
    let done = place.run("compare --models tso,pso lib:litmus/mp.rml");
    assert!(
        done.stdout.contains("allowed by pso; forbidden by tso") && done.stdout.contains("Reordered:"),
        "{}",
        done.stdout
    );
    let done = place.run("compare --models sc,tso lib:litmus/mp.rml");
    assert!(done.stdout.contains("No outcome tells these models apart."), "{}", done.stdout);
    assert_eq!(place.run("compare --models sc lib:litmus/mp.rml").code, 2);
}

#[test]
fn tests_are_generated_from_cycles() {
    let place = place();
    let done = place.run("litmus generate 'PodWR Fre PodWR Fre'");
    assert!(done.stdout.starts_with("X86 SB\n"), "{}", done.stdout);
    let done = place.run("litmus generate --length 4 --fences --output made");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = place.run("litmus made --model tso --quiet");
    assert_eq!(done.code, 0);
    let observed = |name: &str| {
        let row = done.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
        row.and_then(|line| line.split_whitespace().nth(3)).unwrap_or("missing").to_owned()
    };
    assert_eq!(observed("SB"), "Sometimes");
    assert_eq!(observed("SB+mfences"), "Never");
    assert_eq!(observed("SB+mfence+po"), "Sometimes");
    assert_eq!(observed("MP"), "Never");
    let done = place.run("litmus generate --length 4 --dependencies --fences --arch rml --output native");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(place.run("check native/MP+ss+addr.rml --model rmo --quiet").code, 0);
    assert_eq!(place.run("check native/MP+ss+addr.rml --model relaxed --quiet").code, 1);
    assert_eq!(place.run("litmus generate 'PodWR Rfe'").code, 2);
}

const ARM_MP: &str = "\
AArch64 MP
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 MOV W0,#1   | LDR W0,[X1] ;
 STR W0,[X1] | LDR W2,[X3] ;
 MOV W2,#1   |             ;
 STR W2,[X3] |             ;
exists (1:X0=1 /\\ 1:X2=0)
";

const RACE: &str = "\
C race
{}
P0 (int *x) { *x = 1; }
P1 (int *x) { int r0 = *x; }
exists (1:r0=1)
";

#[test]
fn executions_are_shown_as_graphs() {
    let place = Folder::new(&[("MP.litmus", ARM_MP)]);
    let done = place.run("litmus MP.litmus -v --model armv8,sc --svg drawn --dot one.dot");
    let allowed = "  po   a->b c->d\n  rf   init->d b->c\n  fr   d->a\n";
    assert!(done.stdout.contains(allowed), "{}", done.stdout);
    let forbidden = "forbidden by axiom sc of cat:sc: a -po-> b -rf-> c -po-> d -fr-> a";
    assert!(done.stdout.contains(forbidden), "{}", done.stdout);
    let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("it was drawn");
    assert!(!read("drawn/MP-armv8.svg").contains("forbidden") && read("drawn/MP-sc.svg").contains("-fr-&gt; a"));
    assert!(!read("one.dot").contains("penwidth") && read("one-2.dot").contains("penwidth"));
    let report = json(&place.run("litmus MP.litmus -v --format json"));
    assert_eq!(report["tests"][0]["graphs"][0]["events"][2]["text"], "R y=1");
    assert!(report["tests"][0]["graphs"][0]["forbidden"].is_null());
}

#[test]
fn flags_and_refusals_are_told() {
    let place = Folder::new(&[("race.litmus", RACE), ("arm.litmus", "ARM a\n{}\n P0 ;\nexists (x=1)\n")]);
    place.write("bad.litmus", ARM_MP.replace("LDR W0", "FOO W0").as_bytes());
    let report = json(&place.run("litmus race.litmus --model rc11 --format json"));
    assert_eq!(report["tests"][0]["flags"][0], "data-race");
    let report = json(&place.run("litmus arm.litmus bad.litmus --format json"));
    assert_eq!((&report["tests"][0]["model"], &report["tests"][1]["model"]), (&"-".into(), &"armv8".into()));
    let reason = report["tests"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("the architectures are X86, X86_64, AArch64"), "{reason}");
    let text = place.run("litmus arm.litmus bad.litmus race.litmus --quiet").stdout;
    assert!(text.contains("1 accepted, 2 refused") && text.contains("1 refused: there is no instruction"), "{text}");
}

#[test]
fn models_are_told_apart_by_the_smallest_test() {
    let place = Folder::new(&[]);
    let told = |arguments: &str, code: i32| {
        let done = place.run(&format!("models compare {arguments} --format json"));
        assert_eq!(done.code, code, "{arguments}: {}{}", done.stdout, done.stderr);
        if code == 2 { done.stderr.into() } else { json(&done) }
    };
    let report = told("tso pso", 1);
    assert!(report["left_only"].is_null());
    assert_eq!((&report["right_only"]["name"], &report["right_only"]["length"]), (&"MP".into(), &4.into()));
    let report = told("sc cat:sc --decorations 0", 0);
    assert_eq!(report["equivalent"], true);
    let report = told("rc11 ra --decorations 1", 1);
    assert_eq!((&report["arch"], &report["left_only"]["name"]), (&"C11".into(), &"MP".into()));
    let report = told("armv8 tso --decorations 0", 1);
    assert_eq!((&report["arch"], &report["right_only"].is_null()), (&"AArch64".into(), &true));
    let refused = told("rc11 armv8", 2);
    assert!(refused.as_str().is_some_and(|text| text.contains("no language of litmus tests in common")), "{refused}");
    let refused = told("rc11 armv8 --arch aarch64", 2);
    assert!(refused.as_str().is_some_and(|text| text.contains("data-race")), "{refused}");
}

#[test]
fn the_documentation_has_a_model_and_the_table() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cat.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let model = page.split("```cat\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a model");
    let place = Folder::new(&[("mine.cat", model)]);
    let report = json(&place.run("models compare ./mine.cat tso --length 5 --decorations 0 --format json"));
    assert!(report["left_only"].is_null());
    let why = report["right_only"]["forbidden"].as_str().expect("tso allows more");
    let cycle = why.split(": ").nth(1).expect("there is a cycle");
    assert!(page.contains(&format!("`{cycle}`")) && report["right_only"]["length"] == 5, "{report}");
    let table = place.run("models table").stdout;
    assert!(page.contains(&table), "docs/cat.md has another table than `cyrano models table`:\n{table}");
}
