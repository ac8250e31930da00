//! Diagnostics for files that cannot be parsed.

use expect_test::expect;

use super::check_errors;

#[test]
fn empty_files() {
    check_errors(
        "",
        expect![[r#"
            error: no program in this file
              1 | 
                | ^ expected `threads { … }` or `stm { … }`
              help: for example:
            threads {
              shared x = 0, y = 0;
              thread p0 { local r1; x := 1; r1 := y; }
              thread p1 { local r2; y := 1; r2 := x; }
            }
        "#]],
    );
    check_errors(
        "// nothing\n",
        expect![[r#"
            error: no program in this file
              1 | // nothing
                | ^ expected `threads { … }` or `stm { … }`
              help: for example:
            threads {
              shared x = 0, y = 0;
              thread p0 { local r1; x := 1; r1 := y; }
              thread p1 { local r2; y := 1; r2 := x; }
            }
        "#]],
    );
    check_errors(
        "threads { shared x; }",
        expect![[r#"
        error: this program has no thread
          1 | threads { shared x; }
            | ^^^^^^^ no `thread` inside
          help: add one: `thread p0 { x := 1; }`
    "#]],
    );
}

#[test]
fn syntax() {
    check_errors(
        "const = 1;
         threads {
           shraed y;
           shared x = ;
           shared threads;
           thread p {
             local r
             x = 1;
             r := ;
             x := 1 x := 2;
             whlie r { skip }
             fence(store-laod);
             fence(acquire);
             if r then else skip;
             choose { skip }
             r := cas(x, 1);
             r := 1 + cas(x, 1, 2);
             assert r, 5;
             $$ § r := 2;
             else;
           }
           thraed q { }
           thread s { x := 1 }
         }
         threads { thread again { skip } }
         check exists (x = 1)
         check assertions on ;",
        expect![[r#"
            error: expected a name, found `=`
              1 | const = 1;
                |       ^ expected a name
            error: expected a declaration, a procedure or a thread, found `shraed`
              3 |            shraed y;
                |            ^^^^^^ expected a declaration, a procedure or a thread
              help: did you mean `shared`?
            error: expected an expression, found `;`
              4 |            shared x = ;
                |                       ^ expected an expression
            error: `threads` is a keyword
              5 |            shared threads;
                |                   ^^^^^^^ expected a name
              help: keywords are reserved; choose another name
            error: expected `;`, found `x`
              8 |              x = 1;
                |              ^ expected `;`
            error: expected an expression, found `;`
              9 |              r := ;
                |                   ^ expected an expression
            error: expected `;`, found `x`
             10 |              x := 1 x := 2;
                |                     ^ expected `;` before this
            error: expected `;`, found `r`
             11 |              whlie r { skip }
                |                    ^ expected `;` before this
              help: did you mean `while` instead of `whlie`?
            error: unknown fence kind `store-laod`
             12 |              fence(store-laod);
                |                    ^^^^^^^^^^ not a fence kind
              help: did you mean `store-load`? the kinds are `load-load`, `load-store`, `store-load` and `store-store`
            error: unknown fence kind `acquire`
             13 |              fence(acquire);
                |                    ^^^^^^^ not a fence kind
              help: the kinds are `load-load`, `load-store`, `store-load` and `store-store`
            error: expected a statement, found `else`
             14 |              if r then else skip;
                |                        ^^^^ expected a statement
            error: expected `or` and another block, found `r`
             16 |              r := cas(x, 1);
                |              ^ expected `or` and another block
            error: expected `,`, found `)`
             16 |              r := cas(x, 1);
                |                           ^ expected `,`
            error: `cas` stands alone on the right side of `:=`
             17 |              r := 1 + cas(x, 1, 2);
                |                       ^^^ not inside an expression
              help: assign it to a local first
            error: expected a string, found `5`
             18 |              assert r, 5;
                |                        ^ expected a string
            error: `$$` is not part of the language
             19 |              $$ § r := 2;
                |              ^^ unknown characters
            error: `§` is not part of the language
             19 |              $$ § r := 2;
                |                 ^ unknown characters
            error: expected a statement, found `else`
             20 |              else;
                |              ^^^^ expected a statement
            error: expected a declaration, a procedure or a thread, found `thraed`
             22 |            thraed q { }
                |            ^^^^^^ expected a declaration, a procedure or a thread
              help: did you mean `thread`?
            error: a file has one `threads` block
             25 |          threads { thread again { skip } }
                |          ^^^^^^^ the second one
              2 |          threads {
                |          ^^^^^^^ the first one
            error: expected `;`, found `check`
             27 |          check assertions on ;
                |          ^^^^^ expected `;`
            error: expected a memory model, found `;`
             27 |          check assertions on ;
                |                              ^ expected a memory model
        "#]],
    );
}

#[test]
fn unfinished_files() {
    check_errors(
        "threads { shared x; thread p { x := 1; ",
        expect![[r#"
        error: expected `}`, found the end of the file
          1 | threads { shared x; thread p { x := 1; 
            |                                        ^ expected `}`
          1 | threads { shared x; thread p { x := 1; 
            |                              ^ to close this
    "#]],
    );
    check_errors(
        "threads { thread p { skip } /* open",
        expect![[r#"
        error: this comment is never closed
          1 | threads { thread p { skip } /* open
            |                             ^^ starts here
          help: close it with `*/`
        error: expected `}`, found the end of the file
          1 | threads { thread p { skip } /* open
            |                                    ^ expected `}`
    "#]],
    );
    check_errors(
        "threads { thread p { assert 1, \"open } }",
        expect![[r#"
        error: this string is never closed
          1 | threads { thread p { assert 1, "open } }
            |                                ^^^^^^^^^ starts here
          help: close it with `"` on the same line
        error: expected `;`, found the end of the file
          1 | threads { thread p { assert 1, "open } }
            |                                         ^ expected `;` before this
        error: expected `}`, found the end of the file
          1 | threads { thread p { assert 1, "open } }
            |                                         ^ expected `}`
          1 | threads { thread p { assert 1, "open } }
            |                    ^ to close this
    "#]],
    );
    check_errors(
        "}} threads { thread p { skip } } shared x;",
        expect![[r#"
            error: expected `const`, `threads`, `stm`, `algorithm`, `observe` or `check`, found `}`
              1 | }} threads { thread p { skip } } shared x;
                | ^ expected `const`, `threads`, `stm`, `algorithm`, `observe` or `check`
            error: expected `const`, `threads`, `stm`, `algorithm`, `observe` or `check`, found `shared`
              1 | }} threads { thread p { skip } } shared x;
                |                                  ^^^^^^ expected `const`, `threads`, `stm`, `algorithm`, `observe` or `check`
        "#]],
    );
}
