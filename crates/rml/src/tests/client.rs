//! A client of an stm's own: what is lowered, and what is refused.

use cyrano_ir::Op;
use expect_test::expect;

use super::{check_errors, program};
use crate::{Compiled, compile_both};

const STM: &str = "stm s { shared lock; data g[vars]; local r; read(a) { r := g[a]; if r == 9 then abort; return r } \
                   write(a, v) { g[a] := v; } end(a) { lock := a; commit } }\n";

fn with(client: &str) -> String {
    format!("{STM}{client}")
}

#[test]
fn locals_are_kept_for_the_next_attempt() {
    let source = with("client { thread p { local r, n; tx { n := n + 1; r := read(0); } } }");
    let Compiled { program, atomic } = compile_both(&source, "test", &[]).expect("it compiles");
    assert!(atomic.is_some());
    let printed = cyrano_ir::text::print(&program);
    assert!(printed.contains("n := \"%kept.n[0]\""), "{printed}");
    // The stm's `r` and the client's are two variables, and the stm's is not observed.
    let observed: Vec<_> = program.observed.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(observed, ["r", "n", "g[0]", "g[1]"]);
    assert!(program.threads[0].registers.iter().any(|register| register.name == "%stm.r"), "{printed}");
    assert!(program.transactional.is_empty() && !program.has_calls());
}

#[test]
fn the_stm_knows_threads_by_number() {
    let stm = STM.replace("lock := a", "lock := self");
    let source = format!("const threads = 3;\n{stm}client {{ thread p {{ skip }} thread w[2] {{ tx {{ skip }} }} }}");
    let printed = cyrano_ir::text::print(&program(&source, &[]));
    assert!(printed.contains("store lock, 1") && printed.contains("store lock, 2"), "{printed}");
}

#[test]
fn the_first_address_is_known_or_found_out() {
    let known = "client { thread p { local i; i := 1; tx { i := read(1); } } }";
    let printed = cyrano_ir::text::print(&program(&with(known), &[]));
    assert!(printed.contains("store lock, 1") && !printed.contains("%first"), "{printed}");
    let found = "client { thread p { local i; tx { if i == 0 { write(1, 2); } else { write(0, 2); } } } }";
    let printed = cyrano_ir::text::print(&program(&with(found), &[]));
    assert!(printed.contains("%first := 1") && printed.contains("%first := 0"), "{printed}");
}

#[test]
fn atomic_transactions_are_blocks_without_the_stm() {
    let source = with("client { thread p { local i; tx { i := read(i); write(i, 2); } i := g[0]; } }");
    let program = compile_both(&source, "test", &[]).expect("it compiles").atomic.expect("it has a client");
    let ops: Vec<&Op> = program.threads[0].code.iter().map(|instr| &instr.op).collect();
    let expected =
        matches!(ops[..], [Op::BlockBegin(_), Op::Access(_), Op::Access(_), Op::BlockEnd(_), Op::Access(_), Op::Halt]);
    assert!(expected, "{ops:?}");
}

#[test]
fn the_stm_is_not_gone_round() {
    check_errors(
        &with(
            "client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }",
        ),
        expect![[r#"
            error: a transaction writes `g[0]` without the stm
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                   ^^^^ declared as `data`
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                              ^^ the transaction
              help: write `write(address, value);`
            error: a transaction reads `g[1]` without the stm
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                   ^^^^ declared as `data`
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                              ^^ the transaction
              help: write `r := read(address);`
            error: transactions do not nest
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                         ^^ the transaction
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                              ^^ the outer one
              help: end one before the other starts
            error: `return` cannot leave a transaction
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                                      ^^^^^^ not here
              help: remember the decision in a local and act on it behind the `}`
            error: a client cannot end or undo a transaction
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                                              ^^^^^^ not here
              help: it ends with its `}`; whether it aborts is up to the stm
            error: `read` outside of a transaction
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                                                             ^^^^^^^ no transaction around it
              help: put it into `tx { … }`, or load without the stm: `r := g[…]`
            error: `write` outside of a transaction
              2 | client { thread p { local x; tx { g[0] := 1; x := g[1]; tx { skip; } return; commit; } x := read(0); write(0, 1); } }
                |                                                                                                      ^^^^^^^^^^^ no transaction around it
              help: put it into `tx { … }`, or store without the stm: `g[…] := …`
        "#]],
    );
}

#[test]
fn the_stm_is_not_looked_into() {
    check_errors(
        &with(
            "client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }",
        ),
        expect![[r#"
            error: `lock` belongs to the stm
              2 | client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }
                |                                   ^^^^ in a client
              1 | stm s { shared lock; data g[vars]; local r; read(a) { r := g[a]; if r == 9 then abort; return r } write(a, v) { g[a] := v; } end(a) { lock := a; commit } }
                |                ^^^^ declared here
              help: a client uses `read` and `write`, the stm's `data`, constants and locals of its own
            error: `end` belongs to the stm
              2 | client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }
                |                                              ^^^ in a client
              1 | stm s { shared lock; data g[vars]; local r; read(a) { r := g[a]; if r == 9 then abort; return r } write(a, v) { g[a] := v; } end(a) { lock := a; commit } }
                |                                                                                                                              ^^^ declared here
              help: a transaction ends with its `}`
            error: index 5 is outside an array of 2 elements
              2 | client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }
                |                                                                ^ is 5 here
              help: indices lie between 0 and 1
            error: an atomic section cannot stand in a transaction
              2 | client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }
                |                                                                    ^^^^^^ not here
              help: a transaction is meant to be atomic; drop the inner one
            error: a client has no operations
              2 | client { thread p { local x; x := lock; tx { end(0); x := read(5); atomic { skip; } } operation o { x := 1; } } }
                |                                                                                       ^^^^^^^^^^^ not here
              help: its units are transactions: `tx { … }`
        "#]],
    );
}

#[test]
fn addresses_exist() {
    check_errors(
        &with("client { thread p { local x; tx { x := read(5); } } }"),
        expect![[r#"
        error: index 5 is outside an array of 2 elements
          2 | client { thread p { local x; tx { x := read(5); } } }
            |                                             ^ is 5 here
          help: indices lie between 0 and 1
    "#]],
    );
}

#[test]
fn a_client_fits_its_stm() {
    check_errors(
        "const threads = 3; stm s { data x, y; local r; read(a) { r := x; return r } write(a, v) { y := v; } end { commit } }
client { thread p { tx { write(0, 1); } } }
check opacity; check progress; check commit-atomicity; check atomicity;",
        expect![[r#"
            error: a client needs one array of `data`, for it computes addresses
              1 | const threads = 3; stm s { data x, y; local r; read(a) { r := x; return r } write(a, v) { y := v; } end { commit } }
                |                                 ^ not the only one, or no array
              help: declare `data g[vars];` and name the addresses by constants
            error: the client has 1 thread, but `threads` is 3
              2 | client { thread p { tx { write(0, 1); } } }
                | ^^^^^^ the client
              help: declare `const threads = 1;`
            error: `opacity` is about all clients, and this stm has one of its own
              3 | check opacity; check progress; check commit-atomicity; check atomicity;
                | ^^^^^^^^^^^^^ not here
              1 | const threads = 3; stm s { data x, y; local r; read(a) { r := x; return r } write(a, v) { y := v; } end { commit } }
                |                        ^ this is `stm`
              help: check `atomicity`, `assertions` or a condition over final states
            error: progress is about all clients, and this stm has one of its own
              3 | check opacity; check progress; check commit-atomicity; check atomicity;
                |                ^^^^^^^^^^^^^^ not here
              1 | const threads = 3; stm s { data x, y; local r; read(a) { r := x; return r } write(a, v) { y := v; } end { commit } }
                |                        ^ this is `stm`
              help: check `atomicity`, `assertions` or a condition over final states
            error: a client has no commit points
              3 | check opacity; check progress; check commit-atomicity; check atomicity;
                |                                ^^^^^^^^^^^^^^^^^^^^^^ not here
              1 | const threads = 3; stm s { data x, y; local r; read(a) { r := x; return r } write(a, v) { y := v; } end { commit } }
                |                        ^ this is `stm`
              help: check `atomicity`, `assertions` or a condition over final states
        "#]],
    );
    check_errors(
        "stm s { data g[vars]; local r; read(a) { r := g[a]; foreach i in 0..<a { skip; } return r } write(a, v) { g[a] := v; } end { commit } }
client { thread p { tx { write(0, 1); } } thread q { break; } }",
        expect![[r#"
            error: `a` is not a constant
              1 | stm s { data g[vars]; local r; read(a) { r := g[a]; foreach i in 0..<a { skip; } return r } write(a, v) { g[a] := v; } end { commit } }
                |                                                                      ^ a variable
              help: only constants, binders, `self` and `tid` can be used here
            error: `break` outside of a loop
              2 | client { thread p { tx { write(0, 1); } } thread q { break; } }
                |                                                      ^^^^^ no loop around it
              help: it belongs inside `while`, `loop` or `foreach`
        "#]],
    );
}

#[test]
fn there_is_one_client_of_one_stm() {
    check_errors(
        &with("client { thread p { tx { skip; } } } client { thread p { skip } }"),
        expect![[r#"
        error: a file has one `client`
          2 | client { thread p { tx { skip; } } } client { thread p { skip } }
            |                                      ^^^^^^ the second one
          2 | client { thread p { tx { skip; } } } client { thread p { skip } }
            | ^^^^^^ the first one
    "#]],
    );
    check_errors(
        &with("client { }"),
        expect![[r#"
        error: this client has no thread
          2 | client { }
            | ^^^^^^ no `thread` inside
          help: add one: `thread a { tx { … } }`
    "#]],
    );
    check_errors(
        "client { thread p { tx { skip; } } }",
        expect![[r#"
        error: a client without an `stm`
          1 | client { thread p { tx { skip; } } }
            | ^^^^^^ has no memory
          help: add the memory that it runs on: `stm { … read(a) { … } write(a, v) { … } end { … } }`
    "#]],
    );
    check_errors(
        "threads { thread q { tx { skip; } } } client { thread p { skip; } }",
        expect![[r#"
        error: `tx` belongs in a `client`
          1 | threads { thread q { tx { skip; } } } client { thread p { skip; } }
            |                      ^^ not here
          help: transactions are what the threads of a `client` run: `client { thread a { tx { … } } }`
        error: a client needs an `stm`, not `threads`
          1 | threads { thread q { tx { skip; } } } client { thread p { skip; } }
            |                                       ^^^^^^ the client
          1 | threads { thread q { tx { skip; } } } client { thread p { skip; } }
            | ^^^^^^^ this is `threads`
          help: write its threads into `threads`
    "#]],
    );
    check_errors(
        "stm s { data g[vars]; local r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end { commit } } client { thread p { tx { skip; } } }",
        expect![[r#"
            error: only an stm with values can be run with a client of its own
              1 | stm s { data g[vars]; local r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end { commit } } client { thread p { tx { skip; } } }
                |                                                                                                     ^^^^^^ the client
              1 | stm s { data g[vars]; local r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end { commit } } client { thread p { tx { skip; } } }
                |     ^ this is `stm`
              help: give `write` a second parameter, the value: `write(v, e) { … }`
        "#]],
    );
}
