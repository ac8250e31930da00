//! Diagnostics for names, declarations and constants.

use expect_test::expect;

use super::check_errors;
use crate::{CompileError, compile};

#[test]
fn unknown_names() {
    check_errors(
        "threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }",
        expect![[r#"
            error: unknown name `falg`
              1 | threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }
                |                                                                    ^^^^ not declared
              help: did you mean `flag`?
            error: unknown procedure `lokc`
              1 | threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }
                |                                                                          ^^^^ not declared
              help: did you mean `lock`?
            error: unknown name `nothing_like_it`
              1 | threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }
                |                                                                                       ^^^^^^^^^^^^^^^ not declared
            error: unknown procedure `fnece`
              1 | threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }
                |                                                                                                        ^^^^^ not declared
              help: did you mean `fence`?
            error: unknown name `rr`
              1 | threads { shared flag; proc lock { skip } thread p { local r; r := falg; lokc(); r := nothing_like_it; fnece(store-load); rr := 1 } }
                |                                                                                                                           ^^ not declared
        "#]],
    );
}

#[test]
fn wrong_kinds() {
    check_errors(
        "const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
           N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
           foreach i in 0..1 { i := 2 } foreach i in 0..r { skip } r := p.r; q; } }",
        expect![[r#"
            error: `N` is a constant and cannot be assigned
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |            ^ a constant
              help: assign to a shared or local variable
            error: `q` is a procedure and cannot be assigned
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                    ^ a procedure
              help: assign to a shared or local variable
            error: `x` is not an array
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                            ^^^^ used here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                               ^ declared here
              help: write just `x`
            error: `a` is an array
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                       ^ used here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                                  ^ declared here
              help: choose one of its 2 elements: `a[0]`
            error: `a` is an array
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                    ^ used here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                                  ^ declared here
              help: choose one of its 2 elements: `a[0]`
            error: `x` is not an array
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                            ^^^^ used here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                               ^ declared here
              help: write just `x`
            error: `q` is a procedure, not a variable
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                       ^ a procedure
              help: call it on the right side of `:=`: `r := q()`
            error: `x` is not a procedure
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                          ^ called here
              help: only procedures can be called; write `:=` to assign
            error: `q` takes 1 argument, not 0
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                               ^^^ called here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                                             ^ declared here
            error: `q` takes 1 argument, not 2
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                                    ^^^^^^^ called here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                                             ^ declared here
            error: `N` is a constant and cannot be indexed
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                                                    ^ an index
              help: only arrays have elements
            error: `r` is not shared
              2 |            N := 1; q := 1; x[0] := 1; a := 1; r := a; r := x[1]; r := q; x(); q(); q(1, 2); r := N[0]; cas(r, 0, 1);
                |                                                                                                            ^ a local variable
              help: a read-modify-write needs a shared variable
            error: `i` is a constant of the unrolled body and cannot be assigned
              3 |            foreach i in 0..1 { i := 2 } foreach i in 0..r { skip } r := p.r; q; } }
                |                                ^ a constant of the unrolled body
              help: assign to a shared or local variable
            error: `r` is not a constant
              3 |            foreach i in 0..1 { i := 2 } foreach i in 0..r { skip } r := p.r; q; } }
                |                                                         ^ a variable
              help: only constants, binders, `self` and `tid` can be used here
            error: only `observe` and `check` may name a variable of a thread
              3 |            foreach i in 0..1 { i := 2 } foreach i in 0..r { skip } r := p.r; q; } }
                |                                                                         ^^^ not here
              help: inside its thread the variable is just `r`
            error: `q` takes 1 argument, not 0
              3 |            foreach i in 0..1 { i := 2 } foreach i in 0..r { skip } r := p.r; q; } }
                |                                                                              ^ called here
              1 | const N = 2; threads { shared x, a[2]; proc q(i) { skip } thread p { local r;
                |                                             ^ declared here
        "#]],
    );
}

#[test]
fn declarations() {
    check_errors(
        "const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
           proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
           thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }",
        expect![[r#"
            error: `M` is used before its declaration
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |           ^ used here
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                    ^ declared here
              help: move the declaration up
            error: `S` is used before its declaration
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                     ^ used here
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                 ^ declared here
              help: move the declaration up
            error: `x` is declared twice
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                ^ declared again
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                             ^ first declared here
            error: `x` is not a constant
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                                      ^ a variable
              help: only constants, binders, `self` and `tid` can be used here
            error: `z` is not an array
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                                                    ^^^^^^ several values
              help: give it a length, or a single initial value
            error: 1 initial values for 2 elements
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                                                                   ^^^ the values
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                                                            ^ the array
              help: give one value per element, or a single one for all
            error: `self` has a value inside threads only
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                                                                                            ^^^^ outside a thread
              help: name the thread instead
            error: `x` is declared twice
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                 ^ declared again
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |                                                             ^ first declared here
            error: `N` is declared twice
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                             ^ declared again
              1 | const N = M; const M = 1; const S = S + 1; threads { shared x, x, late[N]; local y = x; shared z = {1, 2}, w[2] = {1}, s = self;
                |       ^ first declared here
            error: `r` is declared twice
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                           ^ declared again
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                ^ first declared here
            error: `q` is declared twice
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                                                                   ^ declared again
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                                               ^ first declared here
            error: a local variable cannot be declared in an inner block
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                                                                                                 ^^^^^^^^^^^^ an inner block
              help: declare it in the outermost block of the thread or procedure
            error: `t` is used before its declaration
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                                                                                                                                ^ used here
              3 |            thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }
                |                                                          ^ declared here
              help: move the declaration up
            error: `p` is declared twice
              3 |            thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }
                |                   ^ declared again
              2 |            proc x { skip } thread p { local N, r; foreach r in 0..1 { foreach q in 0..1 { foreach q in 0..1 { skip } } } if r { local inner; } t := 1; }
                |                                   ^ first declared here
            error: `b` is used before its declaration
              3 |            thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }
                |                                     ^ used here
              3 |            thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }
                |                                              ^ declared here
              help: move the declaration up
            error: a family cannot have 0 threads
              3 |            thread p { local a; a := b; local b; } shared t; thread none[0] { skip } }
                |                                                                         ^ the number of threads
              help: a program has 1 to 256 threads
        "#]],
    );
}

#[test]
fn constants() {
    check_errors(
        "const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
         threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }",
        expect![[r#"
            error: division by zero in a constant expression
              1 | const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
                |           ^^^^^ computed here
              help: the divisor is zero for these constants
            error: integer overflow in a constant expression
              1 | const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
                |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ computed here
              help: integers have 128 bits, and shift amounts lie between 0 and 126
            error: this integer is too large
              1 | const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
                |                                                                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ too large
              help: integers have 128 bits: at most 170141183460469231731687303715884105727
            error: this is not an integer
              1 | const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
                |                                                                                                                                         ^^^^ not an integer
              help: write it in decimal, or in hexadecimal after `0x`
            error: integer overflow in a constant expression
              1 | const A = 1 / 0; const B = 170141183460469231731687303715884105727 + 1; const C = 999999999999999999999999999999999999999999; const D = 12ab; const E = 1 << 130;
                |                                                                                                                                                         ^^^^^^^^ computed here
              help: integers have 128 bits, and shift amounts lie between 0 and 126
            error: an array cannot have 0 elements
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                   ^ the length
              help: an array has 1 to 4096 elements
            error: an array cannot have 5000 elements
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                         ^^^^ the length
              help: an array has 1 to 4096 elements
            error: division by zero in a constant expression
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                                                               ^^^^^ computed here
              help: the divisor is zero for these constants
            error: index 2 is outside an array of 2 elements
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                                                                                              ^ is 2 here
              help: indices lie between 0 and 1
            error: index -1 is outside an array of 2 elements
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                                                                                                         ^^^^^ is -1 here
              help: indices lie between 0 and 1
            error: there is nothing to choose from
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                                                                                                                                  ^^ an empty range
              help: a choice needs at least one value
            error: there is nothing to choose from
              2 |          threads { shared x[B], y[0], z[5000]; thread p { local r, b[2]; r := 1 % 0; r := x[7]; z[0] := A; b[2] := 1; b[1 - 2] := 0; choose r in {}; forsome i in 1..0 { skip } } }
                |                                                                                                                                                                   ^^^^ an empty range
              help: a choice needs at least one value
        "#]],
    );
}

#[test]
fn unknown_constants() {
    let set = [("M".to_owned(), 1), ("N".to_owned(), 1)];
    let error = compile("const N = 1; threads { thread p { skip } }", "test", &set);
    let (names, known) = (vec!["M".to_owned()], vec!["N".to_owned()]);
    assert_eq!(error, Err(CompileError::UnknownConstants { names, known }));
}
