//! Nothing exercised is vacuous, and something exercised is not.
//!
//! Once a memory whose transactions touch nothing was `verified` opaque, a C test that observes nothing was `verified`, and a litmus test
//! none of whose executions ends was a success; and an assertion that was never reached, or that lowering had settled, made a check vacuous.

use crate::cli::{Folder, json};
use crate::verdicts;

/// The verdict and the reason of the only check.
fn check(name: &str, source: &str, options: &str) -> (String, String, i32) {
    let place = Folder::new(&[(name, source)]);
    let done = place.run(&format!("check {name} {options} --format json"));
    assert_ne!(done.code, 2, "{}", done.stderr);
    let report = json(&done);
    let checks = report["checks"].as_array().expect("a list of checks");
    assert_eq!(checks.len(), 1, "{}", done.stdout);
    let text = |field: &str| checks[0][field].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("reason"), done.code)
}

fn is_vacuous(name: &str, source: &str, options: &str, why: &str) {
    let (verdict, reason, code) = check(name, source, options);
    assert_eq!((verdict.as_str(), code), ("vacuous", 5), "{source}\n{options}: {reason}");
    assert!(reason.contains(why), "`{reason}` does not say `{why}`");
}

fn is_verified(name: &str, source: &str, options: &str) {
    let (verdict, reason, code) = check(name, source, options);
    assert_eq!((verdict.as_str(), code), ("verified", 0), "{source}\n{options}: {reason}");
}

/// A memory with a lock for whole transactions that its commands may use.
fn stm(read: &str, write: &str, end: &str) -> String {
    format!(
        "stm S {{
    shared lock, zero;
    data g[vars] = 1;
    local d, held, did;
    proc take {{ if held == 0 {{ d := 1; while d != 0 {{ d := cas(lock, 0, 1); }} held := 1; }} }}
    proc release {{ if held == 1 {{ lock := 0; held := 0; }} did := 0; }}
    read(v) {{ {read} }}
    write(v) {{ {write} }}
    end {{ {end} }}
}}
check opacity;
"
    )
}

const SEARCHES: [&str; 6] = [
    "",
    "--model tso",
    "--set threads=1",
    "--no-reduction thread-symmetry,variable-symmetry,lazy-choices",
    "--no-reduction macro-steps,remembered-steps,ample-sets",
    "--workers 2 --criterion strict-serializability",
];

#[test]
fn transactions_that_touch_nothing() {
    let idle = stm("abort;", "abort;", "commit;");
    let no_read = stm("d := 0; while d == 0 { d := zero; } rfin;", "take; g[v] := 1;", "release; commit;");
    let no_store = stm("d := g[v]; rfin;", "d := zero; if d == 1 { g[v] := 1; } else { abort; }", "commit;");
    let cannot_store = stm("d := g[v]; rfin;", "abort;", "commit;");
    for options in SEARCHES {
        is_vacuous("idle.rml", &idle, options, "no command stores to a transactional variable");
        is_vacuous("no_read.rml", &no_read, options, "no read of a transaction ever finishes");
        is_vacuous("no_store.rml", &no_store, options, "no transaction ever stores");
        is_vacuous("cannot_store.rml", &cannot_store, options, "no command stores to a transactional variable");
    }
}

/// Reads finish and stores happen, but never in a transaction that commits.
#[test]
fn transactions_that_never_commit_what_they_did() {
    let undo = "rollback g[0] := 1; release; abort;";
    let reads_abort = stm(
        &format!("if did == 2 {{ {undo} }} else {{ take; d := g[v]; did := 1; rfin; }}"),
        "if did == 1 { release; abort; } else { take; g[v] := 1; did := 2; }",
        "if did == 1 { release; abort; } else { release; commit; }",
    );
    let writes_abort = stm(
        "take; d := g[v]; rfin;",
        "take; g[v] := 1; did := 1;",
        &format!("if did == 1 {{ {undo} }} else {{ release; commit; }}"),
    );
    for options in SEARCHES {
        let options = format!("{options} --set vars=1");
        is_vacuous("reads_abort.rml", &reads_abort, &options, "no transaction commits after a finished read");
        is_vacuous("writes_abort.rml", &writes_abort, &options, "no transaction commits after a store");
    }
}

/// The notes of a search are kept with its checkpoints and in its files.
#[test]
fn transactions_in_files() {
    let no_read = stm("d := 0; while d == 0 { d := zero; } rfin;", "take; g[v] := 1;", "release; commit;");
    let lock = stm("take; d := g[v]; rfin;", "take; g[v] := 1;", "release; commit;");
    let place = Folder::new(&[("no_read.rml", &no_read), ("lock.rml", &lock)]);
    for (file, code) in [("no_read", 5), ("lock", 0)] {
        for arguments in ["", "--no-reduction lazy-choices"] {
            let done = place.run(&format!("check {file}.rml --disk states-{file} {arguments}"));
            assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
            let _ = std::fs::remove_dir_all(place.path(&format!("states-{file}")));
        }
    }
}

#[test]
fn transactions_that_do_something() {
    let lock = stm("take; d := g[v]; rfin;", "take; g[v] := 1;", "release; commit;");
    for options in SEARCHES {
        is_verified("lock.rml", &lock, options);
    }
}

/// An algorithm with a lock for whole transactions.
fn algorithm(read: &str, write: &str, commit: &str) -> String {
    format!(
        "algorithm A(locs = 1) {{
    shared r: AtomicRegister[locs] = 0, l: TryLock;
    txlocal held: int;
    method take() {{
        T1: if (!held) {{ T2: held := l.tryLock(); }}
        T3: return held;
    }}
    method read(i) {{ {read} }}
    method write(i, v) {{ {write} }}
    method commit() {{ {commit} }}
}}
check opacity for clients threads 2, txns 1, ops 1, locs 1 on inorder;
"
    )
}

#[test]
fn algorithms_that_touch_nothing() {
    let reads = "R1: got := take(); R2: if (!got) { R3: return aborted; } R4: v := r[i].read(); R5: return v;";
    let writes = "W1: got := take(); W2: if (!got) { W3: return aborted; } W4: r[i].write(v); W5: return ok;";
    let commits = "C1: if (held) { C2: l.unlock(); } C3: return committed;";
    let [no_read, no_write, no_commit] = ["R1", "W1", "C1"].map(|label| format!("{label}: return aborted;"));
    is_verified("lock.rml", &algorithm(reads, writes, commits), "");
    is_vacuous("no_read.rml", &algorithm(&no_read, writes, commits), "", "no read of a transaction ever finishes");
    is_vacuous("no_write.rml", &algorithm(reads, &no_write, commits), "", "no write of a transaction ever succeeds");
    is_vacuous("no_commit.rml", &algorithm(reads, writes, &no_commit), "", "no transaction ever commits");
    is_vacuous("idle.rml", &algorithm(&no_read, &no_write, commits), "", "no transaction ever commits");
}

const RACY: &str = "\
#include <cyrano.h>
int value;
void init(void) { value = 0; }
void add(void) { int old = value; value = old + 1; }
int get(void) { return value; }
void put(int x) { value = x; }
";

#[test]
fn tests_that_observe_nothing() {
    let tests = "init = init()\na = add()\ng = get() -> got\np = put(in {0, 1})\ntest none = ( a | a )\ntest some = ( a | g )\ntest args = ( p | a )\n";
    let place = Folder::new(&[("racy.c", RACY), ("racy.tests", tests)]);
    for engine in ["explore", "symbolic", "interp"] {
        let done = place.run(&format!("check racy.c --test none --engine {engine} --format json"));
        let report = json(&done);
        assert_eq!(report["checks"][0]["verdict"], "vacuous", "{engine}: {}", done.stdout);
        assert_eq!(done.code, 5);
        let reason = report["checks"][0]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("observes nothing"), "{reason}");
        for test in ["some", "args"] {
            let done = place.run(&format!("check racy.c --test {test} --engine {engine}"));
            assert_eq!(done.code, 0, "{}", done.stdout);
        }
    }
    let done = place.run("check racy.c --test none --format junit");
    assert!(done.stdout.contains("<skipped"), "{}", done.stdout);
    // Fences for nothing are no repair.
    let done = place.run("fence racy.c --test none --model tso");
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
}

/// What goes wrong on the way is found whatever is observed.
#[test]
fn errors_are_found_without_observations() {
    let source =
        RACY.replace("int old = value; value = old + 1;", "int old = value; assert(old == 0); value = old + 1;");
    let place =
        Folder::new(&[("racy.c", &source), ("racy.tests", "init = init()\na = add()\ntest none = ( a | a )\n")]);
    assert_eq!(place.run("check racy.c").code, 1);
}

const STUCK: &str = "\
C stuck
{}
P0 (atomic_int *y) {
  while (atomic_load_explicit(y, memory_order_relaxed) == 0) { }
}
QUANTIFIER (y=0)
";

#[test]
fn litmus_tests_without_an_end() {
    for quantifier in ["forall", "exists", "~exists"] {
        let place = Folder::new(&[("stuck.litmus", &STUCK.replace("QUANTIFIER", quantifier))]);
        let checked = place.run("check stuck.litmus");
        assert_eq!(checked.code, 5, "{}", checked.stdout);
        let done = place.run("litmus stuck.litmus");
        assert_eq!(done.code, 5, "{}", done.stdout);
        assert!(done.stdout.contains("vacuous") && !done.stdout.contains("Ok"), "{}", done.stdout);
        assert!(done.stdout.contains("no execution ends"), "{}", done.stdout);
        let done = place.run("litmus stuck.litmus --format json");
        assert_eq!(done.code, 5);
        let test = &json(&done)["tests"][0];
        // As herd prints it: of no final states none is a witness. The verdict is no better for it.
        let never = quantifier == "exists" && test["observation"] == "Never" && test["holds"] == false;
        assert!(never || test["observation"].is_null() && test["holds"].is_null(), "{test}");
        assert_eq!((&test["verdict"], &test["refused"]), (&"vacuous".into(), &false.into()));
        assert!(test["reason"].as_str().is_some_and(|why| why.contains("no execution ends")), "{test}");
        let junit = place.run("litmus stuck.litmus --format junit");
        assert_eq!(junit.code, 5);
        assert!(junit.stdout.contains("<skipped message=\"vacuous"), "{}", junit.stdout);
        let sarif = json(&place.run("litmus stuck.litmus --format sarif"));
        assert_eq!(sarif["runs"][0]["results"][0]["level"], "warning", "{sarif}");
        assert_eq!(sarif["runs"][0]["invocations"][0]["exitCode"], 5);
        // A part of a campaign says the same when it is joined.
        place.write("report.json", place.run("litmus stuck.litmus --shard 1/1 --format json").stdout.as_bytes());
        let merged = place.run("report merge report.json --format json");
        assert_eq!((merged.code, &json(&merged)["tests"][0]["verdict"]), (5, &"vacuous".into()), "{}", merged.stdout);
    }
}

#[test]
fn an_expectation_of_a_vacuous_litmus_test() {
    let place = Folder::new(&[("stuck.litmus", &STUCK.replace("QUANTIFIER", "forall"))]);
    place.write("ok", b"stuck Ok\n");
    place.write("vacuous", b"stuck Vacuous\n");
    assert_eq!(place.run("litmus stuck.litmus --expect ok").code, 1);
    assert_eq!(place.run("litmus stuck.litmus --expect vacuous").code, 5);
}

#[test]
fn no_outcome_because_nothing_ends() {
    let place = Folder::new(&[("stuck.litmus", &STUCK.replace("QUANTIFIER", "forall"))]);
    for engine in ["explore", "symbolic"] {
        let done = place.run(&format!("outcomes stuck.litmus --engine {engine} --format json"));
        let result = &json(&done)["results"][0];
        assert_eq!((done.code, &result["verdict"], &result["count"]), (5, &"vacuous".into(), &0.into()), "{result}");
        assert!(result["reason"].as_str().is_some_and(|why| why.contains("no execution ends")), "{result}");
        assert_eq!(result["complete"], true, "all of nothing: {result}");
    }
    let done = place.run("outcomes stuck.litmus");
    assert!(done.stdout.contains("no execution ends"), "{}", done.stdout);
}

fn in_every_engine(name: &str, source: &str, verdict: &str) {
    for engine in ["explore", "symbolic", "interp"] {
        let options = format!("--engine {engine} --criterion assertions");
        let (found, reason, code) = check(name, source, &options);
        assert_eq!(found, verdict, "{source}\n{engine}: {reason}");
        assert_eq!(code, if verdict == "verified" { 0 } else { 5 });
    }
}

#[test]
fn assertions_that_are_never_reached() {
    let threads =
        |body: &str| format!("threads {{\n shared x, y;\n thread p {{ local r; x := 1; r := y; {body} }}\n}}\n");
    in_every_engine("never.rml", &threads("if r == 1 { assert false; }"), "verified");
    in_every_engine("folded.rml", &threads("assert 1 == 1;"), "verified");
    in_every_engine("pruned.rml", &threads("if false { assert r == 0; }"), "verified");
    in_every_engine("blocked.rml", &threads("assume r == 1; assert r == 0;"), "vacuous");
    in_every_engine("none.rml", &threads("skip;"), "vacuous");
    let (verdict, reason, _) = check("none.rml", &threads("skip;"), "--criterion assertions");
    assert_eq!((verdict.as_str(), reason.contains("nothing to check")), ("vacuous", true), "{reason}");
    // Without a declaration, too.
    assert_eq!(verdicts("pruned.rml", &threads("if false { assert r == 0; }"), ""), (vec!["verified".to_owned()], 0));
}

#[test]
fn assertions_in_c() {
    let source = |body: &str| {
        format!(
            "#include <cyrano.h>\n#include <assert.h>\n#include <stdlib.h>\nint x;\nint add(int a) {{ {body} return fetch_add(&x, a); }}\n"
        )
    };
    let tests = "a = add(1)\ntest t = ( a | a )\n";
    for (body, verdict) in [
        ("assert(1 + 1 == 2);", "verified"),
        ("if (x > 7) assert(0);", "verified"),
        ("if (0) assert(0);", "verified"),
        ("", "vacuous"),
        // Errors of memory are looked for, and there are some to make.
        ("int *p = malloc(sizeof(int)); if (p) { *p = a; free(p); }", "verified"),
        ("int *p = x > 7 ? NULL : &x; a = *p;", "verified"),
    ] {
        let place = Folder::new(&[("a.c", &source(body)), ("a.tests", tests)]);
        for engine in ["explore", "symbolic", "interp"] {
            let done = place.run(&format!("check a.c --criterion assertions --engine {engine} --format json"));
            assert_eq!(json(&done)["checks"][0]["verdict"], verdict, "{body}, {engine}: {}", done.stdout);
        }
    }
}

const UNREACHED: &str = "\
threads {
    shared x, y;
    thread p { local r; x := 1; r := y;
        if r == 1 {
            x := 2;
            assert false
        }
    }
    thread q { local r; r := x;
        if r == 2 { y := 1 }
    }
}
check assertions;
";

/// What was never reached is the same however the search goes.
#[test]
fn lines_that_are_never_reached() {
    let place = Folder::new(&[("a.rml", UNREACHED)]);
    let off = ["ample-sets", "remembered-steps", "macro-steps", "thread-symmetry", "dead-registers"];
    let off = off.iter().map(|reduction| format!("--no-reduction {reduction}"));
    let others = ["", "--workers 2", "--model tso", "--engine symbolic"].map(str::to_owned);
    for options in off.chain(others) {
        let done = place.run(&format!("check a.rml --format json {options}"));
        let check = &json(&done)["checks"][0];
        assert_eq!(check["verdict"], "verified", "{check}");
        let places = check["unreached"].as_array().expect("some lines are not reached");
        let place = |place: &serde_json::Value| {
            let text = |field: &str| place[field].as_str().unwrap_or_default().to_owned();
            (place["line"].as_u64(), text("thread"), text("text"))
        };
        let found: Vec<_> = places.iter().map(place).collect();
        let line = |line, thread: &str, text: &str| (Some(line), thread.to_owned(), text.to_owned());
        assert_eq!(found, [line(5, "p", "x := 2"), line(6, "p", "assert false"), line(10, "q", "y := 1")], "{options}");
    }
    let done = place.run("check a.rml");
    assert!(
        done.stdout
            .contains("never reached: line 5 `x := 2` (p), the check `assert false` in line 6 (p), line 10 `y := 1`"),
        "{}",
        done.stdout
    );
    // A search that stops at a violation does not know.
    let wrong = UNREACHED.replace("assert false", "assert true").replace("r := x;", "r := x; assert r == 0;");
    let done = Folder::new(&[("a.rml", &wrong)]).run("check a.rml --format json");
    let check = &json(&done)["checks"][0];
    assert_eq!((&check["verdict"], check.get("unreached")), (&"violated".into(), None));
}

/// Threads with the same code stand for each other, and one line may be the code of several.
#[test]
fn lines_of_equal_threads() {
    let family = "threads { shared x;\n thread w[2] { local r; r := fetch_add(x, 1);\n  if r == 0 { assert r == 0; }\n  if r == 2 { x := 0; }\n }\n}\n";
    let twins = "threads { shared x;\n thread p { local r; r := fetch_add(x, 1);\n  if r == 1 { assert r == 1; } }\n thread q { local r; r := fetch_add(x, 1);\n  if r == 1 { assert r == 1; } }\n}\n";
    for options in ["", "--no-reduction thread-symmetry"] {
        let place = Folder::new(&[("family.rml", family), ("twins.rml", twins)]);
        let check =
            |file: &str| json(&place.run(&format!("check {file}.rml --format json {options}")))["checks"][0].clone();
        let found = check("family");
        assert_eq!(
            found["unreached"],
            serde_json::json!([{"kind": "statement", "line": 4, "thread": "w[0], w[1]", "text": "x := 0"}])
        );
        let found = check("twins");
        assert_eq!((&found["verdict"], found.get("unreached")), (&"verified".into(), None), "{options}");
    }
}

/// Commands of a transactional memory, operations of a test and checks are named as such.
#[test]
fn commands_that_are_never_reached() {
    let stm = "\
stm Careful {
    shared lock, broken;
    data g[vars] = 1;
    local held, r, d;
    read(v) { take; d := g[v]; rfin; }
    write(v) { take; g[v] := 1; }
    end { if held == 1 { held := 0; lock := 0; } commit; }
    proc take { if held == 0 { r := cas(lock, 0, 1); if r == 1 { give_up; } held := 1; } }
    proc give_up { r := broken; if r == 1 { mend; } abort; }
    proc mend { broken := 0; abort; }
}
check opacity on sc;
";
    let named = |check: &serde_json::Value| -> Vec<String> {
        let places = check["unreached"].as_array().into_iter().flatten();
        places.map(|place| format!("{} {}", place["kind"].as_str().unwrap_or_default(), place["text"])).collect()
    };
    let place = Folder::new(&[("a.rml", stm)]);
    let done = place.run("check a.rml --set vars=1 --format json");
    assert_eq!(named(&json(&done)["checks"][0]), ["command \"mend\""], "{}", done.stdout);
    let done = place.run("check a.rml --set vars=1");
    assert!(done.stdout.contains("never reached: command `mend` of line 10"), "{}", done.stdout);

    let source = "#include <cyrano.h>\n#include <assert.h>\nint x;\n\
        int add(int a) { if (x > 7) assert(0); return fetch_add(&x, a); }\nvoid never(void) { assume(x > 5); }\n";
    let tests = "a = add(1)\nb = add(2)\nn = never()\ntest t = ( a | n b )\n";
    let place = Folder::new(&[("a.c", source), ("a.tests", tests)]);
    for engine in ["explore", "symbolic"] {
        let done = place.run(&format!("check a.c --criterion assertions --engine {engine} --format json"));
        let expected = ["operation \"b\"", "assertion \"assert(0)\""];
        assert_eq!(named(&json(&done)["checks"][0]), expected, "{engine}: {}", done.stdout);
    }
}
