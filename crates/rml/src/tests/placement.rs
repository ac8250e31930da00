//! Rules about what may stand where.

use expect_test::expect;

use super::check_errors;

#[test]
fn shared_variables_in_conditions() {
    check_errors(
        "threads { shared x, flag[2], a[2]; proc q(v) { skip } thread p { local r;
           if x == 1 { skip }
           while flag[1 - r] { skip }
           assume x; assert r == x;
           r := a[x]; a[x] := 1; cas(x, x, 1); q(x); } }",
        expect![[r#"
            error: a condition cannot read the shared variable `x`
              2 |            if x == 1 { skip }
                |               ^ shared
              help: load it into a local first: `r := x`
            error: a condition cannot read the shared variable `flag[1 - r]`
              3 |            while flag[1 - r] { skip }
                |                  ^^^^^^^^^^^ shared
              help: load it into a local first: `r := flag[1 - r]`
            error: a condition cannot read the shared variable `x`
              4 |            assume x; assert r == x;
                |                   ^ shared
              help: load it into a local first: `r := x`
            error: a condition cannot read the shared variable `x`
              4 |            assume x; assert r == x;
                |                                  ^ shared
              help: load it into a local first: `r := x`
            error: an array index cannot read the shared variable `x`
              5 |            r := a[x]; a[x] := 1; cas(x, x, 1); q(x); } }
                |                   ^ shared
              help: load it into a local first: `r := x`
            error: an array index cannot read the shared variable `x`
              5 |            r := a[x]; a[x] := 1; cas(x, x, 1); q(x); } }
                |                         ^ shared
              help: load it into a local first: `r := x`
            error: an argument cannot read the shared variable `x`
              5 |            r := a[x]; a[x] := 1; cas(x, x, 1); q(x); } }
                |                                         ^ shared
              help: load it into a local first: `r := x`
            error: an argument cannot read the shared variable `x`
              5 |            r := a[x]; a[x] := 1; cas(x, x, 1); q(x); } }
                |                                                  ^ shared
              help: load it into a local first: `r := x`
        "#]],
    );
}

#[test]
fn atomic_sections_and_operations() {
    check_errors(
        "threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
           proc deep { fenced } proc f { atomic { return } }
           thread p {
             atomic { atomic { x := 1 } }
             atomic { mfence; fenced; deep; atom; op; operation o { skip } }
             atomic { return }
             loop { atomic { break } }
             loop { atomic { continue } }
             operation a { operation b { skip } op }
             break } }",
        expect![[r#"
            error: `return` cannot leave an atomic section
              2 |            proc deep { fenced } proc f { atomic { return } }
                |                                                   ^^^^^^ leaves the section
              2 |            proc deep { fenced } proc f { atomic { return } }
                |                                          ^^^^^^ the section
              help: remember the decision in a local and act on it behind the section
            error: atomic sections do not nest
              4 |              atomic { atomic { x := 1 } }
                |                       ^^^^^^ the inner section
              4 |              atomic { atomic { x := 1 } }
                |              ^^^^^^ the outer section
              help: the outer section makes everything inside it atomic; drop the inner one
            error: a fence cannot stand in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                       ^^^^^^ a fence
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ the section
              help: the accesses of a section are in order anyway; move the fence before or behind it
            error: `fenced` contains a fence and cannot be called in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                               ^^^^^^ called here
              1 | threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
                |                                         ^^^^^^ a fence
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ an atomic section
            error: `deep` contains a fence and cannot be called in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                                       ^^^^ called here
              1 | threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
                |                                         ^^^^^^ a fence
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ an atomic section
            error: `atom` contains an atomic section and cannot be called in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                                             ^^^^ called here
              1 | threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
                |                                                              ^^^^^^ an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ an atomic section
            error: `op` contains an operation and cannot be called in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                                                   ^^ called here
              1 | threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
                |                                                                                            ^^^^^^^^^^^ an operation
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ an atomic section
            error: an operation cannot stand in an atomic section
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |                                                       ^^^^^^^^^^^ the operation
              5 |              atomic { mfence; fenced; deep; atom; op; operation o { skip } }
                |              ^^^^^^ an atomic section
              help: end one before the other starts
            error: `return` cannot leave an atomic section
              6 |              atomic { return }
                |                       ^^^^^^ leaves the section
              6 |              atomic { return }
                |              ^^^^^^ the section
              help: remember the decision in a local and act on it behind the section
            error: `break` cannot leave an atomic section
              7 |              loop { atomic { break } }
                |                              ^^^^^ leaves the section
              7 |              loop { atomic { break } }
                |                     ^^^^^^ the section
              help: remember the decision in a local and act on it behind the section
            error: `continue` cannot leave an atomic section
              8 |              loop { atomic { continue } }
                |                              ^^^^^^^^ leaves the section
              8 |              loop { atomic { continue } }
                |                     ^^^^^^ the section
              help: remember the decision in a local and act on it behind the section
            error: an operation cannot stand in an operation
              9 |              operation a { operation b { skip } op }
                |                            ^^^^^^^^^^^ the operation
              9 |              operation a { operation b { skip } op }
                |              ^^^^^^^^^^^ an operation
              help: end one before the other starts
            error: `op` contains an operation and cannot be called in an operation
              9 |              operation a { operation b { skip } op }
                |                                                 ^^ called here
              1 | threads { shared x; proc fenced { skip; mfence } proc atom { atomic { x := 1 } } proc op { operation o { skip } }
                |                                                                                            ^^^^^^^^^^^ an operation
              9 |              operation a { operation b { skip } op }
                |              ^^^^^^^^^^^ an operation
            error: `break` outside of a loop
             10 |              break } }
                |              ^^^^^ no loop around it
              help: it belongs inside `while`, `loop` or `foreach`
        "#]],
    );
}

#[test]
fn index_variables_do_not_depend_on_loads() {
    check_errors(
        "threads { shared x, a[4]; index i, j, k; local r, s, b[2]; proc id(v) { return v + 1 }
           thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
           thread q { i := x; j := 1; a[j] := 1 }
           thread clean { i := 1; if r == 0 { j := i } } }",
        expect![[r#"
            error: index variable `k` depends on a load
              1 | threads { shared x, a[4]; index i, j, k; local r, s, b[2]; proc id(v) { return v + 1 }
                |                                                                         ^^^^^^^^^^^^ `k` gets its value from `id.v`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                                                                                     ^^^^^ `id.v` gets its value from `r`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                              ^^^^^^ `r` is loaded from `x`
              help: declare it as `local`, or compute it from constants and other index variables
            error: index variable `i` depends on a load
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                                              ^^^^^^^^^^ `i` gets its value from `s`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                                      ^^^^^^ `s` gets its value from `r`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                              ^^^^^^ `r` is loaded from `x`
              help: declare it as `local`, or compute it from constants and other index variables
            error: index variable `j` depends on a load
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                                                                     ^^^^^^^^^ `j` gets its value from `b`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                                                          ^^^^^^^^^ `b` gets its value from `r`
              2 |            thread p { i := 1; j := i + self; r := x; s := r; i := s * 2; b[1] := r; j := b[0]; k := id(r); if r == 1 { k := 2 } }
                |                                              ^^^^^^ `r` is loaded from `x`
              help: declare it as `local`, or compute it from constants and other index variables
            error: index variable `i` depends on a load
              3 |            thread q { i := x; j := 1; a[j] := 1 }
                |                       ^^^^^^ `i` is loaded from `x`
              help: declare it as `local`, or compute it from constants and other index variables
        "#]],
    );
}

#[test]
fn recursion() {
    check_errors(
        "threads { proc a { b } proc b { c(1) } proc c(n) { a } proc d { d } proc e { d } thread p { a; e } }",
        expect![[r#"
            error: procedure `a` calls itself through `b`, `c`
              1 | threads { proc a { b } proc b { c(1) } proc c(n) { a } proc d { d } proc e { d } thread p { a; e } }
                |                                                    ^ the call that closes the circle
              1 | threads { proc a { b } proc b { c(1) } proc c(n) { a } proc d { d } proc e { d } thread p { a; e } }
                |                ^ the procedure
              help: procedures are inlined, so they cannot be recursive; use a loop
            error: procedure `d` calls itself
              1 | threads { proc a { b } proc b { c(1) } proc c(n) { a } proc d { d } proc e { d } thread p { a; e } }
                |                                                                 ^ the call that closes the circle
              1 | threads { proc a { b } proc b { c(1) } proc c(n) { a } proc d { d } proc e { d } thread p { a; e } }
                |                                                             ^ the procedure
              help: procedures are inlined, so they cannot be recursive; use a loop
        "#]],
    );
}

#[test]
fn results() {
    check_errors(
        "threads { shared x; proc none { skip } proc some(a) { if a { return 1 } }
           proc mixed(a) { if a { return } return 1 } proc good { loop { if 1 == 2 { return 1 } } }
           thread p { local r; r := none(); r := some(1); r := mixed(1); r := good(); return 1; r := none; r := 1 + good(); } }",
        expect![[r#"
            error: procedure `some` may end without returning a value
              1 | threads { shared x; proc none { skip } proc some(a) { if a { return 1 } }
                |                                                                         ^ ends here
              1 | threads { shared x; proc none { skip } proc some(a) { if a { return 1 } }
                |                                             ^^^^ the procedure
              help: end every path with `return` and a value
            error: this `return` lacks a value
              2 |            proc mixed(a) { if a { return } return 1 } proc good { loop { if 1 == 2 { return 1 } } }
                |                                   ^^^^^^ no value
              help: other returns of this procedure have one
            error: procedure `none` returns no value
              3 |            thread p { local r; r := none(); r := some(1); r := mixed(1); r := good(); return 1; r := none; r := 1 + good(); } }
                |                                     ^^^^^^ no value
              help: add `return` with a value to it, or call it as a statement
            error: a thread cannot return a value
              3 |            thread p { local r; r := none(); r := some(1); r := mixed(1); r := good(); return 1; r := none; r := 1 + good(); } }
                |                                                                                              ^ a value
              help: write `return` alone to end the thread
            error: `none` is a procedure, not a variable
              3 |            thread p { local r; r := none(); r := some(1); r := mixed(1); r := good(); return 1; r := none; r := 1 + good(); } }
                |                                                                                                      ^^^^ a procedure
              help: call it on the right side of `:=`: `r := none()`
            error: a call stands alone on the right side of `:=`
              3 |            thread p { local r; r := none(); r := some(1); r := mixed(1); r := good(); return 1; r := none; r := 1 + good(); } }
                |                                                                                                                     ^^^^ not inside an expression
              help: assign it to a local first: `r := good(…)`
        "#]],
    );
}
