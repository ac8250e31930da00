//! Advice names an engine that was asked and can.
//!
//! Refusals once named an engine by guess: one that refuses as well, or one of the name "none".

use crate::cli::{self, Folder};

/// `r := x[r]`: an address that depends on a loaded value.
const CHASE: &str = "\
threads {
    shared x[2], y;
    thread p { local r, s; r := y; s := x[r] }
    thread q { x[1] := 1; y := 1 }
}
observe r, s;
check never (r = 1 && s = 0);
check assertions;
";

/// The same within an atomic block.
const BLOCK: &str = "\
threads {
    shared x[2], y;
    thread p { local r, s; atomic a { r := y; commit; s := x[r] } }
    thread q { x[1] := 1; y := 1 }
}
check commit-atomicity;
";

const ENGINES: [&str; 4] = ["explore", "graphs", "symbolic", "interp"];

/// Commands that name an engine which refuses, with the engines that are named instead.
const CASES: [(&str, &str, &[&str]); 13] = [
    ("check chase.rml --criterion never --model rmo", "explore", &["symbolic", "interp"]),
    ("check chase.rml --criterion never --model sparc-rmo", "explore", &["symbolic", "interp"]),
    ("check chase.rml --criterion never --model relaxed", "explore", &["symbolic", "interp"]),
    ("check chase.rml --criterion never --model odd.model", "explore", &["symbolic", "interp"]),
    ("outcomes chase.rml --model rmo", "explore", &["symbolic", "interp"]),
    ("outcomes lib:stm/tl2.rml --set vars=1 --model sc", "symbolic", &["explore", "interp"]),
    ("check lib:stm/tl2.rml --set vars=1 --criterion opacity --model sc", "symbolic", &["explore"]),
    ("check lib:stm/tl2.rml --set vars=1 --criterion opacity --model tso", "interp", &["explore"]),
    ("check block.rml --model sc", "symbolic", &["explore"]),
    ("check block.rml --model sc", "interp", &["explore"]),
    ("check block.rml --model rmo", "explore", &[]),
    ("check block.rml --model rmo", "symbolic", &[]),
    ("check lib:stm/tl2.rml --set vars=1 --criterion local-progress --model serial", "symbolic", &[]),
];

/// The engine that answered and the reason, if there is one.
fn asked(place: &Folder, command: &str, engine: &str) -> (Option<String>, String) {
    let done = place.run(&format!("{command} --engine {engine} --timeout 1 --format json"));
    assert_ne!(done.code, 2, "{command}: {}", done.stderr);
    let report = cli::json(&done);
    let first = if command.starts_with("check") { &report["checks"][0] } else { &report["results"][0] };
    let text = |name: &str| first[name].as_str().map(str::to_owned);
    (text("engine"), text("reason").unwrap_or_default())
}

#[test]
fn whoever_is_named_accepts_the_question() {
    let odd = "model odd\nserial: yes\nkeep same: all\n";
    let place = Folder::new(&[("chase.rml", CHASE), ("block.rml", BLOCK), ("odd.model", odd)]);
    for (command, engine, instead) in CASES {
        let (answered, reason) = asked(&place, command, engine);
        let place_of = format!("{command} --engine {engine}: {reason}");
        assert_eq!(answered, None, "{place_of}");
        let named: Vec<&str> = reason.split("--engine ").skip(1).filter_map(|rest| rest.split(' ').next()).collect();
        assert_eq!(named, instead, "{place_of}");
        assert_eq!(named.is_empty(), reason.ends_with("; no other engine can"), "{place_of}");
        for other in ENGINES {
            let (answered, why) = asked(&place, command, other);
            assert_eq!(answered.is_some(), named.contains(&other), "{command} --engine {other}: {why}");
        }
    }
}

/// Nobody can be named who refuses for another reason than the one that is given.
#[test]
fn the_engine_that_comes_nearest_is_blamed() {
    let place = Folder::new(&[("block.rml", BLOCK)]);
    let check = |command: &str, blamed: &str| {
        let (answered, reason) = asked(&place, command, "auto");
        assert!(answered.is_none() && reason.starts_with(blamed), "{command}: {reason}");
    };
    check("check block.rml --model rmo", "explore cannot run this: instruction ");
    let progress = "check lib:stm/tl2.rml --set vars=1 --criterion local-progress --model serial";
    check(progress, "explore cannot run this: executions that go on for ever are not judged under serial");
}

/// `cyrano models` names exactly the engines that run a model.
#[test]
fn models_name_the_engines_that_run_them() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    let report = cli::json(&place.run("models --format json"));
    for model in report["models"].as_array().expect("a list of models") {
        let name = model["name"].as_str().expect("a name");
        let engines = model["engines"].as_array().expect("a list of engines").iter().filter_map(|it| it.as_str());
        let named: Vec<&str> = engines.filter_map(|engine| engine.split(' ').next()).collect();
        let run = |engine: &&str| asked(&place, &format!("outcomes sb.rml --model {name}"), engine).0.is_some();
        let run: Vec<&str> = ENGINES.into_iter().filter(run).collect();
        assert_eq!(named, run, "{name}");
    }
    let declared = cli::json(&place.run("models declared --format json"));
    assert_eq!(declared["models"][0]["engines"].as_array().map(Vec::len), Some(3), "{declared}");
}

/// A bound of the tool's own is raised where it stands in the way of a verdict.
#[test]
fn the_bound_of_deferred_accesses_is_raised() {
    let long = |count: usize| {
        let stores: Vec<String> = (1..=count).map(|value| format!("x := {value};")).collect();
        format!(
            "threads {{ shared x, l; thread p[2] {{ local r; loop {{ loop {{ r := cas(l, 0, 1); if r = 0 {{ break }} }} {} \
             r := x; assert r = {count}; l := 0 }} }} }} check assertions on tso;",
            stores.join(" ")
        )
    };
    let check = |source: &str, options: &str, expected: &str| {
        let (verdicts, _) = crate::verdicts("a.rml", source, options);
        assert_eq!(verdicts, [expected], "{options}: {source}");
    };
    check(&long(20), "", "verified");
    check(&long(20), "--deferred 12", "bounded");
    check(&long(20), "--deferred 24", "verified");
    // A queue that grows for ever.
    let endless =
        "threads { shared x; thread p { local r; loop { x := 1; r := x; assert r = 1 } } } check assertions on tso;";
    check(endless, "", "bounded");
    // What goes wrong only beyond the bound is found.
    let late = "\
        threads {
            shared a, b, c;
            thread p { local i, r; a := 1; loop { if i = 14 { break } b := i; i := i + 1 } r := c }
            thread q { local s; c := 1; fence; s := a }
        }
        check never (r = 0 && s = 0) on tso;";
    check(late, "--deferred 12", "bounded");
    check(late, "", "violated");
}

/// With the bound of 12 no cheaper set than one of two fences was known to be correct.
#[test]
fn no_fence_stands_for_a_bound() {
    let place = Folder::new(&[]);
    let done = place.run("fence lib:atomicity/acquire2.rml --model pso --quiet");
    assert_eq!((done.code, done.stdout.matches("fence(").count()), (0, 1), "{}", done.stdout);
    assert!(done.stdout.contains("fence(store-store) after") && !done.stdout.contains("bounded"), "{}", done.stdout);
}

#[test]
fn fence_does_not_pass_over_a_claim_of_atomicity() {
    let source = "threads {
  shared x, y;
  thread p { local r; atomic a returns r { x := 1; r := y; } }
  thread q { local s; atomic b returns s { y := 1; s := x; } }
}
check atomicity on tso;
check never (r == 2) on tso;
";
    let place = super::cli::Folder::new(&[("both.rml", source)]);
    let done = place.run("fence both.rml --model tso");
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("not sought for `atomicity`"), "{}", done.stderr);
    assert_eq!(place.run("fence both.rml --model tso --criterion never").code, 0);
}
