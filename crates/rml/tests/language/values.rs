//! Transactional memories with values: what is lowered.

use cyrano_ir::{Method, Op, reply};

use super::program;

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
    assert_eq!(cyrano_ir::text::parse(&cyrano_ir::text::print(&program)), Ok(program.untold()));
}
