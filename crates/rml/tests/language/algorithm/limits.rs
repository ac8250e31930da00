//! Hostile files end soon, with a diagnostic.

use super::*;

/// What is said first about a file around these methods.
fn check(methods: &str, expected: &str) {
    let source = format!(
        "algorithm A(locs = 2) {{ shared r: AtomicRegister; txlocal s: Set, p: Set;
            {methods}
            method write(i, v) {{ return ok; }} method commit() {{ return committed; }} }}
        client P {{ thread {{ tx {{ read(0); }} }} }}"
    );
    let Err(CompileError::Diagnostics(found)) = compile("test", &source, &[]) else { panic!("{expected}") };
    assert!(found[0].message.contains(expected), "{}", found[0].message);
}

/// A chain of methods, each of which calls the next one so many times.
fn chain(length: usize, calls: usize) -> String {
    let call = |at: usize| format!("a := m{}(); ", at + 1).repeat(calls);
    let methods = (0..length).map(|at| format!("method m{at}() {{ {} return a; }} ", call(at)));
    let first = "method read(i) { v := m0(); return v; } ".to_owned();
    first + &methods.collect::<String>() + &format!("method m{length}() {{ v := r.read(); return v; }}")
}

#[test]
fn large_algorithms_are_refused() {
    check(&chain(1000, 1), "has 1004 methods");
    check(&chain(400, 1), "nest more than 300 levels deep");
    check(&chain(40, 2), "this program is too large");
    check(&chain(11, 2), "a call of `read` is too large");
    let many = "a := r.read(); s.add(a); ".repeat(3000);
    check(&format!("method read(i) {{ {many} return 0; }}"), "a call of `read` is too large");
    let pairs = "a := r.read(); p.add((a, a)); ".repeat(300);
    check(&format!("method read(i) {{ {pairs} return 0; }}"), "the client may add more than 256 pairs");
}
