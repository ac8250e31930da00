//! What an stm is lowered to: the most general client and the commands, once for each variable.

use cyrano_ir::{Op, Program, TxEvent};
use expect_test::expect;

use super::{check, program};

/// A global lock, to be taken by the first command of a transaction; one variable and one thread.
const LOCK: &str = "stm lock {
  const threads = 1; const vars = 1;
  shared l; data g[vars]; local mine, r;
  proc acquire { if mine == 0 { r := cas(l, 0, self + 1); if r != 0 then abort; mine := 1; } }
  read(v) { acquire; r := g[v]; rfin }
  write(v) { acquire; g[v] := 1; }
  end { if mine == 0 { abort } mine := 0; l := 0; commit }
}
check opacity on sc, tso;
check strict-serializability;
check crash-free-solo-progress on sc; check progress;";

/// In the manner of TL2: lazy versions, locks at commit, a global clock.
pub(super) const TL2: &str = "stm tl2 {
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

#[test]
fn client_and_commands() {
    check(
        LOCK,
        expect![[r#"
            const threads = 1
            const vars = 1
            location l = 0
            location "g[0]" = 0
            array g = "g[0]" of 1
            transactional "g[0]"
            thread "t[0]"
              register %cmd = 0
              register mine = 0
              register r = 0
              @0: %cmd := choose 0, 1, 2             // lock
              @1: branch (%cmd == 0) then @3 else @2 // read
              @2: branch (%cmd == 1) then @12 else @20 // write
              @3: branch (mine == 0) then @4 else @9 // mine == 0
              @4: r := cas l, 0, 1                   // r := cas(l, 0, self + 1)
              @5: branch (r != 0) then @6 else @8    // r != 0
              @6: abort                              // abort
              @7: jump @0                            // abort
              @8: mine := 1                          // mine := 1
              @9: r := load "g[0]"                   // r := g[v]
              @10: rfin                              // rfin
              @11: jump @0                           // rfin
              @12: branch (mine == 0) then @13 else @18 // mine == 0
              @13: r := cas l, 0, 1                  // r := cas(l, 0, self + 1)
              @14: branch (r != 0) then @15 else @17 // r != 0
              @15: abort                             // abort
              @16: jump @0                           // abort
              @17: mine := 1                         // mine := 1
              @18: store "g[0]", 1                   // g[v] := 1
              @19: jump @0                           // }
              @20: branch (mine == 0) then @21 else @23 // mine == 0
              @21: abort                             // abort
              @22: jump @0                           // abort
              @23: mine := 0                         // mine := 0
              @24: store l, 0                        // l := 0
              @25: commit                            // commit
              @26: jump @0                           // commit
            routine acquire
            routine read
            routine write
            routine end
            check transactions opacity on sc, tso
            check transactions "strict-serializability"
            check progress "crash-free-solo-progress" on sc
            check progress "solo-progress"
            check progress "crash-free-solo-progress"
            check progress "local-progress"
        "#]],
    );
}

#[test]
fn rollback_loops_and_returns() {
    check(
        "stm undo {
           const threads = 1; const vars = 1;
           data g[vars]; local old, k;
           read(v) { local seen = v; loop { k := g[v]; if k == 0 then break; if k == 1 then continue; abort } seen := 1; rfin }
           write(v) { if k == 1 then return; old := g[v]; g[v] := 1; if old == 1 { rollback g[v] := old; abort } }
           end { choose { commit } or { operation undo { rollback g[0] := 0; abort } } }
         }",
        expect![[r#"
            const threads = 1
            const vars = 1
            location "g[0]" = 0
            array g = "g[0]" of 1
            transactional "g[0]"
            thread "t[0]"
              register %cmd = 0
              register %read.seen = 0
              register k = 0
              register old = 0
              register %choice = 0
              @0: %cmd := choose 0, 1, 2             // undo
              @1: branch (%cmd == 0) then @3 else @2 // read
              @2: branch (%cmd == 1) then @12 else @19 // write
              @3: %read.seen := 0                    // local seen = v;
              @4: k := load "g[0]"                   // k := g[v]
              @5: branch (k == 0) then @9 else @6    // k == 0
              @6: branch (k == 1) then @4 else @7    // k == 1
              @7: abort                              // abort
              @8: jump @0                            // abort
              @9: %read.seen := 1                    // seen := 1
              @10: rfin                              // rfin
              @11: jump @0                           // rfin
              @12: branch (k == 1) then @0 else @13  // k == 1
              @13: old := load "g[0]"                // old := g[v]
              @14: store "g[0]", 1                   // g[v] := 1
              @15: branch (old == 1) then @16 else @0 // old == 1
              @16: rollback "g[0]", old              // rollback g[v] := old
              @17: abort                             // abort
              @18: jump @0                           // abort
              @19: %choice := choose 0, 1            // choose
              @20: branch (%choice == 0) then @21 else @23 // choose
              @21: commit                            // commit
              @22: jump @0                           // commit
              @23: operation begin undo              // operation undo
              @24: rollback "g[0]", 0                // rollback g[0] := 0
              @25: abort                             // abort
              @26: operation end                     // abort
              @27: jump @0                           // abort
            routine read
            routine write
            routine end
        "#]],
    );
}

#[test]
fn parameters_are_constants() {
    check(
        "const threads = 1; const K = threads * 10 + vars;
         stm s {
           data x, y; shared a[4]; local l;
           proc at(i) { l := a[i]; }
           read(v) { foreach i in v..<vars { at(i + v); } rfin }
           write(v) { if v == 0 then x := K else y := v; }
           end { commit }
         }",
        expect![[r#"
            const vars = 2
            const threads = 1
            const K = 12
            location x = 0
            location y = 0
            location "a[0]" = 0
            location "a[1]" = 0
            location "a[2]" = 0
            location "a[3]" = 0
            array a = "a[0]" of 4
            transactional x
            transactional y
            thread "t[0]"
              register %cmd = 0
              register l = 0
              @0: %cmd := choose 0, 1, 2, 3, 4       // s
              @1: branch (%cmd == 0) then @5 else @2 // read
              @2: branch (%cmd == 1) then @9 else @3 // read
              @3: branch (%cmd == 2) then @12 else @4 // write
              @4: branch (%cmd == 3) then @14 else @16 // write
              @5: l := load "a[0]"                   // l := a[i]
              @6: l := load "a[1]"                   // l := a[i]
              @7: rfin                               // rfin
              @8: jump @0                            // rfin
              @9: l := load "a[2]"                   // l := a[i]
              @10: rfin                              // rfin
              @11: jump @0                           // rfin
              @12: store x, 12                       // x := K
              @13: jump @0                           // }
              @14: store y, 1                        // y := v
              @15: jump @0                           // }
              @16: commit                            // commit
              @17: jump @0                           // commit
            routine at
            routine read
            routine write
            routine end
        "#]],
    );
}

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
