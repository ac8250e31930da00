//! Executions that never end: a lock that nobody ever got was `verified` on every model, and nothing more was said.

use crate::cli::{self, Folder};
use crate::{verdicts, verdicts_in};

/// Whoever comes first keeps the lock.
const KEPT: &str = "threads {
  shared l, x;
  local r;
  thread p { r := 1; while r != 0 { r := exchange(l, 1); } x := x + 1; assert x = 1; }
  thread q { r := 1; while r != 0 { r := exchange(l, 1); } assert x = 0; l := 0; }
}
";

/// Who spins here sees the store some day, however unfair a scheduler could be.
const FAIR: &str = "threads {
  shared go;
  local r;
  thread p { go := 1; }
  thread q { while r = 0 { r := go; } assert r = 1; }
}
";

/// The caveats of the checks of a file.
fn caveats(source: &str, options: &str) -> Vec<String> {
    let place = Folder::new(&[("a.rml", source)]);
    let report = cli::json(&place.run(&format!("check a.rml {options} --format json")));
    let all = |check: &serde_json::Value| check["caveats"].as_array().cloned().unwrap_or_default();
    let checks = report["checks"].as_array().expect("a list of checks");
    checks.iter().flat_map(all).map(|caveat| caveat.as_str().expect("a sentence").to_owned()).collect()
}

#[test]
fn verdicts_say_when_executions_never_end() {
    let kept = KEPT.replace("x := x + 1; assert x = 1;", "r := x; assert r = 0;").replace("assert x = 0;", "");
    for model in ["sc", "tso", "pso", "rmo"] {
        let told = caveats(&kept, &format!("--criterion assertions --model {model}"));
        assert_eq!(told, ["some executions never end: q can spin at line 5"], "{model}");
        assert_eq!(caveats(FAIR, &format!("--criterion assertions --model {model}")), Vec::<String>::new(), "{model}");
    }
    let place = Folder::new(&[("a.rml", &kept)]);
    let text = place.run("check a.rml --criterion assertions").stdout;
    assert!(text.contains("\n      some executions never end: q can spin at line 5\n"), "{text}");
    // What is claimed of some execution is none the worse for others.
    assert_eq!(caveats(&format!("{kept} check exists (l = 0);"), ""), Vec::<String>::new());
    assert_eq!(caveats(&format!("{kept} check always (x = 0);"), "").len(), 1);
    assert_eq!(caveats(&format!("{kept} check invariant (x = 0);"), "").len(), 1);
    assert_eq!(caveats(&kept, "--criterion assertions --engine symbolic --model tso").len(), 1);
    // A thread that waits at a section, which a condition on final states does not see.
    let waits = "threads { shared x, y; local r; thread p { atomic { r := x; assume r = 1; y := 1; } } thread q { choose r in 0..1; x := r; } }\n";
    assert_eq!(
        caveats(&format!("{waits} check always (y = 1);"), ""),
        ["some executions never end: p can wait at line 1"]
    );
    // Marks say that a thread means to go on.
    let serves = "threads { shared x; local r; thread p { loop { r := x; assert r = 0; progress; } } }";
    assert_eq!(caveats(serves, "--criterion assertions"), Vec::<String>::new());
}

/// C programs are asked by an option, and have marks as well.
#[test]
fn c_programs_terminate_or_not() {
    let source = |body: &str| {
        format!(
            "#include <cyrano.h>\nint go;\nvoid raise(void) {{ go = 1; }}\nvoid wait(void) {{ {body} }}\nvoid init(void) {{ go = 0; }}\n"
        )
    };
    let tests = "type flag\n\ni = init()\nr = raise()\nw = wait()\n\ntest both = i ( r | w )\ntest one = i ( w )\n";
    let check = |body: &str, test: &str, expected: &str| {
        let place = Folder::new(&[("flag.c", &source(body)), ("flag.tests", tests)]);
        let options = format!("flag.c --test {test} --criterion termination --model sc,tso,pso");
        assert_eq!(verdicts_in(&place, &options).0, [expected; 3], "{body}, {test}");
    };
    check("while (go == 0) {}", "both", "verified");
    check("while (go == 0) {}", "one", "violated");
    check("while (go == 0) cyrano_progress();", "one", "verified");
    check("atomic { assume(go == 1); }", "both", "verified");
    check("atomic { assume(go == 1); }", "one", "violated");
    check("for (;;) {}", "both", "violated");
}

/// A loop of fences and local steps is a circle: where a thread may stand in it was collected for ever when an invariant was replayed.
#[test]
fn loops_of_fences_have_finitely_many_places() {
    let source = "threads { shared y; thread v[3] { local r; loop { sfence; cs: if r == 2 { y := 1; } else { assume r == 0; } } } }
        check invariant (count(v@cs) <= 2) on sc, tso;";
    assert_eq!(verdicts("fences.rml", source, "").0, ["violated"; 2]);
    let counting = "threads { shared y; thread v[3] { local r; loop { cs: r := r + 1; } } } check invariant (count(v@cs) <= 2) on sc;";
    assert_eq!(verdicts("counting.rml", counting, "").0, ["violated"]);
}

/// What is saved is replayed, and nothing else is.
#[test]
fn saved_lassos_are_replayed() {
    let place = Folder::new(&[("a.rml", KEPT)]);
    let done = place.run("check a.rml --criterion termination --model pso --save-trace a.json");
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("again and again:"), "{}", done.stdout);
    let replayed = place.run("replay a.json");
    assert!(replayed.code == 0 && replayed.stdout.contains("confirmed: termination on pso"), "{replayed:?}");
    let path = place.path("a.json");
    let saved = std::fs::read_to_string(&path).expect("it was saved");
    let mut trace: serde_json::Value = serde_json::from_str(&saved).expect("JSON");
    trace["violation"]["thread"] = "p".into();
    std::fs::write(&path, trace.to_string()).expect("it can be written");
    let replayed = place.run("replay a.json");
    assert!(replayed.stdout.contains("not confirmed") || replayed.stderr.contains("not confirm"), "{replayed:?}");
}

/// What is refused is refused as such, and operations are judged.
#[test]
fn what_is_not_decided_is_said() {
    let place = Folder::new(&[("a.rml", FAIR)]);
    for criterion in ["lock-free", "obstruction-free", "wait-free"] {
        let (verdicts, code) = verdicts_in(&place, &format!("a.rml --criterion {criterion} --model sc,tso,rmo"));
        assert_eq!(
            (verdicts, code),
            (vec!["violated".to_owned(); 3], 1),
            "who waits for a thread that is stopped waits for ever"
        );
    }
    for criterion in ["termination", "lock-free"] {
        let done = place.run(&format!("check a.rml --criterion {criterion} --model serial"));
        assert!(done.stdout.contains("are not judged under serial"), "{}", done.stdout);
    }
    let done = place.run("check a.rml --criterion termination --engine symbolic");
    assert!(done.stdout.contains("in its bounded form"), "{}", done.stdout);
    let done = place.run("check a.rml --criterion progress:L");
    assert!(done.stdout.contains("no `check progress` of the file"), "{}", done.stdout);
}

/// An assertion fails while somebody spins: the rest of the execution was shown to a model that had not been told of it.
#[test]
fn failures_beside_spinning_threads_are_shown() {
    let source = "threads { shared x, data; local r;
        thread p { data := 1; r := data; assert r == 0; }
        thread q { while r = 0 { r := x; } data := 2; } }
        check assertions on rc11;";
    let (found, _) = verdicts("spins.rml", source, "--engine graphs");
    assert!(["violated", "unknown"].contains(&found[0].as_str()), "{found:?}");
}
