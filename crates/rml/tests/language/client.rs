//! A client of an stm's own: what is lowered.

use cyrano_ir::Op;
use cyrano_rml::{Compiled, compile_both};

use super::program;

const STM: &str = "stm s { shared lock; data g[vars]; local r; read(a) { r := g[a]; if r == 9 then abort; return r } \
                   write(a, v) { g[a] := v; } end(a) { lock := a; commit } }\n";

fn with(client: &str) -> String {
    format!("{STM}{client}")
}

#[test]
fn locals_are_kept_for_the_next_attempt() {
    let source = with("client { thread p { local r, n; tx { n := n + 1; r := read(0); } } }");
    let Compiled { program, atomic, .. } = compile_both(&source, "test", &[]).expect("it compiles");
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
