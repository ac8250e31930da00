//! What each construct is lowered to.

use expect_test::expect;

use super::{check, program};

#[test]
fn loads_and_stores() {
    check(
        "threads { shared x, y = 2, a[2] = {3, 4}; local r, b[2] = 7; thread p {
           r := x; x := 1; x := y + 1; r := x + y * x; a[1] := r; a[r] := 0; r := a[r + 1]; b[r] := b[0] + a[r]; r := r + 1; } }",
        expect![[r#"
            location x = 0
            location y = 2
            location "a[0]" = 3
            location "a[1]" = 4
            array a = "a[0]" of 2
            thread p
              register r = 0
              register %0 = 0
              register %1 = 0
              register %2 = 0
              register "b[0]" = 7
              register "b[1]" = 7
              @0: r := load x                        // r := x
              @1: store x, 1                         // x := 1
              @2: %0 := load y                       // x := y + 1
              @3: store x, (%0 + 1)                  // x := y + 1
              @4: %0 := load x                       // r := x + y * x
              @5: %1 := load y                       // r := x + y * x
              @6: %2 := load x                       // r := x + y * x
              @7: r := (%0 + (%1 * %2))              // r := x + y * x
              @8: store "a[1]", r                    // a[1] := r
              @9: store a[r], 0                      // a[r] := 0
              @10: r := load a[(r + 1)]              // r := a[r + 1]
              @11: %0 := load a[r]                   // b[r] := b[0] + a[r]
              @12: "b[0]"[r of 2] := ("b[0]" + %0)   // b[r] := b[0] + a[r]
              @13: r := (r + 1)                      // r := r + 1
              @14: halt                              // }
            observe r = p:r
            observe "b[0]" = p:"b[0]"
            observe "b[1]" = p:"b[1]"
        "#]],
    );
}

#[test]
fn read_modify_writes_and_fences() {
    check(
        "threads { shared x, a[2]; thread p { local r;
           r := cas(x, 0, 1); cas(a[r], r, r + 1); r := exchange(x, r); fetch_add(x, 2); x := fetch_add(a[1], 1);
           sfence; ldfence; lfence; mfence; fence; fence(store-load); fence(load-load, store-store); } }",
        expect![[r#"
            location x = 0
            location "a[0]" = 0
            location "a[1]" = 0
            array a = "a[0]" of 2
            thread p
              register r = 0
              register %0 = 0
              @0: r := cas x, 0, 1                   // r := cas(x, 0, 1)
              @1: cas a[r], r, (r + 1)               // cas(a[r], r, r + 1)
              @2: r := exchange x, r                 // r := exchange(x, r)
              @3: fetch_add x, 2                     // fetch_add(x, 2)
              @4: %0 := fetch_add "a[1]", 1          // x := fetch_add(a[1], 1)
              @5: store x, %0                        // x := fetch_add(a[1], 1)
              @6: fence store-load store-store       // sfence
              @7: fence load-load load-store         // ldfence
              @8: fence load-load load-store         // lfence
              @9: fence load-load load-store store-load store-store // mfence
              @10: fence load-load load-store store-load store-store // fence
              @11: fence store-load                  // fence(store-load)
              @12: fence load-load store-store       // fence(load-load, store-store)
              @13: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn branches_and_loops() {
    check(
        "threads { shared x; thread p { local r; r := x;
           if r == 0 then x := 1 else if r == 1 { x := 2; } else x := 3;
           if (r) { }
           while r < 3 do { if r == 2 { break } r := r + 1; if r == 1 then continue; x := r; }
           loop { r := x; if r == 5 then return; } } }",
        expect![[r#"
            location x = 0
            thread p
              register r = 0
              @0: r := load x                        // r := x
              @1: branch (r == 0) then @2 else @4    // r == 0
              @2: store x, 1                         // x := 1
              @3: jump @8                            // r == 0
              @4: branch (r == 1) then @5 else @7    // r == 1
              @5: store x, 2                         // x := 2
              @6: jump @8                            // r == 1
              @7: store x, 3                         // x := 3
              @8: branch r then @9 else @9           // r
              @9: branch (r < 3) then @10 else @15   // r < 3
              @10: branch (r == 2) then @15 else @11 // r == 2
              @11: r := (r + 1)                      // r := r + 1
              @12: branch (r == 1) then @9 else @13  // r == 1
              @13: store x, r                        // x := r
              @14: jump @9                           // r < 3
              @15: r := load x                       // r := x
              @16: branch (r == 5) then @17 else @15 // r == 5
              @17: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn constant_branches_are_folded_and_dead_code_is_dropped() {
    check(
        "const N = 0; threads { shared x; thread p { local r;
           if N == 1 { x := 1 / N } else { x := 2 }
           while N do x := 3;
           if N != 0 && 7 / N == 1 || r == 1 { skip }
           assume 1; assert true;
           loop { } x := 4; } }",
        expect![[r#"
            const N = 0
            location x = 0
            thread p
              register r = 0
              @0: store x, 2                         // x := 2
              @1: branch (r == 1) then @2 else @2    // N != 0 && 7 / N == 1 || r == 1
              @2: assert 1                           // assert true
              @3: jump @3                            // loop
            observe r = p:r
        "#]],
    );
}

#[test]
fn dependencies_survive_folding() {
    check(
        "threads { shared x, y; thread p { local r; r := x; y := r * 0; y := r ^ r; y := 2 * 3 + r; y := 1 && r; } }",
        expect![[r#"
            location x = 0
            location y = 0
            thread p
              register r = 0
              @0: r := load x                        // r := x
              @1: store y, (r * 0)                   // y := r * 0
              @2: store y, (r ^ r)                   // y := r ^ r
              @3: store y, (6 + r)                   // y := 2 * 3 + r
              @4: store y, (r != 0)                  // y := 1 && r
              @5: halt                               // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn sections() {
    check(
        "threads { shared x; thread p { local r;
           atomic { r := x; while r < 2 { r := r + 1; if r == 1 then break } x := r }
           loop { operation push { r := x; if r == 1 { break } if r == 2 { continue } if r == 3 { return } atomic { x := 1 } } } } }",
        expect![[r#"
            location x = 0
            thread p
              register r = 0
              @0: atomic begin                       // atomic
              @1: r := load x                        // r := x
              @2: branch (r < 2) then @3 else @5     // r < 2
              @3: r := (r + 1)                       // r := r + 1
              @4: branch (r == 1) then @5 else @2    // r == 1
              @5: store x, r                         // x := r
              @6: atomic end                         // }
              @7: operation begin push               // operation push
              @8: r := load x                        // r := x
              @9: branch (r == 1) then @10 else @12  // r == 1
              @10: operation end                     // break
              @11: jump @23                          // break
              @12: branch (r == 2) then @13 else @15 // r == 2
              @13: operation end                     // continue
              @14: jump @7                           // continue
              @15: branch (r == 3) then @16 else @18 // r == 3
              @16: operation end                     // return
              @17: jump @23                          // return
              @18: atomic begin                      // atomic
              @19: store x, 1                        // x := 1
              @20: atomic end                        // }
              @21: operation end                     // }
              @22: jump @7                           // loop
              @23: halt                              // }
            observe r = p:r
        "#]],
    );
}

#[test]
fn observed_by_default_are_the_locals_that_threads_mention() {
    let source = "threads { shared x; local r, unused; index i; proc q(a) { local t; t := a }
        thread p0 { local s[2]; r := x; q(r); i := 1; s[0] := 1 } thread p1 { r := x } }";
    let names: Vec<_> = program(source, &[]).observed.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["p0.r", "s[0]", "s[1]", "p1.r"]);
    let names = program("threads { shared x, a[2]; thread p { x := 1 } }", &[]).observed;
    let names: Vec<_> = names.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["x", "a[0]", "a[1]"]);
}

#[test]
fn set_overrides_constants() {
    let source = "const N = 1 / 0; const M = N * 2; threads { shared x[M]; thread p[N] { x[0] := M } }";
    let program = program(source, &[("N", 9), ("N", 3)]);
    assert_eq!(program.constants, [("N".to_owned(), 3), ("M".to_owned(), 6)]);
    assert_eq!((program.threads.len(), program.locations.len()), (3, 6));
}

#[test]
fn spellings() {
    check(
        "threads { shared x = 0x1F; /* two
           lines */ thread p { local r; // one line
           assume not (r = 1 and r != 2 or !(r == 1_000)); assume -r < 1 << 2 + 1; assume r & 1 == 1; assert r, \"a \\\"b\\\"\" } }",
        expect![[r#"
            location x = 31
            thread p
              register r = 0
              @0: assume !(((r == 1) && (r != 2)) || !(r == 1000)) // assume not (r = 1 and r != 2 or !(r == 1_000))
              @1: assume (-r < 8)                    // assume -r < 1 << 2 + 1
              @2: assume (r & 1)                     // assume r & 1 == 1
              @3: assert r "a \"b\""                 // assert r, "a \"b\""
              @4: halt                               // }
            observe r = p:r
        "#]],
    );
}
