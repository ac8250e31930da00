//! What is multiplied in lowering: choices, unrolled bodies, inlined procedures, families of threads.

use expect_test::expect;

use super::check;

#[test]
fn families_have_self_and_tid() {
    check(
        "const N = 2; threads { shared x[N]; local r1, r2, mine = 10 + self;
           thread first { x[tid] := self }
           thread w[N] { x[self] := tid; if self == 0 { r1 := x[1] } else { r2 := x[0] } r1 := mine } }",
        expect![[r#"
            const N = 2
            location "x[0]" = 0
            location "x[1]" = 0
            array x = "x[0]" of 2
            thread first
              @0: store "x[0]", 0                    // x[tid] := self
              @1: halt                               // }
            thread "w[0]"
              register r1 = 0
              register mine = 10
              @0: store "x[0]", 1                    // x[self] := tid
              @1: r1 := load "x[1]"                  // r1 := x[1]
              @2: r1 := mine                         // r1 := mine
              @3: halt                               // }
            thread "w[1]"
              register r2 = 0
              register r1 = 0
              register mine = 11
              @0: store "x[1]", 2                    // x[self] := tid
              @1: r2 := load "x[0]"                  // r2 := x[0]
              @2: r1 := mine                         // r1 := mine
              @3: halt                               // }
            observe "w[0].r1" = "w[0]":r1
            observe "w[0].mine" = "w[0]":mine
            observe "w[1].r1" = "w[1]":r1
            observe r2 = "w[1]":r2
            observe "w[1].mine" = "w[1]":mine
        "#]],
    );
}

#[test]
fn choices() {
    check(
        "threads { shared x; thread p { local r;
           choose r in 0..2; choose r in 1..<3; choose r in {5, 6, 5}; choose x in {1, 2};
           choose { x := 1 } or { choose { x := 2 } or { x := 3 } } or { skip }
           forsome i in {4, 7} { x := i } } }",
        expect![[r#"
            location x = 0
            thread p
              register r = 0
              register %0 = 0
              register %choice = 0
              @0: r := choose 0, 1, 2                // choose r in 0..2
              @1: r := choose 1, 2                   // choose r in 1..<3
              @2: r := choose 5, 6                   // choose r in {5, 6, 5}
              @3: %0 := choose 1, 2                  // choose x in {1, 2}
              @4: store x, %0                        // choose x in {1, 2}
              @5: %choice := choose 0, 1, 2          // choose
              @6: branch (%choice == 0) then @8 else @7 // choose
              @7: branch (%choice == 1) then @10 else @15 // choose
              @8: store x, 1                         // x := 1
              @9: jump @15                           // choose
              @10: %choice := choose 0, 1            // choose
              @11: branch (%choice == 0) then @12 else @14 // choose
              @12: store x, 2                        // x := 2
              @13: jump @15                          // choose
              @14: store x, 3                        // x := 3
              @15: %choice := choose 4, 7            // forsome i in {4, 7}
              @16: branch (%choice == 4) then @17 else @19 // forsome i in {4, 7}
              @17: store x, 4                        // x := i
              @18: jump @20                          // forsome i in {4, 7}
              @19: store x, 7                        // x := i
              @20: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn unrolling() {
    check(
        "const N = 2; threads { shared a[N]; thread p { local r;
           foreach i in 0..<N { foreach j in i..N - 1 a[j] := i }
           foreach i in 0..2 { if r == i then continue; if r == 9 then break; r := i }
           r := forall i in 0..<N (a[i] == i);
           assume exists i in {1, 2, 3} (r == i && i != 2);
           assert forall i in 1..0 (r == i), \"never\"; } }",
        expect![[r#"
            const N = 2
            location "a[0]" = 0
            location "a[1]" = 0
            array a = "a[0]" of 2
            thread p
              register r = 0
              register %0 = 0
              register %1 = 0
              @0: store "a[0]", 0                    // a[j] := i
              @1: store "a[1]", 0                    // a[j] := i
              @2: store "a[1]", 1                    // a[j] := i
              @3: branch (r == 0) then @6 else @4    // r == i
              @4: branch (r == 9) then @12 else @5   // r == 9
              @5: r := 0                             // r := i
              @6: branch (r == 1) then @9 else @7    // r == i
              @7: branch (r == 9) then @12 else @8   // r == 9
              @8: r := 1                             // r := i
              @9: branch (r == 2) then @12 else @10  // r == i
              @10: branch (r == 9) then @12 else @11 // r == 9
              @11: r := 2                            // r := i
              @12: %0 := load "a[0]"                 // r := forall i in 0..<N (a[i] == i)
              @13: %1 := load "a[1]"                 // r := forall i in 0..<N (a[i] == i)
              @14: r := ((%0 == 0) && (%1 == 1))     // r := forall i in 0..<N (a[i] == i)
              @15: assume ((((r == 1) && 1) || ((r == 2) && 0)) || ((r == 3) && 1)) // assume exists i in {1, 2, 3} (r == i && i != 2)
              @16: assert 1 "never"                  // assert forall i in 1..0 (r == i), "never"
              @17: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn procedures_are_inlined() {
    check(
        "threads { shared x, flag[2];
           proc set(i, v) { flag[i] := v }
           local seen;
           proc outer(i) { set(1 - i, i + 1); set(i, seen); }
           thread p[2] { outer(self); seen := x; set(seen, 3) } }",
        expect![[r#"
            location x = 0
            location "flag[0]" = 0
            location "flag[1]" = 0
            array flag = "flag[0]" of 2
            thread "p[0]"
              register seen = 0
              register %set.v = 0
              register %set.i = 0
              @0: store "flag[1]", 1                 // flag[i] := v
              @1: %set.v := seen                     // set(i, seen)
              @2: store "flag[0]", %set.v            // flag[i] := v
              @3: seen := load x                     // seen := x
              @4: %set.i := seen                     // set(seen, 3)
              @5: store flag[%set.i], 3              // flag[i] := v
              @6: halt                               // }
            thread "p[1]"
              register seen = 0
              register %set.v = 0
              register %set.i = 0
              @0: store "flag[0]", 2                 // flag[i] := v
              @1: %set.v := seen                     // set(i, seen)
              @2: store "flag[1]", %set.v            // flag[i] := v
              @3: seen := load x                     // seen := x
              @4: %set.i := seen                     // set(seen, 3)
              @5: store flag[%set.i], 3              // flag[i] := v
              @6: halt                               // }
            observe "p[0].seen" = "p[0]":seen
            observe "p[1].seen" = "p[1]":seen
            routine set
            routine outer
        "#]],
    );
}

#[test]
fn results_and_parameters() {
    check(
        "threads { shared x, y;
           proc bump(n) { local t = 5; t := t + n; n := t; if n == 9 { return x } return n }
           proc nop { skip }
           thread p { local r; r := bump(1); y := bump(r); bump(2); nop; nop(); } }",
        expect![[r#"
            location x = 0
            location y = 0
            thread p
              register r = 0
              register %bump.n = 0
              register %bump.t = 5
              register %result = 0
              register %0 = 0
              @0: %bump.n := 1                       // bump(1)
              @1: %bump.t := 5                       // local t = 5;
              @2: %bump.t := (%bump.t + %bump.n)     // t := t + n
              @3: %bump.n := %bump.t                 // n := t
              @4: branch (%bump.n == 9) then @5 else @7 // n == 9
              @5: r := load x                        // return x
              @6: jump @8                            // return x
              @7: r := %bump.n                       // return n
              @8: %bump.n := r                       // bump(r)
              @9: %bump.t := 5                       // local t = 5;
              @10: %bump.t := (%bump.t + %bump.n)    // t := t + n
              @11: %bump.n := %bump.t                // n := t
              @12: branch (%bump.n == 9) then @13 else @15 // n == 9
              @13: %result := load x                 // return x
              @14: jump @16                          // return x
              @15: %result := %bump.n                // return n
              @16: store y, %result                  // y := bump(r)
              @17: %bump.n := 2                      // bump(2)
              @18: %bump.t := 5                      // local t = 5;
              @19: %bump.t := (%bump.t + %bump.n)    // t := t + n
              @20: %bump.n := %bump.t                // n := t
              @21: branch (%bump.n == 9) then @22 else @23 // n == 9
              @22: %0 := load x                      // return x
              @23: halt                              // }
            observe r = p:r
            routine bump
            routine nop
        "#]],
    );
}
