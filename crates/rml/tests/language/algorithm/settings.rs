//! Constants and policies.

use super::*;

/// A file around some members, with a client that writes 1.
fn file(members: &str) -> String {
    let has = |method: &str| members.contains(&format!("method {method}("));
    let mut all = members.to_owned();
    for (method, body) in [
        ("read(i)", "{ v := r[i].read(); return v; }"),
        ("write(i, v)", "{ r[i].write(v); return ok; }"),
        ("commit()", "{ return committed; }"),
    ] {
        if !has(method.split('(').next().unwrap_or_default()) {
            all += &format!("\nmethod {method} {body}");
        }
    }
    format!(
        "algorithm A(locs = 2) {{ shared r: AtomicRegister[locs], x: BasicRegister; txlocal s: Set, m: Map;\n{all}\n}}
        client P {{ thread {{ tx {{ a := read(0); write(1, 1); c := commit(); }} }} }}
        check never (a == 1);"
    )
}

#[test]
fn a_vacuous_policy() {
    let source = file("method read(i) { v := x.read(); return v; } method write(i, v) { x.write(v); return ok; }");
    let right = source.replace("write(1, 1)", "write(1, 0)");
    tests(&right.replace("x: BasicRegister", "x: BasicRegister of 0..1"));
    // There is always a value that nobody writes.
    tests(&right);
}

#[test]
fn unknown_constants_are_named() {
    let set = [("lox".to_owned(), 3)];
    let Err(CompileError::UnknownConstants { names, known }) = compile("test", &file(""), &set) else { panic!() };
    assert_eq!((names, known), (vec!["lox".to_owned()], vec!["locs".to_owned()]));
    assert!(!cyrano_rml::algorithm::is_algorithm("threads { shared algorithm; }"));
    assert!(cyrano_rml::algorithm::is_algorithm("// x\nconst a = 1;\nalgorithm B(locs = 1) {"));
}
