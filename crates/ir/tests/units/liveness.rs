//! Tests of `cyrano_ir::dataflow::liveness`.

use cyrano_ir::dataflow::*;
use cyrano_ir::ids::{InstrId, RegId, ThreadId};
use cyrano_ir::text;

/// Analyses a thread with registers `a` to `d` (a local array of three from `b`), of which the file
/// observes `a`; expects the names of the live registers before each instruction.
#[track_caller]
fn check(code: &[&str], expect: &[&str]) {
    let mut source = String::from("program p\nlocation x = 0\narray xs = x of 1\nthread t\n");
    for name in ["a", "b", "c", "d"] {
        source.push_str(&format!("register {name} = 0\n"));
    }
    for (pc, op) in code.iter().enumerate() {
        source.push_str(&format!("@{pc}: {op}\n"));
    }
    source.push_str("observe a = t:a\n");
    let program = text::parse(&source).expect("the test's program can be read");
    cyrano_ir::verify(&program).expect("the test's program is valid");
    let live = &Liveness::of_program(&program)[0];
    let registers = &program.threads[0].registers;
    let name = |reg: RegId| &*registers[reg.index()].name;
    let names = |pc| live.live_before(InstrId::new(pc)).iter().map(name).collect();
    let found: Vec<String> = (0..code.len()).map(names).collect();
    assert_eq!(found, expect);
}

#[test]
fn observed_registers_are_live_at_the_end() {
    check(&["halt"], &["a"]);
    check(&["a := 1", "halt"], &["", "a"]);
}

#[test]
fn operands_are_live_even_if_the_result_is_dead() {
    check(&["d := (b / c)", "halt"], &["abc", "a"]);
    check(&["a := (a + 1)", "halt"], &["a", "a"]);
}

#[test]
fn addresses_conditions_and_written_values() {
    check(&["a := load xs[b]", "halt"], &["b", "a"]);
    check(&["store xs[b], c", "halt"], &["abc", "a"]);
    check(&["a := cas x, b, c", "halt"], &["bc", "a"]);
    check(&["fetch_add x, d", "halt"], &["ad", "a"]);
    check(&["assume b", "assert c", "halt"], &["abc", "ac", "a"]);
    check(&["limit b \"objects\"", "halt"], &["ab", "a"]);
    check(&["a := choose 1, 2", "halt"], &["", "a"]);
}

#[test]
fn only_a_fixed_element_is_killed() {
    check(&["b[1 of 3] := 0", "a := c", "halt"], &["", "c", "a"]);
    check(&["b[a of 3] := 0", "a := c", "halt"], &["ac", "c", "a"]);
    check(&["b[1 of 1] := 0", "a := c", "halt"], &["c", "c", "a"]);
}

#[test]
fn an_element_chosen_at_run_time_reads_all_of_its_array() {
    check(&["a := b[a of 3]", "halt"], &["abcd", "a"]);
    check(&["a := b[2 of 3]", "halt"], &["d", "a"]);
    check(&["a := c[b[a of 1] of 1]", "halt"], &["abc", "a"]);
    check(&["b[c of 1] := a", "halt"], &["ac", "a"]);
}

#[test]
fn loops_and_branches_need_a_fixpoint() {
    let code = ["d := load x", "branch d then @2 else @4", "c := (c + 1)", "jump @0", "a := c", "halt"];
    check(&code, &["c", "cd", "c", "c", "c", "a"]);
    // What is live at the loop's end is known only after its start has been seen.
    let backwards = ["jump @3", "a := b", "halt", "branch c then @1 else @4", "jump @3"];
    check(&backwards, &["bc", "b", "a", "bc", "bc"]);
}

#[test]
fn conditions_of_checks_count_as_observed() {
    let source = "program p\nthread s\nregister a = 0\n@0: halt\nthread t\nregister a = 0\nregister b = 0\n\
                  @0: halt\ncheck always !(t:b == 0) \"b\"\n";
    let program = text::parse(source).expect("the test's program can be read");
    assert_eq!(exit_registers(&program, ThreadId(0)), []);
    assert_eq!(exit_registers(&program, ThreadId(1)), [RegId(1)]);
}
