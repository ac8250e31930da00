//! Limits: refused with one clear message, and reached without a stack overflow.

use cyrano_rml::{CompileError, compile};

/// The first diagnostic's message and how many there are.
fn first(source: &str) -> (String, usize) {
    match compile(source, "test", &[]) {
        Err(CompileError::Diagnostics(diagnostics)) => (diagnostics[0].message.clone(), diagnostics.len()),
        other => panic!("{other:?}"),
    }
}

fn in_thread(body: &str) -> String {
    format!("threads {{ shared x, a[4096]; thread p {{ local r; {body} }} }}")
}

#[test]
fn limits() {
    let check = |source: &str, message: &str| assert_eq!(first(source), (message.to_owned(), 1));
    check(&" ".repeat((2 << 20) + 1), "file too large: 2097153 bytes, at most 2097152 are read");
    check(&in_thread(&format!("r := {}1", "(".repeat(100_000))), "nested more than 200 levels deep");
    check(&in_thread(&"loop { ".repeat(100_000)), "nested more than 200 levels deep");
    check(&in_thread(&format!("r := {}1", "!".repeat(100_000))), "nested more than 200 levels deep");
    check(&in_thread(&format!("r := 1{}", " + 1".repeat(100_000))), "this expression is more than 400 operations deep");
    check(&in_thread("foreach i in 0..1000000000 { skip }"), "this range has 1000000001 values");
    check(&in_thread("foreach i in 0..9223372036854775807 { skip }"), "this range has 9223372036854775808 values");
    let nested = "foreach i in 0..9999 { foreach j in 0..9999 { foreach k in 0..9999 { skip } } }";
    check(&in_thread(nested), "this program is too large: more than 4000000 unrolled statements and operations");
    let many = "foreach i in 0..999 { foreach j in 0..999 { x := j } }";
    check(&in_thread(many), "this program is too large: more than 200000 instructions");
    let wide = "assume forall i in 0..9999 (forall j in 0..9999 (r != j))";
    check(&in_thread(wide), "this program is too large: more than 4000000 unrolled statements and operations");
    check("threads { thread p[257] { skip } }", "more than 256 threads");
    check("threads { thread p[200] { skip } thread q[57] { skip } }", "more than 256 threads");
    let arrays: String = (0..60).map(|i| format!("shared a{i}[4096];")).collect();
    let source = format!("threads {{ {arrays} thread p {{ skip }} }}");
    check(&source, "this program is too large: more than 200000 shared locations");
    check(
        "threads { local a[4096]; thread p[100] { a[0] := 1 } }",
        "this program is too large: more than 200000 registers",
    );
}

#[test]
fn the_deepest_allowed_programs_are_lowered() {
    let parens = format!("r := {}1{}", "(".repeat(190), ")".repeat(190));
    let precedence = format!("r := {}r{}", "r||r&&r|r^r&r==r<r<<r+r*(".repeat(30), ")".repeat(30));
    let blocks = format!("{}skip{}", "if r { ".repeat(95), " }".repeat(95));
    let arms = format!("if r {{ skip }} {}", "else if r { skip } ".repeat(2000));
    let sum = format!("r := r{}", " + r".repeat(399));
    for body in [parens, precedence, blocks, arms, sum] {
        super::program(&in_thread(&body), &[]);
    }
}

#[test]
fn long_chains_of_calls_are_refused_not_followed() {
    let chain: String = (0..30_000).map(|i| format!("proc f{i} {{ f{} }}\n", i + 1)).collect();
    let source = format!("threads {{ {chain} proc f30000 {{ skip }} thread p {{ f0 }} }}");
    assert_eq!(first(&source).0, "calls and blocks nest more than 300 levels deep after inlining");
    let cycle = source.replace("proc f30000 { skip }", "proc f30000 { f0 }");
    assert!(first(&cycle).0.starts_with("procedure `f0` calls itself through `f1`, `f2`"), "{:?}", first(&cycle));
}

#[test]
fn many_errors_are_counted() {
    let wrong: String = (0..250).map(|i| format!("v{i} := 1;\n")).collect();
    let Err(CompileError::Diagnostics(all)) = compile(&in_thread(&wrong), "test", &[]) else { panic!() };
    assert_eq!((all.len(), all[100].message.as_str()), (101, "… and 150 more"));
}
