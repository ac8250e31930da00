//! Diagnostics about the parts of an stm: its commands, variables and constants, and what is claimed about it.

use expect_test::expect;

use super::check_errors;

/// An stm with these members besides one transactional variable.
pub(super) fn check_stm(members: &str, expect: expect_test::Expect) {
    check_errors(&format!("stm s {{ data g[vars]; shared x; local l;\n{members}\n}}"), expect);
}

#[test]
fn programs_exclude_each_other() {
    check_errors(
        "stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
         threads { shared x; thread p { x := 1 } }
         stm t { data h[vars]; }",
        expect![[r#"
            error: a file has one program: `threads` and `stm` exclude each other
              2 |          threads { shared x; thread p { x := 1 } }
                |          ^^^^^^^ the second one
              1 | stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |     ^ the first one
            error: a file has one `stm` block
              3 |          stm t { data h[vars]; }
                |              ^ the second one
              1 | stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |     ^ the first one
        "#]],
    );
}

#[test]
fn what_belongs_in_an_stm() {
    check_errors(
        "threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
           read(v) { rfin } end { commit } }
         check opacity on sc; check strict-serializability;",
        expect![[r#"
            error: `data` belongs in an `stm`, not in `threads`
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                |                     ^^^^ not here
              help: declare it as `shared`
            error: `rollback` belongs in an `stm`
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                |                                                             ^^^^^^^^^^^^^^^ not in `threads`
              help: a `threads` program has no transactions
            error: `abort` belongs in an `stm`
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                |                                                                              ^^^^^ not in `threads`
              help: a `threads` program has no transactions
            error: `rfin` belongs in an `stm`
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                |                                                                                     ^^^^ not in `threads`
              help: a `threads` program has no transactions
            error: `read` belongs in an `stm`, not in `threads`
              2 |            read(v) { rfin } end { commit } }
                |            ^^^^ not here
              help: threads say themselves what they do: `thread p0 { … }`
            error: `end` belongs in an `stm`, not in `threads`
              2 |            read(v) { rfin } end { commit } }
                |                             ^^^ not here
              help: threads say themselves what they do: `thread p0 { … }`
            error: `opacity` is a property of an `stm`, not of `threads`
              3 |          check opacity on sc; check strict-serializability;
                |          ^^^^^^^^^^^^^^^^^^^ not here
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                | ^^^^^^^ this is `threads`
              help: check `assertions`, or a condition over final states
            error: `strict-serializability` is a property of an `stm`, not of `threads`
              3 |          check opacity on sc; check strict-serializability;
                |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not here
              1 | threads { shared x; data g[2]; proc p { commit } thread q { rollback x := 1; abort; rfin }
                | ^^^^^^^ this is `threads`
              help: check `assertions`, or a condition over final states
        "#]],
    );
}

#[test]
fn progress_belongs_to_an_stm() {
    check_errors(
        "threads { shared x; thread p { x := 1 } }
         check local-progress on sc; check lone-progress; check solo-progres;",
        expect![[r#"
            error: progress is a property of an `stm`, not of `threads`
              2 |          check local-progress on sc; check lone-progress; check solo-progres;
                |          ^^^^^^^^^^^^^^^^^^^^^^^^^^ not here
              1 | threads { shared x; thread p { x := 1 } }
                | ^^^^^^^ this is `threads`
              help: check `assertions`, or a condition over final states
            error: expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`, found `lone`
              2 |          check local-progress on sc; check lone-progress; check solo-progres;
                |                                            ^^^^ expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`
            error: unknown criterion `solo-progres`
              2 |          check local-progress on sc; check lone-progress; check solo-progres;
                |                                                                 ^^^^^^^^^^^^ not a criterion
              help: did you mean `solo-progress`?
        "#]],
    );
}

#[test]
fn what_belongs_in_threads() {
    check_stm(
        "read(v) { rfin } write(v) { } end { commit }
         thread p { x := 1 }
         observe x;
         check opacity;",
        expect![[r#"
            error: an stm has no threads of its own
              3 |          thread p { x := 1 }
                |          ^^^^^^ not here
              help: write what its clients may call: `read(v) { … }`, `write(v) { … }` and `end { … }`
            error: the threads of an stm never end, so there is nothing to observe
              4 |          observe x;
                |                  ^ observed here
              help: an stm is judged by its histories: `check opacity;`
            error: `check` stands outside `stm`
              5 |          check opacity;
                |          ^^^^^ not here
              help: move it behind the `}` that closes `stm`
        "#]],
    );
    check_errors(
        "stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
         observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;",
        expect![[r#"
            error: the threads of an stm never end, so there is nothing to observe
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                  ^ observed here
              help: an stm is judged by its histories: `check opacity;`
            error: the threads of an stm never end, so there is nothing to observe
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                     ^^^^^^^ observed here
              help: an stm is judged by its histories: `check opacity;`
            error: the threads of an stm never end, so there are no final states
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                              ^^^^^^^^^^^^^^^^^^^^^^^ not here
              1 | stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |     ^ this is `stm`
              help: check `opacity`, `strict-serializability`, `progress` or `assertions`
            error: the threads of an stm never end, so there are no final states
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ not here
              1 | stm s { data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |     ^ this is `stm`
              help: check `opacity`, `strict-serializability`, `progress` or `assertions`
            error: expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`, found `opaque`
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                                                                                          ^^^^^^ expected `assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability`, `serializability` or `progress`
            error: unknown criterion `strict-serial`
              2 |          observe g, nothing; check never (g[0] == 1); check exists (l == 1) on sc; check opaque; check strict-serial;
                |                                                                                                        ^^^^^^^^^^^^^ not a criterion
              help: the criteria for transactions are `opacity`, `strict-serializability`, `serializability`, `snapshot-isolation`, `solo-progress`, `crash-free-solo-progress`, `local-progress` and `progress`
        "#]],
    );
}

#[test]
fn commands_are_there_once() {
    check_errors(
        "stm { data g[vars]; }",
        expect![[r#"
        error: this stm has no `read`
          1 | stm { data g[vars]; }
            | ^^^ lacks a command
          help: add one: `read(v) { … rfin }`
        error: this stm has no `write`
          1 | stm { data g[vars]; }
            | ^^^ lacks a command
          help: add one: `write(v) { … }`
        error: this stm has no `end`
          1 | stm { data g[vars]; }
            | ^^^ lacks a command
          help: add one: `end { … commit }`
    "#]],
    );
    check_stm(
        "read(v) { rfin } read(w) { rfin } write { } end(v) { commit }",
        expect![[r#"
            error: `read` is declared twice
              2 | read(v) { rfin } read(w) { rfin } write { } end(v) { commit }
                |                  ^^^^ declared again
              2 | read(v) { rfin } read(w) { rfin } write { } end(v) { commit }
                | ^^^^ first declared here
            error: expected `(`, found `{`
              2 | read(v) { rfin } read(w) { rfin } write { } end(v) { commit }
                |                                         ^ expected `(`
            error: `end` has no parameter
              2 | read(v) { rfin } read(w) { rfin } write { } end(v) { commit }
                |                                                 ^ not here
              help: it ends a whole transaction: `end { … commit }`
        "#]],
    );
    check_stm(
        "read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }",
        expect![[r#"
            error: `read` is a command and cannot be called
              2 | read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }
                |                             ^^^^ called here
              help: only clients call commands; move what they share to a procedure
            error: `write` is declared twice
              2 | read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }
                |                                                            ^^^^^ declared again
              2 | read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }
                |                  ^^^^^ first declared here
            error: `end` is a command and cannot be called
              2 | read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }
                |                                                                               ^^^ called here
              help: only clients call commands; move what they share to a procedure
            error: `end` is a command and cannot be called
              2 | read(v) { rfin } write(v) { read(v); } end { commit } proc write { } proc p { end; x := end(); }
                |                                                                                         ^^^ called here
              help: only clients call commands; move what they share to a procedure
        "#]],
    );
}

#[test]
fn transactional_variables() {
    check_errors(
        "stm s { shared g[vars]; read(v) { rfin } write(v) { g[v] := 1; } end { commit } }",
        expect![[r#"
            error: this stm has no transactional variables
              1 | stm s { shared g[vars]; read(v) { rfin } write(v) { g[v] := 1; } end { commit } }
                |     ^ lacks `data`
              help: declare the variables that transactions read and write: `data g[vars];`
        "#]],
    );
    check_errors(
        "stm s { data x, y, g[vars]; read(v) { rfin } write(v) { } end { commit } }",
        expect![[r#"
            error: 4 transactional variables are declared, but `vars` is 2
              1 | stm s { data x, y, g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |              ^ declared here
              help: declare one array of `vars` elements, or give `vars` another value
        "#]],
    );
    check_stm(
        "read(v) { l := exchange(g[v], 1); l := cas(g[v], 0, 1); rfin } write(v) { fetch_add(g[v], 1); data h; } end { commit }",
        expect![[r#"
            error: 3 transactional variables are declared, but `vars` is 2
              1 | stm s { data g[vars]; shared x; local l;
                |              ^ declared here
              help: declare one array of `vars` elements, or give `vars` another value
            error: `exchange` cannot be applied to a transactional variable
              2 | read(v) { l := exchange(g[v], 1); l := cas(g[v], 0, 1); rfin } write(v) { fetch_add(g[v], 1); data h; } end { commit }
                |                         ^^^^ declared as `data`
              help: load and store it, or use `cas`
            error: `fetch_add` cannot be applied to a transactional variable
              2 | read(v) { l := exchange(g[v], 1); l := cas(g[v], 0, 1); rfin } write(v) { fetch_add(g[v], 1); data h; } end { commit }
                |                                                                                     ^^^^ declared as `data`
              help: load and store it, or use `cas`
            error: `data` is declared outside commands
              2 | read(v) { l := exchange(g[v], 1); l := cas(g[v], 0, 1); rfin } write(v) { fetch_add(g[v], 1); data h; } end { commit }
                |                                                                                               ^^^^ not here
              help: move it out of the command or procedure
        "#]],
    );
}

#[test]
fn sizes() {
    check_errors(
        "stm s { const threads = 0; const vars = -1; data g[2]; read(v) { rfin } write(v) { } end { commit } }",
        expect![[r#"
            error: an stm cannot have 0 threads
              1 | stm s { const threads = 0; const vars = -1; data g[2]; read(v) { rfin } write(v) { } end { commit } }
                |               ^^^^^^^ the number of threads
              help: a program has 1 to 256 threads
            error: an stm cannot have -1 variables
              1 | stm s { const threads = 0; const vars = -1; data g[2]; read(v) { rfin } write(v) { } end { commit } }
                |                                  ^^^^ the number of variables
              help: `vars` is at least 1
        "#]],
    );
    check_errors(
        "stm s { shared vars; local threads; data g[vars]; read(v) { rfin } write(v) { } end { commit } }",
        expect![[r#"
            error: `vars` is declared twice
              1 | stm s { shared vars; local threads; data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |                ^^^^ declared again
              1 | stm s { shared vars; local threads; data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |     ^ first declared here
            error: `threads` is a keyword
              1 | stm s { shared vars; local threads; data g[vars]; read(v) { rfin } write(v) { } end { commit } }
                |                            ^^^^^^^ expected a name
              help: keywords are reserved; choose another name
        "#]],
    );
}

#[test]
fn parameters_and_results() {
    check_stm(
        "read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }",
        expect![[r#"
            error: `v` is not a constant
              2 | read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }
                |                   ^ a variable
              help: only constants, binders, `self` and `tid` can be used here
            error: `v` is a constant of the command and cannot be assigned
              2 | read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }
                |                       ^ a constant of the command
              help: assign to a shared or local variable
            error: `v` is a constant and cannot be indexed
              2 | read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }
                |                                      ^ an index
              help: only arrays have elements
            error: a command cannot return a value
              2 | read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }
                |                                                                   ^ a value
              help: what a read returns is the value of its last load of `data`
            error: unknown name `v`
              2 | read(v) { local a[v]; v := 1; l := v[0]; rfin } write(v) { return v; } end { l := v; commit }
                |                                                                                   ^ not declared
        "#]],
    );
}

#[test]
fn one_mistake_one_message() {
    check_stm(
        "read(v) { l := g[v] + ; rfni; } write(v) { } end { commt }",
        expect![[r#"
        error: expected an expression, found `;`
          2 | read(v) { l := g[v] + ; rfni; } write(v) { } end { commt }
            |                       ^ expected an expression
        error: unknown procedure `rfni`
          2 | read(v) { l := g[v] + ; rfni; } write(v) { } end { commt }
            |                         ^^^^ not declared
          help: did you mean `rfin`?
        error: unknown procedure `commt`
          2 | read(v) { l := g[v] + ; rfni; } write(v) { } end { commt }
            |                                                    ^^^^^ not declared
          help: did you mean `commit`?
    "#]],
    );
    check_stm(
        "read(v) { finish } write(v) { } end { commit }",
        expect![[r#"
        error: unknown procedure `finish`
          2 | read(v) { finish } write(v) { } end { commit }
            |           ^^^^^^ not declared
    "#]],
    );
}
