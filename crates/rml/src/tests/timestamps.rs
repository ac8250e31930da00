//! The type `timestamp`.

use expect_test::expect;

use super::{check, check_errors};

#[test]
fn allowed() {
    check(
        "const STEP = 2; threads { shared clk: timestamp = 1, ver[2]: timestamp, x; local t: timestamp, u: timestamp, r;
           proc next(v: timestamp) { return v + STEP }
           thread p { t := clk; u := t + 1; u := 1 + t; clk := clk + 1; t := cas(clk, t, t + 1); fetch_add(clk, 1);
             r := t < u; if t == 3 || u >= t { x := 1 } ver[r] := t; t := 5; u := next(t); clk := next(u); x := x + 1; choose t in 0..1 } }
         check exists (t == u && t < 4);",
        expect![[r#"
            const STEP = 2
            location clk: timestamp = 1
            location "ver[0]": timestamp = 0
            location "ver[1]": timestamp = 0
            location x = 0
            array ver = "ver[0]" of 2
            thread p
              register t: timestamp = 0
              register u: timestamp = 0
              register %0: timestamp = 0
              register r = 0
              register %next.v: timestamp = 0
              register %result.timestamp: timestamp = 0
              register %1 = 0
              @0: t := load clk                      // t := clk
              @1: u := (t + 1)                       // u := t + 1
              @2: u := (1 + t)                       // u := 1 + t
              @3: %0 := load clk                     // clk := clk + 1
              @4: store clk, (%0 + 1)                // clk := clk + 1
              @5: t := cas clk, t, (t + 1)           // t := cas(clk, t, t + 1)
              @6: fetch_add clk, 1                   // fetch_add(clk, 1)
              @7: r := (t < u)                       // r := t < u
              @8: branch ((t == 3) || (u >= t)) then @9 else @10 // t == 3 || u >= t
              @9: store x, 1                         // x := 1
              @10: store ver[r], t                   // ver[r] := t
              @11: t := 5                            // t := 5
              @12: %next.v := t                      // next(t)
              @13: u := (%next.v + 2)                // return v + STEP
              @14: %next.v := u                      // next(u)
              @15: %result.timestamp := (%next.v + 2) // return v + STEP
              @16: store clk, %result.timestamp      // clk := next(u)
              @17: %1 := load x                      // x := x + 1
              @18: store x, (%1 + 1)                 // x := x + 1
              @19: t := choose 0, 1                  // choose t in 0..1
              @20: halt                              // }
            observe t = p:t
            observe u = p:u
            observe r = p:r
            routine next
            check exists ((p:t == p:u) && (p:t < 4)) "t == u && t < 4"
        "#]],
    );
}

#[test]
fn refused() {
    check_errors(
        "const D = -1; threads { shared clk: timestamp, x, a[3]; local t: timestamp, r: bool;
           proc next(v: timestamp) { if v == 1 { return v } return r } proc plain(v) { skip }
           thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
             x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
             plain(t); assume t && 1; t := t + t; } }
         check exists (t + r == 1); check never (t);",
        expect![[r#"
            error: this returns an integer, another `return` a timestamp
              2 |            proc next(v: timestamp) { if v == 1 { return v } return r } proc plain(v) { skip }
                |                                                                    ^ an integer
              help: a procedure returns values of one type
            error: `*` cannot be applied to a timestamp like this
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                            ^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `-` cannot be applied to a timestamp like this
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                        ^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `+` cannot be applied to a timestamp like this
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                    ^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot go where an integer is wanted
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                           ^^^^^^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: an integer cannot go where a timestamp is wanted
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                                   ^^^^^^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot be compared with an integer
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                                                ^^^^^^ a timestamp on one side only
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp is not a truth value
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                                                           ^ a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `!` cannot be applied to a timestamp like this
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                                                                           ^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot be an index
              3 |            thread p { t := t * 2; t := t - 1; t := t + r; r := t; t := r; r := t == r; if t { skip } r := !t; r := a[t];
                |                                                                                                                      ^ a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot go where an integer is wanted
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |              ^^^^^^^^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot be decremented
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                             ^^^^^ adds a negative constant
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot be decremented
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                                                   ^^ a negative constant
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: only a constant can be added to a timestamp
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                                                                       ^ not a constant
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: only a constant can be added to a timestamp
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                                                                                        ^ not a constant
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: an integer cannot go where a timestamp is wanted
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                                                                                                     ^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot go where an integer is wanted
              4 |              x := clk; t := t + D; fetch_add(clk, -1); fetch_add(clk, r); fetch_add(x, t); cas(clk, r, 1); exchange(x, t);
                |                                                                                                                        ^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp cannot go where an integer is wanted
              5 |              plain(t); assume t && 1; t := t + t; } }
                |                    ^ the types differ
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `&&` cannot be applied to a timestamp like this
              5 |              plain(t); assume t && 1; t := t + t; } }
                |                               ^^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `+` cannot be applied to a timestamp like this
              5 |              plain(t); assume t && 1; t := t + t; } }
                |                                            ^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: `+` cannot be applied to a timestamp like this
              6 |          check exists (t + r == 1); check never (t);
                |                        ^^^^^^^^^^ uses a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
            error: a timestamp is not a truth value
              6 |          check exists (t + r == 1); check never (t);
                |                                                  ^ a timestamp
              help: a timestamp may be compared with a timestamp or a constant, copied, and incremented by a non-negative constant
        "#]],
    );
}
