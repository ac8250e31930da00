//! Tests of `cyrano_ir::dataflow::taint`.

use cyrano_ir::dataflow::*;
use cyrano_ir::ids::{InstrId, ThreadId};
use cyrano_ir::text;

/// Analyses a thread with registers `a` to `d` (a local array of three from `b`); expects the
/// instructions with a dependent address, and those with a dependent local index.
#[track_caller]
fn check(code: &[&str], addresses: &[u32], indices: &[u32]) {
    let mut source = String::from("program p\nlocation x = 0\narray xs = x of 1\nthread t\n");
    for name in ["a", "b", "c", "d"] {
        source.push_str(&format!("register {name} = 0\n"));
    }
    for (pc, op) in code.iter().enumerate() {
        source.push_str(&format!("@{pc}: {op}\n"));
    }
    let program = text::parse(&source).expect("the test's program can be read");
    cyrano_ir::verify(&program).expect("the test's program is valid");
    let at = |pcs: &[u32]| -> Vec<_> { pcs.iter().map(|pc| (ThreadId(0), InstrId(*pc))).collect() };
    assert_eq!(address_depends_on_load(&program), at(addresses));
    assert_eq!(local_index_depends_on_load(&program), at(indices));
}

#[test]
fn results_of_loads_and_read_modify_writes() {
    check(&["a := load x", "store xs[a], 1", "halt"], &[1], &[]);
    check(&["a := cas x, 0, 1", "b := load xs[(a + 1)]", "halt"], &[1], &[]);
    check(&["a := choose 0", "fetch_add xs[a], 1", "halt"], &[], &[]);
    check(&["a := load x", "store x, a", "halt"], &[], &[]);
}

#[test]
fn values_flow_through_registers_until_overwritten() {
    let through = ["a := load x", "b := a", "c := -b", "store xs[c], 0", "halt"];
    check(&through, &[3], &[]);
    check(&["a := load x", "a := 0", "store xs[a], 0", "halt"], &[], &[]);
    check(&["store xs[a], 0", "a := load x", "halt"], &[], &[]);
}

#[test]
fn control_does_not_count() {
    let code = ["a := load x", "branch a then @2 else @3", "b := 1", "store xs[b], 0", "halt"];
    check(&code, &[], &[]);
}

#[test]
fn loops_need_a_fixpoint() {
    let code = ["store xs[b], 0", "b := a", "a := load x", "branch c then @0 else @4", "halt"];
    check(&code, &[0], &[]);
}

#[test]
fn one_path_suffices() {
    let code = ["branch d then @1 else @2", "a := load x", "store xs[a], 0", "halt"];
    check(&code, &[2], &[]);
}

#[test]
fn elements_of_local_arrays() {
    // A load into some element taints them all, and writing one of them afterwards clears none.
    check(&["b[a of 3] := load x", "store xs[d], 0", "halt"], &[1], &[]);
    let kept = ["d := load x", "b[a of 3] := 0", "store xs[d], 0", "halt"];
    check(&kept, &[2], &[]);
    // A fixed element is a register like any other.
    check(&["b[2 of 3] := load x", "store xs[d], 0", "halt"], &[1], &[]);
    check(&["b[2 of 3] := load x", "store xs[c], 0", "halt"], &[], &[]);
    let cleared = ["d := load x", "b[2 of 3] := 0", "store xs[d], 0", "halt"];
    check(&cleared, &[], &[]);
}

#[test]
fn local_indices_that_depend_on_a_load() {
    check(&["a := load x", "d := b[a of 2]", "halt"], &[], &[1]);
    // Which element received the constant tells what was loaded.
    let told = ["a := load x", "b[a of 2] := 7", "store xs[c], 0", "halt"];
    check(&told, &[2], &[1]);
    check(&["a := load x", "b[a of 2] := load x", "halt"], &[], &[1]);
    check(&["a := load x", "store xs[b[a of 2]], 0", "halt"], &[1], &[1]);
    check(&["a := load x", "store x, b[c[a of 1] of 1]", "halt"], &[], &[1]);
    check(&["a := load x", "b[a of 2] := choose 1, 2", "halt"], &[], &[1]);
    check(&["a := load x", "assume b[a of 2]", "halt"], &[], &[1]);
}
