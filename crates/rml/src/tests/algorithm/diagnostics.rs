//! What is said about bad files.

use expect_test::{Expect, expect};

use super::*;

/// Compares the diagnostics of a wrong file: message, marked text, label, other places, help.
fn check(source: &str, expected: Expect) {
    let found = match compile("test", source, &[]) {
        Err(CompileError::Diagnostics(found)) => found,
        other => panic!("{other:?}"),
    };
    let text = |span: cyrano_ir::Span| source[span.range()].to_owned();
    let lines = found.iter().map(|diagnostic| {
        let related = diagnostic.related.iter().map(|(span, what)| format!("  `{}`: {what}\n", text(*span)));
        let help = diagnostic.help.iter().map(|help| format!("  help: {help}\n"));
        let head = format!("{} [`{}`: {}]\n", diagnostic.message, text(diagnostic.span), diagnostic.label);
        head + &related.chain(help).collect::<String>()
    });
    expected.assert_eq(&lines.collect::<String>());
}

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
fn orders() {
    let body = "method read(i) { R01: v := r[i].read(); R02: w := r[1 - i].read(); R03: return v; }";
    check(
        &file(&format!("{body} order R01 < R20;")),
        expect![[r#"
        there is no label `R20` [`R20`: unknown label]
          help: did you mean `R02`?
    "#]],
    );
    check(
        &file(&format!("{body} order R02 < R01;")),
        expect![[r#"
        cyclic order: `R01` stands before `R02` in the text [`R02 < R01`: an order follows the text]
          `R01`: `R01` is here
          help: write `R01 < R02`, or remove it
    "#]],
    );
    check(
        &file(&format!("{body} order R01 < R02, R02 < R01;")),
        expect![[r#"
        cyclic order: `R01` stands before `R02` in the text [`R02 < R01`: an order follows the text]
          `R01 < R02`: and this is the opposite
          help: write `R01 < R02`, or remove it
    "#]],
    );
    check(
        &file(&format!("{body} order each R01 < R02;")),
        expect![[r#"
        `R01 < R02` never applies [`R01 < R02`: no loop contains both of them in one call]
          help: remove it, or order other labels
    "#]],
    );
    check(
        &file(&format!("{body} method write(i, v) {{ W01: r[i].write(v); return ok; }} order R01 < W01;")),
        expect![[r#"
        `R01 < W01` never applies [`R01 < W01`: the two never stand in one call]
          help: remove it, or order other labels
    "#]],
    );
}

#[test]
fn names_and_arities() {
    check(
        &file("method read(i) { v := rr[i].read(); w := r[i].raed(); u := r[i].read(1); return v + x; }"),
        expect![[r#"
        there is no base object `rr` [`rr`: unknown base object]
          help: there is `r`, `x`
        there is no method of an AtomicRegister `raed` [`raed`: unknown method of an AtomicRegister]
          help: did you mean `read`?
        `read` takes no arguments, not 1 [`read`: wrong number of arguments]
          help: the base objects are in the reference
        `x` is a base object, not a value [`x`: not a value]
          help: write `v := x.read();`
    "#]],
    );
    check(
        &file("method read(i) { v := help(1, 2); return v; } method help(n) { return n; }"),
        expect![[r#"
        `help` takes 1 argument, not 2 [`help`: wrong number of arguments]
          `help`: declared here
    "#]],
    );
    check(
        &file("method read(i) { v := hepl(1); return v; } method help(n) { return n; }"),
        expect![[r#"
        there is no method `hepl` [`hepl`: unknown method]
          help: did you mean `help`?
    "#]],
    );
    check(
        &file("method read(i) { return loks; }"),
        expect![[r#"
        there is no variable `loks` [`loks`: unknown variable]
          help: did you mean `locs`?
    "#]],
    );
    check(
        &file(
            "method read(i) { st := new Lok(1); v := st.old.read(); return v; } record Loc { oldVal: BasicRegister }",
        ),
        expect![[r#"
        there is no record `Lok` [`Lok`: unknown record]
          help: did you mean `Loc`?
        there is no field `old` [`old`: unknown field]
          help: there is `oldVal`
    "#]],
    );
    check(
        &file("method read(i) { v := r.read(); w := x[1].read(); return v; }"),
        expect![[r#"
        `r` is an array [`r`: has no index]
          help: write `r[i].read(…)`
        `x` is not an array [`1`: an index]
          help: write just `x`
    "#]],
    );
}

#[test]
fn methods() {
    check(
        &file(
            "method read(i) { a := one(); return a; } method one() { b := two(); return b; } method two() { c := one(); return c; }",
        ),
        expect![[r#"
            method `one` calls itself through `two` [`one()`: the call that closes the circle]
              `one`: the method
              help: methods are inlined, so they cannot be recursive
        "#]],
    );
    check(
        &file("method read(i) { if (i) { return 1; } }"),
        expect![[r#"
        `read` does not return on every path [`}`: is reached without a `return`]
          help: end it with `return …;`
    "#]],
    );
    check(
        &file("method read(i) { return 1; s.add(1); }"),
        expect![[r#"
        this is never reached [`s.add(1)`: behind a `return`]
          help: remove it
    "#]],
    );
    check(
        &file("method write(i) { return 7; } method commit() { return ok; }"),
        expect![[r#"
        `write` takes 2 arguments [`write`: has 1 parameter]
          help: write `method write(i, v) { … }`
        `write` returns something that it cannot return [`7`: not here]
          help: `write` returns `ok` or `aborted`
        `commit` returns something that it cannot return [`ok`: not here]
          help: `commit` returns `committed` or `aborted`
    "#]],
    );
    check(
        "algorithm A(n = 2) { method read(i) { return 1; } }",
        expect![[r#"
        the algorithm does not say how many locations there are [`A`: has no parameter `locs`]
          help: write `algorithm A(locs = 2)`
        the method `write` is missing [`A`: here]
          help: write `method write(i, v) { … }`
        the method `commit` is missing [`A`: here]
          help: write `method commit() { … }`
    "#]],
    );
}

#[test]
fn assignments() {
    check(
        &file("method read(i) { i := 1; r := 2; s := 3; locs := 4; aborted := 5; return 0; }"),
        expect![[r#"
        `i` is a parameter or a binder and cannot be assigned [`i`: not a variable]
          help: choose another name
        `r` is a base object and cannot be assigned [`r`: not a variable]
          help: write `r.write(…)`
        `s` is a set or map and cannot be assigned [`s`: not a variable]
          help: write `s.add(…)` or `s.put(…)`
        `locs` is a constant and cannot be assigned [`locs`: not a variable]
          help: choose another name
        `aborted` is a built-in name and cannot be assigned [`aborted`: not a variable]
          help: choose another name
    "#]],
    );
    check(
        &file("method read(i) { if (i) { v := 1; } w := v; foreach (k in s) { u := 1; } return w + u; }"),
        expect![[r#"
        `v` may be used before it is assigned [`v`: not assigned on every path]
          help: assign it first
        `u` may be used before it is assigned [`u`: not assigned on every path]
          help: assign it first
    "#]],
    );
}

#[test]
fn sets_and_maps() {
    check(
        &file("method read(i) { s.add((1, 2)); foreach (k in s) { skip; } s.put(1, 2); return 1 in s; }"),
        expect![[r#"
        `s` holds pairs and single values [`s`: here single values]
          `(1, 2)`: here pairs
          help: declare one set for each
        there is no method of a set `put` [`put`: unknown method of a set]
          help: there is `add`
        `s` holds pairs and single values [`1 in s`: here single values]
          `(1, 2)`: here pairs
          help: declare one set for each
    "#]],
    );
    check(
        &file("method read(i) { m.put(1); foreach ((a, b) in m) { skip; } v := m.get(1) + 1; return 0; }"),
        expect![[r#"
            expected `;`, found `+` [`+`: expected `;` before this]
        "#]],
    );
    check(
        &file("method read(i) { return i in t; }"),
        expect![[r#"
        there is no set or map `t` [`t`: unknown set or map]
          help: there is `s`, `m`
    "#]],
    );
}

#[test]
fn a_vacuous_policy() {
    let source = file("method read(i) { v := x.read(); return v; } method write(i, v) { x.write(v); return ok; }");
    check(
        &source.replace("x: BasicRegister", "x: BasicRegister of 0..0"),
        expect![[r#"
        a read of `x` that meets a write may return any value, and there is only 0 [`x`: this policy would make the check vacuous]
          help: give the register a larger domain (`of 0..3`), or make it `atomic`
    "#]],
    );
    check(
        &source.replace("write(1, 1)", "write(1, a)"),
        expect![[r#"
        what `x` may hold depends on what the client reads [`x`: a basic register without a domain]
          help: say which values it may hold: `of 0..3`
    "#]],
    );
    let right = source.replace("write(1, 1)", "write(1, 0)");
    tests(&right.replace("x: BasicRegister", "x: BasicRegister of 0..1"));
    // There is always a value that nobody writes.
    tests(&right);
}

#[test]
fn clients() {
    let with = |client: &str| {
        let source = file("");
        let at = source.find("client").unwrap_or(source.len());
        format!("{}{client}", &source[..at])
    };
    check(
        &with("client P { thread { tx { read(2); write(0, 0 - 1); reed(1); commit(1); } } } check opacity;"),
        expect![[r#"
        there is no method that clients call `reed` [`reed`: unknown method that clients call]
          help: did you mean `read`?
        `commit` takes no arguments, not 1 [`commit(1)`: wrong number of arguments]
          help: `read(i)`, `write(i, v)` and `commit()`
    "#]],
    );
    check(
        &with("client P { thread { tx { commit(); read(0); } tx { read(1); } tx { } } } check opacity;"),
        expect![[r#"
        a transaction ends with `commit()` [`read(0)`: behind it]
          help: start another `tx { … }`
        a transaction that another one follows ends with `commit()` [`tx`: does not end]
          help: call `commit()` at its end
        this transaction does nothing [`tx`: empty]
          help: call `read`, `write` or `commit`
    "#]],
    );
    check(
        &with("client P { thread { tx { a := read(0); } } thread { tx { a := read(b); } } } check never (a == q);"),
        expect![[r#"
        two results are named `a` [`a`: again]
          `a`: first here
          help: rename one of the two
        there is no constant or earlier result `b` [`b`: unknown constant or earlier result]
          help: there is `locs`
        there is no constant or earlier result `q` [`q`: unknown constant or earlier result]
          help: there is `a`, `locs`
    "#]],
    );
    check(
        &with("check opacity;"),
        expect![[r#"
        there is no client before this check [`check opacity`: about which client?]
          help: write it behind the client, or `for clients threads 2, txns 1, ops 2`
    "#]],
    );
    check(
        &with("client P { thread { tx { read(0); } } } check opacity for Q; check opasity for P;"),
        expect![[r#"
        unknown criterion `opasity` [`opasity`: not a criterion]
          help: did you mean `opacity`?
    "#]],
    );
    check(
        &with("check never (a == 1) for clients ops 1; check opacity for clients threads 0, ops 3..2, locs 5, ops 1;"),
        expect![[r#"
        `ops` is given twice [`ops`: again]
          help: keep one of the two
    "#]],
    );
    check(
        &with("client P { thread { tx { read(2); write(0, 0 - 1); commit(); } } } check opacity;"),
        expect![[r#"
            there is no location 2 [`2`: out of range]
              help: the locations are 0 to 1
            there is no value to write -1 [`0 - 1`: out of range]
              help: values are integers of at least 0
        "#]],
    );
    check(
        &with("client P { thread { tx retry 99 { write(0, 0 - 1); } } } check opacity;"),
        expect![[r#"
        a transaction cannot be run 99 times again [`99`: out of range]
          help: write a number from 0 to 64
    "#]],
    );
    check(
        &with("check never (a == 1) for clients ops 1; check opacity for P;"),
        expect![[r#"
            a condition is about the results of one client [`for clients ops 1`: about all clients]
              help: name a client, or check a criterion like `opacity`
            there is no client `P` [`P`: unknown client]
              help: no client is declared
        "#]],
    );
    check(
        &with("check opacity for clients threads 0, ops 3..2, locs 1..2;"),
        expect![[r#"
        0..0 is no range for `threads` [`0`: out of range]
          help: write a number from 1 to 64, or two of them as `1..2`
        3..2 is no range for `ops` [`3..2`: out of range]
          help: write a number from 0 to 64, or two of them as `1..2`
    "#]],
    );
    check(
        &with("check opacity for clients locs 5;"),
        expect![[r#"
        the clients use 5 locations and the algorithm has 2 [`5`: too many]
          help: give the algorithm's parameter: `locs = 5`
    "#]],
    );
    check(
        &with("check opacity for clients ops 1, values {0 - 2, 1};"),
        expect![[r#"
        clients cannot write -2 [`0 - 2`: negative]
          help: values are integers of at least 0
    "#]],
    );
}

#[test]
fn syntax() {
    check(
        "algorithm A(locs = 2) { shared r: AtomicRegistr; method read(i { return 1; } order A B; }",
        expect![[r#"
        expected a kind of base objects, like `AtomicRegister` or `TryLock`, found `AtomicRegistr` [`AtomicRegistr`: expected a kind of base objects, like `AtomicRegister` or `TryLock`]
          help: did you mean `AtomicRegister`?
        expected `)`, found `{` [`{`: expected `)`]
        expected `<`, found `B` [`B`: expected `<`]
    "#]],
    );
    check(
        &file("method read(i) { v = 1; w := r[i].read() + 1; return 1 }"),
        expect![[r#"
            expected `:=`, found `=` [`=`: not an assignment]
              help: write `:=` to assign; `=` compares
            expected `;`, found `+` [`+`: expected `;` before this]
        "#]],
    );
    check(
        "algorithm A(locs = 2) { shared a: AtomicRegister any, b: AtomicRegister[2] = {1}, c: AtomicRegister[0]; }",
        expect![[r#"
        `AtomicRegister` has no policy: it is atomic [`any`: not here]
          help: only a `BasicRegister` has one
    "#]],
    );
}

#[test]
fn unknown_constants_are_named() {
    let set = [("lox".to_owned(), 3)];
    let Err(CompileError::UnknownConstants { names, known }) = compile("test", &file(""), &set) else { panic!() };
    assert_eq!((names, known), (vec!["lox".to_owned()], vec!["locs".to_owned()]));
    assert!(!crate::algorithm::is_algorithm("threads { shared algorithm; }"));
    assert!(crate::algorithm::is_algorithm("// x\nconst a = 1;\nalgorithm B(locs = 1) {"));
}
