//! What an stm is lowered to, for several sizes.

use cyrano_ir::{Op, Program, TxEvent};
use cyrano_rml::{CompileError, compile};

use super::program;

/// In the manner of TL2: lazy versions, locks at commit, a global clock.
const TL2: &str = "stm tl2 {
  shared owner[vars], version[vars]: timestamp, clk: timestamp = 1;
  data g[vars];
  local rs[vars], ws[vars], lver[vars]: timestamp, lclock: timestamp, next: timestamp, started, l;
  index u;
  proc begin { if started == 0 { lclock := clk; started := 1; } }
  proc clear { started := 0; l := 0; foreach i in 0..<vars { rs[i] := 0; ws[i] := 0; lver[i] := 0; } }
  proc release { foreach i in 0..<vars { l := owner[i]; if l == self + 1 then owner[i] := 0; } }
  proc stop { release; clear; abort }
  read(v) {
    begin;
    if ws[v] == 0 {
      l := owner[v];
      if l != 0 then stop;
      l := g[v];
      lver[v] := version[v];
      if lver[v] > lclock then stop;
      rs[v] := 1;
    }
    rfin
  }
  write(v) { begin; ws[v] := 1; }
  end {
    foreach i in 0..<vars {
      if ws[i] == 1 {
        l := cas(owner[i], 0, self + 1);
        if l != 0 then stop;
      }
    }
    next := fetch_add(clk, 1);
    foreach i in 0..<vars {
      if rs[i] == 1 {
        l := owner[i];
        if l != 0 && l != self + 1 then stop;
        lver[i] := version[i];
        if lver[i] > lclock then stop;
      }
    }
    foreach i in 0..<vars {
      u := i;
      if ws[u] == 1 { g[i] := 1; version[i] := next + 1; }
    }
    release;
    clear;
    commit
  }
}
check opacity on sc, tso, pso, rmo;
check assertions;";

/// The numbers of threads, of transactional variables, and of each event in the code of the first thread.
fn sizes(program: &Program) -> (usize, usize, [usize; 3]) {
    let code = &program.threads[0].code;
    let count = |event| code.iter().filter(|instr| instr.op == Op::Transaction(event)).count();
    let events = [TxEvent::ReadFinish, TxEvent::Commit, TxEvent::Abort].map(count);
    (program.threads.len(), program.transactional.len(), events)
}

#[test]
fn instances() {
    let small = program(TL2, &[]);
    assert_eq!(sizes(&small), (2, 2, [2, 1, 10]));
    assert_eq!(small.constants, [("threads".to_owned(), 2), ("vars".to_owned(), 2)]);
    let large = program(TL2, &[("threads", 3), ("vars", 3)]);
    assert_eq!(sizes(&large), (3, 3, [3, 1, 15]));
    let names: Vec<_> = large.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["t[0]", "t[1]", "t[2]"]);
    assert!(large.observed.is_empty());
    for thread in &large.threads {
        assert!(thread.code.iter().all(|instr| instr.op != Op::Halt), "a client never halts");
        assert_eq!(thread.registers[0].name, "%cmd");
        assert!(matches!(&thread.code[0].op, Op::Choose { from, .. } if *from == [0, 1, 2, 3, 4, 5, 6]));
    }
}

#[test]
fn words_of_an_stm_are_names_elsewhere() {
    let source = "threads { shared data, read; thread end { local write; write := data; read := write; } }
        observe end.write; check never (data == 1);";
    assert_eq!(program(source, &[]).locations.len(), 2);
}

#[test]
fn only_real_paths_count() {
    let source = "stm s { data g[vars]; local l; proc out { if l == 0 { abort } else { abort } }
        read(v) { if v == 0 { rfin } if v == 1 { abort } } write(v) { } end { loop { if l == 1 { commit } l := 1; } } }";
    program(source, &[]);
    let three = [("vars".to_owned(), 3)];
    let Err(CompileError::Diagnostics(errors)) = compile(source, "test", &three) else {
        panic!("the third variable has no path");
    };
    assert_eq!(errors[0].message, "a path through `read` ends without `rfin` or `abort`");
}
