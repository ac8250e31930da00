//! Atomic blocks: what they are lowered to, and what is wrong with them.

use expect_test::expect;

use super::{check, check_errors, program};

#[test]
fn a_block_with_results() {
    check(
        "threads { shared m, data; thread p { local r, old;
           atomic add returns old { loop { r := cas(m, 0, 1); if r == 0 { break; } } commit; old := data; data := old + 1; m := 0; } } }
         check commit-atomicity on sc, tso; check atomicity;",
        expect![[r#"
            location m = 0
            location data = 0
            thread p
              register r = 0
              register old = 0
              @0: block begin add                    // atomic add
              @1: r := cas m, 0, 1                   // r := cas(m, 0, 1)
              @2: branch (r == 0) then @3 else @1    // r == 0
              @3: block commit                       // commit
              @4: old := load data                   // old := data
              @5: store data, (old + 1)              // data := old + 1
              @6: store m, 0                         // m := 0
              @7: block end old                      // }
              @8: halt                               // }
            observe r = p:r
            observe old = p:old
            check commit_atomicity on sc, tso
            check observations
        "#]],
    );
}

#[test]
fn sections_and_blocks() {
    // The first is a section, the second a block named by its line, the third one because of what it calls.
    check(
        "threads { shared x; proc set { x := 2; commit; } thread p {
           atomic { x := 1; }
           atomic { x := 1; commit; }
           atomic { set; } } }",
        expect![[r#"
            location x = 0
            thread p
              @0: atomic begin                       // atomic
              @1: store x, 1                         // x := 1
              @2: atomic end                         // }
              @3: block begin "line 3"               // atomic
              @4: store x, 1                         // x := 1
              @5: block commit                       // commit
              @6: block end                          // }
              @7: block begin "line 4"               // atomic
              @8: store x, 2                         // x := 2
              @9: block commit                       // commit
              @10: block end                         // }
              @11: halt                              // }
            observe x = x
            routine set
        "#]],
    );
}

#[test]
fn ways_out() {
    check(
        "threads { shared x; thread p { local r; loop { atomic take { r := x; commit; if r == 1 { break; } if r == 2 { return; } x := 0; } } x := 3; } }",
        expect![[r#"
            location x = 0
            thread p
              register r = 0
              register %exit = 0
              @0: block begin take                   // atomic take
              @1: r := load x                        // r := x
              @2: block commit                       // commit
              @3: branch (r == 1) then @4 else @6    // r == 1
              @4: %exit := 1                         // break
              @5: jump @11                           // break
              @6: branch (r == 2) then @7 else @9    // r == 2
              @7: %exit := 2                         // return
              @8: jump @11                           // return
              @9: store x, 0                         // x := 0
              @10: %exit := 0                        // }
              @11: block end                         // }
              @12: branch (%exit == 1) then @14 else @13 // }
              @13: branch (%exit == 2) then @15 else @0 // }
              @14: store x, 3                        // x := 3
              @15: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn commits_in_procedures() {
    let source = "threads { shared x; local r;
        proc inner { loop { r := cas(x, 0, 1); if r == 0 { commit; return; } if r == 2 { commit; break; } } }
        proc outer { x := 2; inner; }
        thread p[2] { atomic name returns r { outer; x := 0; } atomic { outer; } } }
      check commit_atomicity;";
    assert!(program(source, &[]).has_blocks());
}

#[test]
fn paths() {
    check_errors(
        "threads { shared x; thread p { local r;
           atomic a { r := x;
             if r == 0 { commit; }
           }
           atomic b { r := x; commit;
             if r == 0 { x := 1; commit; } }
           atomic c { commit; x := 1; }
           atomic d { x := 1; choose r in 0..1; commit; }
           loop { atomic e { r := x; if r == 0 { break; } commit; } }
           atomic f { loop { r := x; commit; } }
           atomic g { r := x; loop { x := 1; } }
         } }",
        expect![[r#"
            error: a path through this atomic block has no commit point
              4 |            }
                |            ^ ends here without one
              2 |            atomic a { r := x;
                |            ^^^^^^^^ the block
              3 |              if r == 0 { commit; }
                |                 ^^^^^^ the path goes past the commit point here
              help: write `commit` on this path too, behind the access that decides it; or try again in a loop until it commits
            error: an atomic block commits twice on one path
              6 |              if r == 0 { x := 1; commit; } }
                |                                  ^^^^^^ the second commit point
              5 |            atomic b { r := x; commit;
                |            ^^^^^^^^ the block
              5 |            atomic b { r := x; commit;
                |                               ^^^^^^ the first one
              help: every path through a block has exactly one commit point: where the block takes effect
            error: a commit point without an access before it in its block
              7 |            atomic c { commit; x := 1; }
                |                       ^^^^^^ nothing commits here
              7 |            atomic c { commit; x := 1; }
                |            ^^^^^^^^ the block
              help: a block commits together with the access before `commit`; put it behind one that every path has
            error: a choice between a commit point and the access before it
              8 |            atomic d { x := 1; choose r in 0..1; commit; }
                |                                                 ^^^^^^ commits here
              8 |            atomic d { x := 1; choose r in 0..1; commit; }
                |            ^^^^^^^^ the block
              help: choose before the access with which the block commits, or behind the commit point
            error: a path through this atomic block has no commit point
              9 |            loop { atomic e { r := x; if r == 0 { break; } commit; } }
                |                                                                   ^ ends here without one
              9 |            loop { atomic e { r := x; if r == 0 { break; } commit; } }
                |                   ^^^^^^^^ the block
              9 |            loop { atomic e { r := x; if r == 0 { break; } commit; } }
                |                                         ^^^^^^ the path goes past the commit point here
              9 |            loop { atomic e { r := x; if r == 0 { break; } commit; } }
                |                                                  ^^^^^ the last thing on the path
              help: write `commit` on this path too, behind the access that decides it; or try again in a loop until it commits
            error: this atomic block never ends
             10 |            atomic f { loop { r := x; commit; } }
                |            ^^^^^^^^ no path leads out of it
              help: what goes on for ever cannot happen at once; put the loop around the block
            error: an atomic block commits twice on one path
             10 |            atomic f { loop { r := x; commit; } }
                |                                      ^^^^^^ the second commit point
             10 |            atomic f { loop { r := x; commit; } }
                |            ^^^^^^^^ the block
             10 |            atomic f { loop { r := x; commit; } }
                |                                      ^^^^^^ reached again from here, in a loop
              help: every path through a block has exactly one commit point: where the block takes effect
        "#]],
    );
}

#[test]
fn places() {
    check_errors(
        "threads { shared x; proc set { x := 1; commit; } proc block { atomic b { x := 1; commit; } }
         proc op { operation o { x := 1; } }
         thread p {
           commit;
           set;
           x := 1; abort;
           atomic a { x := 1; atomic b { x := 1; commit; } commit; }
           atomic a { x := 1; atomic { x := 1; commit; } }
           atomic a { x := 1; block; commit; op; operation o { skip } }
           atomic { x := 1; block; }
           operation o { atomic a { x := 1; commit; } }
           atomic a returns x { x := 1; commit; }
         } }",
        expect![[r#"
            error: `commit` outside of an atomic block
              4 |            commit;
                |            ^^^^^^ no block around it
              help: it belongs in a block, behind the access with which the block takes effect: `atomic name { … commit; … }`
            error: `set` contains `commit` and is called outside of an atomic block
              5 |            set;
                |            ^^^ no block around it
              1 | threads { shared x; proc set { x := 1; commit; } proc block { atomic b { x := 1; commit; } }
                |                                        ^^^^^^ the `commit`
              help: call it in a block: `atomic name { … commit; … }`
            error: `abort` belongs in an `stm`
              6 |            x := 1; abort;
                |                    ^^^^^ not in `threads`
              help: a `threads` program has no transactions
            error: atomic blocks do not nest
              7 |            atomic a { x := 1; atomic b { x := 1; commit; } commit; }
                |                               ^^^^^^^^ the block
              7 |            atomic a { x := 1; atomic b { x := 1; commit; } commit; }
                |            ^^^^^^^^ the outer block
              help: the outer block makes everything in it atomic; drop the inner one, or put its `commit` behind it
            error: atomic blocks do not nest
              8 |            atomic a { x := 1; atomic { x := 1; commit; } }
                |                               ^^^^^^ the block
              8 |            atomic a { x := 1; atomic { x := 1; commit; } }
                |            ^^^^^^^^ the outer block
              help: the outer block makes everything in it atomic; drop the inner one, or put its `commit` behind it
            error: `block` contains an atomic block and cannot be called in an atomic block
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |                               ^^^^^ called here
              1 | threads { shared x; proc set { x := 1; commit; } proc block { atomic b { x := 1; commit; } }
                |                                                               ^^^^^^^^ an atomic block
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |            ^^^^^^^^ an atomic block
            error: `op` contains an operation and cannot be called in an atomic block
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |                                              ^^ called here
              2 |          proc op { operation o { x := 1; } }
                |                    ^^^^^^^^^^^ an operation
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |            ^^^^^^^^ an atomic block
            error: an operation cannot stand in an atomic block
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |                                                  ^^^^^^^^^^^ the operation
              9 |            atomic a { x := 1; block; commit; op; operation o { skip } }
                |            ^^^^^^^^ an atomic block
              help: end one before the other starts
            error: `block` contains an atomic block and cannot be called in an atomic section
             10 |            atomic { x := 1; block; }
                |                             ^^^^^ called here
              1 | threads { shared x; proc set { x := 1; commit; } proc block { atomic b { x := 1; commit; } }
                |                                                               ^^^^^^^^ an atomic block
             10 |            atomic { x := 1; block; }
                |            ^^^^^^ an atomic section
            error: an atomic block cannot stand in an operation
             11 |            operation o { atomic a { x := 1; commit; } }
                |                          ^^^^^^^^ the block
             11 |            operation o { atomic a { x := 1; commit; } }
                |            ^^^^^^^^^^^ the operation
              help: end one before the other starts
            error: a result cannot read the shared variable `x`
             12 |            atomic a returns x { x := 1; commit; }
                |                             ^ shared
              help: load it into a local first: `r := x`
        "#]],
    );
}

#[test]
fn what_is_claimed() {
    check_errors(
        "threads { shared x; thread p { atomic a { x := 1; } } } check atomicity; check commit-atomicity;",
        expect![[r#"
            error: this atomic block has no commit point
              1 | threads { shared x; thread p { atomic a { x := 1; } } } check atomicity; check commit-atomicity;
                |                                ^^^^^^^^ no `commit` in it
              1 | threads { shared x; thread p { atomic a { x := 1; } } } check atomicity; check commit-atomicity;
                |                                                                          ^^^^^^^^^^^^^^^^^^^^^^ asked for here
              help: write `commit` behind the access with which it takes effect; or check `atomicity`, which needs no commit points
        "#]],
    );
    check_errors(
        "threads { shared x; thread p { x := 1; } } check commit-atomicity;",
        expect![[r#"
        error: there is no atomic block to judge
          1 | threads { shared x; thread p { x := 1; } } check commit-atomicity;
            |                                            ^^^^^^^^^^^^^^^^^^^^^^ asks for the atomicity of blocks
          help: mark what should seem to happen at once: `atomic name { … commit; … }`
    "#]],
    );
    check_errors(
        "stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;",
        expect![[r#"
        error: an atomic block cannot stand in an `stm`
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            |                                                           ^^^^^^^^ the block
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            | ^^^ the stm
          help: transactions are the blocks of an stm; for accesses without others between them write `atomic { … }`
        error: a path through `end` ends without `commit` or `abort`
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            |                                                                               ^ the path ends here
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            |                                                     ^^^ the command
          help: end every path through `end` with `commit` or `abort`
        error: the atomic blocks of an stm are its transactions, which have criteria of their own
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            |                                                                                   ^^^^^^^^^^^^^^^ not here
          1 | stm { data g[2]; read(v) { rfin } write(v) { skip } end { atomic a { commit } } } check atomicity;
            | ^^^ this is `stm`
          help: check `opacity`, `strict-serializability`, `progress` or `assertions`
    "#]],
    );
}
