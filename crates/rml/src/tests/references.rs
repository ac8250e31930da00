//! `observe` and `check`.

use expect_test::expect;

use super::{check, check_errors};

#[test]
fn references() {
    check(
        "check exists (p.r == 0   &&
                       x = 1) on sc, sparc-rmo, \"my model\";
         const N = 2;
         threads { shared x, flag[2]; local common, idle; thread p { local r; r := x; common := r }
           thread w[N] { local r, a[3]; r := flag[self]; nop() } proc nop { skip } observe p.r, w[N - 1].r; }
         observe x, flag[1], w[0].a[2], common, p.idle, flag;
         check never (forall i in 0..<N (w[i].r == flag[i] && w[i].a[i + 1] > N));
         check always (common < 2); check forall (true); check assertions;",
        expect![[r#"
            const N = 2
            location x = 0
            location "flag[0]" = 0
            location "flag[1]" = 0
            array flag = "flag[0]" of 2
            thread p
              register r = 0
              register common = 0
              register idle = 0
              @0: r := load x                        // r := x
              @1: common := r                        // common := r
              @2: halt                               // }
            thread "w[0]"
              register r = 0
              register "a[0]" = 0
              register "a[1]" = 0
              register "a[2]" = 0
              @0: r := load "flag[0]"                // r := flag[self]
              @1: halt                               // }
            thread "w[1]"
              register r = 0
              register "a[0]" = 0
              register "a[1]" = 0
              register "a[2]" = 0
              @0: r := load "flag[1]"                // r := flag[self]
              @1: halt                               // }
            observe p.r = p:r
            observe "w[1].r" = "w[1]":r
            observe x = x
            observe "flag[1]" = "flag[1]"
            observe "w[0].a[2]" = "w[0]":"a[2]"
            observe common = p:common
            observe p.idle = p:idle
            observe "flag[0]" = "flag[0]"
            routine nop
            check exists ((p:r == 0) && (x == 1)) "p.r == 0 && x = 1" on sc, "sparc-rmo", "my model"
            check never ((("w[0]":r == "flag[0]") && ("w[0]":"a[1]" > 2)) && (("w[1]":r == "flag[1]") && ("w[1]":"a[2]" > 2))) "forall i in 0..<N (w[i].r == flag[i] && w[i].a[i + 1] > N)"
            check always (p:common < 2) "common < 2"
            check always 1 "true"
            check assertions
        "#]],
    );
}

#[test]
fn wrong_references() {
    check_errors(
        "threads { shared x, flag[2]; local r, s; thread p0 { r := x } thread p1 { r := x } thread w[2] { local q; q := 1 } }
         observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
         check exists (flag == 0);
         check exists (w[r].q == 0 || self == 1);
         check exists q == 1;
         check maybe (x);",
        expect![[r#"
            error: `r` is a variable of 2 threads
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                  ^ which one?
              help: choose one: `p0.r`, `p1.r`
            error: `s` is a variable of 4 threads
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                     ^ which one?
              help: choose one: `p0.s`, `p1.s`, `w[0].s`, `w[1].s`
            error: `x` is not a variable of thread `p0`
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                           ^ not a local variable
              help: write just `x`
            error: unknown thread `p2`
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                              ^^ not declared
              help: did you mean `p0`?
            error: `w` is a family of 2 threads
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                    ^ which one?
              help: choose one: `w[0]`
            error: `p0` is a single thread
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                            ^ an index
              help: write just `p0`
            error: `w` has no thread number 2
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                                    ^ no such thread
              help: its threads are `w[0]` to `w[1]`
            error: index 5 is outside an array of 2 elements
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                                               ^ is 5 here
              help: indices lie between 0 and 1
            error: unknown variable `zz`
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                                                   ^^ not declared
            error: unknown variable `flg`
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                                                          ^^^ not declared
              help: did you mean `flag`?
            error: `x` is not an array
              2 |          observe r, s, p0.x, p2.r, w.q, p0[0].r, w[2].q, flag[5], zz, p0.flg, x[0];
                |                                                                               ^^^^ used here
              1 | threads { shared x, flag[2]; local r, s; thread p0 { r := x } thread p1 { r := x } thread w[2] { local q; q := 1 } }
                |                  ^ declared here
              help: write just `x`
            error: `flag` is an array
              3 |          check exists (flag == 0);
                |                        ^^^^ used here
              1 | threads { shared x, flag[2]; local r, s; thread p0 { r := x } thread p1 { r := x } thread w[2] { local q; q := 1 } }
                |                     ^^^^ declared here
              help: choose one of its 2 elements: `flag[0]`
            error: `r` is a variable of 2 threads
              4 |          check exists (w[r].q == 0 || self == 1);
                |                          ^ which one?
              help: choose one: `p0.r`, `p1.r`
            error: expected `(`, found `q`
              5 |          check exists q == 1;
                |                       ^ expected `(`
            error: expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`, found `maybe`
              6 |          check maybe (x);
                |                ^^^^^ expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`
        "#]],
    );
}
