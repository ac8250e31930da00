//! Transactional memories with values: what is lowered, and what is refused.

use cyrano_ir::{Method, Op, reply};
use expect_test::expect;

use super::{check_errors, program};

const BARE: &str = "stm bare {
  data g[vars]; local r, n: timestamp;
  order late by n;
  read(a) { r := g[a]; return r }
  write(a, v) { if r == 7 then abort; g[a] := v; }
  end { commit }
}
check serializability; check serializability order by late; check serializability order by commit;";

#[test]
fn every_operation_is_called_once() {
    let program = program(BARE, &[("threads", 1), ("vars", 2), ("values", 3)]);
    let code = &program.threads[0].code;
    let calls: Vec<_> = code
        .iter()
        .filter_map(|instr| match &instr.op {
            Op::Invoke { method, .. } => Some(*method),
            _ => None,
        })
        .collect();
    let count = |method| calls.iter().filter(|call| **call == method).count();
    assert_eq!([Method::Read, Method::Write, Method::Commit].map(count), [2, 6, 1]);
    let said = |code: i128| program.threads[0].code.iter().any(|i| i.op == Op::Respond(cyrano_ir::Expr::Const(code)));
    assert!(said(reply::ABORTED) && said(reply::COMMITTED) && said(reply::OK));
}

/// What a transaction does when it aborts is the same for all writes of a variable, and stands there once.
#[test]
fn repeated_code_is_shared() {
    let program = program(BARE, &[]);
    let aborts = program.threads[0].code.iter().filter(|i| i.op == Op::Respond(cyrano_ir::Expr::Const(reply::ABORTED)));
    assert_eq!(aborts.count(), 1);
}

#[test]
fn keys_have_registers_for_each_transaction() {
    let program = program(BARE, &[("txns", 3)]);
    let order = program.serial_order("late").expect("it is declared").clone();
    assert_eq!(order.keys.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
    assert!(order.keys.iter().flatten().all(|keys| keys.len() == 1));
    assert_eq!(cyrano_ir::text::parse(&cyrano_ir::text::print(&program)), Ok(program));
}

#[test]
fn wrong_use_is_reported() {
    check_errors(
        "stm s { data g[vars]; local r; order o by g, r; read(a) { r := g[a]; rfin } write(a, v) { g[a] := v; return v } end { commit } }
check serializability order by p; check progress;",
        expect![[r#"
            error: `g` cannot be the key of an order
              1 | stm s { data g[vars]; local r; order o by g, r; read(a) { r := g[a]; rfin } write(a, v) { g[a] := v; return v } end { commit } }
                |                                           ^ not a local
              help: a key is a `local` of the stm that is no array; it counts as it is when `commit` is reached
            error: a read of an stm with values returns a value
              1 | stm s { data g[vars]; local r; order o by g, r; read(a) { r := g[a]; rfin } write(a, v) { g[a] := v; return v } end { commit } }
                |                                                                      ^^^^ without a value
              help: end it with `return` and the value that was read
            error: a command cannot return a value
              1 | stm s { data g[vars]; local r; order o by g, r; read(a) { r := g[a]; rfin } write(a, v) { g[a] := v; return v } end { commit } }
                |                                                                                                             ^ a value
              help: only `read` returns something: the value that it found
            error: this stm has no order `p`
              2 | check serializability order by p; check progress;
                | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ claimed here
              help: the orders of this stm are `o`, `commit`
            error: progress is a property of an stm without values
              2 | check serializability order by p; check progress;
                |                                   ^^^^^^^^^^^^^^ claimed here
              help: the clients of an stm with values run until each transaction has committed
        "#]],
    );
    check_errors(
        "stm s { data g[vars]; local r; order o by r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end(a) { commit } }
check serializability;",
        expect![[r#"
            error: only an stm with values can say in which order its transactions run
              1 | stm s { data g[vars]; local r; order o by r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end(a) { commit } }
                |                                      ^ declared here
              help: give `write` a second parameter, the value: `write(v, e) { … }`
            error: `end` has no parameter
              1 | stm s { data g[vars]; local r; order o by r; read(a) { r := g[a]; rfin } write(a) { g[a] := 1; } end(a) { commit } }
                |                                                                                                      ^ not here
              help: it ends a whole transaction: `end { … commit }`
            error: `serializability` is a property of an stm with values
              2 | check serializability;
                | ^^^^^^^^^^^^^^^^^^^^^ claimed here
              help: give `write` a second parameter, or check `opacity` or `strict-serializability`
        "#]],
    );
    check_errors(
        "const ops = 0; stm s { data g[vars]; local r; read(a) { r := g[a]; if r == 0 then return r } write(a, v) { g[a] := v; } end { commit } }",
        expect![[r#"
            error: `ops` cannot be 0
              1 | const ops = 0; stm s { data g[vars]; local r; read(a) { r := g[a]; if r == 0 then return r } write(a, v) { g[a] := v; } end { commit } }
                |       ^^^ the constant
              help: `ops` lies between 1 and 16
        "#]],
    );
}
