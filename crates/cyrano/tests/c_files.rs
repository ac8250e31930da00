//! C files on the command line: tests, specifications, replays, and what is said about bad input.

mod cli;

use cli::Folder;

const COUNTER: &str = "\
#include <cyrano.h>
int value;
void init(void) { value = 0; }
int lost(void) { int old = value; value = old + 1; return old; }
int counted(void) { return fetch_add(&value, 1); }
";

const TESTS: &str = "\
init = init()
l = lost()
c = counted()
test good = ( c | c )
test bad  = ( l | l )
test one  = c ( c | l )
";

fn counter() -> Folder {
    Folder::new(&[("counter.c", COUNTER), ("counter.tests", TESTS)])
}

#[test]
fn every_test_is_compared_with_its_serial_executions() {
    let place = counter();
    let done = place.run("check counter.c --model sc,tso --format json");
    assert_eq!(done.code, 1, "{}", done.stderr);
    let report: serde_json::Value = serde_json::from_str(&done.stdout).expect("it is JSON");
    let row = |check: &serde_json::Value| {
        let text = |field: &str| check[field].as_str().unwrap_or("null").to_owned();
        (text("test"), text("model"), text("criterion"), text("verdict"))
    };
    let rows: Vec<_> = report["checks"].as_array().expect("a list").iter().map(row).collect();
    let expected = [("good", "verified"), ("bad", "violated"), ("one", "violated")];
    let expected: Vec<_> = expected
        .iter()
        .flat_map(|(test, verdict)| ["sc", "tso"].map(|model| (*test, model, "observations", *verdict)))
        .map(|(a, b, c, d)| (a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned()))
        .collect();
    assert_eq!(rows, expected);
    let bad = &report["checks"][2];
    assert_eq!(bad["explanation"]["kind"], "observation");
    assert_eq!(bad["specification"]["observations"], 2);
    assert_eq!(bad["instance"]["calls"], 2);
    // Two calls return 0 and 1, in either order, in a serial execution.
    assert_eq!(bad["explanation"]["nearest"].as_array().map(Vec::len), Some(2));
    assert!(bad["trace"]["program"]["test"]["name"] == "bad");
}

#[test]
fn tests_are_chosen_by_name_and_made_on_request() {
    let place = counter();
    assert_eq!(place.run("check counter.c --test good").code, 0);
    assert_eq!(place.run("check counter.c --test 'go*,good'").code, 0);
    let done = place.run("check counter.c --test goood");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("there is no test `goood` (did you mean `good`?)"), "{}", done.stderr);
    // ( l | l ), ( l | c ), ( c | c )
    let done = place.run("check counter.c --all-tests 2 --save-trace bug.json");
    assert!(done.stdout.contains("3 checks: 2 violated, 1 verified"), "{}", done.stdout);
    let replayed = place.run("replay bug.json");
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("confirmed: observations on sc"), "{}", replayed.stdout);
}

/// The trace carries the tests and the included files, so that nothing else is needed.
#[test]
fn a_trace_stands_alone() {
    let source = COUNTER.replace("int value;", "#include \"value.h\"");
    let place =
        Folder::new(&[("counter.c", source.as_str()), ("counter.tests", TESTS), ("value.h", "static int value;\n")]);
    assert_eq!(place.run("check counter.c --test bad --save-trace bug.json").code, 1);
    for file in ["counter.c", "counter.tests", "value.h"] {
        std::fs::remove_file(place.path(file)).expect("the file is there");
    }
    let replayed = place.run("replay bug.json");
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    // With another specification the observation is fine, and the trace says something that is not so.
    let outcome = place.read("bug.json").replace("\"allowed\": [", "\"allowed\": [[0, 0], ");
    place.write("bug.json", outcome.as_bytes());
    let replayed = place.run("replay bug.json");
    assert_eq!(replayed.code, 2, "{}", replayed.stdout);
    assert!(replayed.stdout.contains("among the allowed ones"), "{}", replayed.stdout);
}

#[test]
fn a_reference_gives_the_specification() {
    let place = counter();
    // Counting down is right by itself, but not beside the counter.
    let down = COUNTER.replace("fetch_add(&value, 1)", "fetch_add(&value, -1)");
    place.write("down.c", down.as_bytes());
    place.write("same.c", COUNTER.as_bytes());
    assert_eq!(place.run("check counter.c --test good --reference same.c").code, 0);
    let done = place.run("check counter.c --test good --reference down.c");
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(done.stdout.contains("no serial execution gives this observation"), "{}", done.stdout);
    // How the reference calls its parameters is its own business; how many it observes is not.
    place.write("add.c", b"int v;\nint add(int n, int *out) { *out = v; v += n; return v; }\n");
    place.write("add.tests", b"a = add(in {1, 2}, out)\ntest T = ( a | a )\n");
    place.write(
        "plus.c",
        b"int total;\nint add(int summand, int *old) { *old = total; total += summand; return total; }\n",
    );
    place.write("pair.c", b"struct p { int a, b; };\nint add(int n, struct p *old) { old->b = n; return n; }\n");
    let done = place.run("check add.c --model serial --reference plus.c");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let done = place.run("check add.c --model serial --reference pair.c");
    assert!(done.code == 2 && done.stderr.contains("has to observe"), "{}{}", done.stdout, done.stderr);
    let other = "threads { shared x; thread p { x := 1 } } observe x;";
    place.write("other.rml", other.as_bytes());
    let done = place.run("check counter.c --test good --reference other.rml");
    assert!(done.code == 2 && done.stderr.contains("in the language"), "{}", done.stderr);
}

#[test]
fn header_lines_name_the_models_and_the_tests() {
    let place = counter();
    let source = format!("//@ tests: counter.tests\n//@ tso: verified\n//@ pso: verified\n{COUNTER}");
    place.write("other.c", source.as_bytes());
    let done = place.run("check other.c --test good");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("tso") && done.stdout.contains("pso") && !done.stdout.contains("  sc "));
    let done = place.run("outcomes other.c --test bad --model serial,sc");
    assert!(done.stdout.contains("serial: 2 outcomes") && done.stdout.contains("sc: 3 outcomes"), "{}", done.stdout);
}

/// Every engine gives the same observations.
#[test]
fn engines_agree() {
    let place = counter();
    for model in ["serial", "sc", "tso", "pso"] {
        let outcomes = |engine: &str| {
            let done =
                place.run(&format!("outcomes counter.c --test one --model {model} --engine {engine} --format json"));
            assert_eq!(done.code, 0, "{engine} on {model}: {}", done.stdout);
            let report: serde_json::Value = serde_json::from_str(&done.stdout).expect("it is JSON");
            report["results"][0]["outcomes"].clone()
        };
        assert_eq!(outcomes("explore"), outcomes("interp"), "{model}");
        assert_eq!(outcomes("explore"), outcomes("symbolic"), "{model}");
    }
}

/// A C file with one function, its test, the exit code and what is said.
#[track_caller]
fn check(code: &str, test: &str, exit: i32, says: &str) {
    let source = format!("#include <cyrano.h>\n#include <stdlib.h>\nint x; int *p; int a[2];\n{code}\n");
    let tests = format!("f = f()\n{test}\n");
    let place = Folder::new(&[("f.c", source.as_str()), ("f.tests", tests.as_str())]);
    let done = place.run("check f.c");
    let all = format!("{}{}", done.stdout, done.stderr);
    // Long sentences are broken into lines.
    let words = all.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(done.code, exit, "{all}");
    assert!(words.contains(says), "{all}");
}

#[test]
fn errors_of_the_program_are_shown_by_an_execution() {
    let both = "test T = ( f | f )";
    check("int f(void) { return 1 / x; }", both, 1, "division by zero");
    check("int f(void) { return *p; }", both, 1, "access through a null pointer");
    check("int f(void) { return a[x + 2]; }", both, 1, "`return a[x + 2];`: index outside an array of 2 elements");
    check(
        "typedef struct { int v; } node; void f(void) { node *n = malloc(sizeof(node)); free(n); free(n); }",
        both,
        1,
        "double free",
    );
    check("int f(void) { int *n = malloc(sizeof(int)); return *n + 1; }", both, 1, "use of an undefined value");
    check("int f(void) { assert(x == 0); x = 1; return 0; }", both, 1, "The assertion `x == 0`");
}

#[test]
fn bad_input_is_named() {
    let both = "test T = ( f | f )";
    check("int f(void) { return 1 +; }", both, 2, "syntax error: `;` is not expected here");
    check("int f(void) { return helper(3); }", both, 2, "there is no function `helper`");
    check("int f(void) { return 0; }", "test T = ( f | g )", 2, "there is no operation `g`");
    check("int f(void) { return 0; }", "g = nowhere()", 2, "the C file has no function `nowhere`");
    // Tests that call what is wrong are not reported as well.
    check("int f(void) { return 0; }", "g = nowhere()\ntest T = ( f | g )", 2, "1 error in f.tests");
    check("int f(void) { return 0; }", "", 2, "there are no tests in this file");
    let place = Folder::new(&[("f.c", "int x;")]);
    let done = place.run("check f.c");
    assert!(done.code == 2 && done.stderr.contains("f.tests: there is no such file"), "{}", done.stderr);
    let done = place.run("check lib:litmus/sb.rml --all-tests 2");
    assert!(done.code == 2 && done.stderr.contains("only C files and algorithms have tests"), "{}", done.stderr);
}

/// A loop that nobody can show to end: a bound or the clock, and no wrong verdict.
#[test]
fn loops_without_an_end_are_not_verified() {
    let source = "#include <cyrano.h>\nint x;\nint f(void)\n{\n    int i = 0;\n    while (x == 0)\n        i++;\n    return i;\n}\n";
    let place = Folder::new(&[("f.c", source), ("f.tests", "f = f()\ntest T = ( f | f )\n")]);
    let done = place.run("check f.c --engine symbolic --model relaxed");
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("were unrolled 16 times only (line 6)"), "{}", done.stdout);
    // Without a choice of engine, a limit or a clock: mining notices, and so does the check under a model that the explorer takes.
    for model in ["sc", "relaxed"] {
        let done = place.run(&format!("check f.c --model {model}"));
        assert_eq!(done.code, 4, "{model}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("were unrolled 16 times only (line 6)"), "{model}: {}", done.stdout);
    }
    let done = place.run("check f.c --model sc --engine explore --timeout 1");
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("time limit reached"), "{}", done.stdout);
}

/// A loop that counts in memory, and whose result is observed.
#[test]
fn a_counter_that_never_ends_is_bounded() {
    let source = "#include <cyrano.h>\nint go;\nunsigned n;\nunsigned spin(void)\n{\n    while (!go)\n        n = n + 1;\n    return n;\n}\nvoid set(void) { go = 1; }\n";
    let tests = "s = spin()\ng = set()\ntest T = ( s | g )\n";
    let place = Folder::new(&[("f.c", source), ("f.tests", tests)]);
    // Another thread may set the flag at any time, so every number is an observation, none of which is known to be missing.
    let done = place.run("check f.c --model sc");
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(
        words.contains("not all serial observations are known: loops of thread1 were unrolled 16 times only (line 6)"),
        "{words}"
    );
}

#[test]
fn calls_behind_the_threads_see_all_that_they_did() {
    let source = "#include <stdatomic.h>\natomic_int x, y;\nint set(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 1, memory_order_relaxed); return 0; }\nint look(void) { return atomic_load_explicit(&x, memory_order_relaxed) + atomic_load_explicit(&y, memory_order_relaxed); }\n";
    let tests = "s = set() -> _\nl = look()\nsingle s\ntest after = ( s | l ) l\ntest beside = ( s | l )\n";
    let place = Folder::new(&[("it.c", source), ("it.tests", tests)]);
    for model in ["sc", "tso", "pso", "relaxed", "rc11", "armv8"] {
        let done = place.run(&format!("check it.c --test after --model {model} --criterion observations"));
        // The call beside the other thread may see half of it; the one behind both may not.
        assert_eq!(done.code, 1, "{model}: {}", done.stdout);
        assert!(
            !done.stdout.contains("after.l1.result = 0") && !done.stdout.contains("after.l1.result = 1"),
            "{}",
            done.stdout
        );
    }
    let source = "#include <stdatomic.h>\natomic_int x;\nint set(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }\nint look(void) { return atomic_load_explicit(&x, memory_order_relaxed); }\n";
    let place =
        Folder::new(&[("it.c", source), ("it.tests", "s = set() -> _\nl = look()\nsingle s\ntest T = ( s | l ) l\n")]);
    for model in ["sc", "tso", "pso", "relaxed", "rc11", "armv8", "power"] {
        assert_eq!(place.run(&format!("check it.c --model {model} --criterion observations")).code, 0, "{model}");
    }
    let done = place.run("check it.c --test '( s | s )'");
    assert!(done.code == 2 && done.stderr.contains("two threads call `s`"), "{}", done.stderr);
}

#[test]
fn macros_are_defined_and_taken_away_in_order() {
    let source =
        "#include <assert.h>\n#ifdef X\nint x = 1;\n#else\nint x = 2;\n#endif\nint main(void) { assert(x == 1); }\n";
    let place = Folder::new(&[("it.c", source)]);
    assert_eq!(place.run("check it.c -D X").code, 0);
    assert_eq!(place.run("check it.c -D X -U X").code, 1);
    assert_eq!(place.run("check it.c -U X -D X").code, 0);
    assert_eq!(place.run("check it.c -D X -U X -D X=7").code, 0);
}

#[test]
fn memory_that_is_not_freed_is_told_on_request() {
    let source = "#include <stdlib.h>\n#include <assert.h>\nint main(void) {\n    int *p = malloc(sizeof *p);\n    *p = 1;\n    assert(*p);\n    FREE\n}\n";
    let place = Folder::new(&[("it.c", source)]);
    for model in ["sc", "tso", "rc11"] {
        assert_eq!(place.run(&format!("check it.c -D FREE= --model {model}")).code, 0);
        assert_eq!(place.run(&format!("check it.c -D 'FREE=free(p);' --leaks --model {model}")).code, 0);
        let done = place.run(&format!("check it.c -D FREE= --leaks --model {model} --save-trace it.json"));
        assert!(done.code == 1 && done.stdout.contains("what line 4 allocates is not freed"), "{}", done.stdout);
        assert_eq!(place.run("replay it.json").code, 0);
    }
    let done = counter().run("check counter.c --leaks");
    assert!(done.code == 2 && done.stderr.contains("whole programs"), "{}", done.stderr);
}
