//! One language: labels everywhere, and what is said about statements and expressions in blocks that cannot have them.

use expect_test::{Expect, expect};

use super::{check_errors, program, render};
use crate::CompileError;

/// Compares the diagnostics of a method with these statements.
fn check_method(body: &str, expect: Expect) {
    let source = format!(
        "algorithm A(locs = 1) {{ shared x: AtomicRegister; txlocal s: Set;
         method read(i) {{ {body} }}
         method write(i, v) {{ return ok; }} method commit() {{ return committed; }} }}"
    );
    match crate::algorithm::tests("test", &source, &[]) {
        Err(CompileError::Diagnostics(found)) => expect.assert_eq(&render(&source, &found)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn labels_change_nothing() {
    let without = "threads { shared x; proc p { x := 1 } thread t { local r; if r { p } while r { r := 2; skip } } }";
    let with = "threads { shared x; proc p { P1: x := 1 } thread t { local r; A: if r { B: p } C: while r { D: r := 2; E: skip } } }";
    let code = |source: &str| {
        let threads = program(source, &[]).threads;
        threads.into_iter().flat_map(|thread| thread.code).map(|instr| format!("{:?}", instr.op)).collect::<Vec<_>>()
    };
    assert_eq!(code(with), code(without));
    program("stm { data g[vars]; read(v) { R: rfin } write(v) { W: g[v] := 1 } end { E: commit } }", &[]);
    program("threads { const a = 1, b = a + 1; shared x; thread t { x := b } }", &[]);
}

#[test]
fn labels_are_there_once() {
    check_errors(
        "threads { shared x; proc p { L1: x := 1 } thread t { L1: x := 2; if 1 { L2: skip } L2: p } }",
        expect![[r#"
            error: two labels are named `L1`
              1 | threads { shared x; proc p { L1: x := 1 } thread t { L1: x := 2; if 1 { L2: skip } L2: p } }
                |                                                      ^^ again
              1 | threads { shared x; proc p { L1: x := 1 } thread t { L1: x := 2; if 1 { L2: skip } L2: p } }
                |                              ^^ first here
              help: rename one of the two
            error: two labels are named `L2`
              1 | threads { shared x; proc p { L1: x := 1 } thread t { L1: x := 2; if 1 { L2: skip } L2: p } }
                |                                                                                    ^^ again
              1 | threads { shared x; proc p { L1: x := 1 } thread t { L1: x := 2; if 1 { L2: skip } L2: p } }
                |                                                                         ^^ first here
              help: rename one of the two
        "#]],
    );
}

#[test]
fn what_belongs_in_methods() {
    check_errors(
        "threads { shared x, s; thread t { local r;
           r := x.read(); s.add(1); r := new Loc(1, 2); foreach (k in s) { r := k }
           if r in s { r := (1, 2) } r := x.read() + 1; x.y := 2 } }
         check never ((r, 1) in s); check assertions for P;",
        expect![[r#"
            error: base objects are called in the methods of an `algorithm` only
              2 |            r := x.read(); s.add(1); r := new Loc(1, 2); foreach (k in s) { r := k }
                |            ^^^^^^^^^^^^^ not here
              help: shared variables are read and assigned: `r := x; x := r + 1`
            error: base objects are called in the methods of an `algorithm` only
              2 |            r := x.read(); s.add(1); r := new Loc(1, 2); foreach (k in s) { r := k }
                |                           ^^^^^^^^ not here
              help: shared variables are read and assigned: `r := x; x := r + 1`
            error: records are known inside methods only
              2 |            r := x.read(); s.add(1); r := new Loc(1, 2); foreach (k in s) { r := k }
                |                                     ^^^^^^^^^^^^^^^^^^ not here
              help: use an array of shared variables
            error: sets are known inside methods only
              2 |            r := x.read(); s.add(1); r := new Loc(1, 2); foreach (k in s) { r := k }
                |                                                         ^^^^^^^^^^^^^^^^ not here
              help: write `foreach i in 0..<n { … }`, or `while`
            error: sets are known inside methods only
              3 |            if r in s { r := (1, 2) } r := x.read() + 1; x.y := 2 } }
                |               ^^^^^^ not here
              help: compare results and constants
            error: sets are known inside methods only
              3 |            if r in s { r := (1, 2) } r := x.read() + 1; x.y := 2 } }
                |                             ^^^^^^ not here
              help: compare results and constants
            error: expected `;`, found `+`
              3 |            if r in s { r := (1, 2) } r := x.read() + 1; x.y := 2 } }
                |                                                    ^ expected `;` before this
            error: expected `;`, found `.`
              3 |            if r in s { r := (1, 2) } r := x.read() + 1; x.y := 2 } }
                |                                                          ^ expected `;` before this
            error: sets are known inside methods only
              4 |          check never ((r, 1) in s); check assertions for P;
                |                       ^^^^^^^^^^^ not here
              help: compare results and constants
            error: only the clients of an `algorithm` are chosen by `for`
              4 |          check never ((r, 1) in s); check assertions for P;
                |                                                      ^^^^^ not here
              help: leave it out: the check is about the whole program
        "#]],
    );
    check_errors(
        "threads { shared x; thread t { x := 1 } } client P { thread { tx { read(0); } } }",
        expect![[r#"
        error: a client with a name needs an `algorithm`
          1 | threads { shared x; thread t { x := 1 } } client P { thread { tx { read(0); } } }
            |                                                  ^ the client
          help: the client of an stm has no name: `client { … }`
    "#]],
    );
    check_errors(
        "threads { shared x; thread t { x := 1 } } algorithm A(locs = 1) { method read(i) { return i; } }",
        expect![[r#"
            error: a file has one program: `threads` and `algorithm` exclude each other
              1 | threads { shared x; thread t { x := 1 } } algorithm A(locs = 1) { method read(i) { return i; } }
                |                                                     ^ the second one
              1 | threads { shared x; thread t { x := 1 } } algorithm A(locs = 1) { method read(i) { return i; } }
                | ^^^^^^^ the first one
        "#]],
    );
}

#[test]
fn an_algorithm_is_not_one_program() {
    check_errors(
        "algorithm A(locs = 1) { method read(i) { return i; } } check opacity;",
        expect![[r#"
        error: an `algorithm` is a program only with a client
          1 | algorithm A(locs = 1) { method read(i) { return i; } } check opacity;
            |           ^ not a program
          help: check the file: it has a program for each of its clients
    "#]],
    );
}

#[test]
fn what_methods_cannot_have() {
    check_method(
        "local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return;",
        expect![[r#"
            error: a method declares nothing
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                           ^^^^^^^^ not here
              help: what a method assigns is its local; what a transaction keeps is a `txlocal`
            error: `while` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                    ^^^^^ not here
              help: methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`
            error: `fence` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                     ^^^^^ not here
              help: methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`
            error: `atomic` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                            ^^^^^^ not here
              help: methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`
            error: `cas` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                              ^^^^^^^^^^^^^^^^^ not here
              help: call a base object: `x.cas(expected, new)`
            error: `y` is no array and cannot be assigned
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                                                 ^^^^ not a variable
              help: write just `y`
            error: `x` is a base object and cannot be assigned
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                                                            ^^^^ not a variable
              help: write `x[…].write(…)`
            error: `tx` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                                                                       ^^ not here
              help: methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`
            error: `abort` cannot stand in a method
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                                                                                   ^^^^^ not here
              help: methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`
            error: a method returns something
              2 |          method read(i) { local r; while i { skip } fence; atomic { x := 1 } r := cas(x, 0, 1); y[0] := 1; x[0] := 1; tx { skip } abort; return; }
                |                                                                                                                                          ^^^^^^ not here
              help: write `return ok;` or another result
        "#]],
    );
    check_method(
        "a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2);",
        expect![[r#"
        error: an algorithm does not know its threads
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                ^^^^ not here
          help: transactions have numbers: `tx`
        error: an algorithm does not know its threads
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                       ^^^ not here
          help: transactions have numbers: `tx`
        error: a base object is not a value
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                                 ^^^^ not here
          help: call it on the right side of `:=`: `v := x[i].read();`
        error: a base object is not a value
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                                            ^^^^^^ not here
          help: call it on the right side of `:=`: `v := x[i].read();`
        error: an algorithm has no quantifiers
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                                                         ^^^^^^^^^^^^^^^^^^^^ not here
          help: spell it out with `&&` and `||`
        error: a pair is not a value
          2 |          method read(i) { a := self + tid; b := x[0]; c := x.read; d := forall k in 0..1 (k); return (1, 2); }
            |                                                                                                      ^^^^^^ not here
          help: a pair is an element of a set: `s.add((a, b))` or `(a, b) in s`
    "#]],
    );
    check_method(
        "foreach k in 0..1 { skip } assert i; return f(x.read());",
        expect![[r#"
        error: a call stands alone on the right side of `:=`
          2 |          method read(i) { foreach k in 0..1 { skip } assert i; return f(x.read()); }
            |                                                                         ^ not inside an expression
          help: assign it to a local first: `r := …`
    "#]],
    );
}
